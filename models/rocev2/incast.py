"""Incast on RoCEv2: ECN marks slow the senders (DCQCN), PFC stops them when that comes too late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from models.rocev2.incast_laws import ADMITTED_SENDERS, LONGEST_TIMEOUT_S, admits, laws
from models.solvers.incast_fabric import IncastFabric, burst_fabric
from models.solvers.incast_outcome import IncastOutcome, IncastSeries, QueueLimits, incast_phase_time
from models.solvers.queues_types import FlowSet, PacketFormat, Recording
from models.topology.incast_wiring import IncastWiring, incast_bound_s, incast_wiring, spreads_packets
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Burst, Metric, Phase, PhaseTime, burst_of

SERIES_SAMPLES = 400
TIMEOUTS = 20  # of one flow in a row that a run has time for


def phase_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """The incast at packet grain through ECN, the sender law and PFC, averaged over seeds."""
    burst = burst_of(phase)
    outcomes = [outcome(burst, network, link, burst.seed + i) for i in range(burst.seeds)]
    found = incast_phase_time(
        outcomes,
        incast_bound_s(burst, link),
        link.goodput_bytes_per_s,
        incast_words(link),
        f"queue solver at packet grain, {burst.seeds} seeds from {burst.seed}",
    )
    return replace(found, metrics=found.metrics + _threshold_metrics(burst, network, link))


def _threshold_metrics(burst: Burst, network: Network, link: Link) -> tuple[Metric, ...]:
    """Where marking begins and is certain, and the queue at which every ingress port of the hot switch pauses."""
    limits = _limits(burst, network, link)
    metrics = []
    if limits.marks_from_bytes is not None and limits.marks_all_bytes is not None:
        source = f"parameter set {link.technology.congestion_control.parameter_set} at this rate"
        metrics.append(Metric("ecn_kmin", limits.marks_from_bytes, "bytes", source=source))
        metrics.append(Metric("ecn_kmax", limits.marks_all_bytes, "bytes", source=source))
    if limits.stops_bytes is not None and link.technology.flow_control.kind == "pfc":
        source = "P_in T, T = alpha B / (1 + P_in alpha)"
        metrics.append(Metric("pause_threshold", limits.stops_bytes, "bytes", source=source))
    return tuple(metrics)


def queue_limits(phase: Phase, network: Network, link: Link) -> QueueLimits:
    """Queues at the hot port at which ECN marks and PFC pauses (or the switch drops); the shared buffer holds them.

    All P_in ingress ports that feed the hot port pause at P_in T, T = alpha B / (1 + P_in alpha); without PFC one
    busy port drops above alpha B / (1 + alpha).
    """
    return _limits(burst_of(phase), network, link)


def _limits(burst: Burst, network: Network, link: Link) -> QueueLimits:
    law, marking, gate = laws(link)
    buffer_bytes = link.technology.flow_control.switch_buffer_mb.value * 1e6
    ports = 1
    if gate.kind == "pfc":
        ports = hot_ports(burst, network, link)
    admitted = ADMITTED_SENDERS if admits(link) else burst.fan_in
    return QueueLimits(
        buffer_bytes=buffer_bytes,
        buffer_words="shared buffer of the hot switch",
        waiting_fraction=min(burst.fan_in - 1, admitted) / burst.fan_in,
        marks_from_bytes=float(np.min(marking.kmin_bytes)) if law.kind == "dcqcn" else None,
        marks_all_bytes=float(np.min(marking.kmax_bytes)) if law.kind == "dcqcn" else None,
        stops_bytes=ports * gate.alpha * buffer_bytes / (1.0 + ports * gate.alpha),
        stops_words=f"{'links' if gate.kind == 'pfc' else 'packets'} {'can ' if law.kind == 'dcqcn' else ''}"
        f"{'pause' if gate.kind == 'pfc' else 'drop'}",
    )


def hot_ports(burst: Burst, network: Network, link: Link) -> int:
    """P_in: ingress ports of the hot switch that carry the incast."""
    fabric = incast_wired(burst, network, link)
    return max(1, min(fabric.shared_ports, burst.fan_in))


def outcome(burst: Burst, network: Network, link: Link, seed: int) -> IncastOutcome:
    """One seeded run: first the bursts alone for their end, then with the victim until that time."""
    from models.solvers.queues import run

    wiring = incast_wiring(network, link)
    fabric = _fabric(burst, wiring, link, seed)
    law, marking, gate = laws(link)
    ideal_s = incast_bound_s(burst, link)
    base_s = wiring.path_latency_s + link.host_pair_latency_s
    packet, choice = incast_packets(link)
    watch = (fabric.hot_link, *((fabric.victim_link,) if burst.victim else ()))
    after = tuple(
        (i - ADMITTED_SENDERS,) if admits(link) and i >= ADMITTED_SENDERS else () for i in range(burst.fan_in)
    )
    alone = FlowSet(
        paths=fabric.paths[: burst.fan_in],
        bytes=np.full(burst.fan_in, float(burst.burst_bytes)),
        start_s=np.zeros(burst.fan_in),
        after=after if admits(link) else (),
    )
    step_s = max(1e-6, ideal_s / SERIES_SAMPLES)
    limit_s = 50.0 * ideal_s + 0.1 + (TIMEOUTS * gate.retransmit_timeout_s if gate.kind == "drop" else 0.0)
    first = run(
        fabric.network, alone, law, gate, marking, seed=seed, packet=packet, stop_s=limit_s, choice=choice,
        recording=Recording(watch_links=(fabric.hot_link,), series_s=step_s),
    )  # fmt: skip
    victim_goodput, result = None, first
    if burst.victim:
        end_s = first.completion_s if np.isfinite(first.completion_s) else limit_s
        both = FlowSet(
            paths=fabric.paths,
            bytes=np.append(alone.bytes, np.inf),
            start_s=np.zeros(burst.fan_in + 1),
            after=(*after, ()) if admits(link) else (),
            group=np.append(np.zeros(burst.fan_in, dtype=np.int64), 1),
        )
        step_s = max(step_s, end_s / (2 * SERIES_SAMPLES))
        result = run(
            fabric.network, both, law, gate, marking, seed=seed, packet=packet, stop_s=end_s, choice=choice,
            recording=Recording(watch_links=watch, series_s=step_s),
        )  # fmt: skip
        victim_goodput = float(result.delivered_bytes[-1]) / end_s
    series, queue = result.series, first.queue
    hosts = [path[0][0] for path in fabric.paths[: burst.fan_in]]
    delivered = np.diff(series.delivered_bytes, axis=0, prepend=0.0)
    span = np.diff(series.time_s, prepend=0.0)[:, None]
    rates = np.divide(delivered, span, out=np.zeros_like(delivered), where=span > 0)
    ended = (
        first.fct_s + base_s - 2.0 * wiring.path_latency_s
    )  # to the last byte at the receiver, host included
    notes: tuple[str, ...] = ("the run met its bound before every burst ended",) if first.hit_bound else ()
    timeout_ms = link.technology.loss_recovery.timeout_ms.value
    if first.losses.any() and timeout_ms > LONGEST_TIMEOUT_S * 1e3:
        notes += (
            f"packets are lost: a lost tail waits {LONGEST_TIMEOUT_S * 1e3:.0f} ms here, {timeout_ms:.0f} ms as set",
        )
    return IncastOutcome(
        completion_s=np.maximum(ended, 0.0) + first.start_s,
        queue_mean_bytes=queue.mean_bytes,
        queue_p99_bytes=queue.p99_bytes,
        queue_peak_bytes=queue.peak_bytes,
        held_s_per_sender=float(first.link_pause_s[hosts].mean()),
        pauses=int(first.link_pauses.sum()),
        marks=int(first.marks.sum()),
        drops=int(first.losses.sum()),
        timeouts=0,
        victim_goodput_bytes_per_s=victim_goodput,
        series=IncastSeries(
            time_s=series.time_s,
            queue_bytes=series.queue_bytes[:, 0],
            rate_bytes_per_s=rates[:, 0],
            victim_rate_bytes_per_s=rates[:, 1] if burst.victim else np.zeros(len(series.time_s)),
            held_fraction=series.hosts_paused / burst.fan_in,
        ),
        words="paused",
        notes=notes,
    )


def incast_wired(burst: Burst, network: Network, link: Link) -> IncastFabric:
    """The queue network around the hot port of `network`, with the routes of the burst's seed."""
    return _fabric(burst, incast_wiring(network, link), link, burst.seed)


def incast_packets(link: Link) -> tuple[PacketFormat, str]:
    """Packet format of the link, and how a packet with several paths takes one."""
    header_bytes = int(link.wire_packet_bytes - link.packet_bytes)
    packet = PacketFormat(payload_bytes=int(link.packet_bytes), header_bytes=header_bytes, ack_bytes=86)
    return packet, "random" if link.technology.routing.kind == "spray" else "least_queued"


def _fabric(burst: Burst, wiring: IncastWiring, link: Link, seed: int) -> IncastFabric:
    return burst_fabric(burst, wiring, link, routing="spray" if spreads_packets(link) else "hash", seed=seed)


def incast_words(link: Link) -> str:
    """What holds the senders, in the words of the technology."""
    technology = link.technology
    control = technology.congestion_control
    sets = f" ({control.parameter_set})" if control.parameter_set else ""
    return f"{technology.flow_control.kind} + {control.kind}{sets}"
