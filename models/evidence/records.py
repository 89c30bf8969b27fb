"""Validation rows and how they become records: one grouping rule for every reference set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from models.units import GIB, MIB

Set = Literal["published", "packet", "bom"]
Hardware = Literal["known", "new"]
GROUP_KEYS = ("set", "kind", "operation", "fabric", "hardware", "metric", "band")
ROW_KEYS = ("id", "prediction", "value", "unit", "error_pct", "low", "high", "usable", "reason")


@dataclass(frozen=True)
class ValidationRow:
    """One reference figure beside what the models say of it.

    `prediction`, `value`, `low` and `high` share `unit`. A row that cannot be compared has `usable` False and
    a `reason`; it is shown, never counted. `bound` is set for operator thresholds: "met" or "missed".
    """

    set: Set
    kind: str
    fabric: str
    metric: str
    band: str
    id: str
    value: float
    unit: str
    source: str
    operation: str = ""
    hardware: Hardware = "known"
    prediction: float | None = None
    low: float | None = None
    high: float | None = None
    usable: bool = True
    reason: str = ""
    bound: Literal["", "met", "missed"] = ""

    def __post_init__(self) -> None:
        if self.usable and (self.prediction is None or not isfinite(self.prediction) or not self.value):
            raise ValueError(
                f"row {self.id}: a usable row needs a finite prediction and a value other than 0"
            )
        if not self.usable and not self.reason:
            raise ValueError(f"row {self.id}: an unusable row needs a reason")

    @property
    def error_pct(self) -> float | None:
        """Signed error, 100 (prediction / value - 1); None without a prediction."""
        if self.prediction is None or not self.value or not isfinite(self.prediction):
            return None
        return 100.0 * (self.prediction / self.value - 1.0)


def size_band(message_bytes: float | None) -> str:
    """The size band of a message; large where a source states no size but means its plateau.

    >>> size_band(1 << 20), size_band(1 << 24), size_band(1 << 30), size_band(None)
    ('< 16 MiB', '16 MiB - 1 GiB', '>= 1 GiB', '>= 1 GiB')
    """
    if message_bytes is None or message_bytes >= GIB:
        return ">= 1 GiB"
    return "16 MiB - 1 GiB" if message_bytes >= 16 * MIB else "< 16 MiB"


def weighted_quantile(values: Sequence[float], weights: Sequence[float], fraction: float) -> float:
    """The smallest value at which the cumulated weight reaches `fraction` of the total.

    >>> weighted_quantile([1.0, 2.0, 10.0], [1.0, 1.0, 1.0], 0.5)
    2.0
    """
    if not values:
        raise ValueError("no values")
    total = sum(weights)
    reached = 0.0
    ordered = sorted(zip(values, weights, strict=True))
    for value, weight in ordered:
        reached += weight
        if reached >= fraction * total * (1.0 - 1e-12):
            return value
    return ordered[-1][0]


def abs_error_quantiles(rows: Sequence[ValidationRow], *fractions: float) -> tuple[float, ...]:
    """Quantiles of the absolute errors in per cent, every source weighing the same.

    A row weighs 1 / (rows of its source among `rows`). Rows that are not usable are left out.
    """
    usable = [row for row in rows if row.usable]
    per_source: dict[str, int] = defaultdict(int)
    for row in usable:
        per_source[row.source] += 1
    errors = [abs(row.error_pct or 0.0) for row in usable]
    weights = [1.0 / per_source[row.source] for row in usable]
    return tuple(weighted_quantile(errors, weights, fraction) for fraction in fractions)


def records(rows: Iterable[ValidationRow]) -> list[dict[str, Any]]:
    """One record per group (set, kind, operation, fabric, hardware, metric, band) with a usable row.

    Fields: the group's keys, `rows`, `sources`, `median_abs_pct_error`, `p90_abs_pct_error`; in the order in
    which the groups first appear.

    >>> common = dict(set="published", kind="collective", fabric="ib", metric="busbw", band=">= 1 GiB",
    ...               unit="GB/s", value=100.0)
    >>> rows = [ValidationRow(id="a", source="s1", prediction=90.0, **common),
    ...         ValidationRow(id="b", source="s1", prediction=92.0, **common),
    ...         ValidationRow(id="c", source="s2", prediction=101.0, **common)]
    >>> [round(records(rows)[0][key], 6) for key in ("rows", "sources", "median_abs_pct_error")]
    [3, 2, 1.0]
    """
    groups: dict[tuple[str, ...], list[ValidationRow]] = defaultdict(list)
    for row in rows:
        if row.usable:
            groups[tuple(getattr(row, key) for key in GROUP_KEYS)].append(row)
    table = []
    for keys, members in groups.items():
        median, p90 = abs_error_quantiles(members, 0.5, 0.9)
        table.append(
            {
                **dict(zip(GROUP_KEYS, keys, strict=True)),
                "rows": len(members),
                "sources": len({row.source for row in members}),
                "median_abs_pct_error": median,
                "p90_abs_pct_error": p90,
            }
        )
    return table


def row_records(rows: Iterable[ValidationRow]) -> list[dict[str, Any]]:
    """Every row as a record: the group's keys, id, prediction, value, unit, error, band, usable, reason.

    Figures that are not finite are None: JSON has no word for them.
    """
    return [{key: _finite(getattr(row, key)) for key in (*GROUP_KEYS, *ROW_KEYS)} for row in rows]


def _finite(figure: Any) -> Any:
    return None if isinstance(figure, float) and not isfinite(figure) else figure
