"""SHARP: who gets a tree, what its links carry, what it saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.infiniband.analytical import phase_time
from models.infiniband.sharp import reduction, reduction_trees, refusal, saving_s
from models.scenario.schema import Placement
from models.workload.phase import RankGroups
from tests.solvers.collective_cases import ideal, link_of, network_of, phase_of

GIB = 1024**3
NDR = link_of("infiniband_ndr")


def test_link_loads_do_not_grow_with_the_ranks() -> None:
    loads = [
        reduction_trees(phase_of("all_reduce", GIB, RankGroups(8 * nodes)), network_of(nodes)).link_loads(
            GIB, 8
        )
        for nodes in (64, 512)
    ]
    assert loads[0]["host-leaf"] == loads[1]["host-leaf"] == GIB / 8
    assert loads[0]["leaf-spine"] == loads[1]["leaf-spine"] == GIB / 8


def test_levels_follow_the_switches() -> None:
    def levels(nodes: int) -> int:
        return reduction_trees(phase_of("all_reduce", GIB, RankGroups(8 * nodes)), network_of(nodes)).levels

    assert [levels(8), levels(128)] == [1, 2]


@pytest.mark.parametrize(
    ("changes", "overrides", "reason"),
    [
        ({}, {"in_network_reduction.granted": False}, "holds no reduction tree"),
        ({}, {"in_network_reduction.kind": "none"}, "no in-network reduction"),
        ({"dtype": "fp8"}, {}, "fp8"),
        ({"operation": "all_gather"}, {}, "only all_reduce"),
        ({"groups": RankGroups(8, 8)}, {}, "does not leave"),
    ],
)
def test_refusals_say_why(changes: dict[str, object], overrides: dict[str, object], reason: str) -> None:
    phase = replace(phase_of("all_reduce", GIB, RankGroups(64)), **changes)  # type: ignore[arg-type]
    assert reason in refusal(phase, network_of(8), link_of("infiniband_ndr", overrides))


def test_groups_on_rails_of_their_own_are_admitted_groups_on_one_leaf_are_not() -> None:
    phase = phase_of("all_reduce", GIB, RankGroups(64, groups=8, stride=8))
    assert refusal(phase, network_of(64), NDR) == ""
    assert "meet in one leaf" in refusal(phase, network_of(64, kind="fat_tree"), NDR)
    more = link_of("infiniband_ndr", {"in_network_reduction.jobs_per_switch": 64.0})
    assert refusal(phase, network_of(64, kind="fat_tree"), more) == ""


def test_the_fallback_is_said_in_the_result() -> None:
    refused = link_of("infiniband_ndr", {"in_network_reduction.granted": False})
    found = phase_time(phase_of("all_reduce", GIB, RankGroups(64)), network_of(8), refused)
    assert any("no SHARP" in note for note in found.notes)
    assert not found.algorithm.startswith("collnet")


def test_large_messages_are_cut_and_each_further_operation_costs() -> None:
    network = network_of(8)
    small, _ = reduction(phase_of("all_reduce", GIB, RankGroups(64)), network, NDR)
    large, _ = reduction(phase_of("all_reduce", 16 * GIB, RankGroups(64)), network, NDR)
    assert small is not None and large is not None
    assert not small.notes
    assert "operations per NIC" in large.notes[0]
    tight = link_of("infiniband_ndr", {"in_network_reduction.max_message_bytes": 2.0**20})
    phase = phase_of("all_reduce", 8 * GIB, RankGroups(64), algorithm="collnet")
    assert phase_time(phase, network, tight).time_s > phase_time(phase, network, NDR).time_s


def test_pure_reduction_nearly_doubles_a_ring_with_one_gpu_a_node() -> None:
    network = network_of(64, per_node=1, nics=1)
    phase = phase_of("all_reduce", 4 * GIB, RankGroups(64))
    with_it = phase_time(phase, network, NDR)
    without = phase_time(replace(phase, algorithm="ring"), network, NDR)
    assert without.time_s / with_it.time_s == pytest.approx(2 * 63 / 64 * 0.93, rel=0.05)
    assert saving_s(phase, network, NDR, ideal) > 0.0
    metrics = {metric.name: metric.value for metric in with_it.metrics}
    assert metrics["in_network_reduction_saving"] == pytest.approx(
        metrics["time_without_in_network_reduction"] - with_it.time_s
    )


def test_a_tapered_network_does_not_slow_a_tree() -> None:
    phase = phase_of("all_reduce", 8 * GIB, RankGroups(512), algorithm="collnet")
    flat, tapered = (
        phase_time(phase, network_of(64, oversubscription=taper), NDR).time_s for taper in (1.0, 4.0)
    )
    assert tapered == pytest.approx(flat, rel=0.02)


def test_a_tree_does_not_depend_on_background_load() -> None:
    network = replace(network_of(64), placement=Placement(background_load=0.3))
    phase = phase_of("all_reduce", 8 * GIB, RankGroups(512), algorithm="collnet")
    assert phase_time(phase, network, NDR).time_s == phase_time(phase, network_of(64), NDR).time_s
