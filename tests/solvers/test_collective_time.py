"""Collectives: choice of algorithm, rates published runs pin down, bounds no algorithm can beat."""

from __future__ import annotations

import numpy as np
import pytest

from models.solvers.alpha_beta import Cost, times_s
from models.solvers.collective_all_to_all import moe_bytes
from models.solvers.collective_rates import Reduction
from models.solvers.collective_time import COLLECTIVES, collective_time, collective_times
from models.solvers.load_balance import LoadBalance
from models.workload.phase import Expert, RankGroups
from tests.solvers.collective_cases import ideal, link_of, network_of, phase_of

GIB = 1024**3
IB, ROCE = link_of("infiniband_ndr"), link_of("rocev2_400g")


def slow_times(cost: Cost, sizes: list[float]) -> list[float]:
    """The obvious twin of the vectorised core."""
    found = []
    for size in sizes:
        chunks, left = 0, size
        while left > cost.chunk_bytes:
            chunks, left = chunks + 1, left - cost.chunk_bytes
        ramp = cost.ramp_s * size / (size + cost.ramp_bytes)
        found.append(cost.latency_s + chunks * cost.chunk_s + size / cost.rate_bytes_per_s + ramp)
    return found


def test_vectorised_core_equals_its_slow_twin() -> None:
    cost = Cost("collnet", 4e-5, 2e11, "switch", 1e-4, 4e7, chunk_bytes=1e6, chunk_s=3e-6)
    sizes = [0.0, 1.0, 1e6, 1e6 + 1, 2.5e6, 1e7]
    assert times_s([cost], np.array(sizes))[0].tolist() == pytest.approx(slow_times(cost, sizes))


@pytest.mark.parametrize(
    ("ranks", "algorithm", "bus"),
    [(4, "ring", 363), (5, "nvls", 414), (6, "nvls", 436), (7, "nvls", 460), (8, "nvls", 473)],
)
def test_hopper_node_series(ranks: int, algorithm: str, bus: float) -> None:
    """stas00/ml-engineering: 4-8 H200 at 8 GiB, the algorithm the library chose and its bus bandwidth."""
    network = network_of(1, gpu="H200", per_node=ranks)
    found = collective_time(phase_of("all_reduce", 8 * GIB, RankGroups(ranks)), network, IB, ideal)
    assert found.algorithm.split("/")[0] == algorithm
    assert found.bus_bandwidth_bytes_per_s / 1e9 == pytest.approx(bus, rel=0.03)


def test_two_nodes_beat_the_nics_only_through_the_tree() -> None:
    """Two 8 x 400G nodes: 470 GB/s published; the ring alone 330 (NVIDIA/nccl issue 1221)."""
    phase = phase_of("all_reduce", 8 * GIB, RankGroups(16))
    tree = collective_time(phase, network_of(2), ROCE, ideal)
    ring = collective_time(
        phase_of("all_reduce", 8 * GIB, RankGroups(16), algorithm="ring"), network_of(2), ROCE, ideal
    )
    assert tree.algorithm == "nvls_tree"
    assert tree.bus_bandwidth_bytes_per_s / 1e9 == pytest.approx(470, rel=0.03)
    assert ring.bus_bandwidth_bytes_per_s / 1e9 == pytest.approx(330, rel=0.03)


def test_a_named_algorithm_is_used_or_its_absence_said() -> None:
    phase = phase_of("all_reduce", GIB, RankGroups(16), algorithm="tree/ll128")
    assert collective_time(phase, network_of(2), IB, ideal).algorithm == "tree/ll128"
    absent = phase_of("all_reduce", GIB, RankGroups(16), algorithm="collnet")
    found = collective_time(absent, network_of(2), IB, ideal)
    assert any("collnet does not exist" in note for note in found.notes)


def test_small_messages_are_bound_by_latency_large_ones_by_a_rate() -> None:
    limits = [
        collective_time(phase_of("all_reduce", size, RankGroups(64)), network_of(8), IB, ideal).binding_limit
        for size in (8.0, 16.0 * GIB)
    ]
    assert limits == ["latency", "nic"]


def test_a_fabric_with_collisions_is_named_as_the_limit() -> None:
    def half(pattern: str) -> LoadBalance:
        return LoadBalance(0.5, 0.7, "test")

    found = collective_time(phase_of("all_reduce", 16 * GIB, RankGroups(64)), network_of(8), ROCE, half)
    assert found.binding_limit == "fabric"


