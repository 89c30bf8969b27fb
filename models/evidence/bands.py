"""Bands of the predictions, and how often published values fall inside them."""

from __future__ import annotations

from collections.abc import Sequence

from models.evidence.records import ValidationRow
from models.solvers.collective_bands import band_factors

PLAIN = frozenset({"p2p_bw", "p2p_lat", "storage"})


def band_fraction(
    kind: str, operation: str, fabric: str, message_bytes: float, hardware: str = "known"
) -> tuple[float, float]:
    """Factors (low, high) on a modelled time, by kind of row, operation, size and hardware.

    Fabrics share one table: published pairs of InfiniBand and Ethernet differ less than sites do.

    >>> band_fraction("collective", "all_reduce", "ib", 2**33)
    (0.9, 1.18)
    """
    return band_factors("send_recv" if kind in PLAIN else operation, message_bytes, hardware)


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
