"""Where two candidates tie in work per dollar: the value of one quantity, everything else as it is.

Each curve is ln(work per dollar of a / that of b); its zero is bracketed in a stated range, and "no crossing in
range" is an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import exp, log

from models.compare.case import Case, Score, log_ratio, scores
from models.compare.costs import CandidateCost
from models.compare.roots import crossing
from models.compare.sweep_points import PartFailed, Variations
from models.compare.value import CostLine, TimeBand
from models.scenario.schema import Scenario
from models.workload.llm_training import hidden_fractions

PRICE_RANGE = (0.05, 20.0)  # factor on a's network
SHARE_RANGE = (0.0, 0.95)
EXPOSED_RANGE = (0.0, 1.0)
USD_PER_KWH_RANGE = (0.0, 1.0)
STAFF_RANGE = (-20.0, 200.0)  # people
IDLE_RANGE = (-0.9, 0.9)
SIZES = tuple(2**p for p in range(6, 17))
SIZE_SPAN = 16  # cluster sizes are searched from a sixteenth to sixteen times the scenario's
HOURS_PER_YEAR_OF_WORK = 2080.0
NO_CROSSING, CROSSING = "no crossing in range", "crossing"
Curve = Callable[[float], float]


@dataclass(frozen=True)
class BreakEvenRow:
    """Where `a` and `b` tie; `ratio_at_value` is a's work per dollar over b's with the value put back in."""

    a: str
    b: str
    quantity: str
    status: str  # crossing | no crossing in range
    value: float | None
    unit: str
    current: float
    range_low: float
    range_high: float
    ratio_now: float
    ratio_at_value: float | None
    note: str


@dataclass(frozen=True)
class Ground:
    """What the curves are made of."""

    scenario: Scenario
    case: Case
    costs: Mapping[str, CandidateCost]
    fixed_s: Mapping[tuple[str, str], float]  # (candidate, workload) -> time no network can change
    powered: Mapping[float, Case]  # the case at two electricity prices
    exposed: (
        Callable[[float], Case] | None
    )  # the case by exposed share of data-parallel traffic; None = no training


def break_evens(ground: Ground, pairs: Sequence[tuple[str, str]] | None = None) -> list[BreakEvenRow]:
    """Rows of every pair and quantity, cluster size apart (see `size_crossings`)."""
    pairs = list(combinations(ground.case.candidates, 2)) if pairs is None else pairs
    return [row for a, b in pairs for row in _pair(ground, a, b)]


def with_extra_cost(case: Case, candidate: str, usd_per_year: float) -> Case:
    """The case with a fixed amount a year added to one candidate."""
    extra = CostLine("extra", usd_per_year, usd_per_year, usd_per_year)
    return replace(case, costs={**case.costs, candidate: [*case.costs[candidate], extra]})


def with_network_time(case: Case, fixed_s: Mapping[tuple[str, str], float], factor: float) -> Case:
    """The case with the network's part of every time multiplied by `factor`."""

    def moved(name: str, band: TimeBand) -> TimeBand:
        fixed = fixed_s[name, band.workload]

        def scaled(time_s: float) -> float:
            return fixed + factor * (time_s - fixed)

        ends = {m: (scaled(v), scaled(lo), scaled(hi)) for m, (v, lo, hi) in band.by_method.items()}
        return replace(band, by_method=ends)

    return replace(
        case, times={name: [moved(name, band) for band in bands] for name, bands in case.times.items()}
    )


def network_share(case: Case, fixed_s: Mapping[tuple[str, str], float], candidate: str) -> float:
    """Share of a candidate's time, over its weighted workloads, that is the network's."""
    found = [
        (band.weight, 1.0 - fixed_s[candidate, band.workload] / mid)
        for band in case.times[candidate]
        if (mid := sum(v for v, _, _ in band.by_method.values()) / len(band.by_method)) > 0
    ]
    total = sum(weight for weight, _ in found)
    return sum(weight * share for weight, share in found) / total if total else 0.0


def _pair(ground: Ground, a: str, b: str) -> Iterator[BreakEvenRow]:
    case = ground.case
    now = log_ratio(scores(case), a, b)

    def row(
        quantity: str, unit: str, curve: Curve, span: tuple[float, float], current: float, note: str,
        shown: Callable[[float], float] = lambda x: x, near: float | None = None,
    ) -> BreakEvenRow:  # fmt: skip
        x = crossing(curve, *span, near=current if near is None else near)
        ends = sorted((shown(span[0]), shown(span[1])))
        at = None if x is None else exp(curve(x))
        return BreakEvenRow(
            a, b, quantity, NO_CROSSING if x is None else CROSSING, None if x is None else shown(x), unit,
            current, ends[0], ends[1], exp(now), at, note,
        )  # fmt: skip

    yield _price_row(ground, a, b, row)
    yield _share_row(ground, a, b, row)
    if ground.exposed is not None:
        yield _exposed_row(ground, ground.exposed, a, b, row)
    yield row(
        "electricity price", "USD/kWh", lambda x: log_ratio(scores(_at_power(ground.powered, x)), a, b),
        USD_PER_KWH_RANGE, ground.scenario.economics.usd_per_kwh, "same price for both",
    )  # fmt: skip
    hour_usd = ground.scenario.economics.staff_usd_per_year / HOURS_PER_YEAR_OF_WORK
    if hour_usd > 0:
        hours = tuple(people * HOURS_PER_YEAR_OF_WORK for people in STAFF_RANGE)

        def staff(x: float) -> float:
            usd = sum(line.mid_usd for line in case.costs[a]) + x * hour_usd
            return (
                log_ratio(scores(with_extra_cost(case, a, x * hour_usd)), a, b) if usd > 0 else float("nan")
            )

        yield row(
            "extra staff hours", "hours/year", staff, (hours[0], hours[1]), 0.0,
            f"network staff of {a} beyond what is counted; below zero: fewer",
        )  # fmt: skip
    yield row(
        "extra idle GPUs", "fraction", lambda x: now + log(1.0 - x), IDLE_RANGE, 0.0,
        f"share of the GPUs' time that {a} may waste beyond {b}; below zero: it must waste less",
    )  # fmt: skip


