"""Machines and settings beyond 8-GPU nodes: shared NICs, racks, expert exchanges, forced algorithms, one GPU a node."""

from __future__ import annotations

from importlib import import_module

import pytest

from models.catalog.technology import technology
from models.solvers.collective_all_to_all import moe_bytes
from models.topology.network import Network
from models.workload.phase import Expert, Phase, PhaseTime, RankGroups
from tests.solvers.collective_cases import FOLDERS, link_of, network_of, phase_of

GIB = 2.0**30
SHARP = {"in_network_reduction.granted": True}


def time_of(
    name: str, phase: Phase, network: Network, method: str = "analytical", **more: object
) -> PhaseTime:
    module = import_module(f"models.{FOLDERS[technology(name).fabric]}.{method}")
    found: PhaseTime = module.phase_time(phase, network, link_of(name, more.get("overrides")))  # type: ignore[arg-type]
    return found


def dispatch(tokens: int = 4096, low_latency: bool = False, ranks: int = 64) -> Phase:
    expert = Expert(tokens, 8, 7168, 4, 1.031, low_latency)
    return phase_of("moe_dispatch", moe_bytes(expert), RankGroups(ranks), expert=expert)


@pytest.mark.parametrize("method", ["analytical", "fluid"])
@pytest.mark.parametrize("name", ["infiniband_ndr", "spectrum_x_400g", "rocev2_spray_400g"])
def test_expert_dispatch_on_adaptive_fabrics_reaches_the_published_rate(method: str, name: str) -> None:
    """DeepEP: 51 GB/s at EP 64 on H800 with one 400G NIC a GPU, within the 25 % promised across leaves."""
    found = time_of(name, dispatch(), network_of(8, gpu="H800"), method)
    assert found.bus_bandwidth_bytes_per_s / 1e9 == pytest.approx(51, rel=0.08)
    wide = network_of(32, gpu="H800", kind="fat_tree", radix=32)
    spread = time_of(name, dispatch(ranks=256), wide, method)
    assert 0.75 * 51 < spread.bus_bandwidth_bytes_per_s / 1e9 < 51
    assert spread.binding_limit == "nic"


def test_expert_exchange_over_hashed_paths_is_slower_than_over_adaptive_ones() -> None:
    wide = network_of(32, gpu="H800", kind="fat_tree", radix=32)
    hashed = time_of("rocev2_400g", dispatch(ranks=256), wide, "fluid", overrides={"routing.queue_pairs": 1})
    adaptive = time_of("rocev2_spray_400g", dispatch(ranks=256), wide, "fluid")
    assert hashed.time_s > adaptive.time_s


def test_low_latency_kernels_send_a_token_once_per_expert() -> None:
    """Normal kernels send it once per node: faster for many tokens."""
    network = network_of(8, gpu="H800")
    quick, normal = (
        time_of("infiniband_ndr", dispatch(8192, low_latency), network).time_s
        for low_latency in (True, False)
    )
    assert quick > 1.5 * normal


@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "all_to_all"])
def test_half_the_nics_take_twice_as_long(operation: str) -> None:
    eight, four, two = (
        time_of("rocev2_400g", phase_of(operation, 8 * GIB, RankGroups(64)), network_of(8, nics=nics)).time_s
        for nics in (8, 4, 2)
    )
    assert two / four == pytest.approx(2.0, rel=0.05)
    assert 1.6 < four / eight <= 2.05  # with 8 NICs NVLink takes a share of the limit


def test_two_ranks_of_one_node_pass_through_nvlink_whatever_the_nics() -> None:
    groups = RankGroups(2, groups=32)
    times = {
        time_of("rocev2_400g", phase_of("all_reduce", GIB, groups), network_of(8, nics=nics)).time_s
        for nics in (8, 4)
    }
    assert len(times) == 1


@pytest.mark.parametrize(
    "operation", ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]
)
def test_racks_slow_down_one_after_the_other(operation: str) -> None:
    """GB200 NVL72: one rack is NVLink only; every further one costs, and no NIC is overrun."""
    times = []
    for racks in (1, 2, 4, 8):
        network = network_of(18 * racks, gpu="GB200", per_node=4, nics=4)
        phase = phase_of(operation, 4 * GIB, RankGroups(72 * racks))
        found = time_of("infiniband_ndr", phase, network)
        assert (found.binding_limit == "nvlink") or racks > 1
        times.append(found.time_s)
    assert times == sorted(times)


def test_sharp_is_refused_over_racks_and_the_result_says_so() -> None:
    network = network_of(36, gpu="GB200", per_node=4, nics=4)
    phase = phase_of("all_reduce", GIB, RankGroups(144))
    found = time_of("infiniband_ndr", phase, network, overrides=SHARP)
    assert not found.algorithm.startswith("collnet")
    assert any(note.startswith("no SHARP") for note in found.notes)


@pytest.mark.parametrize("forced", ["ring", "tree", "nvls", "nvls_tree", "collnet", "collnet_nvls", "sharp"])
def test_a_forced_algorithm_runs(forced: str) -> None:
    asked = phase_of("all_reduce", 8 * GIB, RankGroups(64), algorithm=forced)
    found = time_of("infiniband_ndr", asked, network_of(8), overrides=SHARP)
    meant = {"nvls": "nvls_tree", "sharp": "collnet_nvls"}  # over several nodes
    assert found.algorithm.split("/")[0] == meant.get(forced, forced)
    assert not any("does not exist" in note for note in found.notes)


@pytest.mark.parametrize("forced", ["ring", "tree", "nvls_tree", "collnet"])
def test_forcing_never_beats_the_free_choice(forced: str) -> None:
    for size in (2.0**16, 2.0**24, GIB, 8 * GIB):
        free = phase_of("all_reduce", size, RankGroups(64))
        asked = phase_of("all_reduce", size, RankGroups(64), algorithm=forced)
        times = [
            time_of("infiniband_ndr", each, network_of(8), overrides=SHARP).time_s for each in (free, asked)
        ]
        assert times[0] <= times[1]


def test_what_cannot_be_forced_is_replaced_in_words() -> None:
    asked = phase_of("all_gather", GIB, RankGroups(64), algorithm="tree")
    found = time_of("rocev2_400g", asked, network_of(8))
    assert found.algorithm == "ring/simple"
    assert any("tree does not exist" in note for note in found.notes)


def test_pat_wins_for_small_gathers_over_many_single_gpu_nodes_only() -> None:
    """log2(n) network steps against n - 1; 0.75 of the ring's rate."""
    network = network_of(64, per_node=1, nics=1)
    small, large = (
        time_of("infiniband_ndr", phase_of("all_gather", size, RankGroups(64)), network).algorithm
        for size in (65536.0, 4 * GIB)
    )
    assert small == "pat"
    assert large.startswith("ring")
