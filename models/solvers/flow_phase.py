"""The flows of a permutation, bisection, storage or cache hand-over phase, routed, with their bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.solvers.collective_constants import constants
from models.solvers.collective_rates import pcie_rate_bytes_per_s
from models.solvers.load_balance_flows import pattern_flows
from models.topology.flows import Flows
from models.topology.graph import BUNDLES, TIERS, graph
from models.topology.link import Link, path_latency_s
from models.topology.mechanism import Mechanism
from models.topology.network import Network
from models.topology.placement import endpoints_of_gpu, gpu_of_rank
from models.topology.routes import Routes, routes
from models.workload.phase import Phase
from models.workload.storage_flows import storage_flows

PATTERNS = {"permutation": "permutation", "bisection": "bisection", "kv_transfer": "point_to_point"}
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoutedPhase:
    """Subflows of a phase: incidence, wire bytes and latency each; `flow_bytes` is the payload per flow."""

    table: Routes
    wire_bytes: Floats
    latency_s: Floats
    flow_bytes: Floats


def routed_phase(
    phase: Phase, network: Network, link: Link, routing: Mechanism, seed: int
) -> RoutedPhase | None:
    """The phase's flows on the graph of `network`, or None when none of them leaves its scale-up domain.

    Raises CannotBuild when a flow cannot be routed, ValueError for another operation.
    """
    built = graph(network, link.rate_bytes_per_s)
    if phase.operation == "storage":
        return _storage(phase, network, link, routing, seed)
    if phase.operation not in PATTERNS:
        raise ValueError(f"phase {phase.name}: {phase.operation} is not a set of flows")
    found = pattern_flows(PATTERNS[phase.operation], phase.groups, network, seed, phase.pattern)
    if not len(found.flows):
        return None
    # message_bytes is per GPU: its NICs share it, and NICs shared by GPUs carry all of theirs
    per_nic = phase.message_bytes * _gpus_per_flow(phase, network, found.flows)
    table = routes(built, found.flows, routing, seed, found.forward)
    return _with_bytes(table, np.full(len(found.flows), per_nic), link)


def _gpus_per_flow(phase: Phase, network: Network, flows: Flows) -> float:
    if phase.operation == "kv_transfer":
        return min(1.0, network.gpus_per_node / network.nics_per_node)
    return phase.groups.ranks / len(np.unique(flows.source))


def _with_bytes(table: Routes, flow_bytes: Floats, link: Link) -> RoutedPhase:
    wire = flow_bytes[table.flow] * table.share / link.wire_efficiency_fraction
    return RoutedPhase(_host_limited(table, link), wire, subflow_latency_s(table, link), flow_bytes)


def _host_limited(table: Routes, link: Link) -> Routes:
    """NIC links no faster than what the host's PCIe slot and CPU move."""
    network = table.graph.network
    pcie = pcie_rate_bytes_per_s(network.gpu.pcie_generation, constants(network.gpu.generation))
    limit = min(pcie, link.host_limit_bytes_per_s) / link.wire_efficiency_fraction
    capacity = table.capacity.copy()
    for name in ("host-leaf", "leaf-host"):
        tier = table.graph.tier(name)
        capacity[tier] = np.minimum(capacity[tier], limit * network.size.port_rate_fraction)
    return replace(table, capacity=capacity)


def subflow_latency_s(table: Routes, link: Link) -> Floats:
    """Path latency of every subflow: switches crossed and the cables between them; NVLink hops are free."""
    lengths = table.graph.network.cable_m
    # a storage server's own port follows the last bundle: one more host cable
    names = (*TIERS, *(name.removesuffix(" bundle") for name in BUNDLES), "host-leaf")
    metres_of = {"host": lengths.host_leaf, "leaf": lengths.leaf_spine, "spine": lengths.spine_core}
    metres, network_link = np.zeros(len(names)), np.zeros(len(names))
    for at, name in enumerate(names):
        ends = name.split("-")
        if "nvlink" not in ends:
            metres[at] = metres_of["host" if "host" in ends else "spine" if "core" in ends else "leaf"]
            network_link[at] = 1.0
    tier = np.searchsorted(np.array(table.graph.first), table.links, side="right") - 1
    cables = np.add.reduceat(network_link[tier], table.offsets[:-1])
    cable_m = np.add.reduceat(metres[tier], table.offsets[:-1])
    kinds, back = np.unique(np.stack([cables, cable_m], axis=1), axis=0, return_inverse=True)
    each = np.array([path_latency_s(link, max(int(n) - 1, 0), float(m)) for n, m in kinds])
    return np.asarray(each[back.ravel()], dtype=np.float64)


def _storage(phase: Phase, network: Network, link: Link, routing: Mechanism, seed: int) -> RoutedPhase:
    """Clients to servers: a server hangs off the leaf (or, rail by rail, the leaves) of the node it stands by.

    The server's own port replaces that node's NIC at the end of the path, at the slower of port and media.
    """
    if phase.storage is None:
        raise ValueError(f"phase {phase.name}: storage needs servers and their rates")
    request, nics = phase.storage, network.nics_per_node
    client_nic = endpoints_of_gpu(network, gpu_of_rank(network, phase.groups.ranks))[:, 0]
    stripes = storage_flows(client_nic.size, request.servers, phase.message_bytes * phase.groups.ranks)
    client = client_nic[stripes.client]
    host_node = stripes.server * network.nodes // request.servers % network.nodes
    by_rail = network.topology.kind in {"rail_only", "rail_optimized"}
    stand_in = host_node * nics + (client % nics if by_rail else stripes.server % nics)
    reading = request.direction == "read"
    source, target = (stand_in, client) if reading else (client, stand_in)
    flows = Flows(source, target, np.ones(client.size))
    table = routes(graph(network, link.rate_bytes_per_s), flows, routing, seed, scale_up=False)
    at = table.offsets[:-1] if reading else table.offsets[1:] - 1
    links = table.links.copy()
    links[at] = table.capacity.size + stripes.server[table.flow]
    rate = min(
        request.server_rate_bytes_per_s, request.device_rate_bytes_per_s / link.wire_efficiency_fraction
    )
    capacity = np.append(table.capacity, np.full(request.servers, rate))
    return _with_bytes(replace(table, links=links, capacity=capacity), stripes.size_bytes, link)
