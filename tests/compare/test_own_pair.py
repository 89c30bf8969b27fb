"""A point-to-point log against one NIC of every candidate."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from models.compare.own_pair import (
    own_pair_reading,
    own_pair_sentence,
    pair_over_sizes,
    pair_rows,
)
from models.evidence.log_reading import log_reading
from models.scenario.load import load
from models.scenario.schema import Scenario

HEAD = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load(Path(__file__).parents[2] / "scenarios" / "llama3-70b-1024-h100.yaml")


@pytest.fixture(scope="module")
def table(scenario: Scenario) -> pd.DataFrame:
    return pair_over_sizes(scenario, 1)


def bandwidth_log(gbit_per_s: float, test: str = "RDMA_Write BW Test") -> str:
    return f" {test}\n{HEAD}" + "".join(f" {2**p} 5000 {gbit_per_s} {gbit_per_s} 1\n" for p in range(16, 24))


def test_latency_grows_with_size_and_hops_and_bandwidth_stays_below_the_line(
    scenario: Scenario, table: pd.DataFrame
) -> None:
    far = pair_over_sizes(scenario, 3)
    assert (far.latency_s > table.latency_s).all()
    assert all(own.latency_s.is_monotonic_increasing for _, own in table.groupby("candidate"))
    assert (table.bandwidth_high_bytes_per_s <= 50e9).all()
    assert (table.bandwidth_low_bytes_per_s < table.bandwidth_bytes_per_s).all()


def test_a_healthy_link_reaches_its_candidate_and_half_of_it_is_a_fault(
    scenario: Scenario, table: pd.DataFrame
) -> None:
    healthy = own_pair_reading(pair_rows(log_reading(bandwidth_log(388.0))), table, scenario, "bandwidth")
    near = healthy.set_index("candidate").measured_over_modelled
    assert near["RoCEv2 400G"] == pytest.approx(0.99, abs=0.01) and not healthy.falls_short.any()
    assert "RoCEv2 400G, the nearest" in own_pair_sentence(healthy, "bandwidth")
    faulty = own_pair_reading(pair_rows(log_reading(bandwidth_log(100.0))), table, scenario, "bandwidth")
    assert faulty.falls_short.all() and (faulty.known_causes != "").all()
    assert "falls short of every candidate" in own_pair_sentence(faulty, "bandwidth")


def test_both_directions_added_up_are_halved() -> None:
    both = pair_rows(log_reading(bandwidth_log(780.0, "Send Bidirectional BW Test")))
    assert both.bandwidth_bytes_per_s.tolist() == pytest.approx([390e9 / 8] * len(both))


def test_a_latency_log_is_held_against_small_messages(scenario: Scenario, table: pd.DataFrame) -> None:
    own = table[table.candidate == "InfiniBand NDR"]
    text = " Send Latency Test\n #bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n"
    text += "".join(f" {int(r.message_bytes)} 1000 1 9 {r.latency_s * 2e6}\n" for r in own.itertuples())
    reading = own_pair_reading(pair_rows(log_reading(text)), table, scenario, "latency").set_index(
        "candidate"
    )
    assert reading.measured_over_modelled["InfiniBand NDR"] == pytest.approx(2.0, rel=1e-6)
    assert not reading.falls_short.any()
