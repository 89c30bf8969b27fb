"""Loads of the links between switches as a tidy table for a heat map, bounded for large networks."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.topology.core_wiring import core_of_cable
from models.topology.graph import BUNDLES, Graph
from models.topology.routes import Routes

CELLS_MAX = 4096  # per tier; beyond, neighbouring switches are merged
COLUMNS = ("tier", "switch_a", "switch_b", "links", "load_fraction", "load_max_fraction")


def link_load_table(table: Routes, load: NDArray[np.float64], cells_max: int = CELLS_MAX) -> pd.DataFrame:
    """Rows (tier, switch_a, switch_b, links, load_fraction, load_max_fraction) for the tiers between switches.

    load (links of `table.capacity`,): bytes/s on every link and bundle, as `max_min.link_loads` gives it; fractions
    are of wire capacity, mean and highest over the live links between the two ends. Where a tier has more than
    `cells_max` pairs of switches, neighbours are merged into blocks and named by range (`leaf0-15`).
    """
    built = table.graph
    fraction = load_fractions(table, load)
    frames = []
    for tier, ends in (
        ("leaf-spine", ("leaf", "spine")),
        ("spine-leaf", ("spine", "leaf")),
        ("spine-core", ("spine", "group" if built.shape.global_links else "core")),
        ("core-spine", ("core", "spine")),
    ):
        links = np.arange(built.tier(tier).start, built.tier(tier).stop)
        links = links[built.alive[links]]
        if links.size:
            lower, upper = switch_ends(built, links)
            pair = (lower, upper) if tier in {"leaf-spine", "spine-core"} else (upper, lower)
            frames.append(_cells(tier, ends, pair, fraction[links], cells_max))
    if not frames:
        return pd.DataFrame({name: [] for name in COLUMNS})
    return pd.concat(frames, ignore_index=True)


def load_fractions(table: Routes, load: NDArray[np.float64]) -> NDArray[np.float64]:
    """Load over wire capacity of every real link; a bundle's load is spread evenly over its live links."""
    built = table.graph
    live = built.capacity * built.alive
    fraction = np.zeros(built.links)
    np.divide(load[: built.links], live[: built.links], out=fraction, where=live[: built.links] > 0)
    for name in BUNDLES:
        bundle, tier = built.tier(name), built.tier(name.removesuffix(" bundle"))
        if bundle.stop > bundle.start and tier.stop > tier.start:
            share = load[bundle] / np.maximum(live[bundle], 1e-300)
            width = (tier.stop - tier.start) // (bundle.stop - bundle.start)
            fraction[tier] += np.repeat(share, width) * built.alive[tier]
    return fraction


def switch_ends(graph: Graph, links: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lower and upper switch of links between switches, numbered through copies and pods."""
    shape = graph.shape
    for tier in ("leaf-spine", "spine-leaf"):
        own = graph.tier(tier)
        if links.size and own.start <= links[0] < own.stop:
            leaf, cable = np.divmod(links - own.start, shape.up)
            copy, inside = np.divmod(leaf, shape.leaves)
            spine = (
                copy * shape.pods + inside // shape.leaves_per_pod
            ) * shape.spines + cable // shape.parallel
            return leaf, spine
    tier = "spine-core" if links[0] < graph.tier("spine-core").stop else "core-spine"
    pod, q = np.divmod(links - graph.tier(tier).start, shape.pod_cables)
    if shape.global_links:
        peer = q // shape.global_links
        return pod * shape.spines + q % shape.spines, peer + (peer >= pod)
    inside = core_of_cable(q, pod % shape.pods, shape.pod_cables, shape.cores)
    core = pod // shape.pods * shape.cores + inside
    return pod * shape.spines + q // shape.spine_up, core


def _cells(
    tier: str,
    ends: tuple[str, str],
    pair: tuple[NDArray[np.int64], NDArray[np.int64]],
    fraction: NDArray[np.float64],
    cells_max: int,
) -> pd.DataFrame:
    blocks = [1, 1]
    counts = [int(side.max()) + 1 for side in pair]
    while (counts[0] // blocks[0] + 1) * (counts[1] // blocks[1] + 1) > cells_max:
        blocks[int(counts[1] // blocks[1] > counts[0] // blocks[0])] *= 2
    a, b = pair[0] // blocks[0], pair[1] // blocks[1]
    grouped = pd.DataFrame({"a": a, "b": b, "load": fraction}).groupby(["a", "b"], sort=True)["load"]
    rows = grouped.agg(links="size", load_fraction="mean", load_max_fraction="max").reset_index()

    def named(kind: str, block: int, at: pd.Series[int], count: int) -> list[str]:
        if block == 1:
            return [f"{kind}{n}" for n in at]
        return [f"{kind}{n * block}-{min((n + 1) * block, count) - 1}" for n in at]

    return pd.DataFrame(
        {
            "tier": tier,
            "switch_a": named(ends[0], blocks[0], rows["a"], counts[0]),
            "switch_b": named(ends[1], blocks[1], rows["b"], counts[1]),
            "links": rows["links"],
            "load_fraction": rows["load_fraction"],
            "load_max_fraction": rows["load_max_fraction"],
        }
    )