def _price_row(ground: Ground, a: str, b: str, row: Callable[..., BreakEvenRow]) -> BreakEvenRow:
    of_a, of_b = ground.costs[a].network_usd, ground.costs[b].network_usd

    def curve(log_factor: float) -> float:
        return log_ratio(scores(with_extra_cost(ground.case, a, (exp(log_factor) - 1.0) * of_a)), a, b)

    current = of_a / of_b if of_b else float("inf")
    found: BreakEvenRow = row(
        "network price ratio", "1", curve, (log(PRICE_RANGE[0]), log(PRICE_RANGE[1])), current,
        f"yearly network cost of {a} over that of {b}; all parts of {a}'s networks move together",
        shown=lambda x: current * exp(x), near=0.0,
    )  # fmt: skip
    return found


def _share_row(ground: Ground, a: str, b: str, row: Callable[..., BreakEvenRow]) -> BreakEvenRow:
    share = network_share(ground.case, ground.fixed_s, a)

    def scaled(x: float) -> float:
        # the factor that brings a's network share from `share` to x
        factor = x / (1.0 - x) * (1.0 - share) / share
        return log_ratio(scores(with_network_time(ground.case, ground.fixed_s, factor)), a, b)

    curve = scaled if 0.0 < share < 1.0 else _nowhere
    found: BreakEvenRow = row(
        "communication share", "fraction", curve, SHARE_RANGE, share,
        f"share of {a}'s time that is exposed communication; both candidates' communication grows alike",
    )  # fmt: skip
    return found


def _nowhere(x: float) -> float:
    return float("nan")


def _exposed_row(
    ground: Ground, exposed: Callable[[float], Case], a: str, b: str, row: Callable[..., BreakEvenRow]
) -> BreakEvenRow:
    found: BreakEvenRow = row(
        "exposed data-parallel share", "fraction", lambda x: log_ratio(scores(exposed(x)), a, b), EXPOSED_RANGE,
        exposed_share(ground.scenario), "share of the data-parallel traffic that does not hide behind compute",
    )  # fmt: skip
    return found


def exposed_share(scenario: Scenario) -> float:
    """Exposed share of data-parallel traffic of the first scored training workload as the scenario has it."""
    for workload in scenario.workloads.values():
        if workload.kind == "llm_training":
            return 1.0 - hidden_fractions(workload)["dp"]
    return 0.0


def _at_power(powered: Mapping[float, Case], usd_per_kwh: float) -> Case:
    """Costs are affine in the price of electricity: two cases give all others."""
    (x0, first), (x1, second) = sorted(powered.items())
    t = (usd_per_kwh - x0) / (x1 - x0)

    def mid(lines: Sequence[CostLine]) -> float:
        return sum(line.mid_usd for line in lines)

    costs = {}
    for name in first.costs:
        usd = mid(first.costs[name]) * (1.0 - t) + mid(second.costs[name]) * t
        costs[name] = [CostLine("yearly", usd, usd, usd)]
    return replace(first, costs=costs)


def size_crossings(
    variations: Variations, candidates: Sequence[str], sizes: Sequence[int] | None = None
) -> list[BreakEvenRow]:
    """Where a pair's order turns as the cluster grows: between which two sizes, the larger one as the value.

    `variations` knows the key cluster.gpus. Sizes that a candidate cannot be built at are passed over: a size is
    a step, not a point, so nothing ties exactly.
    """
    gpus = variations.scenario.cluster.gpus
    if sizes is None:
        sizes = [size for size in SIZES if gpus / SIZE_SPAN <= size <= gpus * SIZE_SPAN] or [gpus]
    found: dict[int, dict[str, Score]] = {}
    for size in sizes:
        point: dict[str, int | float | str | bool] = {"cluster.gpus": size}
        bands = variations.bands(point)
        times, costs = {}, {}
        for name in candidates:
            try:
                if name in bands:
                    costs[name], times[name] = variations.cost(point, name).lines, bands[name]
            except PartFailed:
                continue
        found[size] = scores(Case(times, costs)) if times else {}
    rows = []
    current = float(gpus)
    for a, b in combinations(candidates, 2):
        table = [(size, log_ratio(s, a, b)) for size, s in found.items() if a in s and b in s]
        turns = [(lo, hi) for lo, hi in pairwise(table) if lo[1] * hi[1] < 0]
        note = "closed form; the order turns between this size and the one before"
        value, at, status = None, None, NO_CROSSING
        if turns:
            near = min(turns, key=lambda pair: abs(log(pair[1][0] / current)))
            value, at, status = float(near[1][0]), exp(near[1][1]), CROSSING
            note = f"closed form; the order turns between {near[0][0]:,} and {near[1][0]:,} GPUs"
        low, high = (
            (float(table[0][0]), float(table[-1][0])) if table else (float(sizes[0]), float(sizes[-1]))
        )
        now = min(table, key=lambda entry: abs(log(entry[0] / current)))[1] if table else 0.0
        rows.append(
            BreakEvenRow(a, b, "cluster size", status, value, "GPUs", current, low, high, exp(now), at, note)
        )
    return rows
