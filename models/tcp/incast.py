"""Incast on lossy Ethernet with TCP: shallow queues drop, and what is lost last waits for a timeout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.solvers.incast_outcome import IncastOutcome, IncastSeries, QueueLimits, incast_phase_time
from models.topology.incast_wiring import incast_bound_s, incast_wiring
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Burst, Metric, Phase, PhaseTime, burst_of

INITIAL_WINDOW_PACKETS = 10  # RFC 6928
ECN_KB_PER_10_GBIT = 30.0  # DCTCP: K = 30 KB x C / 10G, HPCC repository


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """The incast packet by packet through windows, marks, drops and timeouts, averaged over seeds."""
    burst = burst_of(phase)
    outcomes = [outcome(burst, network, link, burst.seed + i) for i in range(burst.seeds)]
    kind = link.technology.congestion_control.kind
    found = incast_phase_time(
        outcomes,
        incast_bound_s(burst, link),
        link.goodput_bytes_per_s,
        f"lossy + {kind}",
        f"TCP loss solver, {burst.seeds} seeds from {burst.seed}",
    )
    if kind != "dctcp":
        return found
    marks = Metric("ecn_kmin", ecn_threshold_bytes(link), "bytes", source="DCTCP: 30 KB x C / 10G")
    return replace(found, metrics=(*found.metrics, marks))


def outcome(burst: Burst, network: Network, link: Link, seed: int) -> IncastOutcome:
    """One seeded run."""
    from models.tcp.loss import tcp_incast

    wiring, technology = incast_wiring(network, link), link.technology
    kind = technology.congestion_control.kind
    alpha = technology.flow_control.dynamic_threshold
    made = tcp_incast(
        burst.fan_in,
        float(burst.burst_bytes),
        link.rate_bytes_per_s,
        wiring.host_propagation_s,
        technology.flow_control.switch_buffer_mb.value * 1e6,
        rto_s=technology.loss_recovery.timeout_ms.value * 1e-3,
        initial_window_packets=INITIAL_WINDOW_PACKETS,
        packet_bytes=link.packet_bytes,
        header_bytes=link.wire_packet_bytes - link.packet_bytes,
        leaves=wiring.leaves,
        spines=wiring.spines,
        fabric_propagation_s=wiring.fabric_propagation_s,
        host_s=link.host_pair_latency_s,
        host_rate_bytes_per_s=link.host_limit_bytes_per_s,
        alpha=1.0 if alpha is None else alpha.value,
        law="dctcp" if kind == "dctcp" else "reno",
        ecn_threshold_bytes=ecn_threshold_bytes(link) if kind == "dctcp" else float("inf"),
        victim=burst.victim,
        seed=seed,
    )
    series = made.series
    return IncastOutcome(
        # the solver waits for the last acknowledgement; the receiver has the bytes one path earlier
        completion_s=made.fct_s - wiring.path_latency_s,
        queue_mean_bytes=made.queue_mean_bytes,
        queue_p99_bytes=made.queue_p99_bytes,
        queue_peak_bytes=made.queue_peak_bytes,
        held_s_per_sender=made.timeouts * technology.loss_recovery.timeout_ms.value * 1e-3 / burst.fan_in,
        pauses=0,
        marks=made.marks,
        drops=int(made.drops),
        timeouts=int(made.timeouts),
        victim_goodput_bytes_per_s=made.victim_goodput_bytes_per_s if burst.victim else None,
        series=IncastSeries(
            time_s=series["t_s"],
            queue_bytes=series["queue_bytes"],
            rate_bytes_per_s=series["rate_bytes_per_s"],
            victim_rate_bytes_per_s=series["victim_rate_bytes_per_s"],
            held_fraction=np.zeros(len(series["t_s"])),
        ),
        words="waiting for timeouts",
        notes=() if made.status == "finished" else (f"TCP solver: {made.status}",),
    )


def queue_limits(phase: Phase, network: Network, link: Link) -> QueueLimits:
    """Queue at which one busy port drops: alpha / (1 + alpha) of the buffer; DCTCP marks from its threshold on."""
    burst, flow = burst_of(phase), link.technology.flow_control
    buffer_bytes = flow.switch_buffer_mb.value * 1e6
    marks = ecn_threshold_bytes(link) if link.technology.congestion_control.kind == "dctcp" else None
    return QueueLimits(
        buffer_bytes=buffer_bytes,
        buffer_words="shared buffer of the hot switch",
        waiting_fraction=1.0 - 1.0 / burst.fan_in,
        marks_from_bytes=marks,
        marks_all_bytes=marks,
        stops_bytes=port_share_bytes(link),
        stops_words="packets can drop" if marks is not None else "packets drop",
    )


def port_share_bytes(link: Link) -> float:
    """What one busy port may hold of the switch buffer: alpha / (1 + alpha)."""
    flow = link.technology.flow_control
    alpha = 1.0 if flow.dynamic_threshold is None else flow.dynamic_threshold.value
    return alpha / (1.0 + alpha) * flow.switch_buffer_mb.value * 1e6


def ecn_threshold_bytes(link: Link) -> float:
    """Queue from which DCTCP marks: the scenario's Kmin, or 30 KB x C / 10G."""
    given = link.technology.congestion_control.kmin_kb
    if given is not None:
        return given.value * 1e3
    return ECN_KB_PER_10_GBIT * 1e3 * link.rate_bytes_per_s * 8.0 / 10e9
