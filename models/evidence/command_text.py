"""The table of `validate` in words: what its columns mean, what was held to a threshold, what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from models.evidence.packet_incast import ENOUGH_PAUSES
from models.evidence.records import ValidationRow

FEW_ROWS = 10  # below this the p90 is the largest or the second largest error
FABRIC_NAMES = ("ib", "roce", "spectrum_x", "tcp")
AT_MOST = frozenset({"latency", "time"})


def table_text(
    table: Sequence[dict[str, Any]], rows: Sequence[ValidationRow], shipped: bool, each: bool
) -> str:
    """Legend, one line a group, the rows themselves (with `each`), and the summary."""
    parts = [*_legend(rows, shipped), "", *_groups(table)]
    if each:
        parts += ["", *(_row_text(row) for row in rows)]
    return "\n".join([*parts, "", *_summary(rows)])


def _legend(rows: Sequence[ValidationRow], shipped: bool) -> list[str]:
    lines = []
    if shipped:
        lines.append(
            "In sample: figures of the models are fitted to the published rows. Leaving each source out: "
            "`python -m models.evidence.fit` (collectives), the Evidence page (training)."
        )
    lines.append(
        "Absolute error in per cent, every source weighing the same. hw known: GPU and NIC speed occur in the"
    )
    lines.append(
        "shipped rows; new: they do not. band or set-up: message size; congestion-control set of packet runs; "
        "design of bills."
    )
    lines.append(f"*: fewer than {FEW_ROWS} rows, the p90 is close to the largest error.")
    if any(row.metric == "pause_us" for row in rows):
        lines.append(
            f"pause_us: runs of fewer than {ENOUGH_PAUSES} pauses are luck in both simulators, not judged."
        )
    return lines


def _groups(table: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"{'set':10}{'kind':18}{'operation':16}{'fabric':11}{'hw':7}{'metric':16}{'band or set-up':26}"
        f"{'rows':>5}{'sources':>8}{'median %':>10}{'p90 %':>8}"
    ]
    for record in table:
        few = " *" if record["rows"] < FEW_ROWS else ""
        lines.append(
            f"{record['set']:10}{record['kind']:18}{record['operation']:16}{record['fabric']:11}"
            f"{record['hardware']:7}{record['metric']:16}{record['band']:26}{record['rows']:5}"
            f"{record['sources']:8}{record['median_abs_pct_error']:10.1f}{record['p90_abs_pct_error']:8.1f}{few}"
        )
    return lines


def _row_text(row: ValidationRow) -> str:
    if row.prediction is None:
        return f"{row.id:28}{row.value:14.6g} {row.unit:8} not compared: {row.reason}"
    error = f"{row.error_pct:+.1f} %" if row.error_pct is not None else ""
    return f"{row.id:28}{row.value:14.6g} {row.unit:8} predicted {row.prediction:.6g} {error} {row.reason}"


def _summary(rows: Sequence[ValidationRow]) -> list[str]:
    usable = sum(row.usable for row in rows)
    bounds = [row for row in rows if row.bound]
    met = sum(row.bound == "met" for row in bounds)
    lines = [f"{usable} of {len(rows)} rows compared; {met} of {len(bounds)} operator thresholds met"]
    for row in bounds:
        side = "at most" if row.metric in AT_MOST else "at least"
        what = " ".join(word for word in (row.fabric, row.kind, row.operation, row.metric) if word)
        lines.append(
            f"  {row.id}: {what} {side} {row.value:g} {row.unit}, predicted {row.prediction:.4g}: {row.bound}"
        )
    reasons = Counter(row.reason for row in rows if not row.usable and not row.bound)
    if reasons:
        lines.append(f"{reasons.total()} rows not compared, by reason:")
        lines += [f"  {count:4} {reason}" for reason, count in reasons.most_common()]
    measured = {row.fabric for row in rows if row.set == "published" and row.usable}
    absent = [name for name in FABRIC_NAMES if name not in measured]
    if measured and absent:
        lines.append(
            f"no published rows compared: {', '.join(absent)} (their figures rest on the sources named in "
            "models/catalog/technologies, not on measured collectives)"
        )
    return lines
