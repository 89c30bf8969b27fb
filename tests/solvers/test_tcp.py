"""The TCP loss solver: equal to a packet-by-packet twin, conserving, bounded, repeatable, and the published collapse."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from models.solvers import tcp_state
from models.solvers.tcp_loss import TcpRules, TcpRun, tcp_run
from models.solvers.tcp_setup import initial_state, room_packets
from tests.solvers.tcp_twin import Twin

CASES = 72
BLOCKS = 150
GIGABIT_WIRE_S = 1538 * 8e-9  # a full Ethernet frame with preamble and gap


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


@pytest.mark.parametrize("case", range(CASES))
def test_equals_the_packet_twin_to_the_tick(case: int) -> None:
    *given, rules, blocks = small_case(case)
    found = solved(*given, rules, blocks=blocks, check=True)
    twin = Twin(*given, rules, blocks)
    ends = [
        np.nan if s.end is None else (s.end - start) / 1e12
        for s, start in zip(twin.senders, twin.start, strict=True)
    ]
    assert np.array_equal(found.fct_s, ends, equal_nan=True)
    assert found.end_s == twin.now / 1e12
    assert found.timeouts.tolist() == [s.timeouts for s in twin.senders]
    assert found.sent_packets.tolist() == [s.number for s in twin.senders]
    assert found.lost_packets.tolist() == [s.drops for s in twin.senders]
    assert found.drops.tolist() == [port.drops for port in twin.ports]
    assert found.marks == twin.marks
    assert found.hops == twin.hops
    assert found.queue_peak_bytes.tolist() == [port.peak * rules.packet_bytes for port in twin.ports]


def test_the_random_cases_meet_everything_the_twin_knows() -> None:
    runs = [solved(*given, rules, blocks=blocks) for *given, rules, blocks in map(small_case, range(CASES))]
    assert sum(r.timeouts.sum() > 0 for r in runs) >= 20
    assert sum(r.timeouts.max() >= 3 for r in runs) >= 5
    assert sum(r.marks > 0 for r in runs) >= 10
    assert sum(r.drops[0] > 0 and r.drops[1:].sum() > 0 for r in runs) >= 5
    assert sum(r.status == "time limit" for r in runs) >= 3


@pytest.mark.parametrize("stop_s", [3e-6, 2e-5, 1e-4, 2e-4])
def test_every_packet_is_somewhere_whenever_the_run_is_cut_off(stop_s: float) -> None:
    cut = solved(
        [400] * 12,
        [1] * 6 + [2] * 6,
        [0] * 12,
        [0.0] * 12,
        3,
        replace(RULES, buffer_bytes=40e3, stop_s=stop_s),
        check=True,
    )
    assert cut.status == "time limit"
    assert cut.end_s == stop_s
    away = cut.queued_packets + cut.in_flight_packets
    assert (cut.sent_packets == cut.delivered_packets + cut.lost_packets + away).all()
    assert away.sum() > 0
    assert np.isnan(cut.fct_s).any()


@pytest.mark.parametrize("field", ["sent", "acked", "drops", "fresh", "again", "flying"])
def test_debug_mode_finds_a_packet_too_many(field: str) -> None:
    from models.solvers.tcp_kernels import advance

    one = np.zeros(2, np.int64)
    s = initial_state(one + 50, one - 1, one, np.zeros(2), 1, RULES, 1, 10**6, True)
    s.flows[field][1] += 1
    advance(s)
    assert s.run["status"] == tcp_state.UNBALANCED
    assert s.run["fault_flow"] == 1


@pytest.mark.parametrize("alpha", [0.125, 1.0, 8.0, np.inf])
@pytest.mark.parametrize("buffer_packets", [1.0, 2.5, 9.0, 40.0])
def test_a_queue_never_exceeds_its_buffer(alpha: float, buffer_packets: float) -> None:
    rules = replace(RULES, alpha=alpha, buffer_bytes=buffer_packets * 1000.0, rto_s=1e-4, stop_s=0.05)
    done = star([120] * 8, rules, check=True)
    room = room_packets(1000.0, buffer_packets * 1000.0, alpha)
    assert done.queue_peak_bytes[0] == room * 1000.0
    assert done.queue_peak_bytes[0] <= rules.buffer_bytes
    assert done.queue_bytes.max() == done.queue_peak_bytes[0]


def test_a_run_that_meets_its_bound_says_so() -> None:
    cut = star([500] * 4, RULES, events_limit=1000)
    assert cut.status == "event limit"
    assert np.isnan(cut.fct_s).all()
    away = cut.queued_packets + cut.in_flight_packets
    assert (cut.sent_packets == cut.delivered_packets + cut.lost_packets + away).all()


def test_the_same_seed_gives_the_same_and_another_seed_does_not() -> None:
    rules = replace(RULES, buffer_bytes=60e3, jitter_s=80e-9)
    first, again, other = (star([400] * 12, replace(rules, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.fct_s, again.fct_s)
    assert np.array_equal(first.queue_bytes, again.queue_bytes)
    assert not np.array_equal(first.fct_s, other.fct_s)


def test_ports_passed_in_a_circle_cannot_stop_each_other() -> None:
    """Three flows, each through the port the next one ends at: where packets drop, no port waits for another."""
    rules = replace(RULES, buffer_bytes=8e3, rto_s=1e-4)
    ring = solved([300] * 6, [0, 1, 2] * 2, [1, 2, 0] * 2, [0.0] * 6, 3, rules, check=True)
    assert ring.status == "finished"
    assert ring.drops.min() > 0


def test_timeouts_double_to_sixty_seconds() -> None:
    """Nothing fits the buffer: the timer runs out 1, 3, 7, 15, 31, 63, 123, 183 s after the start (RFC 6298, 2.5, 5.5)."""
    for stop_s, expected in (
        (0.9, 0),
        (1.1, 1),
        (3.1, 2),
        (31.1, 5),
        (62.9, 5),
        (63.1, 6),
        (122.9, 6),
        (123.1, 7),
        (190.0, 8),
    ):
        lost = star([3], replace(RULES, buffer_bytes=500.0, rto_s=1.0, stop_s=stop_s), check=True)
        assert lost.timeouts[0] == expected
        assert lost.status == "time limit"
    often = star([3], replace(RULES, buffer_bytes=500.0, rto_s=1e-3, stop_s=6e3), check=True)
    assert often.timeouts[0] > 100
    forever = star([3], replace(RULES, buffer_bytes=500.0, rto_s=float("inf")))
    assert (forever.status, forever.end_s) == ("time limit", 10.0)


def test_an_acknowledgement_at_the_instant_of_the_timeout_comes_first() -> None:
    """RFC 6298 (5.3): it sets the timer anew; a picosecond later it would be too late."""
    round_trip_s = 80e-9 + 2e-6 + 80e-9 + 1e-6 + 4e-6
    just = replace(RULES, rto_s=round_trip_s, window_limit_packets=1)
    assert star([5], just).timeouts[0] == 0
    assert star([5], replace(just, rto_s=round_trip_s - 1e-12)).timeouts[0] == 1


def test_the_timeout_follows_a_long_round_trip() -> None:
    """RFC 6298: at least the round trip and four variations, so a floor below the round trip is left after the first."""
    slow = replace(RULES, rto_s=1e-4, back_s=1e-2, initial_window_packets=2)
    assert (
        star([2000], slow).timeouts[0] <= 8
    )  # doubling to the first sample: 0.1, 0.3, 0.7, 1.5, 3.1, 6.3 ms
    assert star([2000], slow).drops[0] == 0


def test_a_lost_tail_costs_one_timeout_and_a_lost_middle_none() -> None:
    small = replace(RULES, buffer_bytes=10e3, alpha=np.inf)
    tail = star(
        [10] * 4, small
    )  # 40 packets in ten packet times, twenty find room; the first flow wins every tie
    assert tail.timeouts.tolist() == [0, 1, 1, 1]
    assert tail.fct_s[0] < 1e-4
    assert 0.01 < tail.fct_s[1:].min() <= tail.fct_s.max() < 0.01 + 4e-5
    middle = star([400], replace(small, send_gap_s=40e-9))  # a sender twice as fast as the port
    assert middle.drops[0] > 5
    assert middle.timeouts[0] == 0
    assert middle.fct_s[0] < 0.1 * RULES.rto_s


def test_endless_flows_fill_the_line_to_the_end_of_the_run() -> None:
    made = star([-1, -1], replace(RULES, stop_s=2e-3))
    assert (made.status, made.end_s) == ("time limit", 2e-3)
    assert made.delivered_packets.sum() * 80e-9 == pytest.approx(2e-3, rel=0.02)
    assert made.rate_bytes_per_s[:, 0].max() == 0.0
    assert made.rate_bytes_per_s[100:-100, 1].mean() == pytest.approx(12.5e9, rel=0.01)


def test_the_queue_series_falls_while_nothing_arrives() -> None:
    """40 packets at once, one sent: the port drains for 40 packet times after the last arrival."""
    burst = star([1] * 40, replace(RULES, bin_s=80e-9))
    queue = burst.queue_bytes / 1000.0
    at = int(np.argmax(queue))
    assert queue[at] == 40
    assert queue[at : at + 41].tolist() == [40.0 - k if k else 40.0 for k in range(41)]


def test_five_thousand_senders_fit() -> None:
    many = star([2] * 5000, replace(RULES, buffer_bytes=1e9))
    assert many.status == "finished"
    assert many.fct_s.max() == pytest.approx(10_000 * 80e-9, rel=0.01)


def test_impossible_input_is_refused() -> None:
    for changes, word in (
        ({"rto_s": 0.0}, "rto_s"), ({"jitter_s": -1.0}, "jitter_s"), ({"back_s": np.inf}, "back_s"),
        ({"initial_window_packets": 0.5}, "initial_window_packets"), ({"alpha": 0.0}, "alpha"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=word):
            star([1], replace(RULES, **changes))
    with pytest.raises(ValueError, match="flow 1"):
        star([1, 0], RULES)
    with pytest.raises(ValueError, match="last_link"):
        solved([1], [-1], [1], [0.0], 1, RULES)
    with pytest.raises(ValueError, match="blocks"):
        star([1], RULES, blocks=0)


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


def test_marks_hold_the_queue_of_long_flows_at_the_threshold() -> None:
    """SIGCOMM 2010, 3.3: the queue peaks at K + N packets (and the packet on the wire) once windows swing in step."""
    flows, threshold = 2, 40
    rules = replace(
        RULES,
        law="dctcp",
        ecn_bytes=threshold * 1000.0,
        stop_s=2e-2,
        bin_s=1e-5,
        initial_window_packets=10,
        jitter_s=80e-9,
    )
    made = star([-1] * flows, rules)
    late = made.queue_bytes[len(made.queue_bytes) // 2 :] / 1000.0
    assert threshold < late.max() <= threshold + flows + 2
    assert made.delivered_packets.sum() * 80e-9 == pytest.approx(2e-2, rel=0.02)
    assert made.drops.sum() == 0
