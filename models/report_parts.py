"""Pieces of a report, whatever it is written as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 or 2."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph; `strong` for the answer itself."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Listed:
    """Points of a list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table; columns in `right` are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()


@dataclass(frozen=True)
class Chart:
    """A chart as SVG, and the sentence that says the same."""

    svg: str
    words: str


Part = Heading | Text | Listed | Table | Chart
