"""Published measurements beside what the models say of them."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from math import isfinite
from pathlib import Path
from typing import Literal

from models.evidence.published_predictions import FIGURES, metric_name
from models.evidence.published_setup import Row, Unusable, gpu_id, number, operation_name, text
from models.evidence.records import Hardware, ValidationRow, size_band
from models.scenario.faults import Fault, InputError

NEEDED = ("id", "kind", "fabric", "operation", "metric", "value", "unit")
COMPARED = frozenset({"", "healthy"})
CONDITIONS = {
    "fault": "the source states a fault or a degraded path",
    "other_transport": "another transport than the one modelled",
    "tuned": "channels or queue pairs raised beyond the library's defaults",
    "unknown_setup": "set-up not stated completely",
    "average_of_sizes": "average over an unstated list of sizes",
    "relative_only": "comparable only relative to another row",
    "unrated": "not rated as a healthy measurement",
    "datasheet": "data sheet figure, not a measurement",
}
OPERATION_NAMES = {
    "all_to_all": "alltoall",
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
}


def shipped_text(name: str) -> str:
    """Text of a file that ships with this package."""
    return resources.files("models.evidence").joinpath(name).read_text("utf-8")


def rows_of(path: Path | None) -> list[dict[str, str]]:
    """Rows of a measurements file, of the shipped one for None.

    Raises InputError when the file cannot be read, lacks columns or has no row.
    """
    if path is None:
        return list(csv.DictReader(shipped_text("published.csv").splitlines()))
    try:
        content = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Fault(str(path), "", "", f"cannot be read: {error}")]) from error
    reader = csv.DictReader(content.splitlines())
    columns = reader.fieldnames or []
    missing = [column for column in NEEDED if column not in columns]
    if missing:
        raise InputError([Fault(str(path), "", "", f"columns missing: {', '.join(missing)}")])
    rows = [{key: value or "" for key, value in row.items() if key is not None} for row in reader]
    if not rows:
        raise InputError([Fault(str(path), "", "", "has a header but no rows")])
    return rows


@cache
def _known_hardware() -> tuple[frozenset[str], frozenset[float]]:
    """GPUs and NIC speeds of the shipped rows that are compared."""
    rows = [row for row in rows_of(None) if row["condition"] in COMPARED | {"threshold"}]
    gpus = {gpu_id(row["gpu"]) for row in rows if row["gpu"]}
    speeds = {float(row["speed_gbps_per_nic"]) for row in rows if row["speed_gbps_per_nic"]}
    return frozenset(gpus), frozenset(speeds)


def hardware(row: Row) -> Hardware:
    """Whether the GPU and the NIC speed of a row occur in the shipped rows."""
    known_gpus, known_speeds = _known_hardware()
    name, speed = text(row, "gpu"), text(row, "speed_gbps_per_nic")
    gpu_known = not name or gpu_id(name) in known_gpus
    try:
        speed_known = not speed or text(row, "fabric") == "nvlink" or float(speed) in known_speeds
    except ValueError:
        speed_known = False
    return "known" if gpu_known and speed_known else "new"


def validation_row(row: Row) -> ValidationRow:
    """One published row beside its prediction; unusable rows keep their reason, thresholds are bounds."""
    condition = text(row, "condition")
    reason, metric, figures, value, message = "", text(row, "metric"), None, 0.0, None
    try:
        if text(row, "kind") not in FIGURES:
            raise Unusable(f"kind {text(row, 'kind')!r} is not validated")
        message = number(row, "message_bytes")
        value = number(row, "value", "value") or 0.0
        if condition not in COMPARED | {"threshold"}:
            raise Unusable(CONDITIONS.get(condition, f"condition {condition!r}"))
        metric = metric_name(row)
        figures = FIGURES[text(row, "kind")](row)
    except Unusable as problem:
        reason = str(problem)
    if figures is not None and not all(isfinite(figure) for figure in figures):
        figures, reason = None, "the models give no finite figure"
    if figures is not None and not value:
        reason = "value is 0"
    bound: Literal["", "met", "missed"] = ""
    if figures is not None and condition == "threshold":
        bound = "met" if _holds(row, figures[0], value) else "missed"
        reason = f"operator threshold, checked as a bound: {bound}"
    operation = operation_name(row) if text(row, "kind") == "collective" else ""
    return ValidationRow(
        set="published",
        kind=text(row, "kind"),
        operation=OPERATION_NAMES.get(operation, operation),
        fabric=text(row, "fabric"),
        hardware=hardware(row),
        metric=metric,
        band=_band(row, message),
        id=text(row, "id"),
        prediction=figures[0] if figures else None,
        value=value,
        unit=text(row, "unit"),
        low=figures[1] if figures else None,
        high=figures[2] if figures else None,
        source=text(row, "source"),
        usable=not reason,
        reason=reason,
        bound=bound,
    )


def _band(row: Row, message_bytes: float | None) -> str:
    """Size band; a latency without a size is a small message's, a bandwidth without one a plateau."""
    if message_bytes is None and text(row, "kind") == "p2p_lat":
        return size_band(0.0)
    moe_latency = text(row, "operation").startswith("moe") and text(row, "metric") == "latency"
    if message_bytes is None and moe_latency:
        return size_band(0.0)
    return size_band(message_bytes)


def _holds(row: Row, prediction: float, value: float) -> bool:
    if text(row, "metric").endswith("max"):
        return prediction <= value
    return prediction >= value


def published_rows(path: Path | None = None) -> list[ValidationRow]:
    """Every row of a measurements file (shipped one for None), compared where it can be."""
    return [validation_row(row) for row in rows_of(path)]
