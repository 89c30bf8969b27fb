"""What every fabric and every method must satisfy, whatever is inside.

Zero bytes cost latency only; nothing beats line rate; more bytes, a slower link or more oversubscription never
help; scaling bytes and rates together changes nothing without latency; equal link figures make the fabrics
equal; the same seed gives the same answer.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from math import inf, isfinite

import pytest

from models.catalog.technology import technology
from models.solvers.collective_all_to_all import moe_bytes
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Expert, Phase, PhaseTime, RankGroups
from tests.solvers.collective_cases import FOLDERS, link_of, network_of, phase_of

TECHNOLOGIES = ("infiniband_ndr", "rocev2_400g", "spectrum_x_400g", "tcp_400g")
METHODS = ("analytical", "fluid")
NODES = 8
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "send_recv")
TRANSFERS = ("permutation", "bisection")
SIZES = (0.0, 8.0, 65536.0, 2.0**20, 2.0**24, 2.0**28, 2.0**30, 2.0**33)


def time_of(method: str, name: str, phase: Phase, network: Network, link: Link | None = None) -> PhaseTime:
    folder = FOLDERS[technology(name).fabric]
    try:
        module = import_module(f"models.{folder}.{method}")
    except ModuleNotFoundError:
        pytest.skip(f"{folder} has no {method} method")
    found: PhaseTime = module.phase_time(phase, network, link or link_of(name))
    return found


def phase(operation: str, message_bytes: float, groups: RankGroups | None = None) -> Phase:
    return phase_of(operation, message_bytes, groups or RankGroups(8 * NODES))


every_method = pytest.mark.parametrize("method", METHODS)
every_fabric = pytest.mark.parametrize("name", TECHNOLOGIES)
every_operation = pytest.mark.parametrize("operation", COLLECTIVES + TRANSFERS)


@every_method
@every_fabric
@every_operation
def test_time_grows_with_bytes_and_zero_bytes_cost_latency(method: str, name: str, operation: str) -> None:
    network = network_of(NODES)
    times = [time_of(method, name, phase(operation, size), network).time_s for size in SIZES]
    assert times == sorted(times)
    assert 0.0 <= times[0] < 2e-3
    assert time_of(method, name, phase(operation, 0.0), network).binding_limit in {"latency", "none", "ramp"}


@every_method
@every_fabric
@every_operation
def test_the_record_is_whole(method: str, name: str, operation: str) -> None:
    found = time_of(method, name, phase(operation, 2.0**26), network_of(NODES))
    assert 0.0 < found.low_s <= found.time_s <= found.high_s
    assert isfinite(found.high_s) and found.algorithm
    known = {"nvlink", "nic", "pcie", "latency", "ramp", "fabric", "switch", "cpu", "storage", "none"}
    assert found.binding_limit in known


@every_method
@every_fabric
@pytest.mark.parametrize(
    ("operation", "share"),
    [
        ("all_reduce", 1.0),
        ("all_gather", 7 / 8),
        ("all_to_all", 7.0),
        ("permutation", 8.0),
        ("broadcast", 1.0),
    ],
)
def test_nothing_beats_line_rate(method: str, name: str, operation: str, share: float) -> None:
    """`share` x S must leave (or enter) a node of 8 GPUs over its 8 NICs: the least any algorithm can send."""
    size = 2.0**32
    found = time_of(method, name, phase(operation, size), network_of(NODES))
    assert size * share / 8 / found.time_s <= link_of(name).rate_bytes_per_s


@every_method
@every_fabric
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "all_to_all", "permutation"])
def test_a_faster_link_never_hurts(method: str, name: str, operation: str) -> None:
    network, times = network_of(NODES), []
    for rate in (100.0, 200.0, 280.0, 320.0, 340.0, 400.0, 800.0):
        link = link_of(name, {"link.rate_gbit_per_s": rate})
        times.append(time_of(method, name, phase(operation, 2.0**32), network, link).time_s)
    assert times == sorted(times, reverse=True)


@every_method
@every_fabric
@pytest.mark.parametrize("operation", ["all_reduce", "all_to_all", "permutation", "bisection"])
def test_oversubscription_never_helps(method: str, name: str, operation: str) -> None:
    """Fat tree of 16 nodes, leaves of one size, so that only the taper differs."""
    times = []
    for taper in (1.0, 3.0, 7.0):
        network = network_of(16, kind="fat_tree", radix=32, oversubscription=taper)
        times.append(time_of(method, name, phase(operation, 2.0**30, RankGroups(128)), network).time_s)
    assert times == sorted(times)


@every_method
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "all_to_all", "permutation"])
def test_equal_links_without_congestion_make_the_fabrics_equal(method: str, operation: str) -> None:
    reference = link_of("infiniband_ndr", {"in_network_reduction.kind": "none"})
    times = []
    for name in TECHNOLOGIES:
        own = link_of(name).technology
        other = reference.technology
        recovery = {"loss_fraction": other.loss_recovery.loss_fraction}
        equal = own.model_copy(
            update={
                "link": other.link,
                "host": other.host,
                "in_network_reduction": other.in_network_reduction,
                "loss_recovery": own.loss_recovery.model_copy(update=recovery),
            }
        )
        link = replace(reference, technology=equal, host_limit_bytes_per_s=inf)
        times.append(time_of(method, name, phase(operation, 2.0**28), network_of(NODES), link).time_s)
    assert times == pytest.approx([times[0]] * len(times), rel=1e-6)


@every_fabric
@pytest.mark.parametrize("operation", ["all_gather", "permutation"])
def test_uncongested_methods_agree(name: str, operation: str) -> None:
    one, other = (
        time_of(method, name, phase(operation, 2.0**30), network_of(NODES)).time_s for method in METHODS
    )
    assert other == pytest.approx(one, rel=0.05)


@every_method
@every_fabric
def test_same_seed_same_answer(method: str, name: str) -> None:
    network = network_of(16, kind="fat_tree", radix=32)
    asked = phase("all_to_all", 2.0**28, RankGroups(128))
    assert time_of(method, name, asked, network) == time_of(method, name, asked, network)


@every_method
@every_fabric
@pytest.mark.parametrize("low_latency", [False, True])
def test_expert_exchange_grows_with_tokens(method: str, name: str, low_latency: bool) -> None:
    times = []
    for tokens in (16, 128, 1024, 8192):
        expert = Expert(tokens, 8, 7168, 4, 1.0, low_latency)
        asked = replace(phase("moe_dispatch", moe_bytes(expert)), expert=expert)
        times.append(time_of(method, name, asked, network_of(NODES, gpu="H800")).time_s)
    assert times == sorted(times) and times[0] > 0.0


@every_method
@every_fabric
def test_scaling_bytes_and_rates_together_changes_nothing_without_latency(method: str, name: str) -> None:
    """Permutation of large messages: twice the bytes on twice the rate takes the same time."""
    times = []
    for factor in (1.0, 2.0):
        link = link_of(name, {"link.rate_gbit_per_s": 100.0 * factor, "loss_recovery.loss_fraction": 0.0})
        times.append(
            time_of(method, name, phase("permutation", factor * 2.0**33), network_of(NODES), link).time_s
        )
    assert times[1] == pytest.approx(times[0], rel=1e-3)
