"""What share of the NIC rate the flows of a traffic pattern get, and who says so.

Two answers to one question: `closed_form_balance` from counts (balls in bins, taper, residues), and
`solved_balance` from routes on the real graph.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.catalog.technology import Technology
from models.topology.mechanism import Mechanism, mechanism
from models.topology.network import Network
from models.workload.phase import Phase


@dataclass(frozen=True)
class LoadBalance:
    """Shares of the NIC's payload rate on the fabric, per traffic pattern.

    `slowest` is what a synchronous step sees, `mean` what independent traffic sees. `source` names the method
    (closed form, or flow-level solution with its route set and seed).
    """

    slowest: float
    mean: float
    source: str
    low: float = 0.0  # band of `slowest`; 0, 0 = no band known
    high: float = 0.0


IDEAL = LoadBalance(1.0, 1.0, "no contention: every flow has its own path", 1.0, 1.0)


def closed_form_balance(
    pattern: str,
    phase: Phase,
    network: Network,
    technology: Technology,
    routing: Mechanism | None = None,
) -> LoadBalance:
    """Share of the NIC's rate a pattern of `phase` gets, in closed form; see `load_balance_closed`.

    pattern: ring | tree | all_to_all | point_to_point | permutation | bisection; `routing` defaults to the
    technology's own. Raises CannotBuild for a pattern the network cannot carry, ValueError for an unknown one.
    """
    from models.solvers.load_balance_closed import closed_form

    return closed_form(pattern, phase.groups, network, routing or mechanism(technology), phase.pattern)


def solved_balance(
    pattern: str,
    phase: Phase,
    network: Network,
    technology: Technology,
    seed: int | None = None,
    routing: Mechanism | None = None,
) -> LoadBalance:
    """The same share from flows routed on the graph; see `load_balance_solved`. `seed` defaults to the network's."""
    from models.solvers.load_balance_solved import solved

    chosen = network.seed if seed is None else seed
    return solved(pattern, phase.groups, network, routing or mechanism(technology), chosen, phase.pattern)
