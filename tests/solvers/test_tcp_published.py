"""The TCP loss solver against published incast collapse and DCTCP's closed form."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from models.solvers.tcp_loss import TcpRules, TcpRun
from tests.solvers.tcp_cases import RULES, star

BLOCKS = 150
GIGABIT_WIRE_S = 1538 * 8e-9  # a full Ethernet frame with preamble and gap


@cache
def synchronised_reads(
    fan_in: int, block_bytes: float, buffer_bytes: float, law: str, rto_s: float, blocks: int = BLOCKS
) -> TcpRun:
    """One client reads blocks from `fan_in` servers at 1 Gbit/s and 0.1 ms, each block once it has the last.

    Ports have a buffer of their own; windows as of 2008: two packets at first, 64 KiB at most. DCTCP marks above 20
    packets (SIGCOMM 2010, for 1 Gbit/s).
    """
    rules = TcpRules(
        packet_bytes=1500.0, wire_s=GIGABIT_WIRE_S, send_gap_s=GIGABIT_WIRE_S, to_first_s=25e-6 - GIGABIT_WIRE_S,
        between_s=0.0, to_host_s=25e-6 - GIGABIT_WIRE_S, back_s=50e-6, alpha=np.inf, buffer_bytes=buffer_bytes,
        ecn_bytes=30e3, law=law, initial_window_packets=2, window_limit_packets=44, rto_s=rto_s, stop_s=600.0, bin_s=1e-3,
        jitter_s=GIGABIT_WIRE_S,
    )  # fmt: skip
    return star([-(-int(block_bytes) // 1460)] * fan_in, rules, blocks=blocks)


def storage_goodput(fan_in: int, buffer_kib: float, rto_s: float = 0.2) -> float:
    """Share of the client's link, 256 KB from every server (Phanishayee et al., FAST 2008)."""
    found = synchronised_reads(fan_in, 256e3, buffer_kib * 1024, "reno", rto_s)
    assert found.status == "finished"
    return BLOCKS * fan_in * 256e3 * 8 / found.end_s / 1e9


def test_goodput_collapses_and_twice_the_buffer_serves_twice_the_servers() -> None:
    """FAST 2008: collapse beyond a few servers at small buffers, by an order of magnitude (to a tenth: Vasudevan et al.,
    SIGCOMM 2009); doubling the port's buffer doubles the servers before it. Here: servers at which every second block
    meets a timeout, 4.8, 8.8, 15 and 25; 1.7 times as many for twice the buffer."""
    servers = np.array([2, 4, 8, 16, 32, 64])
    knees = []
    for buffer_kib in (32, 64, 128, 256):
        goodput = np.array([storage_goodput(int(n), buffer_kib) for n in servers])
        reads = [synchronised_reads(int(n), 256e3, buffer_kib * 1024, "reno", 0.2) for n in servers]
        timeouts = np.array([found.timeouts.sum() for found in reads]) / BLOCKS
        assert storage_goodput(1, buffer_kib) > 0.9
        knees.append(float(2 ** np.interp(np.log(0.5), np.log(np.maximum(timeouts, 1e-3)), np.log2(servers))))
        assert goodput[servers > 1.5 * knees[-1]].max() < 0.5
    assert 3 < knees[0] < 7
    for fewer, more in pairwise(knees):
        assert 1.5 < more / fewer < 2.5
    assert storage_goodput(16, 32) < 0.1
    assert storage_goodput(8, 256) > 0.7


def test_a_timeout_of_a_millisecond_takes_the_collapse_away() -> None:
    """SIGCOMM 2009: fine-grained timeouts keep the goodput."""
    for fan_in in (4, 8, 16, 32):
        assert storage_goodput(fan_in, 32, rto_s=1e-3) > 0.8
        assert storage_goodput(fan_in, 32, rto_s=0.2) < 0.3


def test_dctcp_stays_calm_until_the_buffer_cannot_hold_two_packets_a_flow() -> None:
    """SIGCOMM 2010, figure 18: 1 MB in all, 100 packets a port. TCP suffers beyond 10 servers, every query at 40; DCTCP
    not until its least windows, two packets a flow, no longer fit the buffer and the wire: 2 N > 100 + 8, N = 54 (35 in
    the paper, where more than windows was in the buffer). Beyond, both are alike."""
    blocks = 50

    def per_query(fan_in: int, law: str) -> tuple[float, float]:
        found = synchronised_reads(fan_in, 1e6 / fan_in, 150e3, law, 0.2, blocks)
        return found.end_s / blocks, float(found.timeouts.sum()) / blocks

    ideal_s = 685 * GIGABIT_WIRE_S
    for fan_in in (5, 10, 20, 30, 35):
        took_s, timeouts = per_query(fan_in, "dctcp")
        assert timeouts == 0
        assert took_s < 1.1 * ideal_s
    assert per_query(5, "reno")[0] < 3 * ideal_s
    assert 5 * ideal_s < per_query(20, "reno")[0] < 0.2
    assert per_query(40, "reno")[0] > 0.2
    assert per_query(50, "dctcp")[1] < 0.5
    assert per_query(60, "dctcp")[1] > 1
    assert per_query(70, "dctcp")[0] == pytest.approx(per_query(70, "reno")[0], rel=0.05)


@pytest.mark.parametrize("flows", [2, 5, 10])
@pytest.mark.parametrize("threshold", [20, 40, 80])
def test_long_dctcp_flows_swing_as_their_closed_form_says(flows: int, threshold: int) -> None:
    """SIGCOMM 2010, equations 9 to 11, flows in step: the queue peaks at K + N packets and falls by
    sqrt(2 N (C RTT + K)) / 2; nothing is lost and the line is full."""
    rules = replace(RULES, law="dctcp", ecn_bytes=threshold * 1e3, stop_s=4e-2, bin_s=2e-5, jitter_s=80e-9)
    made = star([-1] * flows, rules)
    late = made.queue_bytes[len(made.queue_bytes) // 2 :] / 1000.0
    pipe = (2 * 80e-9 + 2e-6 + 1e-6 + 4e-6) / 80e-9
    swing = 0.5 * np.sqrt(2 * flows * (pipe + threshold))
    assert threshold + flows - 1 <= late.max() <= threshold + flows + 3
    assert late.min() == pytest.approx(threshold + flows - swing, abs=8)  # a bin keeps its largest queue
    assert made.delivered_packets.sum() * 80e-9 == pytest.approx(4e-2, rel=0.002)
    assert made.drops.sum() == 0
