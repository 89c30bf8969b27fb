"""How packets choose among equal paths, as plain data for the route builders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from models.catalog.technology import Technology

Kind = Literal["static", "shift", "ecmp", "flowlet", "adaptive", "spray", "planned"]

# Share of queue pairs that meet a gap longer than the flowlet timer within one message. RDMA NICs pace at line
# rate, so gaps come only between messages and at pauses: an assumption between none (ECMP) and all (adaptive).
FLOWLET_GAP_PROBABILITY = 0.5


@dataclass(frozen=True)
class Mechanism:
    """Routing of one fabric.

    static: destination-modulo (D-mod-K) tables; shift: the same rotated by the source leaf; ecmp: 5-tuple hash,
    one draw per queue pair and tier (one draw for all tiers when `polarised`); flowlet: as ecmp, but
    `gap_probability` of the queue pairs move to the least loaded local port; adaptive, spray: even over all live
    paths, less `imbalance_fraction` of the capacity between switches; planned: placed one by one on the least
    loaded path. Dead links: static tables move to the next live port, ECMP groups shrink to the next hops that
    still reach the destination, adaptive and spray spread over what is left, planning sees only live links.
    """

    kind: Kind
    queue_pairs: int = 1
    imbalance_fraction: float = 0.0
    polarised: bool = False
    gap_probability: float = FLOWLET_GAP_PROBABILITY

    @property
    def hashed(self) -> bool:
        """Whether the outcome depends on a hash seed."""
        return self.kind in {"ecmp", "flowlet"}

    @property
    def spread(self) -> bool:
        """Whether a flow uses all paths at once."""
        return self.kind in {"adaptive", "spray"}


def mechanism(technology: Technology) -> Mechanism:
    """The routing mechanism a technology preset asks for.

    Queue pairs count only where they change the path: a static table looks at the destination alone, and an
    adaptive fabric moves packets whatever their queue pair.

    >>> from models.catalog.technology import technology
    >>> mechanism(technology("rocev2_400g")).queue_pairs, mechanism(technology("infiniband_ndr")).kind
    (4, 'adaptive')
    """
    routing = technology.routing
    pairs = routing.queue_pairs if routing.kind in {"ecmp", "flowlet", "planned"} else 1
    return Mechanism(routing.kind, pairs, routing.imbalance_fraction.value, routing.polarised)
