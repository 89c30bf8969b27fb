"""Time of any phase on InfiniBand from rates solved on the real graph and routes.

Same functions in every fabric's folder. Incast: queues at packet grain; all else: solved flows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module

from models.infiniband.analytical import loss_adjusted
from models.infiniband.routing import mechanism, solved
from models.infiniband.sharp import size_notes
from models.solvers.collective_time import COLLECTIVES
from models.solvers.flow_completion_time import flow_phase_time
from models.solvers.load_balance import LoadBalance
from models.solvers.solved_phase_time import solved_phase_times
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Phase, PhaseTime


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Time of one execution of `phase` on the network, all its groups at once, with band and limit.

    Raises CannotBuild when the network or its routing cannot carry the phase, ValueError for more ranks than GPUs
    and for phases without the figures they need.
    """
    if phase.operation == "incast":
        time: PhaseTime = import_module("models.infiniband.incast").phase_time(phase, network, link)
        return time

    if phase.operation in COLLECTIVES:
        return phase_times(phase, (phase.message_bytes,), network, link)[0]
    return flow_phase_time(phase, network, loss_adjusted(link, network), mechanism(link.technology))


def phase_times(
    phase: Phase, message_bytes: Sequence[float], network: Network, link: Link
) -> list[PhaseTime]:
    """`phase_time` of a collective phase at many message sizes, all else of it equal; the same to the last bit.

    Raises CannotBuild when the network or its routing cannot carry the phase.
    """

    def balance(pattern: str) -> LoadBalance:
        return solved(pattern, phase, network, link.technology)

    path = loss_adjusted(link, network)
    granted, told = size_notes(phase, message_bytes, network, path)
    found = solved_phase_times(phase, message_bytes, network, path, balance, granted)
    return [
        replace(time, notes=before + time.notes + after)
        for time, (before, after) in zip(found, told, strict=True)
    ]
