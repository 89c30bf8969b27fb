"""What loss does to TCP: incast packet by packet, and collapse in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from models.solvers.incast_fabric import incast_fabric
from models.solvers.tcp_loss import Array, TcpRules, tcp_run

WINDOW_LIMIT_BYTES = 6 * 2**20  # Linux tcp_rmem / tcp_wmem upper default
SAMPLES = 150  # of the serialisation bound: some twenty packets a sample, or the rate looks ragged


@dataclass(frozen=True, eq=False)
class TcpIncast:
    """One incast over TCP; `fct_s` [fan_in], series by name with one value a sample."""

    fct_s: Array
    victim_goodput_bytes_per_s: float | None
    queue_mean_bytes: float
    queue_p99_bytes: float
    queue_peak_bytes: float
    drops: int
    marks: int
    timeouts: int
    status: str
    series: dict[str, Array]


def tcp_incast(
    fan_in: int,
    burst_bytes: float,
    rate_bytes_per_s: float,
    propagation_s: float,
    buffer_bytes: float,
    *,
    rto_s: float = 0.2,
    initial_window_packets: float = 10.0,
    packet_bytes: float = 8948.0,
    header_bytes: float = 90.0,
    leaves: int = 4,
    spines: int = 4,
    fabric_propagation_s: float | None = None,
    host_s: float = 0.0,
    host_rate_bytes_per_s: float = float("inf"),
    alpha: float = 1.0,
    law: Literal["dctcp", "reno"] = "dctcp",
    ecn_threshold_bytes: float = float("inf"),
    victim: bool = True,
    start_spread_s: float = 1e-6,
    seed: int = 1,
) -> TcpIncast:
    """`fan_in` senders of `burst_bytes` each to one receiver, and an endless victim flow to its neighbour.

    Wiring as `solvers.incast_fabric`; `host_s` is the software latency of both ends together, `host_rate_bytes_per_s`
    what one sender's CPU moves. Starts are spread over `start_spread_s` by the seed: software never starts in step.
    Raises ValueError for impossible input.

    >>> calm = tcp_incast(2, 1e5, 12.5e9, 1e-6, 16e6, victim=False)
    >>> calm.drops, calm.timeouts, bool(calm.fct_s.max() < 1e-3)
    (0, 0, True)
    """
    if fan_in < 1 or burst_bytes < 1:
        raise ValueError(f"fan_in {fan_in} and burst_bytes {burst_bytes} must be at least 1")
    fabric_s = propagation_s if fabric_propagation_s is None else fabric_propagation_s
    found = incast_fabric(
        fan_in=fan_in,
        rate_bytes_per_s=rate_bytes_per_s,
        propagation_s=propagation_s,
        fabric_propagation_s=fabric_s,
        leaves=leaves,
        spines=spines,
        buffer_bytes=buffer_bytes,
        victim=victim,
        routing="hash",
        seed=seed,
    )
    names: dict[int, int] = {}
    last = np.array([names.setdefault(paths[0][-1], len(names)) for paths in found.paths], np.int64)
    first = np.array(
        [names.setdefault(paths[0][-2], len(names)) if len(paths[0]) > 2 else -1 for paths in found.paths],
        np.int64,
    )
    packets = np.full(len(found.paths), -(-int(burst_bytes) // int(packet_bytes)), np.int64)
    if victim:
        packets[-1] = -1
    starts = np.random.default_rng(seed).uniform(0.0, start_spread_s, len(found.paths))
    wire_s = (packet_bytes + header_bytes) / rate_bytes_per_s
    hops = len(found.paths[0][0])
    to_first_s = host_s / 2.0 + propagation_s + (fabric_s if hops > 2 else 0.0)
    ideal_s = fan_in * float(packets[0]) * wire_s
    run = tcp_run(
        packets,
        first,
        last,
        starts,
        len(names),
        TcpRules(
            packet_bytes=packet_bytes,
            wire_s=wire_s,
            send_gap_s=max(wire_s, packet_bytes / host_rate_bytes_per_s),
            to_first_s=to_first_s,
            between_s=fabric_s,
            to_host_s=propagation_s,
            back_s=host_s / 2.0 + 2.0 * propagation_s + (2.0 * fabric_s if hops > 2 else 0.0),
            alpha=alpha,
            buffer_bytes=buffer_bytes,
            ecn_bytes=ecn_threshold_bytes,
            law=law,
            initial_window_packets=initial_window_packets,
            window_limit_packets=max(2.0, WINDOW_LIMIT_BYTES / packet_bytes),
            rto_s=rto_s,
            stop_s=100.0 * ideal_s + 200.0 * rto_s,
            bin_s=max(1e-6, ideal_s / SAMPLES),
        ),
    )
    victim_rate = (
        float(run.delivered_packets[-1]) * packet_bytes / run.end_s if victim and run.end_s > 0 else None
    )
    return TcpIncast(
        fct_s=run.fct_s[:fan_in],
        victim_goodput_bytes_per_s=victim_rate,
        queue_mean_bytes=float(run.queue_mean_bytes[last[0]]),
        queue_p99_bytes=float(np.percentile(run.queue_bytes, 99)) if len(run.queue_bytes) else 0.0,
        queue_peak_bytes=float(run.queue_peak_bytes[last[0]]),
        drops=int(run.drops.sum()),
        marks=run.marks,
        timeouts=int(run.timeouts[:fan_in].sum()),
        status=run.status,
        series={
            "t_s": run.time_s,
            "queue_bytes": run.queue_bytes,
            "rate_bytes_per_s": run.rate_bytes_per_s[:, 0],
            "victim_rate_bytes_per_s": run.rate_bytes_per_s[:, 1],
        },
    )


def collapsed_goodput(rate_bytes_per_s: float, busy_s: float, rto_s: float) -> float:
    """Goodput when every round of `busy_s` at full rate ends in a timeout: B T / (T + RTO), bytes/s.

    >>> round(collapsed_goodput(12.5e9, 0.001, 0.2) / 12.5e9, 4)
    0.005
    """
    return rate_bytes_per_s * busy_s / (busy_s + rto_s)
