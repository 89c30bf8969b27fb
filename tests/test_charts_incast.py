"""Charts of the Incast page: thresholds named, rates never above the line, the axis with its stages."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from models import charts, charts_incast, charts_incast_axis
from models.compare.incast_axis import axis_frame, axis_points, axis_spans, axis_stages
from models.scenario.load import SHIPPED, load

SCENARIO = load(SHIPPED / "llama3-70b-1024-h100.yaml")
COLOURS = charts.candidate_colours(SCENARIO)


@pytest.fixture(scope="module")
def axis() -> tuple[pd.DataFrame, pd.DataFrame, tuple[float, float]]:
    points = axis_frame(list(axis_points(SCENARIO, "incast", methods=("analytical",))))
    stages = axis_stages(SCENARIO, "incast")
    return points, stages, charts_incast_axis.domain(list(axis_spans(SCENARIO, "incast").values()), stages)


def checked(chart: Any) -> dict[str, Any]:
    text = chart.to_json()
    assert "NaN" not in text and "Infinity" not in text
    spec: dict[str, Any] = json.loads(text)
    assert spec["title"]["text"] and len(spec["description"]) > 20
    return spec


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for data in spec["datasets"].values() for row in data]


def test_stages_cover_the_axis_without_gaps(axis: Any) -> None:
    points, stages, ends = axis
    now = points[points.scenario_burst].set_index("candidate").burst_over_buffer.to_dict()
    spec = checked(charts_incast_axis.strip(stages, now, ends, COLOURS))
    bars = [row for row in rows(spec) if "start" in row]
    for name in COLOURS:
        own = sorted({(r["start"], r["end"]) for r in bars if r["candidate"] == name})
        assert own[0][0] == pytest.approx(ends[0]) and own[-1][1] == pytest.approx(ends[1])
        assert all(a[1] == pytest.approx(b[0]) for a, b in itertools.pairwise(own))
    assert "InfiniBand NDR" in spec["title"]["text"]


def test_the_closed_form_is_drawn_alone_and_said_so(axis: Any) -> None:
    points, stages, ends = axis
    for make in (charts_incast_axis.victim, charts_incast_axis.tail):
        spec = checked(make(points, stages, ends, COLOURS))
        assert "Closed form only" in spec["title"]["subtitle"]
    assert charts.png(charts_incast_axis.victim(points, stages, ends, COLOURS)).startswith(b"\x89PNG")


def test_solved_points_bring_a_ring_at_the_scenarios_burst(axis: Any) -> None:
    points, stages, ends = axis
    solved = points.assign(
        method="fluid", victim_fraction=0.4, victim_low_fraction=0.3, victim_high_fraction=0.5
    )
    both = pd.concat([points, solved], ignore_index=True)
    spec = checked(charts_incast_axis.victim(both, stages, ends, COLOURS))
    assert "Solid: packets solved" in spec["title"]["subtitle"]
    assert "falls below half" in spec["title"]["text"]
    assert spec["description"].count(" 40 now") == len(COLOURS)


def test_rates_are_smoothed_below_what_a_sample_of_whole_packets_says() -> None:
    jitter = np.tile([380.0, 420.0], 200)
    series = pd.DataFrame(
        {"candidate": "A", "time_us": np.arange(400.0), "quantity": "rate_bytes_per_s", "value": jitter}
    )
    none = pd.DataFrame(columns=["candidate", "value", "text", "says"])
    spec = checked(charts_incast.panel(series, "rate_bytes_per_s", {"A": "#000"}, 400.0, True, none))
    shown = [row["value"] for row in rows(spec) if "value" in row]
    assert max(shown[10:-10]) < 412 and "400 Gbit/s on average" in spec["title"]["text"]


def test_thresholds_are_named_apart_from_one_another() -> None:
    series = pd.DataFrame(
        {"candidate": "A", "time_us": [0.0, 1.0], "quantity": "queue_bytes", "value": [0.0, 30e6]}
    )
    lines = pd.DataFrame(
        {
            "candidate": ["A", "A", "A"],
            "value": [1.6e6, 1.5e6, 1.4e6],
            "text": ["Kmax", "Kmin", "Kmin"],
            "says": ["Kmax all packets marked", "Kmin marks begin", "Kmin marks begin"],
        }
    )
    spec = checked(charts_incast.panel(series, "queue_bytes", {"A": "#000"}, 1.0, True, lines))
    places = sorted({row["place"] for row in rows(spec) if "place" in row})
    assert len(places) == 3 and min(b - a for a, b in itertools.pairwise(places)) > 2e6
    assert spec["title"]["subtitle"] == "Dashed: Kmax all packets marked, Kmin marks begin"
