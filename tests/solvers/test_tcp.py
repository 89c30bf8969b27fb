"""The TCP loss solver: equal to a packet-by-packet twin, conserving, bounded, repeatable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.solvers import tcp_state
from models.solvers.tcp_setup import initial_state, room_packets
from tests.solvers.tcp_cases import RULES, small_case, solved, star
from tests.solvers.tcp_twin import Twin

CASES = 72


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
