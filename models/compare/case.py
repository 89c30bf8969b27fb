"""The numbers a decision rests on, and the plain ranking they give: no draws, no words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np

from models.compare.axes import Point
from models.compare.draws import normal_share, within_band
from models.compare.sweep_points import FAILED, Failure, PartFailed, Variations
from models.compare.value import CostLine, TimeBand, best_times_s, mid_time_s, weighted_work
from models.scenario.faults import Fault, InputError

NO_ANSWER = Failure(FAILED, "no answer")
NORMAL_95 = 1.6449  # standard score of the 95 % quantile


@dataclass(frozen=True)
class Case:
    """Times of the scored workloads and yearly cost lines of every candidate."""

    times: Mapping[str, Sequence[TimeBand]]
    costs: Mapping[str, Sequence[CostLine]]

    @property
    def candidates(self) -> tuple[str, ...]:
        """Names, in the scenario's order."""
        return tuple(self.times)


@dataclass(frozen=True)
class Score:
    """One candidate without uncertainty: work relative to the fastest, and dollars."""

    relative_work: float
    yearly_usd: float

    @property
    def work_per_dollar(self) -> float:
        """Relative work per million USD and year; infinite where the cluster costs nothing."""
        return self.relative_work / self.yearly_usd * 1e6 if self.yearly_usd > 0 else float("inf")


def case_at(variations: Variations, point: Point, base: Case | None = None, figures: bool = False) -> Case:
    """The case at a point; a candidate that has no answer there keeps that of `base`.

    With `figures` the bands of the times hold what each technology's own figures leave open, for draws.
    Raises InputError when there is no base and a candidate has no answer.
    """
    bands = variations.bands(point, figures)
    times: dict[str, Sequence[TimeBand]] = {}
    costs: dict[str, Sequence[CostLine]] = {}
    for name in variations.scenario.candidates:
        try:
            if name not in bands:
                raise PartFailed(variations.reason(point, name) or NO_ANSWER)
            times[name], costs[name] = bands[name], variations.cost(point, name).lines
        except PartFailed as error:
            if base is None:
                fault = Fault(variations.scenario.name, f"candidates.{name}", "", error.failure.reason)
                raise InputError([fault]) from error
            times[name], costs[name] = base.times[name], base.costs[name]
    return Case(times, costs)


def scores(case: Case) -> dict[str, Score]:
    """Every candidate's score: weighted work relative to the fastest on each workload, and yearly cost, at mid.

    >>> band = lambda s: [TimeBand("w", 1.0, {"analytical": (s, s, s)})]
    >>> cost = lambda usd: [CostLine("v", usd, usd, usd)]
    >>> found = scores(Case({"a": band(1.0), "b": band(2.0)}, {"a": cost(2e6), "b": cost(1e6)}))
    >>> found["a"].work_per_dollar, found["b"].work_per_dollar
    (0.5, 0.5)
    """
    best_s = best_times_s(case.times)
    return {
        name: Score(weighted_work(bands, best_s, mid_time_s), sum(line.mid_usd for line in case.costs[name]))
        for name, bands in case.times.items()
    }


def ranking(found: Mapping[str, Score]) -> list[str]:
    """Names by work per dollar, best first; equal ones by name."""
    return sorted(found, key=lambda name: (-found[name].work_per_dollar, name))


def lead(found: Mapping[str, Score], a: str, b: str) -> float:
    """How far `a` is ahead of `b` in work per dollar, as a fraction."""
    return found[a].work_per_dollar / found[b].work_per_dollar - 1.0


def log_ratio(found: Mapping[str, Score], a: str, b: str) -> float:
    """ln of the ratio of work per dollar: zero where they tie, odd under swapping."""
    return log(found[a].work_per_dollar / found[b].work_per_dollar)


def with_group_at(case: Case, group: str, end: str) -> Case:
    """The case with every cost line of `group` at its "low" or "high"."""

    def moved(line: CostLine) -> CostLine:
        if line.group != group:
            return line
        usd = line.low_usd if end == "low" else line.high_usd
        return CostLine(group, usd, usd, usd)

    return replace(case, costs={name: [moved(line) for line in lines] for name, lines in case.costs.items()})


def with_times_at(case: Case, candidates: Sequence[str], end: str, share: float) -> Case:
    """The case with the times of `candidates` at the "low" (5 %) or "high" (95 %) end of a part of the model's error.

    `share` is the part's share of the error's variance: what all candidates have in common, or what each has alone
    (`draws.COMMON_MODEL_ERROR`). Ends are quantiles of what is drawn.
    """
    z = (-NORMAL_95 if end == "low" else NORMAL_95) * sqrt(share)
    at = normal_share(np.array([z]))

    def moved(band: TimeBand) -> TimeBand:
        ends = {}
        for method, (value, low, high) in band.by_method.items():
            time_s = float(within_band(at, low, value, high)[0])
            ends[method] = (time_s, time_s, time_s)
        return replace(band, by_method=ends)

    return replace(
        case,
        times={
            name: [moved(band) for band in bands] if name in candidates else list(bands)
            for name, bands in case.times.items()
        },
    )


def with_figures_at(case: Case, candidate: str, end: str) -> Case:
    """The case with what a candidate's own figures leave open at its "low" (5 %) or "high" (95 %) end."""
    at = normal_share(np.array([-NORMAL_95 if end == "low" else NORMAL_95]))

    def moved(band: TimeBand) -> TimeBand:
        more = float(within_band(at, -band.own_minus_s, 0.0, band.own_plus_s)[0])
        ends = {m: (v + more, lo + more, hi + more) for m, (v, lo, hi) in band.by_method.items()}
        return replace(band, by_method=ends)

    return replace(case, times={**case.times, candidate: [moved(band) for band in case.times[candidate]]})


def by_method_only(case: Case, method: str) -> Case:
    """The case by one method."""
    return replace(
        case,
        times={
            name: [replace(band, by_method={method: band.by_method[method]}) for band in bands]
            for name, bands in case.times.items()
        },
    )
