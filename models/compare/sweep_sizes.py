"""Points that differ in a collective's message size only: their times worked out together.

What an algorithm costs a byte does not depend on the size, so a thousand sizes cost little more than one. The figures
are those of each size by itself, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from models.compare.axes import Point
from models.compare.concerns import values_of
from models.compare.fabrics import Method, phase_times_function
from models.compare.performance import Setup, WorkloadTime
from models.scenario.schema import Scenario
from models.workload.phase import PhaseTime
from models.workload.plan import WorkPlan, unit_time

WORTH_IT = 3  # sizes from which they are worked out together
TOGETHER_MAX = 4096  # so that finished points are written now and then
Values = tuple[object, ...]


def size_key(scenario: Scenario, workload: str) -> str:
    """The key of a collective's message size; empty for workloads of other kinds."""
    return f"workloads.{workload}.message_bytes" if scenario.workloads[workload].kind == "collective" else ""


def apart_from_sizes(scenario: Scenario, keys: Sequence[str]) -> tuple[str, ...]:
    """`keys` without those of message sizes."""
    sizes = {size_key(scenario, workload) for workload in scenario.workloads}
    return tuple(key for key in keys if key not in sizes)


class Parts(Protocol):
    """What a sweep knows of its points: keys that change a time, plans and networks."""

    scenario: Scenario
    time_keys: dict[tuple[str, str], tuple[str, ...]]

    def plan_or_none(self, point: Point, workload: str, candidate: str) -> WorkPlan | None: ...
    def setup(self, point: Point, candidate: str) -> Setup: ...


class SizeGroups:
    """Announced points by candidate and workload, those together that differ in the workload's message size only."""

    def __init__(self, of: Parts, points: Sequence[Point]) -> None:
        self.of = of
        self._done: set[tuple[int, Method]] = set()  # a size without an answer must not ask for all again
        self._together: dict[tuple[str, str], dict[Values, list[Point]]] = {}
        for (candidate, workload), keys in of.time_keys.items():
            size = size_key(of.scenario, workload)
            if size not in keys:
                continue
            found = self._together[candidate, workload] = {}
            latest: dict[Values, list[Point]] = {}
            for point in points:
                at = values_of(keys, point)
                if at in found:
                    continue
                apart = values_of([key for key in keys if key != size], point)
                if len(latest.setdefault(apart, [])) == TOGETHER_MAX:
                    latest[apart] = []
                latest[apart].append(point)
                found[at] = latest[apart]

    def times(
        self, point: Point, candidate: str, workload: str, method: Method
    ) -> Iterator[tuple[Point, WorkloadTime]]:
        """Times of all announced points that belong with `point`; none where there are few, or where one has none.

        A size that has no plan is left out: asked for by itself, it says why.
        """
        at = values_of(self.of.time_keys[candidate, workload], point)
        together = self._together.get((candidate, workload), {}).get(at, [])
        if len(together) < WORTH_IT or (id(together), method) in self._done:
            return
        self._done.add((id(together), method))
        plans = [
            (each, plan) for each in together if (plan := self.of.plan_or_none(each, workload, candidate))
        ]
        on = self.of.setup(point, candidate)
        evaluate = phase_times_function(on.technology.fabric, method)
        for alike in _alike(plans):
            found = _times(
                [plan for _, plan in alike], lambda phase, sizes: evaluate(phase, sizes, on.network, on.link)
            )
            for (each, plan), times in zip(alike, found, strict=True):
                yield each, WorkloadTime(on, workload, method, plan, times, unit_time(plan, times))


def _alike(plans: Sequence[tuple[Point, WorkPlan]]) -> list[list[tuple[Point, WorkPlan]]]:
    """Plans whose phases differ in their message sizes only, together."""
    found: dict[tuple[object, ...], list[tuple[Point, WorkPlan]]] = {}
    for at, plan in plans:
        phases = tuple(replace(phase, message_bytes=0.0) for phase in plan.phases)
        found.setdefault(phases, []).append((at, plan))
    return list(found.values())


def _times(plans: Sequence[WorkPlan], evaluate: Callable[..., list[PhaseTime]]) -> list[dict[str, PhaseTime]]:
    """Times of the phases of each plan, the plans alike but for their sizes."""
    result: list[dict[str, PhaseTime]] = [{} for _ in plans]
    for index, phase in enumerate(plans[0].phases):
        sizes = [plan.phases[index].message_bytes for plan in plans]
        for times, found in zip(result, evaluate(phase, sizes), strict=True):
            times[phase.name] = found
    return result
