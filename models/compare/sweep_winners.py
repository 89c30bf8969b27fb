"""Who gives most work per dollar at how many points of a sweep, and where that changes."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

METRIC = "work_per_dollar"
CHANGES_SHOWN = 3

Winners = dict[tuple[str, ...], str]  # values of the axes, as written -> candidate


def winners(table: Path) -> tuple[tuple[str, ...], Winners]:
    """(keys of the axes, the candidate of most work per dollar, mid, at every point that has one) of a sweep's table.

    Read line by line: a table may be larger than memory.
    """
    best: dict[tuple[str, ...], tuple[float, str]] = {}
    with open(table, encoding="utf-8", newline="") as file:
        header = next(csv.reader([file.readline()]))
        axes = header.index("scenario")
        name, metric, value = (header.index(word) for word in ("candidate", "metric", "value"))
        for row in csv.reader(line for line in file if METRIC in line):
            if row[metric] == METRIC and row[value]:
                at, found = tuple(row[:axes]), (float(row[value]), row[name])
                if at not in best or found[0] > best[at][0]:
                    best[at] = found
    return tuple(header[:axes]), {at: found[1] for at, found in best.items()}


def winners_sentence(keys: Sequence[str], found: Winners) -> str:
    """One line for the end of a sweep; empty where no point has an answer.

    >>> winners_sentence(("cluster.gpus",), {("64",): "A", ("128",): "A", ("256",): "B"})
    'Most work per dollar at mid prices: A at 2, B at 1 of 3 points; changes at cluster.gpus 128 -> 256 (A -> B).'
    """
    if not found:
        return ""
    counts = sorted(Counter(found.values()).items(), key=lambda item: (-item[1], item[0]))
    if len(counts) == 1:
        where = f"all {len(found)} points" if len(found) > 1 else "the one point"
        return f"Most work per dollar at mid prices: {counts[0][0]} at {where}."
    said = ", ".join(f"{name} at {count}" for name, count in counts) + f" of {len(found)} points"
    changes = Counter(text for at in range(len(keys)) for text in _changes(keys, found, at))
    shown = [
        text if count == 1 else f"{text} {count} times"
        for text, count in sorted(changes.items(), key=lambda item: -item[1])[:CHANGES_SHOWN]
    ]
    more = f" and {len(changes) - CHANGES_SHOWN} more" if len(changes) > CHANGES_SHOWN else ""
    where = f"; changes at {', '.join(shown)}{more}" if shown else ""
    return f"Most work per dollar at mid prices: {said}{where}."


def _changes(keys: Sequence[str], found: Winners, axis: int) -> Iterator[str]:
    """Every step along one axis, the others held, that has another winner at its end."""
    last: dict[tuple[str, ...], tuple[str, str]] = {}
    for at, name in found.items():
        line = at[:axis] + at[axis + 1 :]
        if line in last and last[line][1] != name:
            yield f"{keys[axis]} {last[line][0]} -> {at[axis]} ({last[line][1]} -> {name})"
        last[line] = (at[axis], name)
