"""Speed of the TCP loss solver (warm, one core, CPU time): a packet-hop, and against its packet-by-packet twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from models.solvers.tcp_loss import TcpRules, TcpRun, tcp_run
from models.tcp.loss import tcp_incast
from models.units import MIB
from tests.benchmarks.measure import cpu_seconds, row
from tests.solvers.tcp_twin import Twin

FABRIC = {
    "host_s": 15e-6,
    "host_rate_bytes_per_s": 31.5e9,
    "leaves": 5,
    "spines": 8,
    "ecn_threshold_bytes": 1.2e6,
}


def rows() -> list[dict[str, Any]]:
    """Seconds of whole incasts, nanoseconds of a packet passing a port, and the twin's time in the same run."""
    table = [
        row(
            "TCP incast 64:1 of 1 MiB at 400G, DCTCP", cpu_seconds(lambda: _fabric(64, MIB, 165e6)), "s", 0.02
        ),
        row(
            "TCP incast 1,000:1 of 1 MiB at 400G, DCTCP",
            cpu_seconds(lambda: _fabric(1000, MIB, 165e6)),
            "s",
            0.5,
        ),
    ]
    ratios = []
    for name, fan_in, law, buffer_bytes in (
        ("long DCTCP flows", 16, "dctcp", 1e6),
        ("Reno, much lost", 16, "reno", 64e3),
        ("DCTCP, first windows lost", 128, "dctcp", 256e3),
    ):
        given = _star(fan_in, 600, law, buffer_bytes)
        taken_s = cpu_seconds(lambda given=given: _solved(given))
        hops = _solved(given).hops
        note = f"{fan_in}:1, {hops:,} packet-hops"
        table.append(row(f"packet-hop, {name}", taken_s / hops * 1e9, "ns", 500.0, note))
        twin_s = cpu_seconds(lambda given=given: Twin(*given), repeats=1, warm=False)
        ratios.append(twin_s / taken_s)
    mean = math.exp(float(np.mean(np.log(ratios))))
    note = f"the twin takes {mean:.0f} times as long (geometric mean), at least {min(ratios):.0f}"
    table.append(row("TCP solver over its Python twin", 1.0 / mean, "ratio", 1 / 50, note))
    return table


def _fabric(fan_in: int, size: int, buffer_bytes: float) -> None:
    tcp_incast(fan_in, size, 50e9, 1e-6, buffer_bytes, **FABRIC)


def _star(fan_in: int, packets: int, law: Any, buffer_bytes: float) -> tuple[Any, ...]:
    wire_s = 1538 * 8 / 10e9
    rules = TcpRules(
        packet_bytes=1500.0, wire_s=wire_s, send_gap_s=wire_s, to_first_s=5e-6, between_s=0.0, to_host_s=5e-6, back_s=10e-6,
        alpha=math.inf, buffer_bytes=buffer_bytes, ecn_bytes=30e3, law=law, initial_window_packets=10,
        window_limit_packets=400, rto_s=1e-3, stop_s=10.0, bin_s=1e-5, jitter_s=wire_s,
    )  # fmt: skip
    return [packets] * fan_in, [-1] * fan_in, [0] * fan_in, [0.0] * fan_in, 1, rules


def _solved(given: tuple[Any, ...]) -> TcpRun:
    packets, first, last, start_s, ports, rules = given
    whole = (np.array(flows, np.int64) for flows in (packets, first, last))
    return tcp_run(*whole, np.array(start_s), ports, rules)
