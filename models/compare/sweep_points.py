"""One scenario at many points: every part of the answer worked out once for the values it depends on.

A part (network, plan, time, cost) is kept under the values of the keys that can change it (`concerns.py`), so a
grid costs as many evaluations as it has different parts, not points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from models.compare.axes import Point, Value
from models.compare.comparison import time_bands
from models.compare.concerns import Concern, concern, cost_keys, plan_keys, setup_keys, values_of
from models.compare.costs import CandidateCost, candidate_costs
from models.compare.fabrics import Method, phase_time_function
from models.compare.layout_search import best_layout_plan, searches
from models.compare.performance import Setup, WorkloadTime, setup
from models.compare.sweep_sizes import SizeGroups
from models.compare.value import TimeBand
from models.scenario.faults import Fault, InputError
from models.scenario.load import with_values
from models.scenario.schema import Scenario
from models.topology.size import CannotBuild
from models.workload.llm_training import batch_at
from models.workload.phases import phases
from models.workload.plan import WorkPlan, unit_time

T = TypeVar("T")
INVALID, CANNOT_BUILD, FAILED, OK = "invalid", "cannot build", "failed", "ok"


@dataclass(frozen=True)
class Failure:
    """Why a part of a point has no answer."""

    status: str
    reason: str


class PartFailed(Exception):
    """A part that another one needs has no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


def swept(scenario: Scenario, values: Mapping[str, Value]) -> Scenario:
    """`scenario` with dotted keys set; where the cluster changes, `batch_scaling: per_gpu` moves the batch with it.

    Raises InputError for a key that does not exist or a value that is not allowed.
    """
    if not values:
        return scenario
    changed = with_values(scenario, values)
    if changed.cluster.gpus == scenario.cluster.gpus:
        return changed
    workloads = dict(changed.workloads)
    for name, workload in workloads.items():
        if workload.kind == "llm_training" and f"workloads.{name}.global_batch_sequences" not in values:
            batch = batch_at(workload, scenario.cluster.gpus, changed.cluster.gpus)
            workloads[name] = workload.model_copy(update={"global_batch_sequences": batch})
    return changed.model_copy(update={"workloads": workloads})


def checked_keys(scenario: Scenario, points: Sequence[Point]) -> None:
    """Raises InputError for a key that no scenario has, or that never takes a value of its type.

    A value out of range is not a fault of the sweep: such points become rows with a reason.
    """
    values: dict[str, list[Value]] = {}
    for point in points:
        for key, value in point.items():
            seen = values.setdefault(key, [])
            if len(seen) < 64 and value not in seen:
                seen.append(value)
    faults: list[Fault] = []
    for key in list(values):
        missing = _missing_owner(concern(key, scenario), scenario)
        if missing:
            faults.append(Fault("--axis", key, "", missing))
            del values[key]
    for key, tried in values.items():
        refused = [_refusal(scenario, key, value) for value in tried]
        if all(refused):
            faults += [Fault("--axis", f.key or key, f.given, f.problem) for f in refused[0] or ()]
        elif any(fault.problem.startswith("unknown key") for fault in refused[0] or ()):
            faults += list(refused[0] or ())
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _missing_owner(of: Concern, scenario: Scenario) -> str:
    """What is wrong with a key that goes through a candidate or workload the scenario does not have."""
    if of.section == "candidates" and not of.candidate:
        return f"no such candidate; allowed: {', '.join(scenario.candidates)}"
    if of.section == "workloads" and not of.workload:
        return f"no such workload; allowed: {', '.join(scenario.workloads)}"
    return ""


def _refusal(scenario: Scenario, key: str, value: Value) -> tuple[Fault, ...]:
    """Faults that mean the key or the type is wrong, not the size of the value."""
    try:
        with_values(scenario, {key: value})
    except InputError as error:
        return tuple(fault for fault in error.faults if _wrong_key(fault.problem))
    return ()


