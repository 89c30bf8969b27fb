"""What every fabric and every method must satisfy for an incast, whatever holds the senders."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import isfinite

import numpy as np
import pytest

from models.topology.incast_wiring import incast_bound_s
from models.workload.phase import Burst, Phase, PhaseTime, RankGroups
from tests.contract.test_contract import METHODS, TECHNOLOGIES, time_of
from tests.solvers.collective_cases import link_of, network_of

NETWORK = network_of(8, kind="fat_tree", radix=32)
BURST = 2**18
every_method = pytest.mark.parametrize("method", METHODS)
every_fabric = pytest.mark.parametrize("name", TECHNOLOGIES)


@cache
def incast(method: str, name: str, fan_in: int, burst_bytes: int = BURST, rate: float = 400.0) -> PhaseTime:
    burst = Burst(fan_in, burst_bytes, victim=True, seeds=1, seed=1)
    asked = Phase("incast", "incast", float(burst_bytes), RankGroups(fan_in + 1), burst=burst)
    return time_of(method, name, asked, NETWORK, link_of(name, {"link.rate_gbit_per_s": rate}))


def ideal_s(name: str, fan_in: int, burst_bytes: int = BURST) -> float:
    return incast_bound_s(Burst(fan_in, burst_bytes, victim=True, seeds=1, seed=1), link_of(name))


@every_method
@every_fabric
def test_more_senders_never_end_sooner(method: str, name: str) -> None:
    """0.5 % for the luck of packets."""
    times = [incast(method, name, fan_in).time_s for fan_in in (2, 4, 8, 16)]
    assert all(more >= 0.995 * less for less, more in pairwise(times))


@every_method
@every_fabric
def test_longer_bursts_never_end_sooner(method: str, name: str) -> None:
    times = [incast(method, name, 8, size).time_s for size in (4096, 2**16, 2**18, 2**20)]
    assert times == sorted(times)


@every_method
@every_fabric
def test_a_faster_link_never_hurts(method: str, name: str) -> None:
    assert (
        incast(method, name, 8, 2**20, rate=400.0).time_s <= incast(method, name, 8, 2**20, rate=100.0).time_s
    )


@every_method
@every_fabric
@pytest.mark.parametrize("fan_in", [2, 8, 16])
def test_the_port_never_beats_its_line_rate(method: str, name: str, fan_in: int) -> None:
    assert incast(method, name, fan_in).time_s >= ideal_s(name, fan_in) * (1.0 - 1e-9)


@every_method
@every_fabric
def test_the_record_is_whole(method: str, name: str) -> None:
    found = incast(method, name, 8)
    values = {metric.name: metric.value for metric in found.metrics}
    assert 0.0 < found.low_s <= found.time_s <= found.high_s and isfinite(found.high_s)
    assert {"fct_mean", "fct_max", "slowdown", "queue_peak", "victim_goodput", "victim_share"} <= set(values)
    assert values["fct_mean"] <= values["fct_max"] * (1.0 + 1e-9)
    assert values["queue_peak"] >= 0.0
    assert 0.0 <= values["victim_share"] <= 1.0 + 1e-6
    assert values["victim_goodput"] <= link_of(name).rate_bytes_per_s


@every_fabric
def test_bytes_sent_are_delivered(name: str) -> None:
    """What the receiver gets over time adds up to all bursts (samples at the ends: 10 %)."""
    found = incast("fluid", name, 16, 2**20)
    time_s, rate = found.series["time_s"], found.series["rate_bytes_per_s"]
    arrived = float(np.sum(rate[1:] * np.diff(time_s)))
    assert arrived == pytest.approx(16 * 2**20, rel=0.1)


@every_method
@every_fabric
def test_same_seed_same_answer(method: str, name: str) -> None:
    first = incast(method, name, 8)
    incast.cache_clear()
    assert incast(method, name, 8) == first
