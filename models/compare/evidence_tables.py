"""Validation rows as the tables the evidence page shows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from models.evidence.records import ValidationRow, records


def row_table(rows: Sequence[ValidationRow]) -> pd.DataFrame:
    """One row a reference figure: measured, predicted, error, source, reason."""
    return pd.DataFrame(
        [
            {
                "id": row.id, "set": row.set, "kind": row.kind, "operation": row.operation, "fabric": row.fabric,
                "hardware": row.hardware, "metric": row.metric, "band": row.band, "value": row.value,
                "prediction": row.prediction, "unit": row.unit, "error_pct": row.error_pct, "low": row.low,
                "high": row.high, "usable": row.usable, "bound": row.bound, "reason": row.reason, "source": row.source,
            }
            for row in rows
        ]
    )  # fmt: skip


def error_table(rows: Sequence[ValidationRow]) -> pd.DataFrame:
    """Median and 90th percentile error by set, kind, fabric, hardware, metric and size."""
    return pd.DataFrame([dict(record) for record in records(rows)])


def evidence_sentence(table: pd.DataFrame) -> str:
    """How far predictions are from measurements, in a sentence."""
    used = table[table.usable & (table.set == "published") & (table.bound == "")]
    if used.empty:
        return "No published row could be compared."
    error = used.error_pct.abs()
    parts = []
    for kind, words in (
        ("collective", "collectives"),
        ("training_step", "training steps"),
        ("p2p_lat", "latencies"),
    ):
        some = error[used.kind == kind]
        if len(some):
            parts.append(f"{some.median():.2g} % for {words}")
    inside = float((error <= 25).mean()) * 100
    return f"Median error {', '.join(parts)}; {inside:.0f} % of {len(used)} published figures within 25 %."


def misses(table: pd.DataFrame, count: int = 12) -> pd.DataFrame:
    """The largest errors first."""
    used = table[table.usable & (table.bound == "")]
    return used.reindex(used.error_pct.abs().sort_values(ascending=False).index).head(count)
