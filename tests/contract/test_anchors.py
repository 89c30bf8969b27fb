"""Figures anyone can recompute by hand: header shares, PCIe ceilings, sizes of fat trees, bus bandwidth factors."""

from __future__ import annotations

import pytest

from models.infiniband.link import wire_efficiency as ib_efficiency
from models.rocev2.link import wire_efficiency as roce_efficiency
from models.scenario.schema import Topology
from models.solvers.alpha_beta import (
    bruck_all_gather_s,
    goodput_under_loss_fraction,
    ring_all_reduce_s,
    tree_all_reduce_s,
)
from models.solvers.collective_constants import constants
from models.solvers.collective_rates import pcie_rate_bytes_per_s
from models.tcp.link import wire_efficiency as tcp_efficiency
from models.topology.size import CannotBuild, network_size
from models.workload.phase import bus_bandwidth_factor

IB, GRH, ROCE = 26.0, 66.0, 82.0  # header bytes: UCX ib_device.h; Ethernet with preamble and gap


@pytest.mark.parametrize(
    ("mtu", "ib", "ib_routed", "roce", "vlan", "ipv6", "macsec"),
    [
        (1024, 0.9752, 0.9394, 0.9259, 0.9225, 0.9094, 0.8998),
        (2048, 0.9875, 0.9688, 0.9615, 0.9597, 0.9526, 0.9473),
        (4096, 0.9937, 0.9841, 0.9804, 0.9794, 0.9757, 0.9729),
    ],
)
def test_payload_share_of_the_wire(
    mtu: float, ib: float, ib_routed: float, roce: float, vlan: float, ipv6: float, macsec: float
) -> None:
    assert ib_efficiency(mtu, IB) == pytest.approx(ib, abs=6e-5)
    assert ib_efficiency(mtu, GRH) == pytest.approx(ib_routed, abs=6e-5)
    found = [roce_efficiency(mtu, ROCE + extra) for extra in (0.0, 4.0, 20.0, 32.0)]
    assert found == pytest.approx([roce, vlan, ipv6, macsec], abs=6e-5)


def test_tcp_segments_in_standard_and_jumbo_frames() -> None:
    assert tcp_efficiency(1500 - 52) == pytest.approx(0.941, abs=6e-4)
    assert tcp_efficiency(9000 - 52) == pytest.approx(0.990, abs=6e-4)


@pytest.mark.parametrize(
    ("generation", "payload", "gbit_per_s"),
    [
        (4, 128, 212),
        (4, 256, 230),
        (4, 512, 241),
        (5, 128, 425),
        (5, 256, 461),
        (5, 512, 482),
        (6, 128, 815),
        (6, 256, 885),
        (6, 512, 925),
    ],
)
def test_pcie_ceiling_of_a_slot_of_16_lanes(generation: int, payload: float, gbit_per_s: float) -> None:
    """Raw rate x MPS / (MPS + 24), before flow control."""
    library = constants("", {"pcie_payload": payload, "pcie_flow_efficiency": 1.0})
    assert pcie_rate_bytes_per_s(generation, library) * 8e-9 == pytest.approx(gbit_per_s, abs=0.6)


@pytest.mark.parametrize(
    ("radix", "two_tiers", "two_switches", "three_tiers", "three_switches"),
    [
        (40, 800, 60, 16_000, 2_000),
        (64, 2_048, 96, 65_536, 5_120),
        (128, 8_192, 192, 524_288, 20_480),
        (144, 10_368, 216, 746_496, 25_920),
    ],
)
def test_largest_fat_trees(
    radix: int, two_tiers: int, two_switches: int, three_tiers: int, three_switches: int
) -> None:
    """k^2/2 hosts on 3k/2 switches; k^3/4 hosts on 5k^2/4 switches; one host more needs a further tier."""
    tree = Topology(kind="fat_tree")
    two = network_size(tree, two_tiers, 1, radix)
    assert (two.tiers_count, two.switches, two.hops_max) == (2, two_switches, 3)
    assert network_size(tree, two_tiers + 1, 1, radix).tiers_count == 3
    three = network_size(tree, three_tiers, 1, radix)
    assert (three.tiers_count, three.switches, three.hops_max) == (3, three_switches, 5)
    with pytest.raises(CannotBuild):
        network_size(tree, three_tiers + 1, 1, radix)


@pytest.mark.parametrize(
    ("operation", "factor"),
    [
        ("all_reduce", 7 / 4),
        ("reduce_scatter", 7 / 8),
        ("all_gather", 7 / 8),
        ("all_to_all", 7 / 8),
        ("broadcast", 1.0),
        ("reduce", 1.0),
        ("send_recv", 1.0),
    ],
)
def test_bus_bandwidth_factors_of_nccl_tests(operation: str, factor: float) -> None:
    assert bus_bandwidth_factor(operation, 8) == factor


def test_textbook_costs() -> None:
    """Latency alone, then bandwidth alone, on 8 ranks."""
    assert ring_all_reduce_s(8, 1.0, 1.0, 0.0) == 14.0
    assert ring_all_reduce_s(8, 0.0, 1.0, 8.0) == 14.0  # 2 (n - 1) / n S / B
    assert tree_all_reduce_s(8, 0.0, 1.0, 8.0) == 16.0  # 2 S / B
    assert bruck_all_gather_s(8, 1.0, 1.0, 8.0) == 10.0  # log2(n) a + (n - 1) / n S / B


def test_one_loss_in_a_thousand_under_go_back_n_and_selective_repeat() -> None:
    assert goodput_under_loss_fraction(1e-3, 100, True) == pytest.approx(0.999 / 1.099)
    assert goodput_under_loss_fraction(1e-3, 100, False) == pytest.approx(0.999)
