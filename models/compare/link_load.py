"""Where flows collide: offered load of every link and the rate of every flow, for one traffic pattern per candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.compare.fabrics import PACKAGES
from models.compare.link_tiers import tier_picture
from models.compare.performance import Setup, setup
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.solvers.load_balance_flows import pattern_flows
from models.solvers.max_min import link_loads, max_min_rates
from models.topology.graph import graph
from models.topology.link_loads import link_load_table, load_fractions
from models.topology.mechanism import Mechanism
from models.topology.routes import Routes, routes
from models.topology.size import CannotBuild
from models.workload.phase import RankGroups

PATTERNS = {"permutation": "every node sends to one other", "bisection": "one half sends to the other half"}
ROUTING_WORDS = {
    "static": "static tables", "shift": "shifted static tables", "ecmp": "ECMP", "flowlet": "flowlets", "adaptive": "adaptive",
    "spray": "spraying", "planned": "planned paths",
}  # fmt: skip
FLOW_ROWS_MAX = 400  # quantiles kept of the flow rates
GPUS_MAX_DRAWN = 65_536


@dataclass(frozen=True)
class LinkLoads:
    """Tables of one pattern: cells of the heat map, load quantiles by tier, flow-rate quantiles, tiers of the networks.

    `boxes` and `lines` are the picture of `tier_picture`. `flows` has a second set of rows per candidate, `what_if`:
    the same flows on the same links by the other kind of routing.
    """

    cells: pd.DataFrame
    links: pd.DataFrame
    flows: pd.DataFrame
    summary: pd.DataFrame
    tiers: pd.DataFrame
    boxes: pd.DataFrame
    lines: pd.DataFrame


@dataclass(frozen=True)
class _Solved:
    """One candidate's tables."""

    cells: pd.DataFrame
    links: pd.DataFrame
    flows: pd.DataFrame
    row: dict[str, object]
    boxes: pd.DataFrame
    lines: pd.DataFrame


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
    solved: dict[str, _Solved] = {}
    tiers = []
    for name in scenario.candidates:
        progress(name)
        on = setup(scenario, name)
        try:
            solved[name] = _loads(on, pattern, scenario.seed)
        except CannotBuild as error:
            raise InputError([Fault(scenario.name, f"candidates.{name}", pattern, str(error))]) from error
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

    def joined(field: str) -> pd.DataFrame:
        tables: list[pd.DataFrame] = [
            getattr(own, field).assign(candidate=name) for name, own in solved.items()
        ]
        return pd.concat(tables, ignore_index=True)

    return LinkLoads(
        cells=joined("cells"),
        links=joined("links"),
        flows=joined("flows"),
        summary=pd.DataFrame([{"candidate": name, **own.row} for name, own in solved.items()]),
        tiers=pd.DataFrame(tiers),
        boxes=joined("boxes"),
        lines=joined("lines"),
    )


def other_routing(mechanism: Mechanism, fabric: str, imbalance_fraction: float) -> Mechanism:
    """The other kind: packets spread over all paths where a table or hash picks one, and the reverse.

    >>> other_routing(Mechanism("ecmp", 4), "roce", 0.02).kind, other_routing(Mechanism("adaptive"), "ib", 0.0).kind
    ('adaptive', 'static')
    """
    if not mechanism.spread:
        return Mechanism("adaptive", imbalance_fraction=imbalance_fraction)
    return Mechanism("static" if fabric == "ib" else "ecmp")


def _loads(on: Setup, pattern: str, seed: int) -> _Solved:
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
    per_flow = _flow_rates(table, mechanism.spread, rate)
    other = other_routing(mechanism, on.technology.fabric, on.technology.routing.imbalance_fraction.value)
    if_other = _flow_rates(routes(built, sent, other, seed), other.spread, rate)
    flow_table = pd.concat(
        [_quantiles(per_flow, mechanism.kind, False), _quantiles(if_other, other.kind, True)],
        ignore_index=True,
    )
    row: dict[str, object] = {
        "routing": mechanism.kind,
        "queue_pairs": mechanism.queue_pairs,
        "flows": int(per_flow.size),
        "mean_rate_fraction": float(per_flow.mean()),
        "slowest_rate_fraction": float(per_flow.min()),
        "highest_offered_load": float(link_table.offered_load.max()) if len(link_table) else 0.0,
        "links_over_capacity_fraction": float(np.mean(_switch_links(fraction, built) > 1.0 + 1e-9)),
        "cables_down": int((~built.alive[: built.links]).sum()) // 2,
    }
    boxes, lines = tier_picture(built, fraction)
    return _Solved(link_load_table(table, load), link_table, flow_table, row, boxes, lines)


def _flow_rates(table: Routes, spread: bool, rate_bytes_per_s: float) -> NDArray[np.float64]:
    """Max-min rate of every flow over the line rate, shape (flows,)."""
    rates = max_min_rates(table.capacity, table.offsets, table.links)
    if spread:
        per_flow = np.zeros(table.flows)
        np.add.at(per_flow, table.flow, np.where(np.isfinite(rates), rates, rate_bytes_per_s * table.share))
    else:  # a flow's queue pairs carry equal parts: the slowest ends it
        per_flow = np.full(table.flows, np.inf)
        np.minimum.at(per_flow, table.flow, rates / np.maximum(table.share, 1e-300))
    found: NDArray[np.float64] = np.minimum(per_flow, rate_bytes_per_s) / rate_bytes_per_s
    return found


def _quantiles(per_flow: NDArray[np.float64], routing: str, what_if: bool) -> pd.DataFrame:
    share = np.linspace(0.0, 1.0, min(FLOW_ROWS_MAX, max(2, per_flow.size)))
    return pd.DataFrame(
        {
            "share_of_flows": share, "rate_fraction": np.quantile(per_flow, share), "routing": routing,
            "what_if": what_if, "mean_rate_fraction": float(per_flow.mean()),
        }
    )  # fmt: skip


def _switch_links(fraction: np.ndarray, built: object) -> np.ndarray:
    parts = [fraction[built.tier(name)] for name in ("leaf-spine", "spine-leaf", "spine-core", "core-spine")]  # type: ignore[attr-defined]
    whole = np.concatenate(parts)
    return whole if whole.size else np.zeros(1)


def load_sentence(summary: pd.DataFrame) -> str:
    """Whose flows collide most, in a sentence."""
    ranked = summary.sort_values("mean_rate_fraction", kind="stable")
    best, worst = ranked.iloc[-1], ranked.iloc[0]

    def rate(fraction: float) -> str:
        return f"{100 * float(fraction):.0f} %"

    if float(best.mean_rate_fraction - worst.mean_rate_fraction) < 0.005:
        collides = ": nothing collides" if float(worst.slowest_rate_fraction) > 0.995 else ""
        return f"Flows reach {rate(best.mean_rate_fraction)} of line rate on every candidate{collides}."
    return (
        f"Flows reach {rate(worst.mean_rate_fraction)} of line rate on {worst.candidate} ({ROUTING_WORDS[worst.routing]}), the "
        f"slowest {rate(worst.slowest_rate_fraction)}; on {best.candidate} ({ROUTING_WORDS[best.routing]}) "
        f"{rate(best.mean_rate_fraction)}."
    )
