"""A reader's own log: shortfall, known causes, calibration, against every candidate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from models.compare.collective_sizes import collective_over_sizes
from models.compare.own_log import own_log_reading, own_log_sentence
from models.evidence.nccl_log import COLUMNS
from models.scenario.load import load
from models.scenario.schema import Scenario

RANKS = 64


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return load(Path(__file__).parents[2] / "scenarios" / "startup-256-h100.yaml")


@pytest.fixture(scope="module")
def table(scenario: Scenario) -> pd.DataFrame:
    return collective_over_sizes(scenario, "all_reduce", RANKS)


def log_of(table: pd.DataFrame, candidate: str, share: float, least: float = 2.0**20) -> pd.DataFrame:
    """What a log would say of a system that reaches `share` of the model."""
    own = table[(table.candidate == candidate) & (table.message_bytes >= least)]
    figures = (own.message_bytes, own.time_s / share, own.bus_bandwidth_bytes_per_s * share)
    return pd.DataFrame(np.stack([f.to_numpy(dtype=float) for f in figures], axis=1), columns=COLUMNS)


def test_a_healthy_log_reaches_its_candidate(scenario: Scenario, table: pd.DataFrame) -> None:
    first = str(table.candidate.iloc[0])
    reading = own_log_reading(log_of(table, first, 1.0), table, scenario).set_index("candidate")
    assert list(reading.index) == list(scenario.candidates)
    assert reading.measured_over_modelled[first] == pytest.approx(1.0)
    assert not reading.falls_short[first] and reading.known_causes[first] == ""
    assert f"100 % of the bus bandwidth modelled for {first}" in own_log_sentence(reading.reset_index())


def test_half_the_bandwidth_is_a_fault_with_known_causes(scenario: Scenario, table: pd.DataFrame) -> None:
    slowest = str(
        table[table.message_bytes == 2**30].set_index("candidate").bus_bandwidth_bytes_per_s.idxmin()
    )
    reading = own_log_reading(log_of(table, slowest, 0.5), table, scenario)
    assert reading.falls_short.all() and (reading.known_causes != "").all()
    assert "falls short of every candidate" in own_log_sentence(reading)


def test_two_parameters_are_read_from_large_messages(scenario: Scenario, table: pd.DataFrame) -> None:
    first = str(table.candidate.iloc[0])
    size = 2.0 ** np.arange(20, 35)
    time_s = 3e-4 + size / 2e11
    factor = 2 * (RANKS - 1) / RANKS
    log = pd.DataFrame(np.stack([size, time_s, factor * size / time_s], axis=1), columns=COLUMNS)
    reading = own_log_reading(log, table, scenario).set_index("candidate").loc[first]
    assert reading.calibrated_latency_s == pytest.approx(3e-4, rel=1e-6)
    assert reading.calibrated_bus_bytes_per_s == pytest.approx(2e11 * factor, rel=1e-6)


def test_a_log_of_small_messages_flags_nothing_and_fits_nothing(
    scenario: Scenario, table: pd.DataFrame
) -> None:
    first = str(table.candidate.iloc[0])
    log = log_of(table, first, 0.4)
    reading = own_log_reading(log[log.message_bytes < 2**25], table, scenario)
    assert not reading.falls_short.any()
    assert reading.calibrated_bus_bytes_per_s.isna().all()
