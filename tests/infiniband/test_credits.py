"""Credit closed forms and the incast call on leaf-spine and three tiers."""

from __future__ import annotations

import numpy as np
import pytest

from models.infiniband.credits import (
    ADVERTISED_LIMIT_BYTES,
    credit_incast,
    credit_round_trip_s,
    link_bandwidth,
    longest_link_m,
    victim_goodput,
)

USUAL = {"rate_bytes_per_s": 50e9, "propagation_s": 25e-9, "vl_buffer_bytes": 65536}


def test_longest_link_at_full_rate():
    """128 KiB a lane: about 200 m at 400 Gb/s and 70 m at 800 with 0.6 us fixed."""
    assert longest_link_m(ADVERTISED_LIMIT_BYTES, 50e9) == pytest.approx(200, rel=0.02)
    assert longest_link_m(ADVERTISED_LIMIT_BYTES, 100e9) == pytest.approx(70, rel=0.02)
    assert longest_link_m(16384, 50e9) == 0
    assert pytest.approx(2.62e-6, rel=1e-3) == ADVERTISED_LIMIT_BYTES / 50e9


def test_bandwidth_falls_beyond_the_longest_link():
    reach = longest_link_m(65536, 50e9, fixed_s=0.1e-6)
    at = [
        link_bandwidth(65536, credit_round_trip_s(m, 0, 50e9, 0.1e-6), 50e9)
        for m in (0.5 * reach, reach, 2 * reach)
    ]
    assert at[0] == at[1] == 50e9
    assert at[2] < 0.6 * 50e9


@pytest.mark.parametrize(
    ("hot", "ports", "k", "expected"), [(96.39, 2, 7, 6.885), (96.39, 10, 5, 1.93), (96.39, 4, 6, 4.02)]
)
def test_victim_law_of_both_simulators(hot, ports, k, expected):
    found = victim_goodput(100e9 / 8, hot * 1e9 / 8, ports, k) * 8 / 1e9
    assert found == pytest.approx(expected, abs=0.005)
    assert victim_goodput(100e9 / 8, hot * 1e9 / 8, ports, 0) == 100e9 / 8


def test_incast_takes_the_serialisation_bound_and_starves_the_victim():
    made = credit_incast(32, 2**20, **USUAL, leaves=2, spines=1)
    assert made.result.status == "finished"
    assert made.slowdown == pytest.approx(33 / 32, rel=0.003)  # the victim has its share of the one spine
    assert made.victim_law_fraction == pytest.approx(1 / 33, rel=1e-6)
    assert made.victim_goodput_fraction == pytest.approx(made.victim_law_fraction, rel=0.1)


def test_other_spine_or_own_lane_saves_the_victim():
    apart = credit_incast(8, 2**20, **USUAL, leaves=2, spines=2, routing="destination")
    assert apart.fabric.flows_on_victim_port == 0
    assert apart.victim_goodput_fraction > 0.9
    shared = credit_incast(8, 2**20, **USUAL, leaves=2, spines=1)
    lane = credit_incast(8, 2**20, **USUAL, leaves=2, spines=1, victim_on_own_lane=True)
    assert shared.victim_goodput_fraction < 0.2
    assert lane.victim_goodput_fraction > 3 * shared.victim_goodput_fraction


@pytest.mark.parametrize("pods", [1, 2])
def test_adaptive_spreads_over_spines_and_three_tiers_work(pods):
    made = credit_incast(24, 2**18, **USUAL, leaves=3, spines=3, pods=pods, adaptive=True)
    assert made.result.delivered_bytes[:24].sum() == 24 * 2**18
    assert made.slowdown < 1.05
    assert made.result.jain < 1.0


def test_completion_grows_with_fan_in_bytes_and_slower_links():
    ends = [np.nanmax(credit_incast(n, 2**18, **USUAL, victim=False).result.completion_s) for n in (2, 8, 32)]
    assert ends == sorted(ends)
    slower = credit_incast(8, 2**18, **{**USUAL, "rate_bytes_per_s": 25e9}, victim=False)
    assert np.nanmax(slower.result.completion_s) > ends[1]


def test_seed_decides_routes_and_starts():
    first, same, other = (
        credit_incast(16, 2**18, **USUAL, start_spread_s=5e-6, seed=seed).result.completion_s
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, same, equal_nan=True)
    assert not np.array_equal(first, other, equal_nan=True)


def test_time_limit_and_faulty_input():
    made = credit_incast(8, 2**24, **USUAL, time_limit_s=1e-5)
    assert made.result.status == "time limit"
    assert np.isnan(made.result.completion_s).all()
    with pytest.raises(ValueError, match="burst_bytes"):
        credit_incast(8, 0, **USUAL)
    with pytest.raises(ValueError, match="fan_in"):
        credit_incast(0, 100, **USUAL)
