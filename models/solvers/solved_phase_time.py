"""Time of a phase from rates solved on the real graph and routes: what every fabric's `fluid.py` shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from models.solvers.collective_rates import Reduction
from models.solvers.collective_time import collective_phase_times
from models.solvers.load_balance import LoadBalance
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Metric, Phase, PhaseTime


def solved_phase_times(
    phase: Phase,
    message_bytes: Sequence[float],
    network: Network,
    link: Link,
    solved: Callable[[str], LoadBalance],
    reduction: Reduction | None = None,
) -> list[PhaseTime]:
    """Times of a collective phase at many sizes: the library's algorithms with the load balance of solved flows.

    `solved` gives it per pattern; what was asked for is among the metrics and notes.
    Raises CannotBuild when the network or its routing cannot carry the phase.
    """
    asked: dict[str, LoadBalance] = {}

    @cache
    def balance(pattern: str) -> LoadBalance:
        asked[pattern] = solved(pattern)
        return asked[pattern]

    found = collective_phase_times(phase, message_bytes, network, link, balance, reduction)
    metrics = tuple(
        Metric(f"load_balance_{pattern}_{name}", value, "fraction", low, high, share.source)
        for pattern, share in asked.items()
        for name, value, low, high in (
            ("slowest", share.slowest, share.low or None, share.high or None),
            ("mean", share.mean, None, None),
        )
    )
    notes = tuple(f"{pattern}: {share.source}" for pattern, share in asked.items())
    return [replace(time, metrics=time.metrics + metrics, notes=time.notes + notes) for time in found]
