"""The credit solver against its slow twin, closed forms, and its own promises."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.solvers.credits import CreditFlows, CreditLinks, CreditRules, credit_result, jain_index
from models.solvers.dependency_cycle import dependency_cycle
from tests.solvers.credit_twin import twin_run

RATE = 50e9
TICK_S = 64 / RATE


def links_of(
    count: int, *, rate: float = RATE, delay_s: float = 1e-6, buffer: float = 65536.0
) -> CreditLinks:
    full = np.full(count, 1.0)
    return CreditLinks(full * rate, full * delay_s, full * delay_s, full * buffer, np.zeros(count, np.int64))


def flows_of(
    paths: list[tuple[int, ...]], sizes: list[int], starts: list[float] | None = None
) -> CreditFlows:
    return CreditFlows(
        tuple((path,) for path in paths),
        np.array(sizes, np.int64),
        np.array(starts or [0.0] * len(paths)),
        np.zeros(len(paths), np.int64),
    )


def star(fan_in: int, size: int, **link: float):
    return links_of(fan_in + 1, **link), flows_of([(i, fan_in) for i in range(fan_in)], [size] * fan_in)


def leaf_spine_routes(draw, senders: int, spines: int) -> tuple[list[tuple[int, ...]], int]:
    """Host links 0..senders-1 (two sending leaves), uplinks, downlinks, three receivers."""
    up, down = senders, senders + 2 * spines
    sink = down + spines
    paths = []
    for sender in range(senders):
        for _ in range(draw(st.integers(1, 2))):
            spine = draw(st.integers(0, spines - 1))
            last = sink + draw(st.integers(0, 2))
            paths.append((sender, up + (sender % 2) * spines + spine, down + spine, last))
    return paths, sink + 3


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_equals_slow_twin_on_small_random_networks(data):
    senders, spines = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 2))
    paths, count = leaf_spine_routes(data.draw, senders, spines)
    payload = data.draw(st.sampled_from([256, 1000, 4096]))
    header = data.draw(st.sampled_from([0, 30]))
    sizes = [data.draw(st.integers(1, 12 * payload)) for _ in paths]
    starts = [data.draw(st.integers(0, 400)) for _ in paths]
    scale = [data.draw(st.sampled_from([1.0, 1.0, 2.0, 2.5])) for _ in range(count)]
    forward = [data.draw(st.integers(3, 300)) for _ in range(count)]
    credit = [data.draw(st.integers(3, 300)) for _ in range(count)]
    buffer = [data.draw(st.integers(payload + header + 64, 20_000)) for _ in range(count)]
    scale[0] = 1.0  # the fastest link sets the tick
    rules = {
        "payload": payload,
        "header": header,
        "cut_through": data.draw(st.booleans()),
        "per_output": data.draw(st.booleans()),
        "speedup": data.draw(st.sampled_from([1.0, 2.0])),
    }
    twin = twin_run(
        [
            {"ticks_per_byte": s / 64, "forward": f, "credit": c, "buffer": b}
            for s, f, c, b in zip(scale, forward, credit, buffer, strict=True)
        ],
        [list(path) for path in paths],
        sizes,
        starts,
        rules,
    )
    links = CreditLinks(
        RATE / np.array(scale),
        np.array(forward) * TICK_S,
        np.array(credit) * TICK_S,
        np.array(buffer, np.float64),
        np.zeros(count, np.int64),
    )
    outcome = credit_result(
        links,
        flows_of(paths, sizes, [s * TICK_S for s in starts]),
        CreditRules(
            packet_payload_bytes=payload,
            header_bytes=header,
            queueing="per_output" if rules["per_output"] else "fifo",
            cut_through=rules["cut_through"],
            crossbar_speedup=rules["speedup"],
            check_conservation=True,
        ),
    )
    assert outcome.status == "finished"
    np.testing.assert_allclose(outcome.completion_s / TICK_S + np.array(starts), twin["done"], rtol=1e-9)
    assert outcome.delivered_bytes.tolist() == twin["delivered"] == sizes
    np.testing.assert_allclose(outcome.stalled_s / TICK_S, twin["stalled"], atol=1e-6)


def test_lone_packet_pays_serialisation_once_with_cut_through():
    links, flows = links_of(3, delay_s=200 * TICK_S), flows_of([(0, 1, 2)], [4096])
    rules = CreditRules(header_bytes=0)
    cut = credit_result(links, flows, rules)
    stored = credit_result(links, flows, dataclasses.replace(rules, cut_through=False))
    assert cut.completion_s[0] == pytest.approx(600 * TICK_S + 4096 / RATE, rel=1e-9)
    assert stored.completion_s[0] == pytest.approx(600 * TICK_S + 3 * 4096 / RATE, rel=1e-9)


@pytest.mark.parametrize("fan_in", [2, 7, 32])
def test_incast_completion_is_the_serialisation_bound_and_fair(fan_in):
    links, flows = star(fan_in, 2**20, delay_s=0.5e-6, buffer=131072.0)
    outcome = credit_result(links, flows, CreditRules(check_conservation=True))
    wire = fan_in * 256 * (4096 + 30) / RATE
    assert outcome.completion_s.max() == pytest.approx(wire + 1.0e-6, rel=1e-4)
    assert outcome.jain > 0.9999
    assert outcome.delivered_bytes.sum() == fan_in * 2**20


@pytest.mark.parametrize(("buffer", "delay_s"), [(32768.0, 0.6e-6), (65536.0, 1e-6), (16384.0, 2e-6)])
def test_one_flow_is_limited_by_buffer_over_round_trip(buffer, delay_s):
    """Credit bandwidth of a link: BW = min(C, B / RTT) (physics of IBTA credits)."""
    links, flows = links_of(2, delay_s=delay_s, buffer=buffer), flows_of([(0, 1)], [-1])
    rules = CreditRules(header_bytes=0, warmup_s=1e-4, stop_s=1e-3)
    outcome = credit_result(links, flows, rules)
    assert outcome.goodput_bytes_per_s[0] == pytest.approx(min(RATE, buffer / (2 * delay_s)), rel=0.02)


def test_more_buffer_only_adds_delay():
    """Mean time in the network N B/C + (B - 2 d C)/C: BookSim's law for an incast of greedy sources."""
    delay_s = 200 * TICK_S
    for buffer in (65536.0, 131072.0):
        links, flows = star(4, -1, delay_s=delay_s, buffer=buffer)
        outcome = credit_result(links, flows, CreditRules(header_bytes=0, warmup_s=2e-4, stop_s=2e-3))
        law = 4 * buffer / RATE + max(0.0, buffer / RATE - 2 * delay_s) + 4096 / RATE
        assert float(np.mean(outcome.latency_s)) == pytest.approx(law, rel=0.005)
        assert outcome.goodput_bytes_per_s.sum() == pytest.approx(RATE, rel=1e-3)


