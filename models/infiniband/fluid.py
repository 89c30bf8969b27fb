"""Time of any phase on InfiniBand from rates solved on the real graph and routes.

Same functions in every fabric's folder. Collectives: the library's algorithms with the load balance of solved
flows. Permutation, bisection, storage, cache hand-over: completions of flows. Incast: queues at packet grain.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module

from models.infiniband.analytical import loss_adjusted
from models.infiniband.routing import mechanism, solved
from models.infiniband.sharp import reduction
from models.solvers.collective_time import COLLECTIVES, collective_time
from models.solvers.flow_completion_time import flow_phase_time
from models.solvers.load_balance import LoadBalance
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Metric, Phase, PhaseTime


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Time of one execution of `phase` on the network, all its groups at once, with band and limit.

    Raises CannotBuild when the network or its routing cannot carry the phase, ValueError for more ranks than GPUs
    and for phases without the figures they need.
    """
    if phase.operation == "incast":
        time: PhaseTime = import_module("models.infiniband.incast").phase_time(phase, network, link)
        return time
    routing = mechanism(link.technology)
    path = loss_adjusted(link, network)
    if phase.operation not in COLLECTIVES:
        return flow_phase_time(phase, network, path, routing)
    asked: dict[str, LoadBalance] = {}

    @cache
    def balance(pattern: str) -> LoadBalance:
        asked[pattern] = solved(pattern, phase, network, link.technology)
        return asked[pattern]

    granted, reduction_notes = reduction(phase, network, path)
    found = collective_time(phase, network, path, balance, granted)
    metrics = tuple(
        Metric(f"load_balance_{pattern}_{name}", value, "fraction", low, high, share.source)
        for pattern, share in asked.items()
        for name, value, low, high in (
            ("slowest", share.slowest, share.low or None, share.high or None),
            ("mean", share.mean, None, None),
        )
    )
    notes = tuple(f"{pattern}: {share.source}" for pattern, share in asked.items())
    return replace(found, metrics=found.metrics + metrics, notes=found.notes + reduction_notes + notes)
