"""All reference sets, recomputed: published measurements, packet references, bills of material."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from models.evidence.published import published_rows, rows_of
from models.evidence.records import ValidationRow
from models.scenario.faults import Fault, InputError

TRAINING_COLUMNS = ("tp", "pp", "global_batch_sequences")


def validate(
    published: Path | None = None, packet: Path | None = None, bom: Path | None = None
) -> list[ValidationRow]:
    """Rows of the sets named; of all shipped sets when none is named.

    `published` takes a file of measurements or of training steps (told apart by their columns), `packet` a
    folder of packet references, `bom` a file of reference designs. Raises InputError for a file of another form.
    """
    named = any(path is not None for path in (published, packet, bom))
    rows: list[ValidationRow] = []
    if published is not None or not named:
        rows += _published(published)
    if packet is not None or not named:
        rows += _rows_from("models.evidence.packet", "packet_rows", packet)
    if bom is not None or not named:
        rows += _rows_from("models.evidence.bom", "bom_rows", bom)
    return rows


def _published(path: Path | None) -> list[ValidationRow]:
    if path is None:
        return published_rows() + _rows_from("models.evidence.training", "training_rows", None)
    if is_training_table(path):
        return _rows_from("models.evidence.training", "training_rows", path)
    return _read(published_rows, path)


def is_training_table(path: Path) -> bool:
    """Whether a file is a table of training steps: its header has the layout's columns."""
    try:
        header = path.read_text("utf-8-sig").splitlines()[0].split(",")
    except (OSError, UnicodeDecodeError, IndexError):
        rows_of(path)  # raises InputError with the reason
        return False
    return all(column in header for column in TRAINING_COLUMNS)


def _rows_from(module: str, function: str, path: Path | None) -> list[ValidationRow]:
    if find_spec(module) is None:
        print(f"left out: {module} is not installed", file=sys.stderr)
        return []
    rows: Callable[[Any], list[ValidationRow]] = getattr(import_module(module), function)
    return _read(rows, path)


def _read(rows: Callable[[Any], list[ValidationRow]], path: Path | None) -> list[ValidationRow]:
    """`rows(path)`; a file of a user's that is no CSV, or has text where a number belongs, is said in words."""
    if path is None:
        return list(rows(None))
    try:
        return list(rows(path))
    except (csv.Error, ValueError) as error:
        raise InputError([Fault(str(path), "", "", f"is no table of this kind: {error}")]) from error


def missed_bounds(rows: list[ValidationRow]) -> list[ValidationRow]:
    """Operator thresholds the models do not satisfy; the validation fails when there is one."""
    return [row for row in rows if row.bound == "missed"]
