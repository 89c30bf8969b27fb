"""Incast on InfiniBand: credits hold the senders; congestion spreads backwards instead of dropping."""

from __future__ import annotations

import numpy as np

from models.infiniband.congestion_control import (
    CongestionControl,
    congestion_control_sets,
    threshold_bytes,
)
from models.infiniband.credits import credit_incast, victim_goodput
from models.solvers.incast_fabric import IncastFabric, incast_fabric
from models.solvers.incast_outcome import IncastOutcome, IncastSeries, QueueLimits, incast_phase_time
from models.topology.incast_wiring import IncastWiring, incast_bound_s, incast_wiring, spreads_packets
from models.topology.link import Link
from models.topology.network import Network
from models.units import KIB
from models.workload.phase import Burst, Metric, Phase, PhaseTime, burst_of


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
    wiring, technology = incast_wiring(network, link), link.technology
    control = _control(link)
    adaptive = spreads_packets(link)
    made = credit_incast(
        burst.fan_in,
        float(burst.burst_bytes),
        link.rate_bytes_per_s,
        wiring.host_propagation_s - link.hop_latency_s,
        _vl_buffer_bytes(link),
        link.packet_bytes,
        header_bytes=link.wire_packet_bytes - link.packet_bytes,
        leaves=wiring.leaves,
        spines=wiring.spines,
        fabric_propagation_s=wiring.fabric_propagation_s - link.hop_latency_s,
        hop_latency_s=link.hop_latency_s,
        routing="destination" if technology.routing.kind == "static" else "hash",
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


def analytical_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Closed form: the port never idles, so the last burst ends at the serialisation bound plus the path.

    Victim: G / (P_in k), the law of a FIFO that k hot flows share into a switch whose hot port serves P_in
    ingress ports in turn; routes as the seed's hash, or spread over all spines where routing adapts. Queue:
    one buffer of every ingress port that feeds the hot one.
    """
    burst = burst_of(phase)
    wiring = incast_wiring(network, link)
    ideal_s = incast_bound_s(burst, link)
    latency_s = wiring.path_latency_s + link.host_pair_latency_s
    time_s = ideal_s + latency_s
    balanced = spreads_packets(link)
    found = _closed_fabric(burst, wiring, link)
    ports = max(1, min(found.shared_ports, burst.fan_in))
    waiting = max(0.0, burst.fan_in * burst.burst_bytes * (1.0 - 1.0 / burst.fan_in))
    queue = min(waiting, ports * _vl_buffer_bytes(link))
    metrics = [
        Metric(
            "fct_mean",
            time_s,
            "s",
            time_s * (1.0 - 0.5 / burst.fan_in),
            time_s,
            "round robin: all end together",
        ),
        Metric("fct_max", time_s, "s", time_s, time_s, "serialisation bound plus path"),
        Metric("slowdown", time_s / ideal_s, "1", source="over serialisation bound"),
        Metric(
            "queue_peak", queue, "bytes", source="one VL buffer of each ingress port that feeds the hot one"
        ),
        Metric(
            "pause_time",
            ideal_s * (1.0 - 1.0 / burst.fan_in),
            "s",
            source="1 - 1/N of the time without credits",
        ),
    ]
    if burst.victim:
        line = link.goodput_bytes_per_s
        k = found.flows_on_victim_port
        if wiring.leaves == 1 or k == 0 or waiting < ports * _vl_buffer_bytes(link) / 2:
            goodput = line
        elif balanced:  # packets of all flows mix on all P_in ports: the victim gets what one flow gets
            goodput = line / (k + 1)
        else:
            goodput = victim_goodput(line, line, ports, k)
        metrics.append(
            Metric(
                "victim_goodput",
                goodput,
                "bytes/s",
                source="G / (P_in k), or G / (k + 1) where routing spreads packets; one lane",
            )
        )
        metrics.append(Metric("victim_share", goodput / line, "fraction", source="of an idle link"))
    return PhaseTime(time_s, time_s, time_s * 1.05, "credits", "fabric", metrics=tuple(metrics))


def queue_limits(phase: Phase, network: Network, link: Link) -> QueueLimits:
    """Queue at which the hot port's senders run out of credits: one lane's buffer of each link that feeds it.

    Marks (FECN) begin at the switch threshold where congestion control is on.
    """
    burst = burst_of(phase)
    wiring = incast_wiring(network, link)
    found = _closed_fabric(burst, wiring, link)
    ports = max(1, min(found.shared_ports, burst.fan_in))
    control, buffer_bytes = _control(link), _vl_buffer_bytes(link)
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


def _closed_fabric(burst: Burst, wiring: IncastWiring, link: Link) -> IncastFabric:
    """Routes as the closed form counts them: the seed's hash, or all spines where routing adapts."""
    return incast_fabric(
        fan_in=burst.fan_in,
        rate_bytes_per_s=link.rate_bytes_per_s,
        propagation_s=wiring.host_propagation_s,
        leaves=wiring.leaves,
        spines=wiring.spines,
        victim=burst.victim,
        routing="spray" if spreads_packets(link) else "hash",
        seed=burst.seed,
    )


def _vl_buffer_bytes(link: Link) -> float:
    figure = link.technology.flow_control.vl_buffer_kib
    return (128.0 if figure is None else figure.value) * KIB


def _control(link: Link) -> CongestionControl | None:
    control = link.technology.congestion_control
    if control.kind != "ib_cc":
        return None
    return congestion_control_sets()[control.parameter_set or "simula_qdr"]
