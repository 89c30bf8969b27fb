"""Where flows collide: offered load of every link and the rate of every flow, for one traffic pattern per candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pandas as pd

from models.compare.fabrics import PACKAGES
from models.compare.performance import Setup, setup
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.solvers.load_balance_flows import pattern_flows
from models.solvers.max_min import link_loads, max_min_rates
from models.topology.graph import graph
from models.topology.link_loads import link_load_table, load_fractions
from models.topology.routes import routes
from models.topology.size import CannotBuild
from models.workload.phase import RankGroups

PATTERNS = {"permutation": "every node sends to one other", "bisection": "one half sends to the other half"}
FLOW_ROWS_MAX = 400  # quantiles kept of the flow rates
GPUS_MAX_DRAWN = 65_536


@dataclass(frozen=True)
class LinkLoads:
    """Tables of one pattern: cells of the heat map, load quantiles by tier, flow-rate quantiles, tiers of the networks."""

    cells: pd.DataFrame
    links: pd.DataFrame
    flows: pd.DataFrame
    summary: pd.DataFrame
    tiers: pd.DataFrame


def link_load(
    scenario: Scenario, pattern: str, progress: Callable[[str], None] = lambda text: None
) -> LinkLoads:
    """Routes the pattern on every candidate's network: offered load, and max-min rates of the flows.

    Offered load: what a link would carry if every NIC sent at line rate; above 1 flows collide. Raises InputError where a
    network cannot carry the pattern.
    """
    if scenario.cluster.gpus > GPUS_MAX_DRAWN:
        problem = f"this page solves every link; allowed up to {GPUS_MAX_DRAWN}"
        raise InputError([Fault(scenario.name, "cluster.gpus", str(scenario.cluster.gpus), problem)])
    cells, links, flows, summary, tiers = [], [], [], [], []
    for name in scenario.candidates:
        progress(name)
        on = setup(scenario, name)
        try:
            cell, link, flow, row = _loads(on, pattern, scenario.seed)
        except CannotBuild as error:
            raise InputError([Fault(scenario.name, f"candidates.{name}", pattern, str(error))]) from error
        cells.append(cell.assign(candidate=name))
        links.append(link.assign(candidate=name))
        flows.append(flow.assign(candidate=name))
        summary.append({"candidate": name, **row})
        size = on.network.size
        cables = {"leaf": size.host_leaf_links, "spine": size.leaf_spine_links, "core": size.spine_core_links}
        for tier in size.tiers():
            tiers.append(
                {
                    "candidate": name, "tier": tier.name, "switches": tier.switches, "radix": size.radix,
                    "cables_down": cables[tier.name], "ports_unused": tier.ports_unused,
                    "oversubscription": size.oversubscription, "words": size.words,
                }
            )  # fmt: skip
    return LinkLoads(
        pd.concat(cells, ignore_index=True),
        pd.concat(links, ignore_index=True),
        pd.concat(flows, ignore_index=True),
        pd.DataFrame(summary),
        pd.DataFrame(tiers),
    )


def _loads(
    on: Setup, pattern: str, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[str, object]]:
    mechanism = import_module(PACKAGES[on.technology.fabric] + ".routing").mechanism(on.technology)
    rate = on.link.rate_bytes_per_s
    built = graph(on.network, rate)
    sent = pattern_flows(pattern, RankGroups(on.network.gpus), on.network, seed, "random").flows
    table = routes(built, sent, mechanism, seed)
    offered = table.share * rate
    load = link_loads(table.offsets, table.links, offered, table.capacity.size)
    fraction = load_fractions(table, load)
    frames = []
    for tier in ("leaf-spine", "spine-leaf", "spine-core", "core-spine"):
        own = fraction[built.tier(tier)]
        own = own[built.alive[built.tier(tier)]]
        if own.size:
            share = np.linspace(0.0, 1.0, min(own.size, 129))
            frames.append(
                pd.DataFrame({"tier": tier, "share_of_links": share, "offered_load": np.quantile(own, share)})
            )
    columns = ["tier", "share_of_links", "offered_load"]
    link_table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    rates = max_min_rates(table.capacity, table.offsets, table.links)
    per_flow = np.full(table.flows, np.inf)
    if mechanism.spread:
        per_flow = np.zeros(table.flows)
        np.add.at(per_flow, table.flow, np.where(np.isfinite(rates), rates, rate * table.share))
    else:  # a flow's queue pairs carry equal parts: the slowest ends it
        np.minimum.at(per_flow, table.flow, rates / np.maximum(table.share, 1e-300))
    per_flow = np.minimum(per_flow, rate) / rate
    share = np.linspace(0.0, 1.0, min(FLOW_ROWS_MAX, max(2, per_flow.size)))
    flow_table = pd.DataFrame({"share_of_flows": share, "rate_fraction": np.quantile(per_flow, share)})
    row: dict[str, object] = {
        "routing": mechanism.kind,
        "queue_pairs": mechanism.queue_pairs,
        "flows": int(per_flow.size),
        "mean_rate_fraction": float(per_flow.mean()),
        "slowest_rate_fraction": float(per_flow.min()),
        "highest_offered_load": float(link_table.offered_load.max()) if len(link_table) else 0.0,
        "links_over_capacity_fraction": float(np.mean(_switch_links(fraction, built) > 1.0 + 1e-9)),
        "links_down": int((~built.alive[: built.links]).sum()),
    }
    return link_load_table(table, load), link_table, flow_table, row


def _switch_links(fraction: np.ndarray, built: object) -> np.ndarray:
    parts = [fraction[built.tier(name)] for name in ("leaf-spine", "spine-leaf", "spine-core", "core-spine")]  # type: ignore[attr-defined]
    whole = np.concatenate(parts)
    return whole if whole.size else np.zeros(1)


def load_sentence(summary: pd.DataFrame) -> str:
    """Whose flows collide most, in a sentence."""
    ranked = summary.sort_values("mean_rate_fraction", kind="stable")
    best, worst = ranked.iloc[-1], ranked.iloc[0]
    if float(best.mean_rate_fraction - worst.mean_rate_fraction) < 0.005:
        return f"Flows reach {100 * float(best.mean_rate_fraction):.0f} % of line rate on every candidate: nothing collides."
    return (
        f"Flows reach {100 * float(worst.mean_rate_fraction):.0f} % of line rate on {worst.candidate} ({worst.routing}), the "
        f"slowest {100 * float(worst.slowest_rate_fraction):.0f} %; on {best.candidate} ({best.routing}) "
        f"{100 * float(best.mean_rate_fraction):.0f} %."
    )