def test_lane_of_its_own_frees_the_victim():
    """Two hosts' hot flows fill the shared path; a victim on another lane gets its link's free share."""
    paths = [(0, 3, 4), (1, 3, 4), (2, 3, 5)]  # link 3 shared, hot receiver 4 behind, victim's receiver 5
    links = links_of(6, delay_s=0.2e-6)
    slow = dataclasses.replace(links, rate_bytes_per_s=np.array([RATE, RATE, RATE, RATE, RATE / 4, RATE]))
    rules = CreditRules(header_bytes=0, warmup_s=2e-4, stop_s=2e-3)
    one = credit_result(slow, flows_of(paths, [-1] * 3), rules)
    two = credit_result(slow, dataclasses.replace(flows_of(paths, [-1] * 3), lane=np.array([0, 0, 1])), rules)
    assert one.goodput_bytes_per_s[2] == pytest.approx(RATE / 8, rel=0.02)  # as each hot flow
    assert two.goodput_bytes_per_s[2] == pytest.approx(RATE * 0.75, rel=0.03)
    assert two.goodput_bytes_per_s[:2].sum() == pytest.approx(RATE / 4, rel=0.02)


def test_adaptive_and_spray_use_both_spines_where_one_path_is_slow():
    paths = (((0, 2, 4), (0, 3, 4)), ((1, 2, 5), (1, 3, 5)))
    links = links_of(6, delay_s=0.2e-6)
    for choice, expected in (("first", RATE), ("spray", 2 * RATE), ("adaptive", 2 * RATE)):
        flows = CreditFlows(paths, np.array([-1, -1]), np.zeros(2), np.zeros(2, np.int64))
        rules = CreditRules(header_bytes=0, path_choice=choice, warmup_s=1e-4, stop_s=1e-3)
        total = credit_result(links, flows, rules).goodput_bytes_per_s.sum()
        assert total == pytest.approx(expected, rel=0.02), choice


def test_same_seed_same_result_to_the_last_bit():
    links, flows = star(9, 300_000)
    first, second = (credit_result(links, flows, CreditRules(seed=4)) for _ in range(2))
    for field in dataclasses.fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        assert np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b


def test_series_add_up_to_what_was_delivered():
    links, flows = star(8, 2**20)
    outcome = credit_result(links, flows, CreditRules())
    interval = outcome.time_s[1] - outcome.time_s[0]
    total = float(outcome.rate_bytes_per_s.sum() * interval)
    assert total == pytest.approx(8 * 2**20, rel=0.02)
    assert outcome.watch == (8,)
    assert outcome.queue_bytes.max() <= outcome.queue_peak_bytes[8]
    assert outcome.queue_peak_bytes[8] <= 9 * 65536
    assert (outcome.stalled_fraction <= 1.0 + 1e-9).all()


def test_cyclic_routes_are_refused_by_name():
    links = links_of(6)
    with pytest.raises(ValueError, match="3 -> 4 -> 5 -> 3"):
        credit_result(links, flows_of([(0, 3, 4), (1, 4, 5), (2, 5, 3)], [1000] * 3), CreditRules())
    assert dependency_cycle([(0, 1), (2, 1), (1, 3)]) == ()


def test_faulty_input_is_named():
    links, flows = star(2, 1000, buffer=2000.0)
    with pytest.raises(ValueError, match="below one packet"):
        credit_result(links, flows, CreditRules())
    with pytest.raises(ValueError, match="stop_s"):
        credit_result(*star(2, -1), CreditRules())
    assert credit_result(*star(2, 10**6), CreditRules(step_limit=100)).status == "step limit"


def test_zero_bytes_and_late_starts():
    links, _ = star(2, 1)
    flows = flows_of([(0, 2), (1, 2)], [4096, 8192], [1e-3, 3e-3])
    outcome = credit_result(links, flows, CreditRules())
    assert outcome.status == "finished"
    assert (outcome.completion_s < 5e-6).all()


def test_jain_of_one_winner():
    assert jain_index(np.array([3.0, 0.0, 0.0])) == pytest.approx(1 / 3)
