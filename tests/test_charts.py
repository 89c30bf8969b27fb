"""Charts as data: colours, labels, axes, and that every chart says what it shows."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from models import (
    charts,
    charts_cluster_size,
    charts_collectives,
    charts_cost,
    charts_decision,
    charts_incast,
)
from models.compare.cluster_size import Turn, turns
from models.compare.cost_tables import cost_totals, difference
from models.scenario.load import SHIPPED, load

NAMES = ["A", "B", "C"]
COLOURS = {"A": "#0072B2", "B": "#D55E00", "C": "#009E73"}


@pytest.fixture(scope="module")
def shipped() -> Any:
    return load(SHIPPED / "llama3-70b-1024-h100.yaml")


def test_colours_follow_the_family_and_stay_when_another_candidate_goes(shipped: Any) -> None:
    colours = charts.candidate_colours(shipped)
    assert colours == {
        "InfiniBand NDR": "#0072B2",
        "RoCEv2 400G": "#D55E00",
        "Spectrum-X 400G": "#009E73",
        "Ethernet TCP 400G": "#7F7F7F",
    }


def test_a_second_of_a_family_gets_its_second_colour_and_none_is_used_twice(shipped: Any) -> None:
    many = {f"ib {i}": shipped.candidates["InfiniBand NDR"] for i in range(9)}
    colours = charts.candidate_colours(shipped.model_copy(update={"candidates": many}))
    assert colours["ib 1"] == "#56B4E9"
    assert len(set(colours.values())) == 9


@pytest.mark.parametrize("spread", [0.0, 1e-9, 0.3, 5.0])
def test_labels_never_overlap(spread: float) -> None:
    values = {name: i * spread for i, name in enumerate("abcdef")}
    placed = sorted(charts.spread_labels(values, 0.0, 10.0, 0.07).values())
    assert min(np.diff(placed)) >= 0.7 * 0.999


def cloud() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(1)
    draws = pd.DataFrame(
        [
            (n, i, 1e7 * (1 + 0.02 * k + 0.01 * rng.normal()), 100 + k)
            for k, n in enumerate(NAMES)
            for i in range(50)
        ],
        columns=["candidate", "draw", "yearly_usd", "time"],
    )
    mids = pd.DataFrame(
        {
            "candidate": NAMES,
            "yearly_usd": [1e7, 1.02e7, 1.04e7],
            "time": [102.0, 101.0, 100.0],
            "on_edge": True,
        }
    )
    return draws, mids


def sizes() -> pd.DataFrame:
    rows = []
    for k, name in enumerate(NAMES):
        for size in (64, 128, 256, 512):
            ok = not (name == "C" and size == 256)
            figure = 1.0 - 0.02 * abs(k - (size > 128))
            rows.append(
                (size, name, "ok" if ok else "cannot be built", "" if ok else "radix", figure if ok else None,
                 figure - 0.01 if ok else None, figure + 0.01 if ok else None, 10.0, 20e3, 0.9, 1 + (size > 128), 12, 3e3)
            )  # fmt: skip
    columns = [
        "gpus", "candidate", "status", "reason", "relative_work_per_dollar", "low", "high", "unit_time_s",
        "yearly_usd_per_gpu", "scaling_efficiency_fraction", "tiers", "switches", "network_usd_per_gpu",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def cost() -> pd.DataFrame:
    rows = [(n, c, m * 0.8, m * (1 + 0.1 * k), m * 1.5, i) for k, n in enumerate(NAMES)
            for i, (c, m) in enumerate([("switches", 2e6), ("NICs", 1e6), ("staff", 3e6)])]  # fmt: skip
    return pd.DataFrame(rows, columns=["candidate", "category", "low_usd", "mid_usd", "high_usd", "order"])


def series() -> pd.DataFrame:
    return pd.DataFrame(
        [(n, t, q, float(t)) for n in NAMES for q in ("queue_bytes", "held_fraction") for t in range(10)],
        columns=["candidate", "time_us", "quantity", "value"],
    )


def collective() -> pd.DataFrame:
    rows = [
        (n, 2**p, 1e-5, 1e-5, 2e-5, 1e9 * p, 1e9, 2e10, "ring", "nic") for n in NAMES for p in range(10, 31)
    ]
    columns = [
        "candidate", "message_bytes", "time_s", "low_s", "high_s", "bus_bandwidth_bytes_per_s", "bus_low_bytes_per_s",
        "bus_high_bytes_per_s", "algorithm", "binding_limit",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).assign(ranks=64)


POINTS = pd.DataFrame(
    {
        "candidate": ["A"], "message_bytes": [2.0**30], "bus_bandwidth_bytes_per_s": [3e10], "gpus": ["64"],
        "setting": ["ring"], "source": ["s"], "id": ["m1"], "partly_unknown": [True],
    }
)  # fmt: skip
NONE = pd.DataFrame(columns=["candidate", "value", "text"])

MADE = {
    "time_against_cost": lambda: charts_decision.time_against_cost(
        *cloud(), COLOURS, "Time to train, days", "f"
    ),
    "cluster_size": lambda: charts_cluster_size.work_per_dollar(sizes(), COLOURS, turns(sizes()), 128),
    "small": lambda: charts_cluster_size.small(sizes(), "yearly_usd_per_gpu", COLOURS),
    "stacked": lambda: charts_cost.stacked(cost(), "f", "s"),
    "waterfall": lambda: charts_cost.waterfall(difference(cost(), "A", "C"), COLOURS),
    "panel": lambda: charts_incast.panel(series(), "queue_bytes", COLOURS, 9.0, True, NONE),
    "sketch": lambda: charts_incast.strip(32, True),
    "bus_bandwidth": lambda: charts_collectives.bus_bandwidth(collective(), POINTS, COLOURS),
}


@pytest.mark.parametrize("name", list(MADE))
def test_a_chart_has_a_finding_a_text_alternative_and_only_finite_numbers(name: str) -> None:
    text = MADE[name]().to_json()
    spec = json.loads(text)
    assert len(spec["title"]["text"]) > 0
    assert len(spec["description"]) > 20
    assert "NaN" not in text and "Infinity" not in text


@pytest.mark.skipif(not charts.can_export(), reason="extra `export` is not installed")
@pytest.mark.parametrize("name", ["time_against_cost", "waterfall", "panel"])
def test_a_chart_is_written_as_png_and_svg(name: str) -> None:
    chart = MADE[name]()
    assert charts.png(chart).startswith(b"\x89PNG")
    assert "<svg" in charts.svg(chart)


def test_turns_are_found_and_a_size_that_cannot_be_built_is_no_turn() -> None:
    found = turns(sizes())
    assert [(t.gpus_before, t.gpus) for t in found if t.kind == "best"] == [(128, 256)]
    assert Turn(128, 256, "tiers", "all but C: 2 tiers") in found


def test_a_waterfall_starts_and_ends_at_the_totals() -> None:
    table = difference(cost(), "A", "C")
    totals = cost_totals(cost()).set_index("candidate").mid_usd
    assert table.end_usd.iloc[0] == pytest.approx(totals["A"])
    assert table.end_usd.iloc[-1] == pytest.approx(totals["C"])
    steps = table[table.kind == "change"]
    assert steps.change_usd.sum() == pytest.approx(totals["C"] - totals["A"])
