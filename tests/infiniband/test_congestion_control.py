"""InfiniBand congestion control: tables, sets as data, fluid equilibrium against the packet-grain solver."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from models.infiniband.congestion_control import (
    CongestionControl,
    congestion_control_sets,
    delay_packets,
    equilibrium,
    marking_rule,
    threshold_bytes,
)
from models.solvers.credits import CreditFlows, CreditLinks, CreditRules, credit_result

SETS = congestion_control_sets()


@pytest.mark.parametrize(
    ("name", "index", "rate_fraction"),
    [
        ("simula_qdr", 32, 0.80),
        ("simula_qdr", 64, 0.42),
        ("simula_qdr", 96, 0.235),
        ("simula_qdr", 127, 0.148),
        ("shift0_table", 32, 0.25),
        ("shift0_table", 64, 0.067),
        ("shift0_table", 127, 0.017),
    ],
)
def test_rate_tables(name, index, rate_fraction):
    assert 1 / (1 + delay_packets(SETS[name])[index]) == pytest.approx(rate_fraction, rel=0.03)


def test_sets_are_sourced_and_off_is_off():
    assert all(control.source for control in SETS.values())
    assert marking_rule(SETS["off"], 65536) is None
    assert marking_rule(None, 65536) is None
    assert marking_rule(SETS["simula_qdr"], 65536).probability == 1.0
    assert SETS["simula_qdr"].timer_s == pytest.approx(153.6e-6)


def test_threshold_steps_from_loose_to_aggressive():
    steps = [
        threshold_bytes(dataclasses.replace(SETS["simula_qdr"], threshold=t), 65536) for t in range(1, 16)
    ]
    assert steps == sorted(steps, reverse=True) and steps[-1] == 4096
    with pytest.raises(ValueError, match=r"0\.\.15"):
        dataclasses.replace(SETS["simula_qdr"], threshold=16)


def incast(control: CongestionControl | None, senders: int, stop_s: float):
    rate = 50e9
    count = senders + 1
    ones = np.ones(count)
    links = CreditLinks(ones * rate, ones * 0.3e-6, ones * 0.1e-6, ones * 65536, np.zeros(count, np.int64))
    flows = CreditFlows(
        tuple(((i, senders),) for i in range(senders)),
        np.full(senders, -1, np.int64),
        np.zeros(senders),
        np.zeros(senders, np.int64),
    )
    rules = CreditRules(warmup_s=stop_s / 2, stop_s=stop_s, marking=marking_rule(control, 65536))
    return credit_result(links, flows, rules)


def test_equilibrium_agrees_with_the_solver():
    """Four senders share the port; each gets its notices at 1 / timer, the queue stays far below the full buffers."""
    control = dataclasses.replace(SETS["simula_qdr"], threshold=8)
    expected = equilibrium(control, 4, 50e9, 4126)
    assert expected.settles and expected.rate_fraction == pytest.approx(0.25)
    free, held = incast(None, 4, 20e-3), incast(control, 4, 20e-3)
    share = 50e9 * 4096 / 4126 * expected.rate_fraction
    assert held.goodput_bytes_per_s.mean() == pytest.approx(share, rel=0.15)
    after_the_climb = held.notices.mean() - control.limit  # the start takes the index to the end of the table
    assert after_the_climb / 20e-3 == pytest.approx(expected.notices_per_s, rel=0.2)
    assert held.queue_mean_bytes[4] < 0.5 * free.queue_mean_bytes[4]
    assert held.stalled_s[:4].sum() < 0.5 * free.stalled_s[:4].sum()


def test_table_too_short_for_many_senders():
    """At the end of the table a sender still has 15 % of the line: 32 of them cannot settle."""
    assert not equilibrium(SETS["simula_qdr"], 32, 50e9, 4126).settles
    assert equilibrium(SETS["shift0_table"], 32, 50e9, 4126).rate_fraction == pytest.approx(1 / 32)
    assert equilibrium(SETS["simula_qdr"], 1, 50e9, 4126).index == 0
