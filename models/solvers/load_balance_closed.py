"""Closed forms of load balance: from how many flows leave each leaf, pod or group, never from routes.

Taper: u uplinks for a demand of D line rates give min(1, u / D). Hashing: balls in bins on top. Destination
modulo: residues of the destinations count exactly. Adaptive and spray: the taper less the residual imbalance.
Flowlet: between hashing and adaptive by the share of flows that meet a gap. Planned: the taper itself (a
permutation of a non-blocking tree can always be coloured, Konig). Dragonfly+: `dragonfly_plus.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.solvers.load_balance import IDEAL, LoadBalance
from models.solvers.load_balance_bins import mean_share, slowest_share
from models.solvers.load_balance_flows import PatternFlows, pattern_flows
from models.topology.flows import Flows
from models.topology.graph import Graph, graph
from models.topology.mechanism import Mechanism
from models.topology.network import Network
from models.topology.size import CannotBuild
from models.workload.phase import RankGroups

Floats = NDArray[np.float64]
NOMINAL_RATE_BYTES_PER_S = 1.0  # shares do not depend on it
PERMUTATIONS = 5  # draws of a random permutation


@dataclass(frozen=True, eq=False)
class Crossings:
    """Flows that leave and enter every leaf and pod (or group), and the load one NIC carries at most.

    `per_line` = how many of these flows fill one NIC; counts are for all pairs where only a sample is present.
    """

    leaf_out: Floats
    leaf_in: Floats
    pod_out: Floats
    pod_in: Floats
    per_line: float
    forwarded: float  # least share a NIC leaves a flow once rails forward to each other, 1 without forwarding
    forwarded_mean: float
    groups: Floats  # Dragonfly+: flows between every two groups


@lru_cache(maxsize=512)
def closed_form(
    pattern: str, groups: RankGroups, network: Network, routing: Mechanism, detail: str = ""
) -> LoadBalance:
    """Share of the NIC rate for `pattern`, a random permutation averaged over a few draws.

    Raises CannotBuild where the network cannot carry it.
    """
    built = graph(network, NOMINAL_RATE_BYTES_PER_S)
    draws = PERMUTATIONS if pattern == "permutation" and detail in {"", "random"} else 1
    shares = [
        _one_draw(
            pattern_flows(pattern, groups, network, network.seed + turn, detail, 100_000), built, routing
        )
        for turn in range(draws)
    ]
    if draws == 1:
        return shares[0]
    each = np.array([(s.slowest, s.mean, s.low or s.slowest, s.high or s.slowest) for s in shares])
    slowest, mean = each[:, :2].mean(axis=0)
    return LoadBalance(
        float(slowest), float(mean), shares[0].source, float(each[:, 2].min()), float(each[:, 3].max())
    )


def _one_draw(found: PatternFlows, built: Graph, routing: Mechanism) -> LoadBalance:
    if not len(found.flows) or built.shape.leaves * built.shape.copies == 1:
        return IDEAL
    crossing = crossings(found, built)
    if not (crossing.leaf_out.any() or crossing.pod_out.any()):
        return IDEAL
    up, above = _live_cables(built)
    taper = _taper(crossing, built, up, above)
    words = f"closed form, {routing.kind}"
    if built.shape.global_links:
        return _dragonfly(crossing, built, routing, taper, words)
    free = min(1.0, taper * (1.0 - routing.imbalance_fraction))
    even = min(crossing.forwarded, free)
    if routing.spread:
        return LoadBalance(even, min(crossing.forwarded_mean, max(even, free)), words)
    if routing.kind == "planned":
        return LoadBalance(min(crossing.forwarded, taper), min(crossing.forwarded_mean, taper), words)
    if not routing.hashed:
        return _residues(found, built, crossing, routing, up)
    pairs = max(1, routing.queue_pairs)
    bins_up, bins_above = max(1, round(up)), max(1, round(above))
    if routing.polarised and bins_above > 1:
        # the same hash picks spine and core: a spine sees one residue only, so only one in u1 of its cables
        bins_above = max(1, bins_above // min(built.shape.up, built.shape.spine_up))
    sets = [(round(n * pairs), bins_up) for n in (*crossing.leaf_out, *crossing.leaf_in)]
    sets += [(round(n * pairs), bins_above) for n in (*crossing.pod_out, *crossing.pod_in)]
    scale = crossing.per_line * pairs * (1.0 - built.network.placement.background_load)
    slowest, low, high = slowest_share(sets, scale)
    per_flow = [
        (float(side[side > 0].mean()) * pairs, bins_up) for side in (crossing.leaf_out, crossing.leaf_in)
    ]
    if crossing.pod_out.any():
        per_flow += [
            (float(side[side > 0].mean()) * pairs, bins_above) for side in (crossing.pod_out, crossing.pod_in)
        ]
    staying = 1.0 - crossing.leaf_out.sum() / max(1.0, _total(found))
    mean = staying + (1.0 - staying) * mean_share(per_flow, scale)
    slowest, low, high = (min(u, crossing.forwarded) for u in (slowest, low, high))
    mean = min(mean, crossing.forwarded_mean)
    words += f" on {bins_up} links, {pairs} queue pairs"
    if routing.kind == "flowlet":
        gap = routing.gap_probability
        slowest, mean, low, high = (u + (even - u) * gap for u in (slowest, mean, low, high))
    return LoadBalance(slowest, mean, words, low, high)


def crossings(found: PatternFlows, built: Graph) -> Crossings:
    """Counts of the pattern's flows per leaf, pod and pair of groups."""
    flows, shape, network = found.flows, built.shape, built.network
    scale = found.shifts_all / found.shifts if found.sampled else 1.0
    out, into = _network_ends(found, built)
    a, b = built.leaf_of_port[out].astype(np.int64), built.leaf_of_port[into].astype(np.int64)
    copy = out // shape.ports
    weight = flows.size / flows.size.max() * scale
    local = flows.source // network.domain_nics == flows.target // network.domain_nics
    leaves, pods = shape.copies * shape.leaves, shape.copies * shape.pods
    apart = (a != b) & ~local
    pod_a, pod_b = a // shape.leaves_per_pod, b // shape.leaves_per_pod
    far = (pod_a != pod_b) & ~local

    def counted(place: NDArray[np.int64], chosen: NDArray[np.bool_], number: int) -> Floats:
        return np.bincount(place[chosen], weights=weight[chosen], minlength=number).astype(np.float64)

    host = max(float(np.bincount(ends, weights=weight).max()) for ends in (flows.source, flows.target))
    pairs = np.zeros((shape.pods, shape.pods))
    if shape.global_links:
        np.add.at(pairs, (pod_a[far], pod_b[far]), weight[far])
    forwarded = np.minimum(1.0, host / _shared(out[~local], weight[~local])) if (~local).any() else np.ones(1)
    cores = shape.cores > 0
    return Crossings(
        leaf_out=counted(copy * shape.leaves + a, apart, leaves),
        leaf_in=counted(copy * shape.leaves + b, apart, leaves),
        pod_out=counted(copy * shape.pods + pod_a, far, pods) if cores else np.zeros(pods),
        pod_in=counted(copy * shape.pods + pod_b, far, pods) if cores else np.zeros(pods),
        per_line=host,
        forwarded=float(forwarded.min(initial=1.0)),
        forwarded_mean=float(forwarded.mean()) if forwarded.size else 1.0,
        groups=pairs,
    )


