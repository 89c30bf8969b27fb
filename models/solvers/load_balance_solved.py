"""Load balance from flows routed on the real graph.

Every pattern's flows start together. A coupled pattern (ring, tree, all-to-all) advances at the pace of its most
loaded link: slowest = time on the NICs alone / time on the most loaded link. The mean is that of max-min fair
rates, flows weighing by their bytes. Outcomes of hashing are averaged over a few seeds, whose range is the band.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.solvers.load_balance import IDEAL, LoadBalance
from models.solvers.load_balance_flows import PatternFlows, pattern_flows
from models.solvers.max_min import link_loads, max_min_rates
from models.topology.graph import Graph, graph
from models.topology.mechanism import Mechanism
from models.topology.network import Network
from models.topology.routes import Routes, routes
from models.workload.phase import RankGroups

NOMINAL_RATE_BYTES_PER_S = 50e9  # shares depend on it only through NVLink, which is far from binding
SEEDS = 5
SAMPLES = 3  # independent samples of the shifts of a large all-to-all, to state its sampling error
SUBFLOWS_PER_CALL = 1_000_000  # fewer seeds, or fewer sampled pairs, beyond
MAX_MIN_SUBFLOWS = 1_500_000
FULL_PAIRS_RANKS = 1024


@lru_cache(maxsize=512)
def solved(
    pattern: str, groups: RankGroups, network: Network, routing: Mechanism, seed: int, detail: str = ""
) -> LoadBalance:
    """Share of the NIC rate for `pattern` from the flow-level solution.

    Raises CannotBuild where the network cannot carry the pattern or memory would not do.
    """
    built = graph(network, NOMINAL_RATE_BYTES_PER_S)
    planes = network.size.copies if network.topology.kind == "multi_plane" else 1
    parts = max(1, routing.queue_pairs) * planes
    whole = groups.size <= FULL_PAIRS_RANKS
    pairs_max = 1_200_000 if whole and groups.groups == 1 else SUBFLOWS_PER_CALL // parts // SAMPLES
    found = pattern_flows(pattern, groups, network, seed, detail, pairs_max)
    if not len(found.flows):
        return IDEAL
    random_pattern = (pattern == "permutation" and detail in {"", "random"}) or found.sampled
    repeats = 1
    if routing.hashed or random_pattern:
        repeats = int(np.clip(SUBFLOWS_PER_CALL // (len(found.flows) * parts), 1, SEEDS))
    if found.sampled:
        repeats = max(repeats, SAMPLES)
    shares = []
    for turn in range(repeats):
        if turn and random_pattern:
            found = pattern_flows(pattern, groups, network, seed + turn, detail, pairs_max)
        table = routes(built, found.flows, routing, seed + turn, found.forward)
        shares.append(_shares(found, table, built))
    slowest, mean = np.mean(shares, axis=0)
    low, high = (min(s for s, _ in shares), max(s for s, _ in shares)) if repeats > 1 else (0.0, 0.0)
    words = f"flows on the graph, {routing.kind}, {len(found.flows)} flows, {repeats} seed(s) from {seed}"
    if found.sampled:
        error = float(np.std([s for s, _ in shares], ddof=1)) / np.sqrt(repeats)
        words += f", {found.shifts} of {found.shifts_all} shifts a time, sampling error {100 * error:.2g} % of the rate"
    return LoadBalance(float(slowest), float(mean), words, float(low), float(high))


def host_level_bytes_per_s(found: PatternFlows, built: Graph) -> float:
    """Rate per unit of flow size when nothing but the NICs limits the pattern."""
    flows, network = found.flows, built.network
    away = flows.source // network.domain_nics != flows.target // network.domain_nics
    if not away.any():
        return network.gpu.scale_up_bytes_per_s / float(flows.size.max())
    busiest = max(
        float(np.bincount(ends[away], weights=flows.size[away]).max())
        for ends in (flows.source, flows.target)
    )
    return built.rate_bytes_per_s / busiest


def _shares(found: PatternFlows, table: Routes, built: Graph) -> tuple[float, float]:
    weight = found.flows.size[table.flow] * table.share
    demand = link_loads(table.offsets, table.links, weight, table.capacity.size)
    if found.sampled:
        demand = _without_sampling_noise(demand, built, found.shifts / found.shifts_all)
    level = host_level_bytes_per_s(found, built)
    used = demand > 0
    slowest = min(1.0, float(1.0 / (demand[used] / table.capacity[used]).max()) / level)
    if weight.size > MAX_MIN_SUBFLOWS or found.sampled:
        # with so many flows a link, what others leave over hardly matters: each gets its tightest link's share
        tightest = np.divide(table.capacity, demand, out=np.full(demand.size, np.inf), where=used)
        share = np.minimum(1.0, np.minimum.reduceat(tightest[table.links], table.offsets[:-1]) / level)
    else:
        rates = max_min_rates(table.capacity, table.offsets, table.links, weight)
        share = np.minimum(1.0, rates / weight / level)
    return slowest, max(slowest, float((share * weight).sum() / weight.sum()))


def _without_sampling_noise(
    demand: NDArray[np.float64], built: Graph, fraction: float
) -> NDArray[np.float64]:
    """Loads as all pairs would give them: a link's deviation from its leaf's mean shrinks as sqrt(sample / all)."""
    shape, out = built.shape, demand.copy()
    for name, width in (
        ("leaf-spine", shape.up),
        ("spine-leaf", shape.up),
        ("spine-core", shape.pod_cables),
        ("core-spine", shape.pod_cables),
    ):
        tier = built.tier(name)
        if tier.stop == tier.start:
            continue
        rows = demand[tier].reshape(-1, width)
        mean = rows.mean(axis=1, keepdims=True)
        out[tier] = (mean + (rows - mean) * np.sqrt(fraction)).ravel()
    return out
