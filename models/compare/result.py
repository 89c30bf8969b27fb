"""Rows of the result tables; their fields are the columns of the CSV files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparisonRow:
    """One metric of one candidate under one method."""

    scenario: str
    candidate: str
    fabric: str
    method: str
    workload: str
    metric: str
    value: float
    unit: str
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class PhaseRow:
    """One phase of a workload on one candidate under one method."""

    scenario: str
    candidate: str
    fabric: str
    method: str
    workload: str
    phase: str
    operation: str
    ranks: int
    message_bytes: float
    count: float
    time_s: float
    exposed_s: float
    bus_bandwidth_bytes_per_s: float
    algorithm: str
    binding_limit: str
    low: float
    high: float
