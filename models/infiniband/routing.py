"""InfiniBand routing: tables by destination address, written by the subnet manager, or adaptive.

A forwarding table knows destinations only, so queue pairs add no entropy; adaptive routing picks among the
table's ports by load, packet by packet. Hashing on a 5-tuple does not exist here.
"""

from __future__ import annotations

from models.catalog.technology import Technology
from models.solvers.load_balance import LoadBalance, solved_balance
from models.topology.mechanism import Mechanism
from models.topology.mechanism import mechanism as preset_mechanism
from models.topology.network import Network
from models.topology.size import CannotBuild
from models.workload.phase import Phase

POSSIBLE = frozenset({"static", "shift", "adaptive", "spray", "planned"})


def mechanism(technology: Technology) -> Mechanism:
    """How this fabric's packets choose among equal paths; raises CannotBuild for what it cannot do."""
    chosen = preset_mechanism(technology)
    if chosen.kind not in POSSIBLE:
        raise CannotBuild(
            f"technology {technology.id}: InfiniBand has no {chosen.kind} routing; possible: {', '.join(sorted(POSSIBLE))}"
        )
    return chosen


def solved(pattern: str, phase: Phase, network: Network, technology: Technology) -> LoadBalance:
    """Share of the NIC's rate a traffic pattern gets, from flows routed on the graph."""
    return solved_balance(pattern, phase, network, technology, routing=mechanism(technology))
