"""Time of any phase on RoCEv2 from rates solved on the real graph and routes.

Same functions in every fabric's folder. Incast: queues at packet grain; all else: solved flows.
"""

from __future__ import annotations

from importlib import import_module

from models.rocev2.analytical import loss_adjusted
from models.rocev2.routing import mechanism, solved
from models.solvers.load_balance import LoadBalance
from models.solvers.solved_phase_time import solved_phase_time
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Phase, PhaseTime


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Time of one execution of `phase` on the network, all its groups at once, with band and limit.

    Raises CannotBuild when the network or its routing cannot carry the phase, ValueError for more ranks than GPUs
    and for phases without the figures they need.
    """
    if phase.operation == "incast":
        time: PhaseTime = import_module("models.rocev2.incast").phase_time(phase, network, link)
        return time

    def balance(pattern: str) -> LoadBalance:
        return solved(pattern, phase, network, link.technology)

    path = loss_adjusted(link, network)
    return solved_phase_time(phase, network, path, mechanism(link.technology), balance)
