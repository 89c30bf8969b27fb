"""DCQCN equations: fixed points, stability over the number of flows, and a slow twin of the integrator."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from models.rocev2.dcqcn import (
    behaviour,
    dcqcn_fluid,
    fixed_point,
    phase_margin_deg,
    small_p_approximation,
    stability_advice,
)
from models.rocev2.dcqcn_sets import dcqcn_set, dcqcn_set_names

AT_40G = dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9)
# 40G, MTU 1000 B: flows, p*, small-p approximation, queue kB (ramp continued), alpha*, R_T / R_C
FIXED_POINTS = [
    (2, 7.7699e-4, 9.247e-4, 20.15, 0.1014, 1.0109),
    (4, 1.8877e-3, 2.320e-3, 41.81, 0.1218, 1.0160),
    (8, 4.5521e-3, 5.832e-3, 93.77, 0.1452, 1.0230),
    (10, 6.0320e-3, 7.849e-3, 122.62, 0.1533, 1.0258),
    (16, 1.0873e-2, 1.468e-2, None, 0.1713, 1.0327),
    (32, 2.5618e-2, 3.696e-2, 504.6, 0.1999, 1.0458),
    (64, 5.9054e-2, 9.312e-2, 1156.5, 0.2301, 1.0631),
]


@pytest.mark.parametrize(("flows", "p", "approximation", "queue_kb", "alpha", "target"), FIXED_POINTS)
def test_fixed_point_table(flows, p, approximation, queue_kb, alpha, target):
    point = fixed_point(AT_40G, flows)
    assert point.marking_probability == pytest.approx(p, rel=2e-4)
    assert point.alpha == pytest.approx(alpha, abs=6e-5)
    assert point.target_over_rate == pytest.approx(target, abs=6e-5)
    assert small_p_approximation(AT_40G, flows) == pytest.approx(approximation, rel=4e-4)
    assert point.on_ramp == (flows <= 10)
    if queue_kb:
        assert point.queue_bytes / 1e3 == pytest.approx(queue_kb, rel=2e-4)


@pytest.mark.parametrize(
    ("gbit", "additive_mbit", "kmin_kb", "flows", "p", "queue_kb"),
    [
        (100, 20, 400, 2, 1.942e-4, 401.2),
        (100, 20, 400, 8, 1.166e-3, 407.0),
        (100, 20, 400, 32, 6.846e-3, 441.1),
        (400, 80, 1600, 2, 5.012e-5, 1601.2),
        (400, 80, 1600, 8, 2.921e-4, 1607.0),
        (400, 80, 1600, 32, 1.718e-3, 1641.2),
    ],
)
def test_fixed_point_at_higher_rates(gbit, additive_mbit, kmin_kb, flows, p, queue_kb):
    rate = gbit * 1e9 / 8
    fluid = dataclasses.replace(
        dcqcn_fluid(dcqcn_set("zhu2015", rate), rate),
        additive=additive_mbit * 125.0,
        kmin=float(kmin_kb),
        kmax=4.0 * kmin_kb,
        pmax=0.2,
    )
    point = fixed_point(fluid, flows)
    assert point.marking_probability == pytest.approx(p, rel=4e-4)
    assert point.queue_bytes / 1e3 == pytest.approx(queue_kb, abs=0.06)


@pytest.mark.parametrize(
    ("delay_us", "flows", "mean_kb", "std_kb", "utilisation"),
    [
        (4, 2, 20.2, 0, 1.0),
        (4, 4, 41.8, 0, 1.0),
        (4, 10, 122.6, 0, 1.0),
        (4, 32, 504.6, 0, 1.0),
        (4, 64, 1156.5, 0, 1.0),
        (50, 2, 20.2, 0, 1.0),
        (50, 4, 41.8, 0, 1.0),
        (50, 10, 122.6, 0, 1.0),
        (50, 32, 504.6, 0, 1.0),
        (50, 64, 1156.5, 0, 1.0),
        (85, 2, 20.1, 0, 1.0),
        (85, 4, 41.3, 31.7, 0.999),
        (85, 10, 129.8, 99, 0.997),
        (85, 32, 504.6, 0, 1.0),
        (85, 64, 1156.5, 0, 1.0),
    ],
)
def test_behaviour_table_is_not_monotone_in_the_number_of_flows(
    delay_us, flows, mean_kb, std_kb, utilisation
):
    found = behaviour(AT_40G, flows, delay_us * 1e-6)
    assert found.queue_mean_bytes / 1e3 == pytest.approx(mean_kb, rel=0.01)
    assert found.queue_std_bytes / 1e3 == pytest.approx(std_kb, rel=0.02, abs=5.0)
    assert found.utilisation == pytest.approx(utilisation, abs=1e-3)


@pytest.mark.parametrize(
    ("flows", "delay_us", "mean_kb", "utilisation"),
    [(8, 85, 58, 0.966), (64, 85, 128, 0.869), (64, 4, 152, 1.0)],
)
def test_behaviour_with_everything_marked_above_kmax(flows, delay_us, mean_kb, utilisation):
    found = behaviour(AT_40G, flows, delay_us * 1e-6, continued_ramp=False)
    assert found.queue_mean_bytes / 1e3 == pytest.approx(mean_kb, rel=0.02)
    assert found.utilisation == pytest.approx(utilisation, abs=0.005)


# 400G, 10 us delay, no byte counter, R_AI 80 Mb/s, 1600/6400 kB, Pmax 0.2
AT_400G = dataclasses.replace(
    dcqcn_fluid(dcqcn_set("zhu2015", 50e9), 50e9), additive=1e4, kmin=1600.0, kmax=6400.0, pmax=0.2,
    byte_counter=math.inf,
)  # fmt: skip


@pytest.mark.parametrize(("flows", "rest_kb"), [(2, 1601.2), (8, 1607.0), (32, 1641.2)])
def test_slow_timers_rest_at_400g(flows, rest_kb):
    found = behaviour(AT_400G, flows, 10e-6)
    assert found.queue_mean_bytes / 1e3 == pytest.approx(rest_kb, rel=0.005)
    assert found.utilisation == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("flows", "mean_kb", "utilisation"), [(2, 282, 0.996), (8, 338, 0.993), (32, 463, 0.986)]
)
def test_short_timers_of_vendors_cycle_in_the_equations(flows, mean_kb, utilisation):
    fast = dataclasses.replace(AT_400G, cut_s=4e-6, alpha_s=1e-6, increase_s=300e-6, stages=1.0)
    found = behaviour(fast, flows, 10e-6, start_rate_fraction=1.0 / flows)
    assert found.queue_mean_bytes / 1e3 == pytest.approx(mean_kb, rel=0.05)
    assert 1.6e6 < found.queue_high_bytes < 2.2e6 and found.queue_low_bytes == 0
    assert found.utilisation == pytest.approx(utilisation, abs=0.001)
    assert not stability_advice(fast, 10e-6, flows).decided, "a cycle that packets do not show is no advice"


def test_phase_margin_says_what_the_equations_do():
    for delay_s in (4e-6, 50e-6, 85e-6):
        for flows in (4, 10, 32, 64):
            calm = behaviour(AT_40G, flows, delay_s).queue_std_bytes < 100
            assert (phase_margin_deg(AT_40G, flows, delay_s) > 0) == calm


def test_advice_names_the_unstable_flow_counts():
    advice = stability_advice(AT_40G, 85e-6, largest=40)
    ((first, last),) = advice.unstable
    assert 2 < first <= 4 and 10 <= last < 32
    assert f"unstable for {first} <= N <= {last}" in advice.text
    assert advice.above_ramp_from == 15
    assert stability_advice(AT_40G, 4e-6, largest=12).unstable == ()


def test_margin_falls_with_delay_and_rises_with_a_flatter_ramp():
    margins = [phase_margin_deg(AT_40G, 8, delay_s) for delay_s in (1e-6, 20e-6, 60e-6, 120e-6)]
    assert margins == sorted(margins, reverse=True)
    flat = dataclasses.replace(AT_40G, kmax=800.0)
    assert phase_margin_deg(flat, 8, 85e-6) > phase_margin_deg(AT_40G, 8, 85e-6)


def test_integrator_equals_its_slow_twin():
    flows, delay, steps, step_s = 3, 20, 400, 1e-6
    f = AT_40G
    alpha, target, rate, q = 1.0, f.capacity, f.capacity, 0.0
    queue, rates = [], []
    for k in range(steps):
        queue.append(q)
        rates.append(rate)
        seen = queue[k - delay] if k >= delay else 0.0
        r = rates[k - delay] if k >= delay else f.capacity
        p = min(1.0, max(0.0, f.pmax * (seen - f.kmin) / (f.kmax - f.kmin)))
        a = 1 - (1 - p) ** (f.cut_s * r)
        if p == 0:
            b = c = 1 / f.byte_counter
            d = e = 1 / (f.increase_s * r)
        elif p < 1:
            b = p / ((1 - p) ** -f.byte_counter - 1) if f.byte_counter * -math.log1p(-p) < 600 else 0.0
            c = b * (1 - p) ** (f.stages * f.byte_counter)
            d = p / ((1 - p) ** (-f.increase_s * r) - 1)
            e = d * (1 - p) ** (f.stages * f.increase_s * r)
        else:
            b = c = d = e = 0.0
        to_alpha = f.g / f.alpha_s * ((1 - (1 - p) ** (f.alpha_s * r)) - alpha)
        to_target = -(target - rate) / f.cut_s * a + f.additive * r * (c + e)
        to_rate = -rate * alpha / (2 * f.cut_s) * a + (target - rate) / 2 * r * (b + d)
        q = max(0.0, q + step_s * (flows * rate - f.capacity))
        alpha += step_s * to_alpha
        target = min(f.capacity, max(1e-6 * f.capacity, target + step_s * to_target))
        rate = min(f.capacity, max(1e-6 * f.capacity, rate + step_s * to_rate))
    found = behaviour(f, flows, delay * step_s, duration_s=steps * step_s)
    np.testing.assert_allclose(found.queue_bytes / f.packet_bytes, queue, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.rate_bytes_per_s / f.packet_bytes, rates, rtol=1e-7)


def test_every_shipped_set_has_a_fixed_point_at_400g():
    for name in dcqcn_set_names():
        point = fixed_point(dcqcn_fluid(dcqcn_set(name, 50e9), 50e9), 8)
        assert 0 < point.marking_probability < 0.5
        assert point.target_over_rate > 1
