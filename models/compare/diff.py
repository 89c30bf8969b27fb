"""What changed between two scenarios or two result folders, and how the answer moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from models.compare.case import Case, Score, case_at, ranking, scores
from models.compare.fabrics import Method
from models.compare.sweep_points import Variations
from models.scenario.faults import Fault, InputError
from models.scenario.load import load
from models.scenario.schema import Scenario

KEYS: Mapping[str, tuple[str, ...]] = {
    "comparison": ("candidate", "method", "workload", "metric"),
    "ownership": ("candidate", "year", "category"),
    "bill_of_materials": ("candidate", "network", "tier", "category", "part", "description"),
    "decision": ("candidate", "metric", "input"),
    "tornado": ("input",),
    "break_even": ("a", "b", "quantity"),
    "phases": ("candidate", "method", "workload", "phase"),
}
VALUES: Mapping[str, str] = {
    "comparison": "value", "ownership": "mid_usd", "bill_of_materials": "extended_mid_usd", "decision": "value",
    "tornado": "swing", "break_even": "value", "phases": "time_s",
}  # fmt: skip
SMALLEST = 1e-9  # relative; below it nothing moved
SHOWN = 25


@dataclass(frozen=True)
class Change:
    """One figure or key that differs; None = not there."""

    what: str
    before: Any
    after: Any

    @property
    def relative(self) -> float | None:
        """Change of a number as a fraction of what it was."""
        if isinstance(self.before, int | float) and isinstance(self.after, int | float) and self.before:
            return float(self.after) / float(self.before) - 1.0
        return None


def scenario_changes(a: Scenario, b: Scenario) -> list[Change]:
    """Dotted keys whose value differs, defaults included, so that a default written out is no change.

    >>> from models.scenario.load import SHIPPED, load, with_value
    >>> s = load(SHIPPED / "llama3-70b-1024-h100.yaml")
    >>> scenario_changes(s, with_value(s, "cluster.gpus", 2048))
    [Change(what='cluster.gpus', before=1024, after=2048)]
    """
    before, after = _flat(a.model_dump(mode="json")), _flat(b.model_dump(mode="json"))
    keys = list(dict.fromkeys([*before, *after]))
    return [Change(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]


def answer_changes(
    a: Scenario, b: Scenario, methods: tuple[Method, ...] = ("analytical",)
) -> tuple[dict[str, Score], dict[str, Score]]:
    """Scores of both scenarios."""

    def found(scenario: Scenario) -> dict[str, Score]:
        case: Case = case_at(Variations(scenario, (), methods), {})
        return scores(case)

    return found(a), found(b)


def table_changes(name: str, before: pd.DataFrame, after: pd.DataFrame) -> list[Change]:
    """Figures of a result table that moved, largest relative move first, then rows on one side only."""
    keys = [key for key in KEYS[name] if key in before and key in after]
    value = VALUES[name]
    if not keys or value not in before or value not in after:
        return []

    def indexed(table: pd.DataFrame) -> dict[tuple[str, ...], Any]:
        rows = table[keys].fillna("").astype(str).itertuples(index=False, name=None)
        return dict(zip(rows, table[value].tolist(), strict=True))

    old, new = indexed(before), indexed(after)
    changes = []
    for key in dict.fromkeys([*old, *new]):
        x, y = old.get(key), new.get(key)
        if key in old and key in new and _same(x, y):
            continue
        changes.append(Change(" / ".join(k for k in key if k), x, y))
    return sorted(changes, key=lambda c: (c.relative is None, -abs(c.relative or 0.0), c.what))


def difference_text(a: Path, b: Path, progress: Callable[[str], None] = lambda text: None) -> str:
    """The difference of two scenario files or two result folders, as text.

    Raises InputError when one is a file and the other a folder, or when the folders hold no result tables.
    """
    if a.is_dir() != b.is_dir():
        raise InputError([Fault(str(b), "", "", f"cannot be compared with {a}: one is a file, one a folder")])
    return _folders_text(a, b) if a.is_dir() else _scenarios_text(a, b, progress)


def _scenarios_text(a: Path, b: Path, progress: Callable[[str], None]) -> str:
    first, second = load(a), load(b)
    changes = scenario_changes(first, second)
    lines = [f"{a} -> {b}", ""]
    lines += [f"  {_line(change)}" for change in changes] or ["  no key differs"]
    progress("both answers, in closed form")
    before, after = answer_changes(first, second)
    lines += ["", "work per dollar (closed form), relative to the best of each"]
    order = ranking(after)
    best_before = max(score.work_per_dollar for score in before.values())
    best_after = after[order[0]].work_per_dollar
    for name in [*order, *(n for n in ranking(before) if n not in after)]:
        was = f"{before[name].work_per_dollar / best_before:.4f}" if name in before else "not there"
        now = f"{after[name].work_per_dollar / best_after:.4f}" if name in after else "not there"
        usd = ""
        if name in before and name in after:
            usd = f"   USD a year {before[name].yearly_usd:,.0f} -> {after[name].yearly_usd:,.0f}"
        lines.append(f"  {name}: {was} -> {now}{usd}")
    lines += ["", _moved(ranking(before)[0], order[0])]
    return "\n".join(lines)


def _folders_text(a: Path, b: Path) -> str:
    lines = [f"{a} -> {b}"]
    names = [name for name in KEYS if (a / f"{name}.csv").exists() or (b / f"{name}.csv").exists()]
    if not names:
        expected = ", ".join(f"{name}.csv" for name in KEYS)
        raise InputError([Fault(str(a), "", "", f"holds no result tables; expected one of {expected}")])
    for name in names:
        pair = [folder / f"{name}.csv" for folder in (a, b)]
        absent = [path for path in pair if not path.exists()]
        if absent:
            lines += ["", f"{name}: {absent[0]} is not there"]
            continue
        before, after = (pd.read_csv(path, keep_default_na=True) for path in pair)
        changes = table_changes(name, before, after)
        lines += ["", f"{name}: {len(changes)} of {max(len(before), len(after))} rows differ"]
        lines += [f"  {_line(change)}" for change in changes[:SHOWN]]
        if len(changes) > SHOWN:
            lines.append(f"  ... and {len(changes) - SHOWN} more")
        if name == "decision":
            lines += ["", _moved(_winner(before), _winner(after))]
    return "\n".join(lines)


def _winner(decision: pd.DataFrame) -> str:
    found = decision[decision.metric == "verdict"].candidate
    return str(found.iloc[0]) if len(found) else "nobody"


def _moved(before: str, after: str) -> str:
    if before == after:
        return f"The answer stays with {after}."
    return f"The answer moves from {before} to {after}."


def _line(change: Change) -> str:
    moved = "" if change.relative is None else f" ({change.relative:+.2%})"
    return f"{change.what}: {_shown(change.before)} -> {_shown(change.after)}{moved}"


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return "not there"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _same(x: Any, y: Any) -> bool:
    if isinstance(x, int | float) and isinstance(y, int | float):
        if x != x and y != y:
            return True
        return abs(x - y) <= SMALLEST * max(abs(x), abs(y))
    return bool(x == y)


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value:
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat
