"""What idle GPUs cost against what a fabric saves: the argument buyers have, in dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.compare.case import Score


@dataclass(frozen=True)
class IdleCost:
    """One candidate's network beside the value of GPU time on its cluster, USD a year."""

    candidate: str
    yearly_usd: float
    network_usd: float
    one_percent_idle_usd: float
    network_more_usd: float  # than the cheapest network
    idle_fraction_that_cancels: float  # of this cluster's time that costs as much as the network costs more


def idle_costs(found: Mapping[str, Score], network_usd: Mapping[str, float]) -> list[IdleCost]:
    """Rows by candidate: 1 % of idle GPUs is 1 % of what the cluster costs to own, whatever its network.

    >>> rows = idle_costs({"a": Score(1.0, 2e6), "b": Score(1.0, 1.9e6)}, {"a": 2e5, "b": 1e5})
    >>> rows[0].one_percent_idle_usd, rows[0].network_more_usd, rows[0].idle_fraction_that_cancels
    (20000.0, 100000.0, 0.05)
    """
    least = min(network_usd.values())
    rows = []
    for name, score in found.items():
        more = network_usd[name] - least
        share = more / score.yearly_usd if score.yearly_usd > 0 else 0.0
        rows.append(IdleCost(name, score.yearly_usd, network_usd[name], score.yearly_usd * 0.01, more, share))
    return rows
