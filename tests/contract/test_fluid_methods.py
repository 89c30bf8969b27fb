"""The fluid method of every fabric: bounds, limits shared with the closed form, figures reported, clear refusals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from models.catalog.technology import technology
from models.compare.fabrics import PhaseTimeFunction, fabric_link, phase_time_function
from models.scenario.schema import Failures, Topology
from models.topology.link import Link
from models.topology.network import Network, plain_network
from models.topology.size import CannotBuild
from models.units import MIB
from models.workload.phase import Operation, Phase, PhaseTime, RankGroups, StorageTransfer

TRANSFERS: tuple[Operation, ...] = ("permutation", "bisection", "storage", "kv_transfer")


@dataclass(frozen=True)
class Fabric:
    """A fabric's link and its two methods."""

    link: Link
    fluid: PhaseTimeFunction
    closed: PhaseTimeFunction

    def time(self, phase: Phase, network: Network) -> PhaseTime:
        return self.fluid(phase, network, self.link)


@pytest.fixture(params=["infiniband_ndr", "rocev2_400g", "tcp_400g"])
def fabric(request: pytest.FixtureRequest) -> Fabric:
    preset = technology(request.param)
    methods = (phase_time_function(preset.fabric, method) for method in ("fluid", "analytical"))
    return Fabric(fabric_link(preset), *methods)


def network(gpus: int = 256, kind: str = "fat_tree", taper: float = 1.0, **options: object) -> Network:
    topology = Topology(kind=kind, oversubscription=taper)  # type: ignore[arg-type]
    return plain_network(gpus, topology, 32, **options)  # type: ignore[arg-type]


def phase(operation: Operation, message_bytes: float, gpus: int = 256, **options: object) -> Phase:
    groups = RankGroups(2, gpus // 2, gpus // 2) if operation == "kv_transfer" else RankGroups(gpus)
    storage = StorageTransfer(16, 50e9, 40e9, "checkpoint_write") if operation == "storage" else None
    return Phase(operation, operation, message_bytes, groups, storage=storage, **options)  # type: ignore[arg-type]


def time_of(
    fabric: Fabric, operation: Operation, message_bytes: float = 64 * MIB, **options: object
) -> PhaseTime:
    return fabric.time(phase(operation, message_bytes), network(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("operation", TRANSFERS)
def test_never_faster_than_the_line_and_monotone_in_bytes(fabric: Fabric, operation: Operation) -> None:
    times = [time_of(fabric, operation, size) for size in (0.0, 1.0, MIB, 64 * MIB, 128 * MIB)]
    seconds = [t.time_s for t in times]
    assert seconds == sorted(seconds) and seconds[0] > 0.0
    assert all(t.low_s <= t.time_s <= t.high_s for t in times)
    assert (
        seconds[3]
        >= 64 * MIB / fabric.link.goodput_bytes_per_s * (7 / 8 if operation == "storage" else 1.0) * 0.999
    )


@pytest.mark.parametrize("operation", ["permutation", "bisection"])
def test_oversubscription_never_helps(fabric: Fabric, operation: Operation) -> None:
    seconds = [time_of(fabric, operation, taper=taper).time_s for taper in (1.0, 2.0, 4.0)]
    assert seconds[0] < seconds[1] < seconds[2]


@pytest.mark.parametrize("operation", [*TRANSFERS, "all_reduce", "all_to_all", "send_recv"])
def test_uncongested_equals_the_closed_form(fabric: Fabric, operation: Operation) -> None:
    alone = network(32)  # one leaf: no path to choose
    given = phase(operation, 64 * MIB, 32)
    fluid, closed = (method(given, alone, fabric.link) for method in (fabric.fluid, fabric.closed))
    assert fluid.time_s == pytest.approx(closed.time_s, rel=0.02)


def test_figures_for_the_network_page(fabric: Fabric) -> None:
    found = time_of(fabric, "permutation")
    values = {metric.name: metric.value for metric in found.metrics}
    assert (
        0
        < values["flow_throughput_slowest"]
        <= values["flow_throughput_mean"]
        <= fabric.link.goodput_bytes_per_s
    )
    for tier in ("host_leaf", "leaf_spine", "spine_leaf"):
        assert 0 <= values[f"link_load_{tier}_p50"] <= values[f"link_load_{tier}_max"] <= 1.0 + 1e-9
    assert found.series["flow_rate_gbit_per_s"].size == 256
    assert np.isfinite(found.series["link_load_leaf_spine"]).all()


def test_collectives_say_where_their_balance_comes_from(fabric: Fabric) -> None:
    found = fabric.time(phase("all_reduce", 2**30), network())
    assert any(metric.name.startswith("load_balance_") for metric in found.metrics)
    assert any("flows on the graph" in note or "no contention" in note for note in found.notes)


def test_same_seed_same_result(fabric: Fabric) -> None:
    again = network(seed=3)
    assert fabric.time(phase("permutation", MIB), again) == fabric.time(phase("permutation", MIB), again)


@pytest.mark.parametrize("operation", ["permutation", "bisection", "storage", "all_to_all"])
def test_a_network_cut_in_two_is_refused(fabric: Fabric, operation: Operation) -> None:
    cut = network(failures=Failures(links=tuple(f"leaf0-spine{n}" for n in range(8))))
    assert cut.size.spines_per_copy == 8
    with pytest.raises(CannotBuild, match=r"no live (path|link)"):
        fabric.time(phase(operation, MIB), cut)


@pytest.mark.parametrize("operation", ["all_reduce", "all_to_all", "permutation"])
def test_rail_only_goes_through_nvlink(fabric: Fabric, operation: Operation) -> None:
    found = fabric.time(phase(operation, 64 * MIB, 512), network(512, "rail_only"))
    assert 0 < found.time_s < 1.0
