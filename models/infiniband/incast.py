"""Incast on InfiniBand: credits hold the senders; congestion spreads backwards instead of dropping."""

from __future__ import annotations

import numpy as np

from models.catalog.technology import vl_buffer
from models.infiniband.congestion_control import (
    CongestionControl,
    congestion_control_sets,
    threshold_bytes,
)
from models.infiniband.credits import credit_incast
from models.solvers.incast_fabric import IncastFabric, IncastRouting, burst_fabric
from models.solvers.incast_outcome import IncastOutcome, IncastSeries, QueueLimits, incast_phase_time
from models.topology.incast_wiring import incast_bound_s, incast_wiring, spreads_packets
from models.topology.link import Link
from models.topology.network import Network
from models.units import KIB
from models.workload.phase import Burst, Phase, PhaseTime, burst_of


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """The incast at packet grain through credit flow control, averaged over seeds of routes and starts."""
    burst = burst_of(phase)
    outcomes = [outcome(burst, network, link, burst.seed + i) for i in range(burst.seeds)]
    return incast_phase_time(
        outcomes,
        incast_bound_s(burst, link),
        link.goodput_bytes_per_s,
        "credits",
        f"credit solver at packet grain, {burst.seeds} seeds from {burst.seed}",
    )


def outcome(burst: Burst, network: Network, link: Link, seed: int) -> IncastOutcome:
    """One seeded run."""
    wiring = incast_wiring(network, link)
    control = _control(link)
    adaptive = spreads_packets(link)
    made = credit_incast(
        burst.fan_in,
        float(burst.burst_bytes),
        link.rate_bytes_per_s,
        wiring.host_propagation_s - link.hop_latency_s,
        vl_buffer_bytes(link),
        link.packet_bytes,
        header_bytes=link.wire_packet_bytes - link.packet_bytes,
        leaves=wiring.leaves,
        spines=wiring.spines,
        fabric_propagation_s=wiring.fabric_propagation_s - link.hop_latency_s,
        hop_latency_s=link.hop_latency_s,
        routing=_routing(link),
        adaptive=adaptive,
        victim=burst.victim,
        congestion_control=control,
        seed=seed,
    )
    result, fabric = made.result, made.fabric
    hot = result.watch.index(fabric.hot_link)
    hosts = [path[0][0] for path in fabric.paths[: burst.fan_in]]
    victim = None if fabric.victim is None else float(result.goodput_bytes_per_s[fabric.victim])
    quiet = np.zeros(len(result.time_s))
    notes = () if result.status == "finished" else (f"credit solver: {result.status}",)
    return IncastOutcome(
        completion_s=result.completion_s[: burst.fan_in] + link.host_pair_latency_s,
        queue_mean_bytes=float(result.queue_mean_bytes[fabric.hot_link]),
        queue_p99_bytes=float(result.queue_p99_bytes[hot]),
        queue_peak_bytes=float(result.queue_peak_bytes[fabric.hot_link]),
        held_s_per_sender=float(result.stalled_s[hosts].mean()),
        pauses=0,
        marks=int(result.notices[: burst.fan_in].sum()),
        drops=0,
        timeouts=0,
        victim_goodput_bytes_per_s=victim,
        series=IncastSeries(
            time_s=result.time_s,
            queue_bytes=result.queue_bytes[:, hot],
            rate_bytes_per_s=result.rate_bytes_per_s[:, 0],
            victim_rate_bytes_per_s=result.rate_bytes_per_s[:, 1] if victim is not None else quiet,
            held_fraction=result.stalled_fraction[:, 0],
        ),
        words="out of credits",
        notes=notes,
    )


def queue_limits(phase: Phase, network: Network, link: Link) -> QueueLimits:
    """Queue at which the hot port's senders run out of credits: one lane's buffer of each link that feeds it.

    Marks (FECN) begin at the switch threshold where congestion control is on.
    """
    burst = burst_of(phase)
    found = incast_wired(burst, network, link)
    ports = max(1, min(found.shared_ports, burst.fan_in))
    control, buffer_bytes = _control(link), vl_buffer_bytes(link)
    on = control is not None and control.threshold > 0
    marks = threshold_bytes(control, buffer_bytes) if control is not None and on else None
    return QueueLimits(
        buffer_bytes=ports * buffer_bytes,
        buffer_words=f"input buffers of the {ports} links into the hot switch"
        if ports > 1
        else "input buffer of the link into the hot switch",
        waiting_fraction=1.0 - 1.0 / burst.fan_in,
        marks_from_bytes=marks,
        marks_all_bytes=marks,
        stops_bytes=ports * buffer_bytes,
        stops_words="credits run out",
    )


def incast_wired(burst: Burst, network: Network, link: Link) -> IncastFabric:
    """Network and routes of the burst's seed: one spine a destination, a hash, or all spines where routing adapts."""
    routing = "spray" if spreads_packets(link) else _routing(link)
    return burst_fabric(burst, incast_wiring(network, link), link, routing=routing, seed=burst.seed)


def _routing(link: Link) -> IncastRouting:
    return "destination" if link.technology.routing.kind == "static" else "hash"


def vl_buffer_bytes(link: Link) -> float:
    """Input buffer of one lane of a port."""
    return vl_buffer(link.technology.flow_control).value * KIB


def _control(link: Link) -> CongestionControl | None:
    control = link.technology.congestion_control
    if control.kind != "ib_cc":
        return None
    return congestion_control_sets()[control.parameter_set or "simula_qdr"]
