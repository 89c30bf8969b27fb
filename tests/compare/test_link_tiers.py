"""The picture of a network: the right boxes, every cable once, the hottest link always on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.compare.link_load import link_load, load_sentence
from models.compare.link_tiers import tier_picture
from models.scenario.load import SHIPPED, load, with_values
from models.scenario.schema import Topology
from models.topology.graph import graph
from models.topology.network import plain_network


@pytest.fixture(scope="module")
def shipped() -> Any:
    return load(SHIPPED / "llama3-70b-1024-h100.yaml")


def picture(gpus: int, radix: int, boxes_max: int = 32, kind: str = "fat_tree", at: int | None = None) -> Any:
    built = graph(plain_network(gpus, Topology(kind=kind), radix=radix), 50e9)
    fraction = np.full(built.links, 0.25)
    if at is not None:
        fraction[at] = 3.0
    return built, *tier_picture(built, fraction, boxes_max)


def test_a_small_network_is_drawn_whole_with_every_cable_once() -> None:
    built, boxes, lines = picture(128, 16)
    assert boxes.groupby("tier").size().to_dict() == {"leaf": 16, "spine": 8}
    assert int(lines.cables.sum()) == built.shape.leaves * built.shape.up
    assert set(lines.load_fraction) == {0.25} and not lines.cables_down.any()
    assert boxes[boxes.tier == "leaf"].place.between(0, 1).all()


@pytest.mark.parametrize("tier", ["leaf-spine", "spine-leaf", "spine-core", "core-spine"])
def test_a_large_network_is_drawn_around_its_hottest_link(tier: str) -> None:
    built = graph(plain_network(1024, Topology(kind="fat_tree"), radix=16), 50e9)
    links = built.tier(tier)
    _, boxes, lines = picture(1024, 16, boxes_max=6, at=links.stop - 3)
    hottest = lines.loc[lines.load_fraction.idxmax()]
    assert hottest.load_fraction == 3.0
    up = tier in ("leaf-spine", "spine-core")
    assert hottest["load_up_fraction" if up else "load_down_fraction"] == 3.0
    assert (hottest.lower_tier, hottest.upper_tier) == tuple(
        sorted(tier.split("-"), key="leaf spine core".index)
    )
    assert boxes.groupby("tier").size().max() <= 6
    assert boxes.groupby("tier").of_tier.first().to_dict() == {"leaf": 128, "spine": 128, "core": 64}
    assert {*lines.lower, *lines.upper} <= set(boxes.switch)


def test_dead_cables_are_counted_on_their_line(shipped: Any) -> None:
    failed = link_load(with_values(shipped, {"failures.leaf_links_fraction": 0.05}), "permutation")
    down = failed.lines.groupby("candidate").cables_down.sum()
    summary = failed.summary.set_index("candidate").cables_down
    assert (down > 0).all()
    assert (summary == down[summary.index]).all() and set(summary) == {51}  # 5 % of 1,024


def test_the_picture_shows_the_load_the_table_says(shipped: Any) -> None:
    found = link_load(shipped, "permutation")
    highest = found.lines.groupby("candidate").load_fraction.max()
    told = found.summary.set_index("candidate").highest_offered_load
    assert highest[told.index].to_numpy() == pytest.approx(told.to_numpy())


def test_the_other_routing_is_solved_on_the_same_links(shipped: Any) -> None:
    found = link_load(shipped, "permutation")
    mean = found.flows.groupby(["candidate", "what_if"]).mean_rate_fraction.first()
    kind = found.flows.groupby(["candidate", "what_if"]).routing.first()
    assert kind["RoCEv2 400G", False] == "ecmp" and kind["RoCEv2 400G", True] == "adaptive"
    assert kind["InfiniBand NDR", True] == "static"
    assert mean["RoCEv2 400G", True] > mean["RoCEv2 400G", False] + 0.05
    assert mean["Spectrum-X 400G", True] < mean["Spectrum-X 400G", False] - 0.05
    assert "ECMP" in load_sentence(found.summary)


def test_one_switch_has_no_line() -> None:
    _, boxes, lines = picture(8, 16)
    assert list(boxes.switch) == ["leaf0"] and lines.empty
