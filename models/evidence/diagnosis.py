"""What may be wrong when a measured bandwidth falls short of the model: flags, and causes others found."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from models.evidence.published import shipped_text
from models.units import MIB

SHORTFALL_FRACTION = 0.75  # caught all stated faults of the published rows, false flags under 5 %
FROM_BYTES = 128.0 * MIB


@dataclass(frozen=True)
class Cause:
    """A case others met: what they measured, why, and what helped."""

    id: str
    fabric: str
    tool: str
    operation: str
    measured_over_expected: float | None
    observations: str
    cause: str
    fix: str
    source: str


@cache
def causes() -> tuple[Cause, ...]:
    """All cases of the table, healthy ones left out."""
    table = csv.DictReader(shipped_text("diagnostics.csv").splitlines())
    return tuple(
        Cause(
            row["id"],
            row["fabric"],
            row["tool"],
            row["operation"],
            _ratio(row["measured"], row["expected"]),
            row["observations"],
            row["cause"],
            row["fix"],
            row["source"],
        )
        for row in table
        if row["cause"] != "healthy"
    )


def _ratio(measured: str, expected: str) -> float | None:
    try:
        return float(measured) / float(expected)
    except (ValueError, ZeroDivisionError):
        return None


def falls_short(
    message_bytes: Sequence[float], measured: Sequence[float], modelled: Sequence[float]
) -> list[bool]:
    """Whether each measured bandwidth is a gross fault: under 0.75 of the model's at 128 MiB or more.

    >>> falls_short([2.0**20, 2.0**30, 2.0**30], [1.0, 60.0, 90.0], [10.0, 100.0, 100.0])
    [False, True, False]
    """
    return [
        size >= FROM_BYTES and model > 0 and value / model < SHORTFALL_FRACTION
        for size, value, model in zip(message_bytes, measured, modelled, strict=True)
    ]


def likely_causes(fabric: str, tool: str, ratio: float, most: int = 5) -> list[Cause]:
    """Known cases on the same fabric, those of the same tool and the nearest shortfall first.

    >>> likely_causes("roce", "nccl-tests", 0.44)[0].cause
    'acs_or_ats'
    """
    same = [case for case in causes() if case.fabric == fabric]

    def distance(case: Cause) -> tuple[bool, float]:
        known = 1.0 if case.measured_over_expected is None else abs(case.measured_over_expected - ratio)
        return tool not in case.tool, known

    return sorted(same, key=distance)[:most]
