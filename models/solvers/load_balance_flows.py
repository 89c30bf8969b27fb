"""The concurrent flows of a traffic pattern on a given network and placement.

ring: the hops of every group's ring between scale-up domains, NIC by NIC, so that rails stay apart; tree: the
same for the two complementary binary trees over domains, half the bytes each, up and down at once; all_to_all:
all pairs of a group, exact up to PAIRS_MAX flows and by sampled shifts (rank i to rank i + s) beyond;
point_to_point: each rank to the next of its group (pipeline stages); permutation: every node to one other, NIC
by NIC; bisection: every NIC to the one half the job away. Flow sizes are relative to each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.topology.flows import Flows
from models.topology.graph import check_memory
from models.topology.network import Network
from models.topology.placement import endpoints_of_gpu, gpu_of_rank
from models.workload.bisection import bisection_targets
from models.workload.permutation import permutation_targets
from models.workload.phase import RankGroups

PAIRS_MAX = 1_200_000
PATTERNS = ("ring", "tree", "all_to_all", "point_to_point", "permutation", "bisection")
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PatternFlows:
    """Flows of a pattern; `coupled` patterns advance at their slowest flow; `sampled` = shifts drawn of all."""

    flows: Flows
    coupled: bool
    forward: bool
    shifts: int = 0
    shifts_all: int = 0

    @property
    def sampled(self) -> bool:
        """Whether only a sample of the pairs is present."""
        return self.shifts < self.shifts_all


def pattern_flows(
    pattern: str,
    groups: RankGroups,
    network: Network,
    seed: int,
    detail: str = "",
    pairs_max: int = PAIRS_MAX,
) -> PatternFlows:
    """Flows of `pattern` for all groups at once; `detail` is the kind of permutation.

    Raises ValueError for an unknown pattern, CannotBuild when the job does not fit.
    """
    if pattern not in PATTERNS:
        raise ValueError(f"pattern {pattern!r}; allowed {', '.join(PATTERNS)}")
    gpu = gpu_of_rank(network, groups.ranks)[groups.members()]
    if pattern == "all_to_all":
        return _all_to_all(gpu, network, seed, pairs_max)
    if pattern == "point_to_point":
        pairs = np.stack([gpu[:, :-1].ravel(), gpu[:, 1:].ravel()])
        return PatternFlows(_between_gpus(pairs[0], pairs[1], network), False, False)
    if pattern in {"permutation", "bisection"}:
        return PatternFlows(_exchange(pattern, gpu, network, seed, detail or "random"), False, False)
    blocks = _by_domain(gpu, network)
    if blocks is None or blocks.shape[1] < 2:
        if blocks is not None:
            return PatternFlows(_empty(), True, False)
        pairs = np.stack([gpu.ravel(), np.roll(gpu, -1, axis=1).ravel()])
        return PatternFlows(_between_gpus(pairs[0], pairs[1], network), True, False)
    if pattern == "ring":
        source, target = blocks, np.roll(blocks, -1, axis=1)
        return PatternFlows(_sized(source.ravel(), target.ravel(), np.ones(source.size)), True, False)
    return PatternFlows(_tree(blocks), True, False)


def _exchange(pattern: str, gpu: Ints, network: Network, seed: int, detail: str) -> Flows:
    """Bisection over all NICs; permutation over nodes, NIC by NIC, or over NICs inside a single node."""
    nics = np.unique(endpoints_of_gpu(network, gpu.ravel()))
    per_node = network.nics_per_node
    nodes = np.unique(nics // per_node)
    if nics.size < 2:
        return _empty()
    if pattern == "bisection":
        return _sized(nics, nics[bisection_targets(nics.size)], np.ones(nics.size))
    if nodes.size < 2 or nodes.size * per_node != nics.size:
        return _sized(nics, nics[permutation_targets(nics.size, detail, seed)], np.ones(nics.size))
    leaf_nodes = network.size.leaf_down
    if network.topology.kind not in {"rail_optimized", "rail_only"}:
        leaf_nodes = max(1, leaf_nodes // per_node)
    if leaf_nodes >= nodes.size:
        leaf_nodes = nodes.size // 2
    target = nodes[permutation_targets(nodes.size, detail, seed, leaf_nodes)]
    rail = np.arange(per_node)
    source_nics, target_nics = nodes[:, None] * per_node + rail, target[:, None] * per_node + rail
    return _sized(source_nics.ravel(), target_nics.ravel(), np.ones(nics.size))


def tree_parents(nodes: int) -> Ints:
    """Parent of every node in the library's in-order binary tree over `nodes` nodes, -1 at the root.

    Odd nodes are leaves; node 0 is the root. Source: NCCL src/graph/trees.cc, ncclGetBtree.

    >>> tree_parents(8).tolist()
    [-1, 2, 4, 2, 0, 6, 4, 6]
    """
    parent = np.full(nodes, -1, dtype=np.int64)
    for node in range(1, nodes):
        bit = node & -node
        up = (node ^ bit) | (bit << 1)
        parent[node] = node ^ bit if up >= nodes else up
    return parent


def _tree(blocks: Ints) -> Flows:
    """Both trees, up and down: the second is mirrored (even node count) or rotated by one (odd), as in NCCL."""
    domains = blocks.shape[1]
    parent = tree_parents(domains)
    child = np.flatnonzero(parent >= 0)
    second = domains - 1 - np.arange(domains) if domains % 2 == 0 else (np.arange(domains) + 1) % domains
    sources, targets = [], []
    for place in (np.arange(domains), second):
        low, high = place[child], place[parent[child]]
        for a, b in ((low, high), (high, low)):
            sources.append(blocks[:, a].ravel())
            targets.append(blocks[:, b].ravel())
    source, target = np.concatenate(sources), np.concatenate(targets)
    return _sized(source, target, np.full(source.size, 0.5))


def _by_domain(gpu: Ints, network: Network) -> Ints | None:
    """NICs of every group ordered by domain, shape (groups, domains, NICs), or None where it is not regular."""
    domain = gpu // network.domain_gpus
    changes = np.flatnonzero(np.diff(domain[0]))
    width = int(changes[0]) + 1 if changes.size else domain.shape[1]
    if domain.shape[1] % width:
        return None
    runs = domain.reshape(domain.shape[0], -1, width)
    if (runs != runs[:, :, :1]).any():
        return None
    nics = endpoints_of_gpu(network, gpu.ravel()).reshape(domain.shape[0], runs.shape[1], -1)
    if network.nics_per_node < network.gpus_per_node:
        # GPUs that share a NIC share its channel: one flow per NIC
        kept = np.flatnonzero(np.append(True, np.diff(nics[0, 0]) != 0))
        nics = nics[:, :, kept]
    return np.asarray(nics, dtype=np.int64)


def _all_to_all(gpu: Ints, network: Network, seed: int, pairs_max: int) -> PatternFlows:
    groups, size = gpu.shape
    forward = network.topology.kind in {"rail_optimized", "rail_only"}
    if size < 2:
        return PatternFlows(_empty(), True, forward)
    shifts = np.arange(1, size)
    budget = max(8, pairs_max // max(1, groups * size))
    if shifts.size > budget:
        # one shift per equal stratum, so that near and far partners are both present
        edges = np.linspace(1, size, budget + 1)
        draw = np.random.default_rng((seed, 0xA2A)).random(budget)
        shifts = np.unique((edges[:-1] + draw * np.diff(edges)).astype(np.int64))
    check_memory(groups * size * shifts.size * 150.0, f"{groups * size * shifts.size} flows of an all-to-all")
    rank = np.arange(size)
    partner = (rank[:, None] + shifts[None, :]) % size
    source = np.repeat(gpu[:, :, None], shifts.size, axis=2).ravel()
    target = gpu[:, partner].ravel()
    flows = _between_gpus(source, target, network)
    return PatternFlows(flows, True, forward, int(shifts.size), size - 1)


def _between_gpus(source: Ints, target: Ints, network: Network) -> Flows:
    """Flows between GPUs on all their NICs; those inside a scale-up domain never meet the fabric."""
    apart = source // network.domain_gpus != target // network.domain_gpus
    from_nics = endpoints_of_gpu(network, source[apart])
    to_nics = endpoints_of_gpu(network, target[apart])
    return _sized(from_nics.ravel(), to_nics.ravel(), np.ones(from_nics.size))


def _sized(source: Ints, target: Ints, size: NDArray[np.float64]) -> Flows:
    real = source != target
    return Flows(source[real].astype(np.int64), target[real].astype(np.int64), size[real])


def _empty() -> Flows:
    none = np.empty(0, dtype=np.int64)
    return Flows(none, none, np.empty(0))
