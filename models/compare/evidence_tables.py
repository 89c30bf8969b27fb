"""Validation rows as the tables the evidence page shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from models.evidence.bom import bom_rows
from models.evidence.fit import cases, leave_one_source_out, summary
from models.evidence.published import published_rows
from models.evidence.records import ValidationRow, records
from models.evidence.training import training_rows

PACKET_RUNS = 8  # of each packet reference file; all of them: fabric-compare validate


def quick_rows(progress: Callable[[str], None] = lambda text: None) -> list[ValidationRow]:
    """Every shipped row that takes no packet run: published measurements, training steps, bills of material."""
    progress("published measurements")
    rows = published_rows()
    progress("training steps")
    rows += training_rows()
    progress("reference designs")
    return rows + bom_rows()


def sampled_packet_rows(progress: Callable[[str], None] = lambda text: None) -> list[ValidationRow]:
    """A sample of the packet references, rerun by the microsecond solvers.

    Raises InputError when the references are not there.
    """
    progress(f"{PACKET_RUNS} runs of each reference file")
    from models.evidence.packet import packet_rows

    return packet_rows(None, jobs=1, limit_per_file=PACKET_RUNS)


def queue_curve_table(progress: Callable[[str], None] = lambda text: None) -> pd.DataFrame:
    """Queue over time of the shipped packet-simulator runs and of ours: case, who, time_us, queue_kb."""
    progress("every packet of their queues, once")
    from models.evidence.packet import queue_curves

    tables = [
        pd.DataFrame({"case": case, "who": who, "time_us": times, "queue_kb": queue})
        for case, who, times, queue in queue_curves()
    ]
    return pd.concat(tables, ignore_index=True)


def held_out_table(progress: Callable[[str], None] = lambda text: None) -> pd.DataFrame:
    """Errors when nothing was fitted on the source that is predicted, every source weighing the same.

    Columns group, rows, median_abs_pct_error, p90_abs_pct_error.
    """
    progress("collectives, one source left out at a time")
    rows = [
        {"group": group, "rows": n, "median_abs_pct_error": median, "p90_abs_pct_error": p90}
        for group, (n, median, p90) in summary(leave_one_source_out(cases())).items()
    ]
    return pd.DataFrame(rows, columns=["group", "rows", "median_abs_pct_error", "p90_abs_pct_error"])


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
    return f"Median error in sample {', '.join(parts)}; {inside:.0f} % of {len(used)} published figures within 25 %."


def misses(table: pd.DataFrame, count: int = 12) -> pd.DataFrame:
    """The largest errors first."""
    used = table[table.usable & (table.bound == "")]
    return used.reindex(used.error_pct.abs().sort_values(ascending=False).index).head(count)
