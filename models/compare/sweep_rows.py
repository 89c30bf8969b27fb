"""Rows of sweep.csv as text: one a point, candidate, method and metric, or one that says why there is none."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any

from models.catalog.technology import technology
from models.compare.axes import Point
from models.compare.concerns import COST_ONLY, values_of
from models.compare.costs import METHOD as COST_METHOD
from models.compare.fabrics import Method
from models.compare.metrics import workload_rows
from models.compare.performance import WorkloadTime
from models.compare.sweep_costs import CostFigures
from models.compare.sweep_points import OK, Failure, PartFailed, Variations
from models.compare.value import TimeBand, best_times_s, mid_time_s, weighted_work
from models.export import safe_cell
from models.scenario.schema import Scenario

COLUMNS = (
    "scenario", "candidate", "fabric", "method", "workload", "metric", "value", "unit", "low", "high", "status", "reason",
)  # fmt: skip


def header(keys: Sequence[str]) -> str:
    """First line of the table: the axes' keys, then what every row says."""
    return line(*keys, *COLUMNS) + "\n"


def line(*cells: Any) -> str:
    """One CSV line without its end: safe cells, the shortest digits that read back equal.

    >>> line("a", 0.1, "x,y", None)
    'a,0.1,"x,y",'
    """
    text = StringIO()
    shown = ["" if cell is None else safe_cell(cell) for cell in cells]
    csv.writer(text, lineterminator="").writerow(shown)
    return text.getvalue()


class Rows:
    """Text of the rows of a sweep's points; pieces that repeat are written once."""

    def __init__(self, variations: Variations, keys: Sequence[str]) -> None:
        self.variations = variations
        self.keys = tuple(keys)
        self._time_keys = tuple(c.key for c in variations.concerns if c.section not in COST_ONLY)
        self._timed: dict[tuple[object, ...], _Timed] = {}
        self._pieces: dict[tuple[object, ...], tuple[str, ...]] = {}
        self._frames = {name: self._frame(name) for name in variations.scenario.candidates}

    def point(self, point: Point, costs: Mapping[str, CostFigures | Failure]) -> str:
        """All rows of a point, in the order candidate, workload, method, metric, then its cost and value."""
        timed = self._of_times(point)
        parts: list[str] = []
        for candidate, lines in timed.lines.items():
            parts += lines
            parts += self._cost(candidate, costs[candidate], timed.work.get(candidate))
        cells = [point[key] for key in self.keys]
        plain = all(type(cell) in (int, float) and cell >= 0 for cell in cells)  # type: ignore[operator]
        prefix = (",".join(map(repr, cells)) if plain else line(*cells)) + ","
        return prefix + f"\n{prefix}".join(parts) + "\n"

    def _of_times(self, point: Point) -> _Timed:
        key = values_of(self._time_keys, point)
        found = self._timed.get(key)
        if found is None:
            of = self.variations
            lines = {
                candidate: [
                    piece
                    for workload in of.scenario.workloads
                    for method in of.methods
                    for piece in self._time(point, candidate, workload, method)
                ]
                for candidate in of.scenario.candidates
            }
            found = self._timed[key] = _Timed(lines, relative_work(of, point))
        return found

    def _time(self, point: Point, candidate: str, workload: str, method: Method) -> tuple[str, ...]:
        key = self.variations.time_key(point, candidate, workload, method)
        found = self._pieces.get(key)
        if found is None:
            try:
                found = self._metric_lines(self.variations.time(point, candidate, workload, method))
            except PartFailed as error:
                found = (self._failure(candidate, method, workload, error.failure),)
            self._pieces[key] = found
        return found

    def _metric_lines(self, item: WorkloadTime) -> tuple[str, ...]:
        return tuple(
            line(
                row.scenario, row.candidate, row.fabric, row.method, row.workload, row.metric,
                float(row.value), row.unit, float(row.low), float(row.high), OK, "",
            )
            for row in workload_rows(self.variations.scenario, item)
        )  # fmt: skip

    def _cost(
        self, candidate: str, cost: CostFigures | Failure, work: tuple[float, float, float] | None
    ) -> list[str]:
        if isinstance(cost, Failure):
            return [self._failure(candidate, COST_METHOD, "", cost)]
        start, end = self._frames[candidate]
        low, mid, high = cost.capital_usd
        net_low, net_mid, net_high = cost.network_capital_usd
        cheap, usd, dear = cost.yearly_usd
        share = repr(net_mid / mid if mid else 0.0)
        rows = [
            f"{start}capital,{mid!r},USD,{low!r},{high!r}{end}",
            f"{start}network_capital,{net_mid!r},USD,{net_low!r},{net_high!r}{end}",
            f"{start}network_share,{share},fraction,{share},{share}{end}",
            f"{start}ownership_per_year,{usd!r},USD/year,{cheap!r},{dear!r}{end}",
        ]
        if work is not None:
            slow, done, quick = work
            rows.append(f"{start}relative_work,{done!r},1,{slow!r},{quick!r}{end}")
            if cheap > 0:
                rows.append(
                    f"{start}work_per_dollar,{done / usd * 1e6!r},work per year / M USD per year,"
                    f"{slow / dear * 1e6!r},{quick / cheap * 1e6!r}{end}"
                )
        return rows

    def _frame(self, candidate: str) -> tuple[str, str]:
        scenario = self.variations.scenario
        return line(scenario.name, candidate, _fabric(scenario, candidate), COST_METHOD, "") + ",", f",{OK},"

    def _failure(self, candidate: str, method: str, workload: str, failure: Failure) -> str:
        scenario = self.variations.scenario
        return line(
            scenario.name, candidate, _fabric(scenario, candidate), method, workload,
            "", None, "", None, None, failure.status, " ".join(failure.reason.split()),
        )  # fmt: skip


@dataclass(frozen=True)
class _Timed:
    """What points of equal times share: the rows by candidate, and the relative work."""

    lines: Mapping[str, list[str]]
    work: Mapping[str, tuple[float, float, float]]


def relative_work(variations: Variations, point: Point) -> dict[str, tuple[float, float, float]]:
    """(low, mid, high) of the weighted work of every candidate, relative to the fastest on each workload.

    Candidates whose scored workloads do not all run are left out. The ends are those of the network's band.
    """
    bands = variations.bands(point)
    best_s = best_times_s(bands)
    return {
        candidate: (
            weighted_work(found, best_s, _longest_s),
            weighted_work(found, best_s, mid_time_s),
            weighted_work(found, best_s, _shortest_s),
        )
        for candidate, found in bands.items()
    }


def _longest_s(band: TimeBand) -> float:
    return max(high_s for _, _, high_s in band.by_method.values())


def _shortest_s(band: TimeBand) -> float:
    return min(low_s for _, low_s, _ in band.by_method.values())


def _fabric(scenario: Scenario, candidate: str) -> str:
    return _fabric_of(scenario.candidates[candidate].technology)


@cache
def _fabric_of(preset: str) -> str:
    return technology(preset).fabric
