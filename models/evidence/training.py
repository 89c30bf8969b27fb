"""Published training steps beside what the step model says of them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from models.catalog.kernel_efficiency import (
    KernelEfficiency,
    kernel_efficiencies,
    kernel_efficiency,
    scale_loss_per_doubling,
)
from models.evidence.published_setup import Row, Unusable, gpu_id, text
from models.evidence.records import ValidationRow
from models.evidence.training_fit import Accuracy, calibrated, in_sample, leave_one_source_out
from models.evidence.training_setup import StepRow, step_row
from models.scenario.faults import Fault, InputError
from models.topology.size import CannotBuild

NEEDED = ("id", "model", "gpu", "gpus", "tp", "pp", "global_batch_sequences", "sequence", "source")


def training_rows(path: Path | None = None) -> list[ValidationRow]:
    """One validation row per training step of a file, of the shipped one for None; times in s.

    Rows that state TFLOP/s or MFU only are compared by the step time these amount to. Efficiencies are the
    table's for the row's stack, else for its family or GPU generation.

    Raises InputError for a file that cannot be read or lacks columns.
    """
    return [_validation_row(row) for row in _rows(path)]


def accuracy_reports(path: Path | None = None) -> dict[str, Accuracy]:
    """Errors in sample, leaving each source out, and from one calibrated point a series, of the usable rows.

    Mixtures of experts are reported apart: their software decides more than their network.
    """
    rows = usable_steps(_rows(path))
    return {
        "in sample": in_sample(rows),
        "leave one source out": leave_one_source_out(rows),
        "leave one source out, experts": leave_one_source_out(rows, experts=True),
        "calibrated on the smallest job": calibrated(rows),
    }


def usable_steps(rows: Sequence[Row]) -> list[StepRow]:
    """The rows that can be predicted."""
    steps = []
    for row in rows:
        try:
            steps.append(step_row(row))
        except (Unusable, CannotBuild):
            continue
    return steps


def row_efficiency(step: StepRow) -> KernelEfficiency:
    """The table's entry for a row: its stack, else its family, else the generation's default."""
    known = {(row.generation, row.stack) for row in kernel_efficiencies()}
    for stack in (step.stack, step.family):
        if (step.gpu.generation, stack) in known:
            return kernel_efficiency(step.gpu.generation, stack)
    return kernel_efficiency(step.gpu.generation)


def _validation_row(row: Row) -> ValidationRow:
    known = gpu_id(text(row, "gpu")) in _shipped_gpus()
    try:
        step = step_row(row)
    except (Unusable, CannotBuild) as error:
        return _made(row, known, value=_number(row), usable=False, reason=str(error))
    kernels, loss = row_efficiency(step), scale_loss_per_doubling()
    least_s, most_s = step.overhead_band_s
    return _made(
        row,
        known,
        value=step.measured_s,
        prediction=step.predicted_s(kernels.efficiency, loss),
        low=step.predicted_s(kernels.high, loss, least_s),
        high=step.predicted_s(kernels.low, loss, most_s),
        reason=step.note,
    )


def _made(
    row: Row,
    known: bool,
    value: float,
    prediction: float | None = None,
    low: float | None = None,
    high: float | None = None,
    usable: bool = True,
    reason: str = "",
) -> ValidationRow:
    return ValidationRow(
        set="published",
        kind="training_step",
        fabric=text(row, "fabric") or "ib",
        metric="time",
        band="experts" if text(row, "ep") else "",
        id=text(row, "id"),
        value=value,
        unit="s",
        source=text(row, "source") or "not stated",
        hardware="known" if known else "new",
        prediction=prediction,
        low=low,
        high=high,
        usable=usable,
        reason=reason,
    )


def _number(row: Row) -> float:
    try:
        return float(text(row, "step_s") or 0.0)
    except ValueError:
        return 0.0


def _rows(path: Path | None) -> list[dict[str, str]]:
    if path is None:
        return list(csv.DictReader(_shipped().splitlines()))
    try:
        content = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Fault(str(path), "", "", f"cannot be read: {error}")]) from error
    reader = csv.DictReader(content.splitlines())
    missing = [column for column in NEEDED if column not in (reader.fieldnames or [])]
    if missing:
        raise InputError([Fault(str(path), "", "", f"columns missing: {', '.join(missing)}")])
    return [{key: value or "" for key, value in row.items() if key is not None} for row in reader]


def _shipped() -> str:
    return resources.files("models.evidence").joinpath("training_steps.csv").read_text("utf-8")


@cache
def _shipped_gpus() -> frozenset[str]:
    return frozenset(gpu_id(row["gpu"]) for row in csv.DictReader(_shipped().splitlines()))
