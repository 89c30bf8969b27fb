"""How loaded the links of each tier are under given rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.solvers.max_min import link_loads
from models.topology.graph import BUNDLES, HOST_TIERS, TIERS
from models.topology.link_loads import load_fractions
from models.topology.routes import Routes

SATURATED = 0.999
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TierUse:
    """Load over capacity of the live links of one tier."""

    loads: Floats
    p50: float
    p99: float
    max: float


@dataclass(frozen=True, eq=False)
class Use:
    """Use by tier (tiers without links left out) and the kind of link most flows wait for."""

    tiers: dict[str, TierUse]
    limit: str


def link_use(table: Routes, rates: Floats) -> Use:
    """Use of links by tier when the subflows run at `rates` (bytes/s of wire)."""
    load = link_loads(table.offsets, table.links, rates, table.capacity.size)
    fraction = load_fractions(table, load)
    tiers = {}
    for name in TIERS:
        tier = table.graph.tier(name)
        loads = fraction[tier][table.graph.alive[tier]]
        if loads.size and loads.any():
            p50, p99 = np.quantile(loads, (0.5, 0.99))
            tiers[name] = TierUse(loads, float(p50), float(p99), float(loads.max()))
    return Use(tiers, binding_limit(table, rates))


def binding_limit(table: Routes, rates: Floats) -> str:
    """nic, fabric, nvlink or storage: the kind of full link the slowest flow crosses."""
    load = link_loads(table.offsets, table.links, rates, table.capacity.size)
    full = load >= SATURATED * table.capacity
    slowest = int(np.argmin(rates / table.share))
    path = table.links[table.offsets[slowest] : table.offsets[slowest + 1]]
    kinds = []
    for link in path[full[path]]:
        at = int(np.searchsorted(np.array(table.graph.first), link, side="right")) - 1
        names = (*TIERS, *BUNDLES)
        name = names[at] if at < len(names) else "storage"
        if name == "storage":
            kinds.append("storage")
        elif name in HOST_TIERS:
            kinds.append("nvlink" if "nvlink" in name else "nic")
        else:
            kinds.append("fabric")
    for kind in ("fabric", "storage", "nvlink", "nic"):
        if kind in kinds:
            return kind
    return "fabric"  # nothing on its own path is full: blocked behind others
