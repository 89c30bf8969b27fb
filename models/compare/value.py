"""Work per dollar with its band, and the probability that each candidate gives most of it.

Work per dollar = weighted useful work per year, relative to the fastest candidate, over the yearly ownership
cost of the cluster. The two methods are the ends of a range that each draw picks from, so their difference is part of
the band.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from models.compare.draws import (
    DRAWS_DEFAULT,
    Draws,
    DrawSource,
    correlated,
    quantiles,
    share_best,
    within_band,
)

T = TypeVar("T", float, Draws)
LEAST_S = 1e-12  # a time of nothing, so that nothing over nothing is as fast as the fastest


@dataclass(frozen=True)
class TimeBand:
    """Time of one unit of work by each method, with the band of what the network does to it."""

    workload: str
    weight: float
    by_method: Mapping[str, tuple[float, float, float]]  # method -> (value, low, high) of the whole
    own_minus_s: float = 0.0  # what the technology's own figures may take off or add, this candidate alone
    own_plus_s: float = 0.0


@dataclass(frozen=True)
class CostLine:
    """Yearly cost that moves as one: all lines of one vendor, or one kind of running cost."""

    group: str
    low_usd: float
    mid_usd: float
    high_usd: float


@dataclass(frozen=True)
class Value:
    """Work per dollar of one candidate; relative figures are to the best mid value."""

    candidate: str
    relative_work: float
    yearly_usd: float
    yearly_low_usd: float
    yearly_high_usd: float
    work_per_dollar: float  # relative work per million USD and year
    low: float
    high: float
    relative: float
    probability_best: float


@dataclass(frozen=True)
class ValueDraws:
    """Draws behind the values, for clouds, gaps and shares."""

    yearly_usd: Mapping[str, Draws]
    relative_work: Mapping[str, Draws]
    work_per_dollar: Mapping[str, Draws]


def draw_names(times: Mapping[str, Sequence[TimeBand]], costs: Mapping[str, Sequence[CostLine]]) -> list[str]:
    """Names of everything that is uncertain: the shared first, then each candidate's own.

    Candidates come in the order of their figures, so that exchanging their names exchanges the answer and nothing else.
    """
    shared = {f"price {line.group}" for lines in costs.values() for line in lines}
    names = sorted(shared | {"model error, common", "method"})
    order = sorted(times, key=lambda candidate: (_content(times[candidate], costs[candidate]), candidate))
    names += [f"model error, {candidate}" for candidate in order]
    names += [
        f"figures, {candidate}"
        for candidate in order
        if any(band.own_minus_s or band.own_plus_s for band in times[candidate])
    ]
    return names


def _content(times: Sequence[TimeBand], costs: Sequence[CostLine]) -> tuple[object, ...]:
    """What a candidate is, its name apart."""
    return (
        tuple((band.workload, band.weight, tuple(band.by_method.values())) for band in times),
        tuple((line.group, line.low_usd, line.mid_usd, line.high_usd) for line in costs),
    )


def cost_draws(lines: Sequence[CostLine], source: DrawSource) -> Draws:
    """Yearly cost of one candidate, one value a draw."""
    total = np.zeros(source.draws)
    for line in lines:
        total += within_band(source[f"price {line.group}"], line.low_usd, line.mid_usd, line.high_usd)
    return total


def time_draws(band: TimeBand, candidate: str, source: DrawSource) -> Draws:
    """Time of one unit of work, one value a draw."""
    u = correlated(source["model error, common"], source[f"model error, {candidate}"])
    ends = [within_band(u, low, value, high) for value, low, high in band.by_method.values()]
    time = ends[0]
    if len(ends) > 1:
        v = source["method"]
        time = ends[0] * (1.0 - v) + ends[1] * v
    if band.own_minus_s or band.own_plus_s:
        time = time + within_band(source[f"figures, {candidate}"], -band.own_minus_s, 0.0, band.own_plus_s)
    return np.maximum(time, LEAST_S)


def mid_time_s(band: TimeBand) -> float:
    """Mean of the methods' values."""
    return float(np.mean([value for value, _, _ in band.by_method.values()]))


def best_times_s(times: Mapping[str, Sequence[TimeBand]]) -> dict[str, float]:
    """Least mid time of every workload over the candidates, s, at least `LEAST_S`."""
    best: dict[str, float] = {}
    for bands in times.values():
        for band in bands:
            best[band.workload] = min(best.get(band.workload, np.inf), max(mid_time_s(band), LEAST_S))
    return best


def weighted_work(
    bands: Sequence[TimeBand], best_s: Mapping[str, float], time_s: Callable[[TimeBand], T]
) -> T:
    """Work of a candidate relative to the fastest, sum of w_i / sum(w) * best_i / time_i; `time_s` says which time.

    >>> bands = [TimeBand("a", 3.0, {"analytical": (2.0, 2.0, 2.0)}), TimeBand("b", 1.0, {"analytical": (0.0,) * 3})]
    >>> weighted_work(bands, {"a": 1.0, "b": LEAST_S}, mid_time_s)
    0.625
    """
    total = sum(band.weight for band in bands)
    parts = [band.weight / total * best_s[band.workload] / _positive(time_s(band)) for band in bands]
    work: T = sum(parts[1:], parts[0])
    return work


def _positive(time_s: T) -> T:
    return max(time_s, LEAST_S) if isinstance(time_s, float) else np.maximum(time_s, LEAST_S)


def value_draws(
    times: Mapping[str, Sequence[TimeBand]],
    costs: Mapping[str, Sequence[CostLine]],
    seed: int,
    draws: int = DRAWS_DEFAULT,
    source: DrawSource | None = None,
) -> ValueDraws:
    """Draws of cost, relative work and work per dollar of every candidate."""
    source = source or DrawSource(draw_names(times, costs), draws, seed)
    best_s = best_times_s(times)
    yearly = {name: cost_draws(lines, source) for name, lines in costs.items()}
    work: dict[str, Draws] = {}
    for name, bands in times.items():
        drawn_s = partial(time_draws, candidate=name, source=source)
        work[name] = weighted_work(bands, best_s, drawn_s)
    return ValueDraws(yearly, work, {name: work[name] / yearly[name] * 1e6 for name in work})


def values(
    times: Mapping[str, Sequence[TimeBand]],
    costs: Mapping[str, Sequence[CostLine]],
    drawn: ValueDraws,
) -> list[Value]:
    """Work per dollar of every candidate, best first by mid value."""
    best_s = best_times_s(times)
    mids = {
        name: (weighted_work(bands, best_s, mid_time_s), sum(line.mid_usd for line in costs[name]))
        for name, bands in times.items()
    }
    per_dollar = {name: work / yearly * 1e6 for name, (work, yearly) in mids.items()}
    best = max(per_dollar.values())
    probability = share_best(drawn.work_per_dollar)
    result = []
    for name in sorted(per_dollar, key=lambda n: (-per_dollar[n], n)):
        low, _, high = quantiles(drawn.work_per_dollar[name])
        cost_low, _, cost_high = quantiles(drawn.yearly_usd[name])
        result.append(
            Value(
                candidate=name,
                relative_work=mids[name][0],
                yearly_usd=mids[name][1],
                yearly_low_usd=cost_low,
                yearly_high_usd=cost_high,
                work_per_dollar=per_dollar[name],
                low=low,
                high=high,
                relative=per_dollar[name] / best,
                probability_best=probability[name],
            )
        )
    return result
