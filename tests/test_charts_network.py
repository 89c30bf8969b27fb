"""The network's charts as data: classes of load, the hot link by name, names of rows."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from models import charts_network, charts_network_tiers
from models.compare.link_load import link_load
from models.scenario.load import SHIPPED, load, with_values

COLOURS = {"A": "#0072B2", "B": "#D55E00"}


def boxes_and_lines(loads: list[float], down: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    count = len(loads)
    boxes = pd.DataFrame(
        {
            "tier": ["leaf"] * count + ["spine"],
            "switch": [f"leaf{i}" for i in range(count)] + ["spine0"],
            "number": [*range(count), 0],
            "place": [(i + 0.5) / count for i in range(count)] + [0.5],
            "of_tier": [64] * count + [1],
        }
    )
    lines = pd.DataFrame(
        {
            "lower_tier": "leaf", "lower": [f"leaf{i}" for i in range(count)], "upper_tier": "spine", "upper": "spine0",
            "cables": 4, "cables_down": down, "load_up_fraction": loads, "load_down_fraction": 0.1, "load_fraction": loads,
        }
    )  # fmt: skip
    return boxes, lines


def drawn(loads: list[float], down: int = 0) -> tuple[dict[str, Any], str]:
    chart = charts_network_tiers.tier_diagram(
        *boxes_and_lines(loads, down), {"leaf": 64, "spine": 64}, "32 NIC ports below", "fat tree"
    )
    spec = chart.to_dict()
    return spec, json.dumps(spec, ensure_ascii=False)


def test_the_hottest_link_is_named_in_title_label_and_spoken_text() -> None:
    spec, text = drawn([0.4, 2.4, 1.2])
    assert spec["title"]["text"] == "Hottest link: leaf1 to spine0 is offered 240 % of what it carries"
    assert spec["title"]["subtitle"] == "Drawn around the fullest link: 3 of 64 leaves"
    assert "leaf1 \u2013 spine0: 240 %" in text
    assert "2 of 3 lines drawn are offered more than they carry" in spec["description"]
    rows = [row for data in spec["datasets"].values() for row in data if "load" in row]
    assert {row["lower"]: row["load"] for row in rows} == {
        "leaf0": "to 50 %",
        "leaf1": "above",
        "leaf2": "to 150 %",
    }


def test_nothing_is_painted_as_hot_where_nothing_collides() -> None:
    spec, text = drawn([0.4, 1.0])
    assert spec["title"]["text"] == "No link is offered more than it carries; the fullest is offered 100 %"
    assert "spine0: 100 %" not in text


def test_a_line_all_of_whose_cables_are_down_is_a_class_of_its_own() -> None:
    spec, _ = drawn([0.0], down=4)
    domains = [
        layer["encoding"]["color"]["scale"]["domain"]
        for layer in spec["layer"]
        if "scale" in layer["encoding"].get("color", {})
    ]
    assert domains == [["down"]]


@pytest.mark.parametrize("changes", [{}, {"cluster.gpus": 64}, {"topology.kind": "dragonfly_plus"}])
def test_every_candidate_of_a_scenario_is_drawn(changes: dict[str, Any]) -> None:
    found = link_load(with_values(load(SHIPPED / "llama3-70b-1024-h100.yaml"), changes), "bisection")
    for name in found.summary.candidate:
        boxes, lines = (table[table.candidate == name] for table in (found.boxes, found.lines))
        spec = charts_network_tiers.tier_diagram(boxes, lines, {"leaf": 64}, "", "words").to_dict()
        assert spec["description"] and spec["title"]["text"]


def test_the_rate_chart_says_what_the_other_routing_would_change() -> None:
    flows = pd.DataFrame(
        {
            "candidate": ["A", "A", "A", "A", "B", "B", "B", "B"],
            "share_of_flows": [0.0, 1.0] * 4,
            "rate_fraction": [0.4, 0.6, 1.0, 1.0, 1.0, 1.0, 0.9, 0.9],
            "routing": ["ecmp", "ecmp", "adaptive", "adaptive", "adaptive", "adaptive", "static", "static"],
            "what_if": [False, False, True, True] * 2,
            "mean_rate_fraction": [0.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.9, 0.9],
        }
    )
    one = charts_network.flow_rates(flows, COLOURS, "A").to_dict()
    assert one["title"]["text"] == "Adaptive would add 50 points of mean rate"
    other = charts_network.flow_rates(flows, COLOURS, "B").to_dict()
    assert other["title"]["text"] == "Static tables would cost 10 points of mean rate"
    assert "A if" not in json.dumps(other)
