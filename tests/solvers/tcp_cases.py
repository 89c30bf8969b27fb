"""Cases of the TCP loss solver: random small fan-ins, stars, and the rules they start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.solvers.tcp_loss import TcpRules, TcpRun, tcp_run


def small_case(seed: int) -> tuple[list[int], list[int], list[int], list[float], int, TcpRules, int]:
    """A random fan-in: sizes, first and last port by flow, starts, ports, rules, blocks."""
    random = np.random.default_rng(seed)
    flows, spines = int(random.integers(1, 12)), int(random.integers(0, 4))
    packet, wire_s = (
        float(random.choice([1000.0, 1460.0, 8948.0])),
        float(random.choice([80e-9, 180.76e-9, 12.3e-6])),
    )
    endless = random.random() < 0.15
    rules = TcpRules(
        packet_bytes=packet,
        wire_s=wire_s,
        send_gap_s=wire_s * float(random.choice([1.0, 1.0, 2.5])),
        to_first_s=wire_s * float(random.uniform(0, 20)),
        between_s=wire_s * float(random.choice([0.0, 1.0, 4.3])),
        to_host_s=wire_s * float(random.uniform(0, 9)),
        back_s=wire_s * float(random.uniform(1, 40)),
        alpha=float(random.choice([0.5, 1.0, 8.0, np.inf])),
        buffer_bytes=packet * float(random.choice([random.integers(3, 8), random.uniform(3, 60)])),
        ecn_bytes=packet * float(random.choice([1.0, random.uniform(0, 20)])),
        law="dctcp" if seed % 2 else "reno",
        initial_window_packets=float(random.choice([1, 2, 10])),
        window_limit_packets=float(random.choice([2, 8, 37.5, 100])),
        rto_s=wire_s * float(random.choice([60, 300, 3000, 25000])),
        stop_s=wire_s * (2e4 if endless else 1e9),
        bin_s=1e-5,
        jitter_s=wire_s * float(random.choice([0.0, 1.0, 5.0])),
        seed=seed,
    )
    packets = [int(n) for n in random.integers(1, 300, flows)]
    if endless:
        packets[-1] = -1
    first = [1 + int(random.integers(spines)) if spines else -1 for _ in range(flows)]
    starts = random.uniform(0, 30 * wire_s, flows) if random.random() < 0.6 else np.zeros(flows)
    blocks = int(random.integers(1, 4))
    return packets, first, [0] * flows, [float(s) for s in starts], 1 + spines, rules, blocks


def solved(
    packets: list[int],
    first: list[int],
    last: list[int],
    start_s: list[float],
    ports: int,
    rules: TcpRules,
    **options: Any,
) -> TcpRun:
    whole = (np.array(given, np.int64) for given in (packets, first, last))
    return tcp_run(*whole, np.array(start_s), ports, rules, **options)


def star(packets: list[int], rules: TcpRules, **options: Any) -> TcpRun:
    """All flows to one port of one switch, from time zero."""
    flows = len(packets)
    return solved(packets, [-1] * flows, [0] * flows, [0.0] * flows, 1, rules, **options)


RULES = TcpRules(
    packet_bytes=1000.0, wire_s=80e-9, send_gap_s=80e-9, to_first_s=2e-6, between_s=1e-6, to_host_s=1e-6, back_s=4e-6,
    alpha=1.0, buffer_bytes=1e6, ecn_bytes=20e3, law="reno", initial_window_packets=10, window_limit_packets=500,
    rto_s=0.01, stop_s=10.0, bin_s=1e-6,
)  # fmt: skip
