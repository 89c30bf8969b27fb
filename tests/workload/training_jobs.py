"""Scenarios and toy communication costs the workload tests share."""

from __future__ import annotations

from typing import Any

from models.scenario.load import SHIPPED as FOLDER
from models.scenario.load import load, with_values
from models.scenario.schema import Scenario
from models.workload.phase import Phase
from models.workload.phases import phases
from models.workload.plan import WorkPlan

SHIPPED = FOLDER / "llama3-70b-1024-h100.yaml"


def scenario(**changes: Any) -> Scenario:
    """The shipped scenario; keys without a dot belong to its training workload."""
    values = {
        (k if "__" in k else f"workloads.training.{k}").replace("__", "."): v for k, v in changes.items()
    }
    return with_values(load(SHIPPED), values) if values else load(SHIPPED)


def training(**changes: Any) -> WorkPlan:
    """The plan of the shipped training step with changes."""
    at = scenario(**changes)
    return phases(at.workloads["training"], at, "training")


def toy_times(plan: WorkPlan, rate: float = 48e9, latency_s: float = 2e-5) -> dict[str, float]:
    """Time of each phase from one rate and one latency."""
    return {phase.name: toy_time(phase, rate, latency_s) for phase in plan.phases}


def toy_time(phase: Phase, rate: float = 48e9, latency_s: float = 2e-5) -> float:
    """Bytes over the wire at one rate (TP six times faster), plus a latency."""
    n = phase.groups.size
    wire = {"all_reduce": 2 * (n - 1) / n, "all_gather": (n - 1) / n, "reduce_scatter": (n - 1) / n}
    factor = wire.get(phase.operation, 1.0)
    return phase.message_bytes * factor / (6 * rate if phase.dimension == "tp" else rate) + latency_s
