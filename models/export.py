"""CSV text of result tables: stable bytes, and no cell that a spreadsheet would run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def safe_cell(cell: Any) -> Any:
    """`cell`, with an apostrophe before text that a spreadsheet would take for a formula.

    Source: OWASP, CSV injection. Numbers stay numbers.

    >>> safe_cell("=1+1"), safe_cell("a"), safe_cell(-3.5), safe_cell("-")
    ("'=1+1", 'a', -3.5, '-')
    """
    if isinstance(cell, str) and len(cell) > 1 and cell.startswith(FORMULA_STARTS):
        return "'" + cell
    return cell


def frame_of(records: Iterable[Any], record_type: type) -> pd.DataFrame:
    """Table of frozen dataclass records; the columns are the fields, also when there is no record."""
    names = [field.name for field in fields(record_type)]
    return pd.DataFrame([[getattr(record, name) for name in names] for record in records], columns=names)


def csv_text(table: pd.DataFrame) -> str:
    """The table as CSV: UTF-8, no index, safe cells, the shortest digits that read back equal."""
    safe = table.copy()
    for name in safe.columns:
        if safe[name].dtype == object or pd.api.types.is_string_dtype(safe[name]):
            safe[name] = safe[name].map(safe_cell)
    return str(safe.to_csv(index=False, lineterminator="\n"))


def write_tables(tables: Mapping[str, pd.DataFrame], folder: str | Path) -> list[Path]:
    """Writes each table to `folder`/name.csv; a file is complete or not there."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return [write_text(folder / f"{name}.csv", csv_text(table)) for name, table in tables.items()]


def write_text(path: Path, text: str) -> Path:
    """Writes `text` to `path` in one step, so that an interrupted run leaves no half file."""
    part = path.with_name(path.name + ".part")
    with open(part, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    return path
