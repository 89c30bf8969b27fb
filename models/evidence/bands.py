"""How often published values fall inside the bands of the predictions."""

from __future__ import annotations

from collections.abc import Sequence

from models.evidence.records import ValidationRow


def coverage_fraction(rows: Sequence[ValidationRow]) -> float:
    """Share of usable rows whose value lies inside the predicted band, every source weighing the same.

    Raises ValueError without a usable row.
    """
    usable = [row for row in rows if row.usable and row.low is not None and row.high is not None]
    if not usable:
        raise ValueError("no usable row with a band")
    share: dict[str, list[bool]] = {}
    for row in usable:
        inside = (row.low or 0.0) <= row.value <= (row.high or 0.0)
        share.setdefault(row.source, []).append(inside)
    return sum(sum(inside) / len(inside) for inside in share.values()) / len(share)