def _wrong_key(problem: str) -> bool:
    starts = ("unknown", "is missing", "no such part in the catalogue", "must be ")
    inside = ("is a value, not a group", "cannot be overridden")
    return problem.startswith(starts) or any(words in problem for words in inside)


class Variations:
    """A scenario at points that set `keys`; parts are remembered, answers do not depend on their order."""

    def __init__(
        self,
        scenario: Scenario,
        keys: Iterable[str],
        methods: Sequence[Method],
        prices: str | None = None,
    ) -> None:
        self.scenario = scenario
        self.methods = tuple(methods)
        self.prices = prices
        self.concerns: tuple[Concern, ...] = tuple(concern(key, scenario) for key in keys)
        self._setup_keys = {name: setup_keys(self.concerns, name) for name in scenario.candidates}
        self._plan_keys = {name: plan_keys(self.concerns, name) for name in scenario.workloads}
        self._cost_keys = {name: cost_keys(self.concerns, name) for name in scenario.candidates}
        self.time_keys = {
            (c, w): tuple(dict.fromkeys(self._setup_keys[c] + self._plan_keys[w]))
            for c in scenario.candidates
            for w in scenario.workloads
        }
        self._weights = {c.workload: c.key for c in self.concerns if c.weight}
        self._known: dict[tuple[Any, ...], Any] = {}
        self._sizes: SizeGroups | None = None

    def announce(self, points: Sequence[Point]) -> None:
        """Says which points will be asked for, so that those that differ in a message size only are one evaluation."""
        self._sizes = SizeGroups(self, points)

    def scenario_at(self, point: Point, keys: Sequence[str]) -> Scenario:
        """The scenario with those of `keys` set; PartFailed when the values are not allowed."""
        return self._part(
            ("scenario", keys, values_of(keys, point)),
            lambda: swept(self.scenario, {key: point[key] for key in keys if key in point}),
        )

    def setup(self, point: Point, candidate: str) -> Setup:
        """The candidate on the point's cluster."""
        keys = self._setup_keys[candidate]
        return self._part(
            ("setup", candidate, values_of(keys, point)),
            lambda: setup(self.scenario_at(point, keys), candidate),
        )

    def plan(self, point: Point, workload: str, candidate: str) -> WorkPlan:
        """What the workload sends at the point; with `search_layout` in the layout that is best on the candidate."""
        keys = self._plan_keys[workload]

        def written() -> WorkPlan:
            scenario = self.scenario_at(point, keys)
            return phases(scenario.workloads[workload], scenario, workload)

        def found() -> WorkPlan:
            on, scenario = self.setup(point, candidate), self.scenario_at(point, own)
            return best_layout_plan(scenario, workload, on.network, on.link)

        if not searches(self.scenario_at(point, keys).workloads[workload]):
            return self._part(("plan", workload, values_of(keys, point)), written)
        own = self.time_keys[candidate, workload]
        return self._part(("layout", candidate, workload, values_of(own, point)), found)

    def time_key(self, point: Point, candidate: str, workload: str, method: Method) -> tuple[object, ...]:
        """What identifies a time: equal keys, equal times."""
        return (candidate, workload, method, values_of(self.time_keys[candidate, workload], point))

    def time(self, point: Point, candidate: str, workload: str, method: Method) -> WorkloadTime:
        """One workload on one candidate by one method; PartFailed says why there is none."""
        key = ("time", *self.time_key(point, candidate, workload, method))
        if key not in self._known and self._sizes is not None:
            self._times_together(self._sizes, point, candidate, workload, method)

        def made() -> WorkloadTime:
            on, plan = self.setup(point, candidate), self.plan(point, workload, candidate)
            evaluate = phase_time_function(on.technology.fabric, method)
            times = {phase.name: evaluate(phase, on.network, on.link) for phase in plan.phases}
            return WorkloadTime(on, workload, method, plan, times, unit_time(plan, times))

        return self._part(key, made)

    def _times_together(
        self, sizes: SizeGroups, point: Point, candidate: str, workload: str, method: Method
    ) -> None:
        try:
            for at, found in sizes.times(point, candidate, workload, method):
                self._known["time", *self.time_key(at, candidate, workload, method)] = found
        except Exception:  # each point by itself says what is wrong with it
            return

    def plan_or_none(self, point: Point, workload: str, candidate: str) -> WorkPlan | None:
        """What the workload sends at the point; None where it cannot be sent."""
        try:
            return self.plan(point, workload, candidate)
        except PartFailed:
            return None

    def cost_key(self, point: Point, candidate: str) -> tuple[object, ...]:
        """What identifies a cost: equal keys, equal costs."""
        return (candidate, values_of(self._cost_keys[candidate], point))

    def cost(self, point: Point, candidate: str) -> CandidateCost:
        """What a candidate costs at the point; PartFailed says why it has no price."""

        def made() -> CandidateCost:
            scenario = self.scenario_at(point, self._cost_keys[candidate])
            return candidate_costs(scenario, [self.setup(point, candidate)], self.prices)[candidate]

        return self._part(("cost", *self.cost_key(point, candidate)), made)

    def scored(self, point: Point) -> dict[str, float]:
        """Weights of the workloads that count; all count alike where none has a weight."""
        weights = {
            name: float(point[self._weights[name]]) if self._weights.get(name) in point else item.weight
            for name, item in self.scenario.workloads.items()
        }
        found = {name: weight for name, weight in weights.items() if weight > 0}
        return found or dict.fromkeys(self.scenario.workloads, 1.0)

    def bands(self, point: Point, figures: bool = False) -> Mapping[str, list[TimeBand]]:
        """Times of the scored workloads by candidate, as the value model takes them; those without an answer left out.

        With `figures` the bands hold what each technology's own figures leave open.
        """
        scored = self.scored(point)
        keys = dict.fromkeys(k for (_, w), found in self.time_keys.items() if w in scored for k in found)
        key = ("bands", figures, tuple(scored.items()), values_of(tuple(keys), point))

        def made() -> Mapping[str, list[TimeBand]]:
            items: list[WorkloadTime] = []
            for name in self.scenario.candidates:
                try:
                    items += [self.time(point, name, w, m) for w in scored for m in self.methods]
                except PartFailed:
                    continue
            names = list(dict.fromkeys(item.setup.name for item in items))
            whole = [
                n for n in names if sum(i.setup.name == n for i in items) == len(scored) * len(self.methods)
            ]
            answered = [item for item in items if item.setup.name in whole]
            return time_bands(answered, whole, scored, figures)

        return self._part(key, made)

    def reason(self, point: Point, candidate: str) -> Failure | None:
        """Why a candidate has no times at the point, None where it has."""
        try:
            for workload in self.scored(point):
                for method in self.methods:
                    self.time(point, candidate, workload, method)
        except PartFailed as error:
            return error.failure
        return None

    def _part(self, key: tuple[Any, ...], made: Callable[[], T]) -> T:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _outcome(made)
        if isinstance(found, Failure):
            raise PartFailed(found)
        value: T = found
        return value


def _outcome(made: Callable[[], T]) -> T | Failure:
    """What `made` returns, or why it does not; a sweep goes on."""
    try:
        return made()
    except PartFailed as error:
        return error.failure
    except InputError as error:
        text = "; ".join(
            f"{fault.key}{f' = {fault.given}' if fault.given else ''}: {fault.problem}"
            for fault in error.faults
        )
        unbuildable = isinstance(error.__cause__, CannotBuild)
        return Failure(CANNOT_BUILD if unbuildable else INVALID, text)
    except CannotBuild as error:
        return Failure(CANNOT_BUILD, str(error))
    except Exception as error:  # a sweep outlives a point that a model cannot answer; the row says why
        return Failure(FAILED, f"{type(error).__name__}: {error}")
