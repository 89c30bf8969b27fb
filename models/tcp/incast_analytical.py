"""An incast over TCP in closed form: slow start, the shared port, and a timeout where the first windows overflow it."""

from __future__ import annotations

from models.solvers.incast_fabric import burst_fabric
from models.tcp.incast import INITIAL_WINDOW_PACKETS, ecn_threshold_bytes, port_share_bytes
from models.tcp.loss import WINDOW_LIMIT_BYTES
from models.tcp.slow_start import (
    delivered_bytes,
    port_queues_bytes,
    shared_port_time_s,
    slow_start_rounds,
    slow_start_time_s,
)
from models.topology.incast_wiring import incast_bound_s, incast_wiring
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Burst, Metric, Phase, PhaseTime, burst_of

SOURCE = "slow start and the shared port, plus a timeout where the first windows overflow"


def analytical_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Bursts ramp up by slow start into one port; whole windows lost wait for a timeout.

    Round trip r = 2 path + both hosts; a sender's rate is what its CPU moves. The port holds alpha / (1 + alpha) of
    the switch buffer (one busy port): N x min(burst, 10 segments) above it loses whole windows, which only a timeout
    repairs. The victim's connection starts with the bursts, so a short incast sees it in slow start too; beside k of
    the N bursts on its path it has what they leave. *Assumptions* Marks and losses on the victim's own path are
    left out (band: half the rate, one cut).
    """
    burst = burst_of(phase)
    wiring, technology = incast_wiring(network, link), link.technology
    ideal_s = incast_bound_s(burst, link)
    one_way_s = wiring.path_latency_s + link.host_pair_latency_s
    round_trip_s = 2.0 * wiring.path_latency_s + link.host_pair_latency_s
    wire_s = (
        link.wire_packet_bytes / link.packet_bytes / link.rate_bytes_per_s
    )  # per payload byte on the link
    sender = min(link.host_limit_bytes_per_s, 1.0 / wire_s)
    windows = slow_start_rounds(
        INITIAL_WINDOW_PACKETS * link.packet_bytes, round_trip_s, sender, WINDOW_LIMIT_BYTES
    )
    size = float(burst.burst_bytes)
    alone_s = slow_start_time_s(size, windows, round_trip_s, sender)
    port_s = shared_port_time_s(burst.fan_in, size, windows, round_trip_s, sender, 1.0 / wire_s)
    share = port_share_bytes(link)
    first = burst.fan_in * min(size, windows[0])
    rto_s = technology.loss_recovery.timeout_ms.value * 1e-3
    lost = first > share
    base_s = max(port_s, ideal_s) + one_way_s
    time_s = base_s + (rto_s if lost else 0.0)
    high_s = base_s + rto_s if burst.fan_in * burst.burst_bytes > share else time_s
    metrics = [
        Metric("fct_mean", time_s, "s", min(alone_s + one_way_s, time_s), high_s, SOURCE),
        Metric("fct_max", time_s, "s", base_s, high_s, SOURCE),
        Metric("slowdown", time_s / ideal_s, "1", source="over serialisation bound"),
        _queue_peak(
            port_queues_bytes(burst.fan_in, size, windows, round_trip_s, sender, 1.0 / wire_s),
            ecn_threshold_bytes(link) if technology.congestion_control.kind == "dctcp" else float("inf"),
            share,
        ),
        Metric("timeouts", float(lost), "1", source="1 where the first windows overflow"),
        Metric("burst_over_buffer", first / share, "1", source="first windows over the port's share"),
    ]
    if burst.victim:
        kept = _beside(burst, network, link)
        rate = min(sender, kept / wire_s)
        ended_s = time_s + wiring.path_latency_s  # the last acknowledgement is back
        arrived_s = max(0.0, ended_s - wiring.path_latency_s - 0.5 * link.host_pair_latency_s)
        ramp = slow_start_rounds(windows[0], round_trip_s, rate, WINDOW_LIMIT_BYTES)
        line = link.goodput_bytes_per_s
        goodput = min(line, delivered_bytes(arrived_s, ramp, round_trip_s, rate) / ended_s)
        low = 0.5 * goodput if kept < 1.0 else goodput
        source = "slow start into what the bursts on its path leave"
        metrics.append(Metric("victim_goodput", goodput, "bytes/s", low, goodput, source))
        metrics.append(
            Metric("victim_share", goodput / line, "fraction", low / line, goodput / line, "of an idle link")
        )
    words = f"lossy + {technology.congestion_control.kind}"
    return PhaseTime(time_s, base_s, high_s, words, "fabric", metrics=tuple(metrics))


def _queue_peak(queues: list[float], marks_from: float, share: float) -> Metric:
    """Queue of the round in which marks begin; the senders hear of them within the next one (high)."""
    passed = next((at for at, queue in enumerate(queues) if queue > marks_from), len(queues) - 1)
    value = min(share, max(queues[: passed + 1]))
    high = min(share, max(queues[: passed + 2]))
    return Metric("queue_peak", value, "bytes", value, high, "windows of the round in which marks begin")


def _beside(burst: Burst, network: Network, link: Link) -> float:
    """Share of its link into the last switch that the bursts on it leave to the victim, mean over the seeds' routes."""
    wiring = incast_wiring(network, link)
    if wiring.leaves == 1:
        return 1.0
    left = []
    for at in range(burst.seeds):
        fabric = burst_fabric(burst, wiring, link, routing="hash", seed=burst.seed + at, victim=True)
        beside = fabric.flows_on_victim_port
        left.append(max(1.0 / (beside + 1), 1.0 - beside / burst.fan_in))
    return sum(left) / len(left)
