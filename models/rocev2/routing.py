"""RoCEv2 routing: a hash of the UDP 5-tuple per queue pair, or one of the mechanisms that replaced it.

The UDP source port carries a queue pair's entropy, so k queue pairs are k draws. Flowlets, adaptive routing and
spraying need switches (and, for packets out of order, NICs) that offer them.
"""

from __future__ import annotations

from models.catalog.technology import Technology
from models.solvers.load_balance import LoadBalance, solved_balance
from models.topology.mechanism import Mechanism
from models.topology.mechanism import mechanism as preset_mechanism
from models.topology.network import Network
from models.topology.size import CannotBuild
from models.workload.phase import Phase

POSSIBLE = frozenset({"static", "shift", "ecmp", "flowlet", "adaptive", "spray", "planned"})


def mechanism(technology: Technology) -> Mechanism:
    """How this fabric's packets choose among equal paths; raises CannotBuild for what it cannot do."""
    chosen = preset_mechanism(technology)
    if chosen.kind not in POSSIBLE:
        raise CannotBuild(
            f"technology {technology.id}: RoCEv2 has no {chosen.kind} routing; possible: {', '.join(sorted(POSSIBLE))}"
        )
    return chosen


def solved(pattern: str, phase: Phase, network: Network, technology: Technology) -> LoadBalance:
    """Share of the NIC's rate a traffic pattern gets, from flows routed on the graph."""
    return solved_balance(pattern, phase, network, technology, routing=mechanism(technology))
