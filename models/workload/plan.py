"""One unit of work of a workload: its compute, its phases, and how phase times make its time.

A plan knows no fabric: the same plan goes to every candidate and both methods, which supply the time of each
phase; `unit_time` puts them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from models.workload.llm_step import StepTerms, step_time
from models.workload.phase import Metric, Phase, PhaseTime

PhaseTimes = Mapping[str, PhaseTime | float]


@dataclass(frozen=True)
class Job:
    """What turns a unit's time into the metrics of a job; zero where a workload has no such thing."""

    gpus: int
    work_per_unit: float  # tokens of a step, executions of a collective, requests
    work_unit: str
    work_total: float = 0.0  # tokens of the whole run
    model_flops_per_unit: float = 0.0  # 6 P D: what the field counts in MFU
    attention_flops_per_unit: float = 0.0
    peak_flops: float = 0.0
    checkpoint_bytes: float = 0.0
    checkpoint_stall_s: float = 0.0
    nics: int = 0
    efficiency_source: str = ""


@dataclass(frozen=True)
class WorkPlan:
    """A unit of work. `step` is set for training steps; other plans run compute and phases one after another."""

    name: str
    kind: str
    unit: str  # step | execution | burst | request | transfer
    compute_s: float
    phases: tuple[Phase, ...]
    job: Job
    compute_low_s: float = 0.0
    compute_high_s: float = 0.0
    step: StepTerms | None = None
    metrics: tuple[Metric, ...] = ()  # what is known before any fabric: memory per GPU, cache size
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [phase.name for phase in self.phases]
        if len(set(names)) != len(names):
            raise ValueError(f"phase names of {self.name} repeat: {names}")


@dataclass(frozen=True)
class UnitTime:
    """Time of one unit of work and its parts, s: total = compute + exposed + bubble + optimizer + stall + scale.

    `low_s, high_s` carry all uncertainty; `fabric_low_s, fabric_high_s` only that of the phase times. Compare
    candidates by the latter: they share the uncertainty of the compute.
    """

    total_s: float
    low_s: float
    high_s: float
    fabric_low_s: float
    fabric_high_s: float
    compute_s: float
    exposed_s: Mapping[str, float]  # by phase
    exposed_by_dimension_s: Mapping[str, float]
    bubble_s: float = 0.0
    optimizer_s: float = 0.0
    stall_s: float = 0.0
    scale_loss_s: float = 0.0


def unit_time(plan: WorkPlan, phase_times: PhaseTimes) -> UnitTime:
    """Time of one unit of `plan`, given the time of one execution of each of its phases.

    A training step follows llm_step.step_time; anything else is compute plus, per phase,
    count x time - min(hidden share of it, compute). Raises KeyError when a phase has no time.

    >>> from models.workload.phase import Phase, RankGroups
    >>> send = Phase("send", "send_recv", 1e6, RankGroups(2), count=4)
    >>> plan = WorkPlan("x", "collective", "execution", 0.5, (send,), Job(2, 1, "executions"), 0.4, 0.6)
    >>> unit = unit_time(plan, {"send": PhaseTime(0.25, 0.25, 0.5, "direct", "nic")})
    >>> unit.total_s, unit.low_s, unit.high_s, unit.exposed_s
    (1.5, 1.4, 2.6, {'send': 1.0})
    """
    mid = _parts(plan, plan.compute_s, _times(plan, phase_times, "time_s"))
    lows, highs = _times(plan, phase_times, "low_s"), _times(plan, phase_times, "high_s")
    by_dimension: dict[str, float] = {}
    for phase in plan.phases:
        key = phase.dimension or phase.name
        by_dimension[key] = by_dimension.get(key, 0.0) + mid.exposed_s[phase.name]
    return UnitTime(
        total_s=mid.total_s,
        low_s=_parts(plan, plan.compute_low_s or plan.compute_s, lows).total_s,
        high_s=_parts(plan, plan.compute_high_s or plan.compute_s, highs).total_s,
        fabric_low_s=_parts(plan, plan.compute_s, lows).total_s,
        fabric_high_s=_parts(plan, plan.compute_s, highs).total_s,
        compute_s=mid.compute_s,
        exposed_s=mid.exposed_s,
        exposed_by_dimension_s=by_dimension,
        bubble_s=mid.bubble_s,
        optimizer_s=mid.optimizer_s,
        stall_s=mid.stall_s,
        scale_loss_s=mid.scale_loss_s,
    )


def work_per_s(plan: WorkPlan, unit: UnitTime) -> float:
    """Useful work a second: tokens for training, requests for inference, executions otherwise."""
    return plan.job.work_per_unit / unit.total_s if unit.total_s > 0 else 0.0


@dataclass(frozen=True)
class _Parts:
    total_s: float
    compute_s: float
    exposed_s: dict[str, float]
    bubble_s: float = 0.0
    optimizer_s: float = 0.0
    stall_s: float = 0.0
    scale_loss_s: float = 0.0


def _times(plan: WorkPlan, phase_times: PhaseTimes, field: str) -> dict[str, float]:
    times = {}
    for phase in plan.phases:
        given = phase_times[phase.name]
        once = getattr(given, field) if isinstance(given, PhaseTime) else float(given)
        times[phase.name] = phase.count * once
    return times


def _parts(plan: WorkPlan, compute_s: float, times_s: dict[str, float]) -> _Parts:
    if plan.step is None:
        hidden = {
            phase.name: min(phase.hidden_fraction * times_s[phase.name], compute_s) for phase in plan.phases
        }
        exposed = {name: time - hidden[name] for name, time in times_s.items()}
        return _Parts(compute_s + sum(exposed.values()), compute_s, exposed)
    step = step_time(
        plan.step, np.array([compute_s]), {name: np.array([time]) for name, time in times_s.items()}
    )
    return _Parts(
        float(step.total_s[0]),
        compute_s,
        {phase.name: float(step.exposed_s[phase.name][0]) for phase in plan.phases},
        float(step.bubble_s[0]),
        float(step.optimizer_s[0]),
        float(step.stall_s[0]),
        float(step.scale_loss_s[0]),
    )
