"""Rows of the comparison and phase tables from the times of a workload."""

from __future__ import annotations

from collections.abc import Sequence

from models.compare.performance import WorkloadTime
from models.compare.result import ComparisonRow, PhaseRow
from models.compare.value import TimeBand
from models.scenario.schema import Scenario
from models.workload.phase import Metric
from models.workload.plan import unit_time
from models.workload.plan_metrics import metrics


def common_phases(items: Sequence[WorkloadTime]) -> frozenset[tuple[str, str]]:
    """(method, phase) whose time is the same on every candidate: traffic that stays inside the nodes.

    `items` are one workload on all candidates. A model error there moves all candidates alike.
    """
    times: dict[tuple[str, str], set[float]] = {}
    for item in items:
        for name, time in item.times.items():
            times.setdefault((item.method, name), set()).add(time.time_s)
    return frozenset(key for key, found in times.items() if len(found) == 1)


def time_band(
    workload: str,
    weight: float,
    items: Sequence[WorkloadTime],
    common: frozenset[tuple[str, str]] = frozenset(),
    own_s: tuple[float, float] = (0.0, 0.0),
) -> TimeBand:
    """The time of one unit of a workload on one candidate, by method, with the band of what differs.

    The uncertainty of the compute and of the `common` phases is left out: every candidate runs on the same GPUs and
    the same links inside the nodes, so it cancels. `own_s`: see figure_spread.
    """

    def end(item: WorkloadTime, name: str) -> float:
        times = {
            phase: time.time_s if (item.method, phase) in common else float(getattr(time, name))
            for phase, time in item.times.items()
        }
        return unit_time(item.plan, times).total_s

    ends: dict[str, tuple[float, float, float]] = {
        item.method: (item.unit.total_s, end(item, "low_s"), end(item, "high_s")) for item in items
    }
    return TimeBand(workload, weight, ends, *own_s)


def workload_rows(scenario: Scenario, item: WorkloadTime) -> list[ComparisonRow]:
    """Metrics of one workload on one candidate under one method."""
    found = list(metrics(item.plan, item.unit))
    if len(item.plan.phases) == 1:
        phase = item.plan.phases[0]
        time = item.times[phase.name]
        if time.bus_bandwidth_bytes_per_s:
            scale = time.bus_bandwidth_bytes_per_s * time.time_s
            found.append(
                Metric(
                    "bus_bandwidth",
                    time.bus_bandwidth_bytes_per_s,
                    "bytes/s",
                    scale / time.high_s,
                    scale / time.low_s,
                    f"{phase.operation}, {time.algorithm}, limited by {time.binding_limit}",
                )
            )
        found.extend(time.metrics)
    technology = item.setup.technology
    rows = []
    for metric in found:
        rows.append(
            ComparisonRow(
                scenario=scenario.name,
                candidate=item.setup.name,
                fabric=technology.fabric,
                method=item.method,
                workload=item.workload,
                metric=metric.name,
                value=metric.value,
                unit=metric.unit,
                low=metric.value if metric.low is None else metric.low,
                high=metric.value if metric.high is None else metric.high,
                source=metric.source or f"{item.method} model of {technology.id}",
            )
        )
    return rows


def phase_rows(scenario: Scenario, item: WorkloadTime) -> list[PhaseRow]:
    """One row a phase: its time, what of it is exposed, what limits it."""
    rows = []
    for phase in item.plan.phases:
        time = item.times[phase.name]
        rows.append(
            PhaseRow(
                scenario=scenario.name,
                candidate=item.setup.name,
                fabric=item.setup.technology.fabric,
                method=item.method,
                workload=item.workload,
                phase=phase.name,
                operation=phase.operation,
                ranks=phase.groups.size,
                message_bytes=phase.message_bytes,
                count=phase.count,
                time_s=time.time_s,
                exposed_s=item.unit.exposed_s.get(phase.name, 0.0),
                bus_bandwidth_bytes_per_s=time.bus_bandwidth_bytes_per_s,
                algorithm=time.algorithm,
                binding_limit=time.binding_limit,
                low=time.low_s,
                high=time.high_s,
            )
        )
    return rows
