"""Closed-form time of any phase on TCP.

Same functions in every fabric's folder: what differs is the link, the load balance of its routing, how it
recovers from loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module

from models.solvers.alpha_beta import Array, goodput_under_loss_fraction
from models.solvers.collective_rates import Balances
from models.solvers.collective_time import COLLECTIVES, collective_phase_times, collective_times
from models.solvers.load_balance import LoadBalance, closed_form_balance
from models.solvers.transfer_time import transfer_time
from models.topology.link import Link, path_latency_s
from models.topology.network import Network
from models.workload.phase import Phase, PhaseTime


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Time of one execution of `phase` on the network, all its groups at once, with band and limit.

    Collectives: the fastest algorithm of the library with the closed-form load balance of the routing.
    Transfers: serialisation bound. Incast: the fabric's own formula.
    Raises ValueError for more ranks than GPUs and for phases without the figures they need.
    """
    if phase.operation == "incast":
        time: PhaseTime = import_module("models.tcp.incast_analytical").analytical_time(phase, network, link)
        return time
    if phase.operation in COLLECTIVES:
        return phase_times(phase, (phase.message_bytes,), network, link)[0]
    return transfer_time(phase, network, loss_adjusted(link, network), _balances(phase, network, link))


def phase_times(
    phase: Phase, message_bytes: Sequence[float], network: Network, link: Link
) -> list[PhaseTime]:
    """`phase_time` of a collective phase at many message sizes, all else of it equal; the same to the last bit.

    Raises ValueError for phases that are no collectives.
    """
    balance = _balances(phase, network, link)
    return collective_phase_times(phase, message_bytes, network, loss_adjusted(link, network), balance)


def phase_times_s(phase: Phase, message_bytes: Array, network: Network, link: Link) -> Array:
    """Times of a collective phase for many message sizes at once, s, shape (sizes,); its own size set aside.

    Raises ValueError for phases that are no collectives.
    """
    balance = _balances(phase, network, link)
    return collective_times(phase, message_bytes, network, loss_adjusted(link, network), balance).time_s


def _balances(phase: Phase, network: Network, link: Link) -> Balances:
    @cache
    def balance(pattern: str) -> LoadBalance:
        return closed_form_balance(pattern, phase, network, link.technology)

    return balance


def loss_adjusted(link: Link, network: Network) -> Link:
    """The link with its rate lowered by what losses allow.

    min of the selective-repeat share 1 - p and the square-root law, 1.22 MSS / (RTT sqrt p) for each socket
    (Mathis, Semke, Mahdavi, Ott 1997); `routing.queue_pairs` counts the sockets of a NIC.
    """
    loss = link.technology.loss_recovery.loss_fraction.value
    if loss <= 0.0:
        return link
    round_trip_s = 2 * path_latency_s(link, network.size.hops_max, network.cable_m_path)
    sockets = link.technology.routing.queue_pairs
    law = sockets * 1.22 * link.packet_bytes / (round_trip_s * loss**0.5)
    kept = goodput_under_loss_fraction(loss, 0.0, go_back=False)
    return replace(
        link,
        wire_efficiency_fraction=link.wire_efficiency_fraction * kept,
        host_limit_bytes_per_s=min(link.host_limit_bytes_per_s, law),
    )
