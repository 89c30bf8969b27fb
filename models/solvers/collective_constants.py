"""Constants of the collective library: a table with value, band, source and whether it was fitted."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from models.units import MIB

_SI = {"us": 1e-6, "MiB": float(MIB), "GB/s": 1e9}


@dataclass(frozen=True)
class Constant:
    """One row of the table, value and band in SI units."""

    name: str
    scope: str  # GPU generation; empty = any
    value: float
    low: float
    high: float
    unit: str
    confidence: str
    source: str


@dataclass(frozen=True)
class Constants:
    """The constants that hold for one GPU generation; `changes` replaces values by name (fits, what-ifs)."""

    generation: str
    changes: tuple[tuple[str, float], ...] = ()

    def __getitem__(self, name: str) -> float:
        """Value in SI units. Raises KeyError for a name that is not in the table."""
        return _values(self.generation, self.changes)[name]


@cache
def constant_rows() -> tuple[Constant, ...]:
    """All rows of the table in SI units."""
    text = resources.files("models.catalog").joinpath("collectives.csv").read_text("utf-8")
    rows = []
    for row in csv.DictReader(text.splitlines()):
        factor = _SI.get(row["unit"], 1.0)
        value, low, high = (float(row[key]) * factor for key in ("value", "low", "high"))
        if not low <= value <= high or not row["source"]:
            raise ValueError(f"collectives.csv: {row['name']} {row['scope']}: band or source missing")
        rows.append(
            Constant(
                row["name"], row["scope"], value, low, high, row["unit"], row["confidence"], row["source"]
            )
        )
    return tuple(rows)


@cache
def _values(generation: str, changes: tuple[tuple[str, float], ...]) -> Mapping[str, float]:
    table = {row.name: row.value for row in constant_rows() if row.scope == ""}
    table.update({row.name: row.value for row in constant_rows() if row.scope == generation})
    table.update(dict(changes))
    return table


def constants(generation: str, changes: Mapping[str, float] | None = None) -> Constants:
    """Constants of a GPU generation, `changes` (SI units) laid over them.

    >>> constants("hopper")["nvls_efficiency"], round(constants("ampere")["nvls_base"] * 1e6)
    (0.836, 39)
    """
    return Constants(generation, tuple(sorted((changes or {}).items())))