def _network_ends(found: PatternFlows, built: Graph) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Network ports of the flows, forwarding between rails included; failures left out."""
    flows, nics = found.flows, built.network.nics_per_node
    out, into = flows.source, flows.target
    if found.forward or built.network.topology.kind == "rail_only":
        out = out // nics * nics + into % nics
    if built.network.topology.kind == "rail_only":
        return out % nics * built.shape.ports + out // nics, into % nics * built.shape.ports + into // nics
    return out, into


def _live_cables(built: Graph) -> tuple[float, float]:
    """Live uplinks of a leaf and of a pod, on average over the failures."""
    shape, alive = built.shape, built.alive
    up, above = built.tier("leaf-spine"), built.tier("spine-core")
    live_up = float(alive[up].mean()) if shape.up else 1.0
    live_above = float(alive[above].mean()) if shape.pod_cables else 1.0
    return shape.up * live_up, shape.pod_cables * live_above


def _taper(crossing: Crossings, built: Graph, up: float, above: float) -> float:
    """Smallest ratio of live capacity to demand over leaves and pods; may exceed 1."""
    free = 1.0 - built.network.placement.background_load
    leaf = max(crossing.leaf_out.max(), crossing.leaf_in.max()) / crossing.per_line
    pod = max(crossing.pod_out.max(), crossing.pod_in.max()) / crossing.per_line
    ratios = [up * free / leaf] if leaf > 0 else []
    if built.shape.cores and pod > 0:
        # cores are bought for the uplinks that exist, so a pod's cables carry one uplink each
        ratios.append(above * free / pod)
    if min(ratios, default=1.0) <= 0:
        raise CannotBuild("no live link leaves a leaf that the traffic must leave")
    return min(ratios, default=np.inf)


def _dragonfly(
    crossing: Crossings, built: Graph, routing: Mechanism, taper: float, words: str
) -> LoadBalance:
    """Adaptive: the shares of `dragonfly_plus.closed_form_share`. Minimal routes, by table or hash: balls in bins
    on the uplinks of the leaves and on the cables of every pair of groups (a table's residues fall like a hash)."""
    from models.topology.dragonfly_plus import closed_form_share

    shape, per_line = built.shape, crossing.per_line
    share = closed_form_share(crossing.groups / per_line, shape, routing)
    if routing.spread or routing.kind == "planned":
        even = min(1.0, share, taper * (1.0 - routing.imbalance_fraction))
        return LoadBalance(even, even, words)
    pairs = max(1, routing.queue_pairs)
    sets = [(round(n * pairs), shape.up) for n in (*crossing.leaf_out, *crossing.leaf_in)]
    sets += [(round(n * pairs), shape.global_links) for n in crossing.groups.ravel() if n > 0]
    scale = per_line * pairs * (1.0 - built.network.placement.background_load)
    slowest, low, high = slowest_share(sets, scale)
    busy = crossing.groups[crossing.groups > 0]
    leaf = float(crossing.leaf_out[crossing.leaf_out > 0].mean()) * pairs
    per_flow = [(leaf, shape.up), (leaf, shape.up)]
    if busy.size:
        per_flow.append((float((busy**2).sum() / busy.sum()) * pairs, shape.global_links))
    return LoadBalance(slowest, min(share, mean_share(per_flow, scale)), words, low, high)


def _residues(
    found: PatternFlows, built: Graph, crossing: Crossings, routing: Mechanism, up: float
) -> LoadBalance:
    """Destination modulo: flows of a leaf to destinations of one residue share an uplink; exact up to the cores.

    Dead cables are taken as a loss of capacity in proportion. A sample of shifts keeps its mean per leaf; the
    full set of pairs visits every residue equally often.
    """
    shape, flows = built.shape, found.flows
    out, into = _network_ends(found, built)
    a, b = built.leaf_of_port[out].astype(np.int64), built.leaf_of_port[into].astype(np.int64)
    domain = built.network.domain_nics
    apart = (a != b) & (flows.source // domain != flows.target // domain)
    free = (1.0 - built.network.placement.background_load) * up / shape.up
    words = f"closed form, {routing.kind}: residues of destinations"
    if found.sampled:
        share = min(
            1.0, free * shape.up * crossing.per_line / max(crossing.leaf_out.max(), crossing.leaf_in.max())
        )
        return LoadBalance(share, share, words)
    index = built.order_of_port[into].astype(np.int64) + (a if routing.kind == "shift" else 0)
    slot, copy = index % shape.up, out // shape.ports
    weight = flows.size / flows.size.max()
    load = np.ones(len(flows))
    for place in (copy * shape.leaves + a, copy * shape.leaves + b):
        key = (place * shape.up + slot)[apart]
        load[apart] = np.maximum(load[apart], _shared(key, weight[apart]) / crossing.per_line / free)
    pod_a, pod_b = a // shape.leaves_per_pod, b // shape.leaves_per_pod
    if shape.cores:
        far = apart & (pod_a != pod_b)
        cable = (index // shape.up * shape.parallel + slot % shape.parallel) % shape.spine_up
        q = slot // shape.parallel * shape.spine_up + cable
        for place in (copy * shape.pods + pod_a, copy * shape.pods + pod_b):
            key = (place * shape.pod_cables + q)[far]
            load[far] = np.maximum(load[far], _shared(key, weight[far]) / crossing.per_line / free)
    mean = min(float((1.0 / load).mean()), crossing.forwarded_mean)
    return LoadBalance(min(float(1.0 / load.max()), crossing.forwarded), mean, words)


def _shared(key: NDArray[np.int64], weight: Floats) -> Floats:
    """Sum of the weights with the same key, per entry."""
    total = np.bincount(key, weights=weight) if key.size else np.zeros(1)
    return np.asarray(total[key], dtype=np.float64)


def _total(found: PatternFlows) -> float:
    flows: Flows = found.flows
    return float(flows.size.sum() / flows.size.max()) * (
        found.shifts_all / found.shifts if found.sampled else 1.0
    )
