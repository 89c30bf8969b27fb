"""Two result tables of one kind: which rows came, went or changed, paired by the columns that identify a row.

Numbers are compared as numbers (64 and 64.0 are one key, and a change in the tenth digit is none), all else as text.
The scenario's name and line numbers identify nothing and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.scenario.faults import Fault, InputError

KEYS: Mapping[str, tuple[str, ...]] = {
    "comparison": ("candidate", "method", "workload", "metric"),
    "ownership": ("candidate", "year", "category"),
    "bill_of_materials": ("candidate", "network", "tier", "category", "part", "description"),
    "cabling": ("network", "a_node", "a_port"),
    "decision": ("candidate", "metric", "input"),
    "tornado": ("input", "candidate"),
    "break_even": ("a", "b", "quantity"),
    "phases": ("candidate", "method", "workload", "phase"),
    "draws": ("draw", "candidate"),
    "sweep": ("candidate", "method", "workload", "metric"),  # after its axes
}
# the column that says most; the others are compared too
VALUES: Mapping[str, str] = {
    "comparison": "value", "ownership": "mid_usd", "bill_of_materials": "extended_mid_usd", "cabling": "z_node",
    "decision": "value", "tornado": "swing", "break_even": "value", "phases": "time_s", "draws": "work_per_dollar",
    "sweep": "value",
}  # fmt: skip
NOT_COMPARED = frozenset({"scenario", "line"})
SMALLEST = 1e-9  # relative; below it nothing moved


@dataclass(frozen=True)
class RowChange:
    """A row that differs: its key, the values of its main column, and the other columns that differ."""

    key: str
    before: str  # empty where there is none
    after: str
    others: tuple[str, ...] = ()

    @property
    def relative(self) -> float | None:
        """Change of a number as a fraction of what it was."""
        try:
            before, after = float(self.before), float(self.after)
        except ValueError:
            return None
        return after / before - 1.0 if before else None


@dataclass(frozen=True)
class TableDiff:
    """Rows of B that A lacks, rows of A that B lacks, rows that differ (largest move first), rows that are equal."""

    added: tuple[RowChange, ...]
    removed: tuple[RowChange, ...]
    changed: tuple[RowChange, ...]
    unchanged: int
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()


def read_table(path: Path) -> pd.DataFrame:
    """A result table, every cell as its text. InputError where the file is none."""
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except OSError as error:
        raise InputError([Fault(str(path), "", "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise InputError([Fault(str(path), "", "", "is not UTF-8 text")]) from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        said = str(error).strip().splitlines()[-1]
        raise InputError([Fault(str(path), "", "", f"is no table: {said}")]) from error


def kind_of(path: Path, table: pd.DataFrame) -> str:
    """Which result table a file holds, by its name or else by its columns. InputError where it is none of ours."""
    fits = [
        k for k in KEYS if {*KEYS[k], VALUES[k], *(["status"] if k == "sweep" else [])} <= set(table.columns)
    ]
    if path.stem in fits:
        return path.stem
    if "sweep" in fits:
        return "sweep"
    if not fits:
        known = ", ".join(f"{kind}.csv" for kind in KEYS)
        raise InputError([Fault(str(path), "", "", f"has the columns of no result table; allowed: {known}")])
    return max(fits, key=lambda kind: len(KEYS[kind]))


def keys_of(kind: str, table: pd.DataFrame) -> list[str]:
    """The columns that identify a row: for a sweep its axes come first."""
    return [*axes_of(kind, table), *KEYS[kind]]


def axes_of(kind: str, table: pd.DataFrame) -> list[str]:
    """The axes of a sweep's table: the columns before the scenario's name; none for other tables."""
    if kind != "sweep" or "scenario" not in table:
        return []
    return list(table.columns[: list(table.columns).index("scenario")])


def table_diff(kind: str, before: pd.DataFrame, after: pd.DataFrame) -> TableDiff:
    """What changed from one table to another of the same kind.

    Rows with equal keys are paired in their order.
    """
    keys = keys_of(kind, after)
    shared = [key for key in keys if key in before]
    a, b = _keyed(before, shared), _keyed(after, shared)
    place = pd.Series(np.arange(len(b)), index=b)
    at = place.reindex(a).to_numpy()
    both = ~np.isnan(at)
    left = np.flatnonzero(both)
    right = at[both].astype(np.int64)
    columns = [c for c in after.columns if c in before and c not in shared and c not in NOT_COMPARED]
    differ = {c: _different(before[c].to_numpy()[left], after[c].to_numpy()[right]) for c in columns}
    some = np.zeros(len(left), bool)
    for mask in differ.values():
        some |= mask
    value = VALUES[kind]
    axes = axes_of(kind, after)
    names_a, names_b = _words(before, shared, axes), _words(after, shared, axes)

    def change(i: int) -> RowChange:
        x, y = left[i], right[i]
        others = tuple(c for c in columns if c != value and differ[c][i])
        return RowChange(names_a[x], before[value].iloc[x], after[value].iloc[y], others)

    changed = [change(int(i)) for i in np.flatnonzero(some)]
    gone = np.flatnonzero(~both)
    new = np.setdiff1d(np.arange(len(b)), right)
    return TableDiff(
        added=tuple(RowChange(names_b[i], "", after[value].iloc[i]) for i in new),
        removed=tuple(RowChange(names_a[i], before[value].iloc[i], "") for i in gone),
        changed=tuple(sorted(changed, key=lambda c: (c.relative is None, -abs(c.relative or 0.0), c.key))),
        unchanged=int((~some).sum()),
        columns_added=tuple(c for c in after.columns if c not in before),
        columns_removed=tuple(c for c in before.columns if c not in after),
    )


def _keyed(table: pd.DataFrame, keys: list[str]) -> pd.MultiIndex:
    """The keys of the rows, those of equal ones numbered."""
    plain = pd.DataFrame({key: table[key].map(_plain) for key in keys}, index=table.index)
    plain["#"] = plain.groupby(keys, sort=False).cumcount() if keys else np.arange(len(plain))
    return pd.MultiIndex.from_frame(plain)


def _plain(cell: str) -> str:
    """A number in one spelling; text as it is."""
    if not cell[-1:].isdigit():
        return cell
    try:
        return f"{float(cell):.15g}"
    except ValueError:
        return cell


def _words(table: pd.DataFrame, keys: list[str], axes: list[str]) -> list[str]:
    names = table[keys].itertuples(index=False, name=None)
    return [
        " / ".join(
            f"{key} {cell}" if key in axes else cell for key, cell in zip(keys, cells, strict=True) if cell
        )
        for cells in names
    ]


def _different(x: NDArray[np.object_], y: NDArray[np.object_]) -> NDArray[np.bool_]:
    found = np.asarray(x != y, bool)
    at = np.flatnonzero(found)
    if not len(at):
        return found
    p = pd.to_numeric(pd.Series(x[at]), errors="coerce").to_numpy(np.float64)
    q = pd.to_numeric(pd.Series(y[at]), errors="coerce").to_numpy(np.float64)
    with np.errstate(invalid="ignore"):
        close = np.abs(p - q) <= SMALLEST * np.maximum(np.abs(p), np.abs(q))
    found[at] = ~(close | (p == q))
    return found
