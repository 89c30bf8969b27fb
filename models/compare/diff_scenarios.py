"""Two scenarios: which keys differ, and how the answer moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from models.compare.case import Score, case_at, ranking, scores
from models.compare.fabrics import Method
from models.compare.sweep_points import Variations
from models.scenario.load import load
from models.scenario.schema import Scenario


@dataclass(frozen=True)
class Change:
    """One key that differs; None = not there."""

    what: str
    before: Any
    after: Any

    @property
    def relative(self) -> float | None:
        """Change of a number as a fraction of what it was."""
        numbers = all(
            isinstance(v, int | float) and not isinstance(v, bool) for v in (self.before, self.after)
        )
        return float(self.after) / float(self.before) - 1.0 if numbers and self.before else None


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


def answers(scenario: Scenario, methods: tuple[Method, ...] = ("analytical",)) -> dict[str, Score]:
    """Scores of a scenario's candidates. InputError where one has no answer."""
    return scores(case_at(Variations(scenario, (), methods), {}))


def scenarios_text(a: Path, b: Path, progress: Callable[[str], None]) -> str:
    """The keys that differ and the scores of both, as text."""
    first, second = load(a), load(b)
    lines = [f"{a} -> {b}", ""]
    lines += [f"  {_line(change)}" for change in scenario_changes(first, second)] or ["  no key differs"]
    progress("both answers, in closed form")
    before, after = answers(first), answers(second)
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
    first_then, first_now = ranking(before)[0], order[0]
    if first_then == first_now:
        return "\n".join([*lines, "", f"The answer stays with {first_now}."])
    return "\n".join([*lines, "", f"The answer moves from {first_then} to {first_now}."])


def _line(change: Change) -> str:
    moved = "" if change.relative is None else f" ({change.relative:+.2%})"
    return f"{change.what}: {_shown(change.before)} -> {_shown(change.after)}{moved}"


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return "not there"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _flat(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping) and value:
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat
