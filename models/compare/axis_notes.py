"""What a reader of a sweep should know of its axes: how many values a range gave, whom a key does not concern."""

from __future__ import annotations

from collections.abc import Sequence

from models.compare.axes import Point, axis
from models.scenario.schema import Scenario


def axis_notes(texts: Sequence[str], points: Sequence[Point], scenario: Scenario) -> tuple[str, ...]:
    """A line for each range `KEY=A..B` of `texts` and for each topology key that candidates with their own ignore."""
    notes = []
    for text in texts:
        key, _, listed = text.partition("=")
        if ".." not in listed or "," in listed:
            continue
        values = axis(text).values
        what = "power of two" if len(values) == 1 else "powers of two"
        notes.append(
            f"{key.strip()} = {listed.strip()}: {len(values)} {what}: {', '.join(map(str, values))}; "
            "a range steps by powers of two, other values are listed with commas"
        )
    own = [name for name, candidate in scenario.candidates.items() if candidate.topology is not None]
    for key in points[0] if points and own else ():
        if key.startswith("topology."):
            names = ", ".join(own)
            notes.append(
                f"{key} has no effect on {names}: wired by candidates.NAME.topology, not by topology"
            )
    return tuple(notes)
