"""Two scenarios: which keys differ, and how the answer moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from models.compare.comparison import compare
from models.scenario.load import load
from models.scenario.schema import Scenario

NONE_SHARED = "The two share no candidate: their answers are to different questions."


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


def scenarios_text(a: Path, b: Path, progress: Callable[[str], None]) -> str:
    """The keys that differ and the scores of both, as text."""
    first, second = load(a), load(b)
    lines = [f"{a} -> {b}", ""]
    lines += [f"  {_line(change)}" for change in scenario_changes(first, second)] or ["  no key differs"]
    progress("both answers")
    then, now = (compare(scenario, unscored=False) for scenario in (first, second))
    before, after = ({value.candidate: value for value in answer.values} for answer in (then, now))
    lines += ["", "work per dollar, relative to the best of each"]
    for name in [*after, *(n for n in before if n not in after)]:
        shown = [f"{side[name].relative:.4f}" if name in side else "not there" for side in (before, after)]
        usd = ""
        if name in before and name in after:
            usd = f"   USD a year {before[name].yearly_usd:,.0f} -> {after[name].yearly_usd:,.0f}"
        lines.append(f"  {name}: {shown[0]} -> {shown[1]}{usd}")
    if not before.keys() & after.keys():
        lines += ["", NONE_SHARED]
    best = [(said.winner, said.decided or not said.runner_up) for said in (then.verdict, now.verdict)]
    return "\n".join([*lines, "", moved_sentence(*best[0], *best[1])])


def moved_sentence(before: str, before_sure: bool, after: str, after_sure: bool) -> str:
    """How the answer moved; a best one that is too close to call is never called the answer.

    >>> moved_sentence("A", True, "B", True), moved_sentence("A", False, "A", False)
    ('The answer moves from A to B.', 'Too close to call in both; A stays ahead.')
    >>> moved_sentence("A", True, "B", False)
    'The answer was A; now it is too close to call, with B ahead.'
    """
    same = before == after
    if before_sure and after_sure:
        return f"The answer stays with {after}." if same else f"The answer moves from {before} to {after}."
    if before_sure:
        ahead = f"{after} {'still ' if same else ''}ahead"
        return f"The answer was {before}; now it is too close to call, with {ahead}."
    if after_sure:
        return f"It was too close to call, with {before} ahead; now the answer is {after}."
    turn = f"{after} stays ahead" if same else f"{before} was ahead, now {after} is"
    return f"Too close to call in both; {turn}."


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
