"""From flows to subflows: planes, queue pairs, NVLink inside a domain, forwarding between rails, dead NICs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.topology.flows import Flows
from models.topology.graph import Graph
from models.topology.size import CannotBuild


@dataclass(frozen=True, eq=False)
class Subflows:
    """Parts of flows: network ports (-1 = stays on NVLink), NVLink links before and after, hash key, share."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    prefix: NDArray[np.int64]  # (subflows, 2), -1 = none
    suffix: NDArray[np.int64]
    key: NDArray[np.uint64]
    flow: NDArray[np.int32]
    share: NDArray[np.float64]


def nvlink_gpu(graph: Graph, endpoint: NDArray[np.int64]) -> NDArray[np.int64]:
    """The GPU a NIC belongs to (the first one where several share it)."""
    network = graph.network
    node, nic = np.divmod(endpoint, network.nics_per_node)
    return np.asarray(
        node * network.gpus_per_node + nic * network.gpus_per_node // network.nics_per_node, dtype=np.int64
    )


def subflows(graph: Graph, flows: Flows, pairs: int, forward: bool, scale_up: bool = True) -> Subflows:
    """Every flow cut into planes x queue pairs (local flows stay whole), in flow order.

    Raises CannotBuild where rails do not meet and no scale-up link joins the two NICs' GPUs.
    """
    network, shape = graph.network, graph.shape
    kind = network.topology.kind
    source, target = flows.source.astype(np.int64), flows.target.astype(np.int64)
    nics = network.nics_per_node
    if source.size and (
        max(source.max(), target.max()) >= network.nodes * nics or min(source.min(), target.min()) < 0
    ):
        raise CannotBuild(f"a flow names a NIC beyond the {network.nodes * nics} of this network")
    domain = max(network.domain_nics, 1)
    local = (source // domain == target // domain) & scale_up
    out, into = source.copy(), target.copy()
    rails_apart = (source % nics != target % nics) & ~local
    if forward or kind == "rail_only":
        # the sender's NIC on the receiver's rail does the sending
        out = np.where(rails_apart, source // nics * nics + target % nics, source)
        if kind == "rail_only" and rails_apart.any() and network.gpus_per_node < nics:
            raise CannotBuild(
                f"rail-only: rails do not meet, and {nics} NICs on {network.gpus_per_node} GPU a node "
                "leave no NVLink path between them"
            )
    planes = shape.copies if kind == "multi_plane" else 1
    if not graph.healthy and kind != "multi_plane":
        out, into = _around_dead_nics(graph, out, into, local)
    prefix, suffix = _nvlink(graph, source, out), _nvlink(graph, into, target)
    prefix[local] = _nvlink(graph, source[local], target[local])
    suffix[local] = -1
    ports = _ports(graph, out), _ports(graph, into)
    parts = np.where(local, 1, pairs * planes)
    flow = np.repeat(np.arange(source.size, dtype=np.int32), parts)
    number = np.arange(flow.size, dtype=np.int64) - np.repeat(np.cumsum(parts) - parts, parts)
    plane, pair = np.divmod(number, pairs)
    offset = plane * shape.ports if planes > 1 else 0
    inside = local[flow]
    src = np.where(inside, -1, ports[0][flow] + offset)
    dst = np.where(inside, -1, ports[1][flow] + offset)
    share = 1.0 / parts[flow]
    if planes > 1 and not graph.healthy:
        share = _over_live_planes(graph, src, dst, inside, flow, share)
    words = ((source[flow] << 40) ^ (target[flow] << 16) ^ (plane << 12) ^ pair).astype(np.uint64)
    kept = slice(None) if (share > 0).all() else share > 0
    flow = flow[kept]
    return Subflows(src[kept], dst[kept], prefix[flow], suffix[flow], words[kept], flow, share[kept])


def _ports(graph: Graph, endpoint: NDArray[np.int64]) -> NDArray[np.int64]:
    if graph.network.topology.kind != "rail_only":
        return endpoint
    node, rail = np.divmod(endpoint, graph.network.nics_per_node)
    return np.asarray(rail * graph.shape.ports + node, dtype=np.int64)


def _nvlink(graph: Graph, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """NVLink up and down links between the GPUs of two NICs, -1 where they are the same GPU."""
    from_gpu, to_gpu = nvlink_gpu(graph, a), nvlink_gpu(graph, b)
    up, down = graph.tier("gpu-nvlink").start, graph.tier("nvlink-gpu").start
    links = np.stack([up + from_gpu, down + to_gpu], axis=1)
    links[from_gpu == to_gpu] = -1
    return links


def _around_dead_nics(
    graph: Graph, out: NDArray[np.int64], into: NDArray[np.int64], local: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The next live NIC of the same node takes over from a dead one, as collective libraries do."""
    nics = graph.network.nics_per_node
    up = graph.alive[graph.tier("host-leaf")]
    out, into = out.copy(), into.copy()
    for f in np.flatnonzero(~local & ~(up[_ports(graph, out)] & up[_ports(graph, into)])):
        rails = np.arange(nics)
        here, there = out[f] // nics * nics + rails, into[f] // nics * nics + rails
        live_here, live_there = up[_ports(graph, here)], up[_ports(graph, there)]
        if graph.network.topology.kind == "rail_only":
            live_here = live_there = live_here & live_there
        if not live_here.any() or not live_there.any():
            dead = int(out[f] // nics) if not live_here.any() else int(into[f] // nics)
            raise CannotBuild(f"node {dead} has no live NIC left to route its flows")
        away = (rails - out[f] % nics) % nics
        chosen = rails[np.argmin(np.where(live_here, away, nics))]
        out[f] = out[f] // nics * nics + chosen
        near = (rails - (chosen if graph.network.topology.kind == "rail_only" else into[f] % nics)) % nics
        into[f] = into[f] // nics * nics + rails[np.argmin(np.where(live_there, near, nics))]
    return out, into


def _over_live_planes(
    graph: Graph,
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    inside: NDArray[np.bool_],
    flow: NDArray[np.int32],
    share: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Shares moved to the planes on which both ports of a flow are up; parts on dead planes get nothing."""
    up = graph.alive[graph.tier("host-leaf")]
    live = inside | (up[np.maximum(source, 0)] & up[np.maximum(target, 0)])
    total = np.bincount(flow, weights=share * live)
    if (total <= 0).any():
        raise CannotBuild(f"flow {int(np.argmin(total))} has no plane on which both its ports are up")
    return np.asarray(np.where(live, share, 0.0) / total[flow], dtype=np.float64)
