"""TCP incast: nothing lost without pressure, collapse with it, and the closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from models.solvers.alpha_beta import goodput_under_loss_fraction
from models.solvers.tcp_loss import TcpRules, tcp_run
from models.tcp.loss import collapsed_goodput, tcp_incast


def rules(**changes: float | str) -> TcpRules:
    given: dict[str, float | str] = {
        "packet_bytes": 1000.0, "wire_s": 8e-8, "send_gap_s": 8e-8, "to_first_s": 2e-6, "between_s": 1e-6,
        "to_host_s": 1e-6, "back_s": 4e-6, "alpha": 1.0, "buffer_bytes": 1e6, "ecn_bytes": float("inf"), "law": "reno",
        "initial_window_packets": 10.0, "window_limit_packets": 500.0, "rto_s": 0.01, "stop_s": 10.0, "bin_s": 1e-6,
    }  # fmt: skip
    return TcpRules(**(given | changes))  # type: ignore[arg-type]


def run(packets: list[int], **changes: float | str):  # type: ignore[no-untyped-def]
    flows = len(packets)
    return tcp_run(
        np.array(packets, np.int64), np.full(flows, -1, np.int64), np.zeros(flows, np.int64), np.zeros(flows), 1,
        rules(**changes),
    )  # fmt: skip


def test_one_flow_is_slow_start_over_the_round_trip() -> None:
    done = run([10])
    round_trip = 8e-8 + 2e-6 + 8e-8 + 1e-6 + 4e-6
    assert done.fct_s[0] == pytest.approx(round_trip + 9 * 8e-8, rel=1e-9)
    assert run([30]).fct_s[0] == pytest.approx(2 * round_trip + 19 * 8e-8, rel=0.05)


def test_everything_sent_is_delivered_or_dropped() -> None:
    done = run([400] * 20, buffer_bytes=60e3)
    assert done.drops.sum() > 0
    assert done.sent_packets.sum() == done.delivered_packets.sum() + done.drops.sum()
    assert (done.delivered_packets == 400).all()
    assert done.queue_peak_bytes[0] <= 30e3


def test_never_faster_than_the_wire() -> None:
    done = run([500] * 8)
    assert np.nanmax(done.fct_s) >= 8 * 500 * 8e-8


def test_shallow_buffer_collapses_into_timeouts_and_a_deep_one_does_not() -> None:
    shallow = tcp_incast(64, 2**18, 12.5e9, 1e-6, 2e6, law="reno", rto_s=0.2, victim=False)
    deep = tcp_incast(64, 2**18, 12.5e9, 1e-6, 200e6, law="reno", rto_s=0.2, victim=False)
    assert shallow.timeouts > 0 and shallow.fct_s.max() > 0.2
    assert deep.timeouts == 0 and deep.drops == 0
    assert deep.fct_s.max() < 0.01


def test_marks_keep_the_queue_short() -> None:
    marked = tcp_incast(16, 2**22, 12.5e9, 1e-6, 64e6, law="dctcp", ecn_threshold_bytes=3e5, victim=False)
    plain = tcp_incast(16, 2**22, 12.5e9, 1e-6, 64e6, law="reno", victim=False)
    assert marked.marks > 0 and plain.marks == 0
    assert marked.queue_mean_bytes < 0.3 * plain.queue_mean_bytes
    assert marked.fct_s.max() == pytest.approx(plain.fct_s.max(), rel=0.1)


def test_victim_is_not_held_by_the_hot_port() -> None:
    made = tcp_incast(
        32, 2**20, 50e9, 1e-6, 165e6, host_s=15e-6, host_rate_bytes_per_s=31.5e9, leaves=5, spines=8
    )
    assert made.victim_goodput_bytes_per_s is not None
    assert made.victim_goodput_bytes_per_s > 0.5 * 31.5e9


def test_more_senders_take_longer_and_the_same_seed_gives_the_same() -> None:
    times = [tcp_incast(n, 2**20, 50e9, 1e-6, 165e6, seed=3).fct_s.max() for n in (2, 8, 32)]
    assert times == sorted(times)
    again = tcp_incast(32, 2**20, 50e9, 1e-6, 165e6, seed=3).fct_s
    assert np.array_equal(again, tcp_incast(32, 2**20, 50e9, 1e-6, 165e6, seed=3).fct_s)


def test_closed_forms() -> None:
    assert collapsed_goodput(100.0, 0.1, 0.3) == pytest.approx(25.0)
    assert goodput_under_loss_fraction(0.01, 122, go_back=False) == 0.99
    for loss, kept in ((1e-5, 0.999), (1e-4, 0.988), (1e-3, 0.891), (1e-2, 0.45)):
        assert goodput_under_loss_fraction(loss, 122, go_back=True) == pytest.approx(kept, abs=0.003)


def test_impossible_input_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        tcp_incast(0, 1e6, 1e9, 1e-6, 1e6)


def test_the_receiver_never_gets_more_than_its_line() -> None:
    made = tcp_incast(32, 2**20, 50e9, 1e-6, 165e6, host_s=15e-6)
    assert made.series["rate_bytes_per_s"].max() <= 50e9 * 1.15  # a packet more in a short bin
    step_s = made.series["t_s"][0]
    assert made.series["rate_bytes_per_s"].sum() * step_s == pytest.approx(32 * 118 * 8948.0, rel=1e-9)
