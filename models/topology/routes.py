"""Routes of flows over a graph: which links every flow (and each of its queue pairs) uses.

A flow joins two NICs (endpoints). Its bytes are split evenly over planes and queue pairs; each part is a row of
a sparse incidence (CSR). Flows inside a scale-up domain use NVLink. A flow between rails is forwarded to the
sender's NIC on the receiver's rail over NVLink where asked (PXN) or where the rails do not meet otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.topology.flows import Flows
from models.topology.forwarding import subflows
from models.topology.graph import Graph, check_memory
from models.topology.mechanism import Mechanism
from models.topology.size import CannotBuild

MODES = {"static": 0, "ecmp": 1, "flowlet": 2, "planned": 3, "shift": 4, "adaptive": 5, "spray": 5}
PIECES = 16  # parts an adaptive Dragonfly+ flow is cut into so that it can use several paths
PIECES_ALL = 2_000_000  # fewer parts a flow when there are many flows, which spread anyway


@dataclass(frozen=True, eq=False)
class Routes:
    """Sparse incidence of subflows and links.

    offsets (subflows + 1,), links (entries,): links of subflow i are links[offsets[i]:offsets[i + 1]], from the
    source on; flow (subflows,): the flow a subflow belongs to; share (subflows,): its part of the flow's bytes;
    capacity (links,): bytes/s per link, 0 where down, bundles less the mechanism's imbalance.
    """

    graph: Graph
    offsets: NDArray[np.int64]
    links: NDArray[np.int32]
    flow: NDArray[np.int32]
    share: NDArray[np.float64]
    capacity: NDArray[np.float64]
    flows: int

    @property
    def crossings(self) -> NDArray[np.int64]:
        """Links of every subflow."""
        return np.diff(self.offsets)


def routes(
    graph: Graph,
    flows: Flows,
    mechanism: Mechanism,
    seed: int = 0,
    forward: bool = False,
    scale_up: bool = True,
) -> Routes:
    """Routes of `flows` under a routing mechanism.

    `forward` sends traffic between rails over NVLink to the NIC on the receiver's rail first; without `scale_up` flows
    inside a domain use the network too. The same seed gives
    the same routes on every machine. Raises CannotBuild when a flow has no live path or the incidence would not
    fit in memory.
    """
    shape = graph.shape
    dragonfly = shape.global_links > 0
    pairs = max(1, mechanism.queue_pairs)
    if dragonfly and mechanism.spread:
        pairs = max(1, min(PIECES, PIECES_ALL // max(1, len(flows))))
    planes = shape.copies if graph.network.topology.kind == "multi_plane" else 1
    check_memory(
        len(flows) * pairs * planes * 110.0, f"routing {len(flows)} flows of {pairs} parts x {planes} planes"
    )
    parts = subflows(graph, flows, pairs, forward, scale_up)
    capacity = graph.capacity * graph.alive
    if mechanism.spread:
        for name in ("leaf-spine", "spine-leaf", "spine-core", "core-spine"):
            for tier in (name, f"{name} bundle"):
                capacity[graph.tier(tier)] *= 1.0 - mechanism.imbalance_fraction
    first = np.array(graph.first, dtype=np.int64)
    if dragonfly:
        from models.topology.dragonfly_plus import dragonfly_links

        offsets, links, failed = dragonfly_links(graph, parts, mechanism, seed, capacity)
    else:
        from models.topology import route_tree_kernels as kernels

        shape_tuple = (
            shape.ports, shape.leaves, shape.up, shape.leaves_per_pod, shape.pods, shape.spines, shape.parallel,
            shape.spine_up, shape.cores,
        )  # fmt: skip
        offsets = kernels.path_lengths(
            parts.source, parts.target, graph.leaf_of_port, shape_tuple, parts.prefix, parts.suffix
        )
        links = np.empty(offsets[-1], dtype=np.int32)
        failed = kernels.tree_links(
            MODES[mechanism.kind], parts.source, parts.target, parts.key, parts.share, graph.leaf_of_port,
            graph.order_of_port, shape_tuple, first, graph.alive, graph.healthy, seed, mechanism.polarised,
            mechanism.gap_probability, parts.prefix, parts.suffix, offsets, links,
        )  # fmt: skip
    if failed >= 0:
        flow = int(parts.flow[failed])
        a, b = graph.leaf_of_port[parts.source[failed]], graph.leaf_of_port[parts.target[failed]]
        raise CannotBuild(
            f"no live path for the flow from NIC {flows.source[flow]} (leaf{a}) to NIC {flows.target[flow]} "
            f"(leaf{b}): the failures cut this network in two"
        )
    return Routes(graph, offsets, links, parts.flow, parts.share, capacity, len(flows))