def test_pcie_binds_a_fast_nic_in_an_old_slot() -> None:
    found = collective_time(
        phase_of("all_reduce", 16 * GIB, RankGroups(32)), network_of(4, gpu="A100"), IB, ideal
    )
    assert found.binding_limit == "pcie"


def test_shared_nics_halve_the_rate_of_data_parallel_groups() -> None:
    groups = RankGroups(16, groups=8, stride=8)
    eight, four = (
        collective_time(phase_of("all_gather", 16 * GIB, groups), network_of(16, nics=nics), IB, ideal).time_s
        for nics in (8, 4)
    )
    assert four / eight == pytest.approx(2.0, rel=0.01)


def test_several_racks_are_rings_and_slower_than_two() -> None:
    def bus(racks: int) -> float:
        network = network_of(18 * racks, gpu="GB200", per_node=4, nics=4)
        phase = phase_of("all_reduce", 16 * GIB, RankGroups(72 * racks))
        return collective_time(phase, network, IB, ideal).bus_bandwidth_bytes_per_s / 1e9

    assert bus(1) == pytest.approx(835, rel=0.06)
    assert bus(2) == pytest.approx(810, rel=0.06)
    assert bus(20) == pytest.approx(406, rel=0.06)


@pytest.mark.parametrize(("domains", "rate"), [(2, 43), (4, 58), (8, 51)])
def test_expert_dispatch_reproduces_the_published_rates(domains: int, rate: float) -> None:
    """DeepEP on H800, normal kernels: EP 16 is NVLink-bound, EP 32 has 3/4 remote copies, EP 64 7/8."""
    expert = Expert(4096, 8, 7168, 4, 1.031, False)
    phase = phase_of("moe_dispatch", moe_bytes(expert), RankGroups(8 * domains), expert=expert)
    found = collective_time(phase, network_of(domains, gpu="H800"), IB, ideal)
    assert found.bus_bandwidth_bytes_per_s / 1e9 == pytest.approx(rate, rel=0.03)


def test_all_to_all_never_beats_its_remote_share() -> None:
    phase = phase_of("all_to_all", GIB, RankGroups(64))
    found = collective_time(phase, network_of(8), IB, ideal)
    assert found.time_s >= GIB * 7 / 8 / IB.rate_bytes_per_s


def test_experts_without_figures_are_refused() -> None:
    with pytest.raises(ValueError, match="tokens"):
        collective_time(phase_of("moe_dispatch", GIB, RankGroups(16)), network_of(2), IB, ideal)


def test_no_collective_is_refused() -> None:
    with pytest.raises(ValueError, match="no collective"):
        collective_time(phase_of("incast", GIB, RankGroups(16)), network_of(2), IB, ideal)


def test_a_balance_is_asked_only_across_domains() -> None:
    def never(pattern: str) -> LoadBalance:
        raise AssertionError(pattern)

    for operation in COLLECTIVES - {"moe_dispatch", "moe_combine"}:
        collective_time(phase_of(operation, GIB, RankGroups(8)), network_of(1), IB, never)


def test_many_sizes_at_once_equal_one_by_one() -> None:
    sizes = np.geomspace(1, 16 * GIB, 40)
    phase, network = phase_of("all_reduce", 0, RankGroups(64)), network_of(8)
    granted = Reduction(4e10, 1e-6, 1e8, 3e-6)
    together = collective_times(phase, sizes, network, IB, ideal, granted)
    single = [
        collective_time(phase_of("all_reduce", float(size), RankGroups(64)), network, IB, ideal, granted)
        for size in sizes
    ]
    assert together.time_s.tolist() == pytest.approx([found.time_s for found in single])
    names = [together.costs[i].algorithm for i in together.choice]
    assert names == [found.algorithm for found in single]


def test_pat_is_offered_with_one_gpu_a_node_only() -> None:
    alone = network_of(64, per_node=1, nics=1)
    pat = phase_of("all_gather", 4096, RankGroups(64), algorithm="pat")
    assert collective_time(pat, alone, IB, ideal).algorithm == "pat"
    assert collective_time(pat, network_of(8), IB, ideal).algorithm != "pat"


def test_one_rank_costs_nothing() -> None:
    assert collective_time(phase_of("all_reduce", GIB, RankGroups(1)), network_of(1), IB, ideal).time_s == 0.0
