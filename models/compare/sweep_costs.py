"""Costs at many points at once: a cost is affine in each price and rate, so corners give all that lies between.

f(x) for x in [a, b] = f(a) (1 - t) + f(b) t, t = (x - a) / (b - a), one key after the other: exact for quantities that do
not depend on prices, which is how bills are made. A point in the middle is checked; where it is off (a credit that
stops at zero), every point is worked out by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from models.compare.axes import Point
from models.compare.concerns import values_of
from models.compare.costs import CandidateCost
from models.compare.sweep_points import Failure, PartFailed, Variations

AFFINE_ECONOMICS = frozenset(
    {
        "economics.usd_per_kwh", "economics.pue", "economics.space_usd_per_kw_month", "economics.staff_usd_per_year",
        "economics.network_staff", "economics.residual_value_fraction", "economics.network_discount_fraction",
        "economics.network_support_fraction_per_year", "economics.server_support_fraction_per_year",
    }
)  # fmt: skip
WORTH_IT = 3  # values of a key from which two ends are fewer evaluations
TOLERANCE = 1e-10
Floats = NDArray[np.float64]
Band = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class CostFigures:
    """What a candidate costs at a point: (low, mid, high) each."""

    capital_usd: Band
    network_capital_usd: Band
    yearly_usd: Band


def figures(cost: CandidateCost) -> CostFigures:
    """The figures of a candidate's cost that a sweep shows."""
    return CostFigures(_band(cost.capital_usd), _band(cost.network_capital_usd), _band(cost.yearly_usd))


def _band(given: Band) -> Band:
    low, mid, high = given
    return float(low), float(mid), float(high)


def spans(points: Sequence[Point]) -> dict[str, tuple[float, float]]:
    """Ends of every key whose values are numbers, three or more, and enter the cost in proportion."""
    found = {}
    for key in points[0] if points else ():
        values = {point[key] for point in points}
        plain = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        if _affine(key) and plain and len(values) >= WORTH_IT:
            numbers = [float(value) for value in values]
            found[key] = (min(numbers), max(numbers))
    return found


class Costs:
    """Costs at points; the ends of `over` belong to the whole sweep, so an answer does not depend on its batch."""

    def __init__(self, variations: Variations, over: Mapping[str, tuple[float, float]]) -> None:
        self.variations = variations
        self.over = dict(over)
        self._corners: dict[tuple[object, ...], Floats | None] = {}

    def at(self, points: Sequence[Point]) -> list[dict[str, CostFigures | Failure]]:
        """Cost figures of every candidate at every point."""
        keys = tuple(c.key for c in self.variations.concerns if c.key not in self.over)
        groups: dict[tuple[object, ...], list[int]] = {}
        for index, point in enumerate(points):
            groups.setdefault(values_of(keys, point), []).append(index)
        result: list[dict[str, CostFigures | Failure]] = [{} for _ in points]
        for group in groups.values():
            chosen = [points[i] for i in group]
            for candidate in self.variations.scenario.candidates:
                for index, cost in zip(group, self._group(candidate, chosen), strict=True):
                    result[index][candidate] = cost
        return result

    def _group(self, candidate: str, points: Sequence[Point]) -> list[CostFigures | Failure]:
        corners = self._at_corners(candidate, points[0]) if self.over else None
        if corners is None:
            return [self._one(candidate, point) for point in points]
        table = _interpolated(corners, points, self.over)
        return [CostFigures(tuple(row[0:3]), tuple(row[3:6]), tuple(row[6:9])) for row in table.tolist()]

    def _one(self, candidate: str, point: Point) -> CostFigures | Failure:
        try:
            return figures(self.variations.cost(point, candidate))
        except PartFailed as error:
            return error.failure

    def _at_corners(self, candidate: str, point: Point) -> Floats | None:
        """Figures at the ends of the spans, shape (2, ..., 2, figures); None where they do not serve."""
        ends = list(self.over.items())
        key = self.variations.cost_key({**point, **{k: low for k, (low, _) in ends}}, candidate)
        if key not in self._corners:
            self._corners[key] = self._checked_corners(candidate, point, ends)
        return self._corners[key]

    def _checked_corners(
        self, candidate: str, point: Point, ends: list[tuple[str, tuple[float, float]]]
    ) -> Floats | None:
        names = [key for key, _ in ends]
        rows = []
        for values in product(*(pair for _, pair in ends)):
            found = self._one(candidate, {**point, **dict(zip(names, values, strict=True))})
            if isinstance(found, Failure):
                return None
            rows.append(_row(found))
        corners = np.array(rows).reshape(*([2] * len(ends)), -1)
        middle: Point = {**point, **{key: 0.37 * low + 0.63 * high for key, (low, high) in ends}}
        found = self._one(candidate, middle)
        if isinstance(found, Failure):
            return None
        expected = _interpolated(corners, [middle], self.over)[0]
        return corners if np.allclose(expected, _row(found), rtol=TOLERANCE, atol=0.05) else None


def _affine(key: str) -> bool:
    parts = key.split(".")
    return key in AFFINE_ECONOMICS or (parts[0] == "prices" and len(parts) == 2)


def _row(cost: CostFigures) -> list[float]:
    return [*cost.capital_usd, *cost.network_capital_usd, *cost.yearly_usd]


def _interpolated(
    corners: Floats, points: Sequence[Point], over: Mapping[str, tuple[float, float]]
) -> Floats:
    """Figures of points inside the corners, shape (points, figures)."""
    table = np.broadcast_to(corners, (len(points), *corners.shape))
    for key, (low, high) in over.items():
        share = (np.array([float(point[key]) for point in points]) - low) / (high - low)
        share = share.reshape(-1, *([1] * (table.ndim - 2)))
        table = table[:, 0] * (1.0 - share) + table[:, 1] * share
    return np.asarray(table)
