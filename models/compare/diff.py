"""What changed between two scenarios or two results, and how the answer moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from models.compare.diff_scenarios import NONE_SHARED, moved_sentence, scenarios_text
from models.compare.diff_tables import KEYS, RowChange, TableDiff, axes_of, kind_of, read_table, table_diff
from models.compare.sweep_files import JOURNAL
from models.scenario.faults import Fault, InputError

SHOWN = 25
SHOWN_APART = 10  # rows added, rows removed


def difference_text(a: Path, b: Path, progress: Callable[[str], None] = lambda text: None) -> str:
    """The difference of two scenario files, two result folders or two result tables, as text.

    Raises InputError when the two are of different kinds, cannot be read, or are no results.
    """
    kinds = [_what(path) for path in (a, b)]
    if kinds[0] != kinds[1]:
        problem = f"cannot be compared with {a}: one is {kinds[0]}, the other {kinds[1]}"
        raise InputError([Fault(str(b), "", "", problem)])
    if kinds[0] == "a folder":
        return _folders_text(a, b)
    return _files_text(a, b) if kinds[0] == "a table" else scenarios_text(a, b, progress)


def _what(path: Path) -> str:
    if not path.exists():
        raise InputError([Fault(str(path), "", "", "cannot be read: No such file or directory")])
    return "a folder" if path.is_dir() else "a table" if path.suffix.lower() == ".csv" else "a scenario file"


def _files_text(a: Path, b: Path) -> str:
    before, after = read_table(a), read_table(b)
    kinds = kind_of(a, before), kind_of(b, after)
    if kinds[0] != kinds[1]:
        raise InputError([Fault(str(b), "", "", f"is a {kinds[1]} table, {a} a {kinds[0]} table")])
    return "\n".join([f"{a} -> {b}", *_table_lines(kinds[0], before, after)])


def _folders_text(a: Path, b: Path) -> str:
    lines = [f"{a} -> {b}"]
    names = [name for name in KEYS if any((folder / f"{name}.csv").exists() for folder in (a, b))]
    if not names:
        for folder in (a, b):
            if (folder / JOURNAL).exists():
                problem = "holds an unfinished sweep; finish it with sweep --resume first"
                raise InputError([Fault(str(folder), "", "", problem)])
        expected = ", ".join(f"{name}.csv" for name in KEYS)
        raise InputError([Fault(str(a), "", "", f"holds no result tables; expected one of {expected}")])
    for name in names:
        pair = [folder / f"{name}.csv" for folder in (a, b)]
        absent = [path for path in pair if not path.exists()]
        if absent:
            lines += ["", f"{name}: {absent[0]} is not there"]
        else:
            tables = [read_table(path) for path in pair]
            for path, table in zip(pair, tables, strict=True):
                kind = kind_of(path, table)
                if kind != name:
                    raise InputError(
                        [Fault(str(path), "", "", f"has the columns of {kind}.csv, not of {name}.csv")]
                    )
            lines += _table_lines(name, *tables)
    return "\n".join(lines)


def _table_lines(kind: str, before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    found = table_diff(kind, before, after)
    lines = ["", f"{kind}: {_counts(found)}"]
    if found.columns_added or found.columns_removed:
        sides = (("new", found.columns_added), ("gone", found.columns_removed))
        lines.append(
            "  columns " + "; ".join(f"{word}: {', '.join(names)}" for word, names in sides if names)
        )
    lines += _listed([f"  {_changed(c)}" for c in found.changed], SHOWN, "changed")
    lines += _listed([f"  + {c.key}: {_shown(c.after)}" for c in found.added], SHOWN_APART, "added")
    lines += _listed([f"  - {c.key}: {_shown(c.before)}" for c in found.removed], SHOWN_APART, "removed")
    said = _answers(kind, before, after)
    return [*lines, "", said] if said else lines


def _counts(found: TableDiff) -> str:
    parts = (len(found.changed), "changed"), (len(found.added), "added"), (len(found.removed), "removed")
    said = ", ".join(f"{count} {word}" for count, word in parts)
    return f"{said}, {found.unchanged} unchanged rows"


def _listed(lines: list[str], most: int, word: str) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], f"  ... and {len(lines) - most} more {word}"]


def _changed(change: RowChange) -> str:
    others = f" [{', '.join(change.others)}]" if change.others else ""
    if change.before == change.after:
        return f"{change.key}: {_shown(change.after)}, but other columns differ{others}"
    moved = "" if change.relative is None else f" ({change.relative:+.2%})"
    return f"{change.key}: {_shown(change.before)} -> {_shown(change.after)}{moved}{others}"


def _shown(cell: str) -> str:
    if not cell:
        return "empty"
    try:
        return cell if cell.lstrip("-").isdigit() else f"{float(cell):.6g}"
    except ValueError:
        return cell


def _answers(kind: str, before: pd.DataFrame, after: pd.DataFrame) -> str:
    """Whether somebody else is best now; nothing for tables that hold no answer."""
    if kind == "decision":
        return _moved(before, after)
    if kind == "comparison":
        names = [_named(_best(table, []).candidate) for table in (before, after)]
        if not all(names):
            return ""
        turn = f"stays with {names[1]}" if names[0] == names[1] else f"moves from {names[0]} to {names[1]}"
        moved = f"Most work per dollar {turn}; how sure that is, this table does not say."
        return _shared(before, after) + moved
    if kind != "sweep":
        return ""
    axes = [key for key in axes_of(kind, after) if key in before]
    old, new = (
        (_best(table, axes).set_index(axes).candidate for table in (before, after)) if axes else (None, None)
    )
    if old is None or new is None:
        return ""
    shared = old.index.intersection(new.index)
    turned = [at for at in shared if old[at] != new[at]]
    if not turned:
        return f"The best candidate is the same at all {len(shared)} points they share."
    words = [_point(axes, at) + f": {old[at]} -> {new[at]}" for at in turned[:SHOWN_APART]]
    said = [f"The best candidate changes at {len(turned)} of {len(shared)} points they share.", *words]
    return "\n  ".join(said)


def _best(table: pd.DataFrame, axes: list[str]) -> pd.DataFrame:
    """The row of the most work per dollar, at every point."""
    rows = table[table.metric == "work_per_dollar"]
    rows = rows.assign(value=pd.to_numeric(rows.value, errors="coerce")).dropna(subset=["value"])
    if rows.empty:
        return rows
    return rows.loc[rows.groupby(axes).value.idxmax()] if axes else rows.loc[[rows.value.idxmax()]]


def _point(axes: list[str], at: object) -> str:
    cells = at if isinstance(at, tuple) else (at,)
    return ", ".join(f"{key} {cell}" for key, cell in zip(axes, cells, strict=True))


def _named(names: pd.Series) -> str:
    return str(names.iloc[0]) if len(names) else ""


def _moved(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """How the verdict of two decision tables moved."""
    sides: list[tuple[str, bool]] = []
    for table in (before, after):
        rows = table[table.metric == "verdict"]
        sure = pd.to_numeric(rows.value, errors="coerce").eq(1.0).any()
        sides.append((_named(rows.candidate) or "nobody", bool(sure)))
    return _shared(before, after) + moved_sentence(*sides[0], *sides[1])


def _shared(before: pd.DataFrame, after: pd.DataFrame) -> str:
    names = [set(table.candidate) - {""} for table in (before, after)]
    return "" if names[0] & names[1] or not all(names) else f"{NONE_SHARED} "
