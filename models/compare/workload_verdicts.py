"""The verdict on each workload by itself: who is fastest, who gives most of it per dollar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.compare.comparison import time_bands
from models.compare.draws import DRAWS_DEFAULT, DrawSource
from models.compare.performance import WorkloadTime
from models.compare.shares import drawn_inputs
from models.compare.value import CostLine, draw_names, value_draws, values
from models.compare.value_of_information import settled_verdict
from models.compare.verdict import Verdict


@dataclass(frozen=True)
class WorkloadVerdict:
    """The verdict as if one workload were the whole question, and who is fastest."""

    workload: str
    verdict: Verdict
    fastest: str
    lead: float  # of the fastest over the next, in speed


def workload_verdicts(
    performance: Sequence[WorkloadTime],
    costs: Mapping[str, Sequence[CostLine]],
    seed: int,
    draws: int = DRAWS_DEFAULT,
) -> list[WorkloadVerdict]:
    """Verdicts of the workloads that every candidate has a time for, in the order they come."""
    found = []
    for workload in dict.fromkeys(item.workload for item in performance):
        items = [item for item in performance if item.workload == workload]
        methods = {item.method for item in items}
        if len(items) < len(costs) * len(methods):
            continue
        bands = time_bands(items, list(costs), {workload: 1.0})
        source = DrawSource(draw_names(bands, costs), draws, seed)
        drawn = value_draws(bands, costs, seed, draws, source)
        ranked = values(bands, costs, drawn)
        technologies = {item.setup.name: item.setup.candidate.technology for item in items}
        work = unit_words(items[0].plan.unit)
        said = settled_verdict(ranked, drawn, work, drawn_inputs(source), bands, costs, technologies)
        by_speed = sorted(ranked, key=lambda value: (-value.relative_work, value.candidate))
        ahead = by_speed[0].relative_work / by_speed[1].relative_work - 1.0 if len(by_speed) > 1 else 0.0
        found.append(WorkloadVerdict(workload, said, by_speed[0].candidate, ahead))
    return found


def unit_words(unit: str) -> str:
    """What a workload's unit of work is called in a sentence.

    >>> unit_words("step"), unit_words("request")
    ('training', 'requests')
    """
    return {"step": "training", "request": "requests", "burst": "bursts", "transfer": "transfers"}.get(
        unit, "work"
    )
