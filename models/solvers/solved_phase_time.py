"""Time of a phase from rates solved on the real graph and routes: what every fabric's `fluid.py` shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from models.solvers.collective_rates import Reduction
from models.solvers.collective_time import COLLECTIVES, collective_time
from models.solvers.flow_completion_time import flow_phase_time
from models.solvers.load_balance import LoadBalance
from models.topology.link import Link
from models.topology.mechanism import Mechanism
from models.topology.network import Network
from models.workload.phase import Metric, Phase, PhaseTime


def solved_phase_time(
    phase: Phase,
    network: Network,
    link: Link,
    routing: Mechanism,
    solved: Callable[[str], LoadBalance],
    reduction: Reduction | None = None,
) -> PhaseTime:
    """Collectives: the library's algorithms with the load balance of solved flows, which `solved` gives per pattern.

    Other phases: completions of flows on the graph. The load balance asked for is among the metrics and notes.
    Raises CannotBuild when the network or its routing cannot carry the phase.
    """
    if phase.operation not in COLLECTIVES:
        return flow_phase_time(phase, network, link, routing)
    asked: dict[str, LoadBalance] = {}

    @cache
    def balance(pattern: str) -> LoadBalance:
        asked[pattern] = solved(pattern)
        return asked[pattern]

    found = collective_time(phase, network, link, balance, reduction)
    metrics = tuple(
        Metric(f"load_balance_{pattern}_{name}", value, "fraction", low, high, share.source)
        for pattern, share in asked.items()
        for name, value, low, high in (
            ("slowest", share.slowest, share.low or None, share.high or None),
            ("mean", share.mean, None, None),
        )
    )
    notes = tuple(f"{pattern}: {share.source}" for pattern, share in asked.items())
    return replace(found, metrics=found.metrics + metrics, notes=found.notes + notes)
