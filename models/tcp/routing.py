"""TCP routing: a hash of the TCP 5-tuple per socket.

`queue_pairs` counts the sockets of a connection. Packets out of order look like loss to the receiver, so
spraying is not offered; flowlets are.
"""

from __future__ import annotations

from models.catalog.technology import Technology
from models.solvers.load_balance import LoadBalance, solved_balance
from models.topology.mechanism import Mechanism
from models.topology.mechanism import mechanism as preset_mechanism
from models.topology.network import Network
from models.topology.size import CannotBuild
from models.workload.phase import Phase

POSSIBLE = frozenset({"static", "shift", "ecmp", "flowlet", "adaptive", "planned"})


def mechanism(technology: Technology) -> Mechanism:
    """How this fabric's packets choose among equal paths; raises CannotBuild for what it cannot do."""
    chosen = preset_mechanism(technology)
    if chosen.kind not in POSSIBLE:
        raise CannotBuild(
            f"technology {technology.id}: TCP has no {chosen.kind} routing; possible: {', '.join(sorted(POSSIBLE))}"
        )
    return chosen


def solved(pattern: str, phase: Phase, network: Network, technology: Technology) -> LoadBalance:
    """Share of the NIC's rate a traffic pattern gets, from flows routed on the graph."""
    return solved_balance(pattern, phase, network, technology, routing=mechanism(technology))
