"""How much of a sweep has an answer: counted while its rows are written, told at its end."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from models.compare.sweep_points import OK

ANSWERED = f",{OK},\n".encode()  # how a row with an answer ends: status, empty reason
REASONS_SHOWN = 5
REASONS_KEPT = 1000  # more different ones than anyone reads; the table holds them all
MORE = ("", "other reasons")


@dataclass
class Answers:
    """Points and rows without an answer, and why."""

    points: int = 0
    lacking: int = 0  # points with a row that has no answer
    rows: int = 0  # rows without an answer
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)  # (status, reason) -> rows

    def add(self, rows: bytes) -> None:
        """Counts the rows of one point, whole lines."""
        self.points += 1
        if rows.count(b"\n") == rows.count(ANSWERED):
            return
        self.lacking += 1
        for row in csv.reader(StringIO(rows.decode())):
            status, reason = row[-2:]
            if status != OK:
                self.rows += 1
                key = (status, reason)
                known = key in self.reasons or len(self.reasons) < REASONS_KEPT
                self.reasons[key if known else MORE] += 1

    def lines(self, table: Path) -> list[str]:
        """What to tell: how many points lack an answer and the most frequent reasons; nothing where none does."""
        if not self.lacking:
            return []
        ranked = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        said = [
            f"  {rows} x {status or 'more'}: {reason}" for (status, reason), rows in ranked[:REASONS_SHOWN]
        ]
        left = sum(rows for _, rows in ranked[REASONS_SHOWN:])
        if left:
            said.append(f"  {left} x for {len(ranked) - REASONS_SHOWN} more reasons")
        return [
            f"{self.lacking} of {self.points} points have rows without an answer, {self.rows} rows in all; "
            f"their status and reason are in {table}",
            *said,
        ]

    def record(self) -> dict[str, Any]:
        """As plain JSON values, for the seal of the table."""
        return {
            "points": self.points,
            "lacking": self.lacking,
            "rows": self.rows,
            "reasons": [[*key, rows] for key, rows in sorted(self.reasons.items())],
        }


def answers_of(record: Any) -> Answers:
    """The answers a seal tells of; none of them known where it does not."""
    if not isinstance(record, Mapping):
        return Answers()
    try:
        return Answers(
            points=int(record["points"]),
            lacking=int(record["lacking"]),
            rows=int(record["rows"]),
            reasons=Counter(
                {(str(status), str(reason)): int(rows) for status, reason, rows in record["reasons"]}
            ),
        )
    except (KeyError, TypeError, ValueError):
        return Answers()


def counted(rows: Iterable[bytes], answers: Answers) -> Iterable[bytes]:
    """`rows` of each point as they are, counted on the way."""
    for piece in rows:
        answers.add(piece)
        yield piece
