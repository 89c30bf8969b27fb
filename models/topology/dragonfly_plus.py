"""Dragonfly+: groups of bipartite leaves and spines, every two groups joined by `global_links` cables.

Minimal routes cross one global cable, non-minimal ones two, through a third group. Traffic from one group to
one other can use only the cables of that pair on minimal routes; going around restores about half.
Source: Shpiner et al., "Dragonfly+: Low Cost Topology for Scaling Datacenters", HiPINEB 2017.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.topology.forwarding import Subflows
from models.topology.graph import Graph, Shape, check_memory
from models.topology.mechanism import Mechanism

MODES = {"static": 0, "shift": 0, "ecmp": 1, "flowlet": 2, "adaptive": 3, "spray": 3, "planned": 3}
ROUNDS = 2  # an adaptive choice is revisited once all others are placed


def dragonfly_links(
    graph: Graph, parts: Subflows, routing: Mechanism, seed: int, capacity: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Offsets, links and the first subflow without a live path (-1: none) of every subflow's path."""
    from models.topology.route_dragonfly_kernels import dragonfly_paths, packed

    shape = graph.shape
    check_memory(parts.source.size * 60.0, f"Dragonfly+ paths of {parts.source.size} subflows")
    path = np.empty((parts.source.size, 12), dtype=np.int32)
    length = np.zeros(parts.source.size, dtype=np.int64)
    adaptive = MODES[routing.kind] == 3
    # one piece of every flow after the other, so that no flow takes the best paths whole
    order = np.argsort(_piece_number(parts.flow), kind="stable") if adaptive else np.arange(parts.flow.size)
    placed, lengths = path[order], length[order]
    failed = dragonfly_paths(
        MODES[routing.kind], parts.source[order], parts.target[order], parts.key[order], parts.share[order],
        graph.leaf_of_port, graph.order_of_port,
        (shape.ports, shape.leaves, shape.up, shape.leaves_per_pod, shape.pods, shape.global_links, shape.spines),
        np.array(graph.first, dtype=np.int64), capacity, seed, routing.gap_probability,
        ROUNDS if adaptive else 1, parts.prefix[order], parts.suffix[order], placed, lengths,
    )  # fmt: skip
    path[order], length[order] = placed, lengths
    offsets, links = packed(path, length)
    return offsets, links, int(order[failed]) if failed >= 0 else -1


def closed_form_share(demand: NDArray[np.float64], shape: Shape, routing: Mechanism) -> float:
    """Share of the NIC rate for a demand between groups, in line rates, shape (groups, groups).

    Minimal: min over pairs of global_links / demand. Adaptive: the pair's own cables n carry what they can, the
    rest takes two global cables each out of a group's total c = (groups - 1) n:
    share = (n + (c - n) / 2) / demand when every group sends to one other, 1 when demand is spread.

    >>> from models.topology.graph import Shape
    >>> s = Shape(1, 48, 12, 4, 4, 3, 4, 4, 1, 0, 0, 48, 8)
    >>> d = np.array([[0, 16, 0], [0, 0, 16], [16, 0, 0.0]])
    >>> closed_form_share(d, s, Mechanism("static")), closed_form_share(d, s, Mechanism("adaptive"))
    (0.5, 0.75)
    """
    cables = float(shape.global_links)
    highest = float(demand.max(initial=0.0))
    if highest <= 0:
        return 1.0
    minimal = min(1.0, cables / highest)
    if MODES[routing.kind] != 3:
        return minimal
    # per group: own cables serve min(n, demand) of every pair; what is over takes twice its size
    total = (shape.pods - 1) * cables * (1.0 - routing.imbalance_fraction)
    served = np.minimum(demand, cables).sum(axis=1)
    over = np.maximum(demand - cables, 0.0).sum(axis=1)
    detours = np.minimum(over, np.maximum(total - served, 0.0) / 2.0)
    wanted = demand.sum(axis=1)
    share = np.where(wanted > 0, (served + detours) / np.maximum(wanted, 1e-30), 1.0)
    return float(min(1.0, share.min()))


def _piece_number(flow: NDArray[np.int32]) -> NDArray[np.int64]:
    """Rank of every subflow among those of its flow; subflows of a flow are neighbours."""
    first = np.append(0, np.flatnonzero(np.diff(flow)) + 1) if flow.size else np.empty(0, dtype=np.int64)
    counts = np.diff(np.append(first, flow.size))
    return np.arange(flow.size) - np.repeat(first, counts)
