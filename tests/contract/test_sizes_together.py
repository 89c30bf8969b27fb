"""Many message sizes at once give the figures of each size by itself, to the last bit, on every fabric and method."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from models.catalog.technology import technology
from models.compare.fabrics import METHODS, Method, fabric_link, phase_time_function, phase_times_function
from models.scenario.schema import Topology
from models.scenario.workloads import CollectiveOperation
from models.topology.network import plain_network
from models.workload.phase import Expert, Phase, RankGroups

SIZES = [0.0, 1.0, 4096.0, 65_537.0, 2.0**20, 2.0**24 - 1, 2.0**24, 3e8, 2.0**30, 2.0**34 + 1, 1e12]
SHARP = {"in_network_reduction.granted": True}
GPUS = 256


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("operation", get_args(CollectiveOperation))
@pytest.mark.parametrize(
    ("preset", "overrides"),
    [("infiniband_ndr", {}), ("infiniband_ndr", SHARP), ("rocev2_400g", {}), ("spectrum_x_400g", {}), ("tcp_400g", {})],
    ids=["ib", "ib with sharp", "roce", "spectrum-x", "tcp"],
)  # fmt: skip
def test_each_size_is_itself(preset: str, overrides: dict[str, bool], operation: str, method: Method) -> None:
    link = fabric_link(technology(preset, overrides))
    network = plain_network(GPUS, Topology(oversubscription=2.0), 64)
    expert = Expert(128, 8, 7168, 0, 2.0, False) if operation.startswith("moe") else None
    phase = Phase(operation, operation, 0.0, RankGroups(GPUS), expert=expert)  # type: ignore[arg-type]
    fabric = link.technology.fabric
    alone, together = phase_time_function(fabric, method), phase_times_function(fabric, method)
    found = together(phase, SIZES, network, link)
    assert found == [alone(replace(phase, message_bytes=size), network, link) for size in SIZES]
    assert len({time.time_s for time in found}) > len(SIZES) // 2


def test_sharp_takes_part_in_that_test() -> None:
    link = fabric_link(technology("infiniband_ndr", SHARP))
    phase = Phase("all_reduce", "all_reduce", 0.0, RankGroups(GPUS))
    network = plain_network(GPUS, Topology(oversubscription=2.0), 64)
    found = phase_times_function("ib", "analytical")(phase, SIZES, network, link)
    assert any(time.algorithm.startswith("collnet") for time in found)
    assert any("operations per NIC" in note for note in found[-1].notes)
    assert not any("operations per NIC" in note for note in found[0].notes)
