"""Conservation of bytes, and independence of how GPUs are numbered, for every fabric."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from models.catalog.technology import technology
from models.scenario.schema import Placement
from models.solvers.flow_phase import routed_phase
from models.solvers.max_min import link_loads
from models.topology.routes import Routes
from models.workload.phase import RankGroups
from tests.contract.test_contract import METHODS, TECHNOLOGIES, phase, time_of
from tests.solvers.collective_cases import FOLDERS, link_of, network_of

ADAPTIVE = ("infiniband_ndr", "spectrum_x_400g")
NETWORK = network_of(16, kind="fat_tree", radix=32)
EVERYONE = RankGroups(128)
SIZE = 2.0**26


def carried(table: Routes, wire_bytes: np.ndarray, tier: str) -> float:
    """Bytes over the links of a tier, single cables and bundles of equal cables together."""
    loads = link_loads(table.offsets, table.links, wire_bytes, table.capacity.size)
    names = [tier, f"{tier} bundle"] if "host" not in tier else [tier]
    return float(sum(loads[table.graph.tier(name)].sum() for name in names))


@pytest.mark.parametrize("name", TECHNOLOGIES)
@pytest.mark.parametrize("operation", ["permutation", "bisection"])
def test_bytes_sent_are_delivered(name: str, operation: str) -> None:
    """Payload into the network = message x GPUs; what goes up to a tier comes down from it, headers included."""
    link = link_of(name)
    mechanism = import_module(f"models.{FOLDERS[technology(name).fabric]}.routing").mechanism(link.technology)
    routed = routed_phase(phase(operation, SIZE, EVERYONE), NETWORK, link, mechanism, seed=1)
    assert routed is not None
    assert routed.flow_bytes.sum() == pytest.approx(SIZE * 128)
    sent = carried(routed.table, routed.wire_bytes, "host-leaf")
    assert sent == pytest.approx(SIZE * 128 / link.wire_efficiency_fraction)
    assert carried(routed.table, routed.wire_bytes, "leaf-host") == pytest.approx(sent)
    up = carried(routed.table, routed.wire_bytes, "leaf-spine")
    assert 0.0 < up <= sent * (1.0 + 1e-9)
    assert carried(routed.table, routed.wire_bytes, "spine-leaf") == pytest.approx(up)


@pytest.mark.parametrize("name", TECHNOLOGIES)
def test_the_slowest_flow_moves_its_message_in_the_time_given(name: str) -> None:
    found = time_of("fluid", name, phase("bisection", SIZE, EVERYONE), NETWORK)
    slowest = next(metric for metric in found.metrics if metric.name == "flow_throughput_slowest")
    low = slowest.low if slowest.low is not None else slowest.value
    high = slowest.high if slowest.high is not None else slowest.value
    assert low * found.time_s <= SIZE * 1.001
    assert high * found.time_s >= SIZE * 0.999


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "all_to_all"])
def test_renumbering_gpus_changes_nothing_where_routing_adapts(
    method: str, name: str, operation: str
) -> None:
    """Packed ranks cross fewer leaves, whose spare uplinks hide the residual imbalance: that share at most."""
    asked = phase(operation, 2.0**30, EVERYONE)
    packed, first, second = (
        time_of(method, name, asked, replace(NETWORK, placement=Placement(kind=kind), seed=seed)).time_s
        for kind, seed in (("packed", 1), ("scattered", 1), ("scattered", 2))
    )
    assert second == pytest.approx(first, rel=1e-3)
    imbalance = technology(name).routing.imbalance_fraction.value
    assert packed <= first * 1.001
    assert first * (1.0 - imbalance) <= packed * 1.001


def test_renumbering_gpus_matters_where_one_hash_decides() -> None:
    """The check above can fail: on static hashes the numbering decides who collides."""
    asked = phase("all_reduce", 2.0**30, EVERYONE)
    times = {
        time_of(
            "fluid", "rocev2_400g", asked, replace(NETWORK, placement=Placement(kind="scattered"), seed=seed),
            link_of("rocev2_400g", {"routing.queue_pairs": 1}),
        ).time_s
        for seed in range(1, 7)
    }  # fmt: skip
    assert len(times) > 1
