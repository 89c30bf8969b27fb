"""Axes of a sweep: which dotted scenario key takes which values."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import Any

from models.scenario.faults import Fault, InputError
from models.units import GIB, KIB, MIB, TIB

POINTS_MAX = 1_000_000
POINTS_BYTES_MAX = 100_000_000
AXES_MAX = 8
VALUES_MAX = 100_000
SIZES = {"KiB": KIB, "MiB": MIB, "GiB": GIB, "TiB": TIB}
Value = float | int | str | bool
Point = dict[str, Value]


@dataclass(frozen=True)
class Axis:
    """A dotted scenario key and the values it takes, in order."""

    key: str
    values: tuple[Value, ...]


def axis(text: str) -> Axis:
    """The axis in `KEY=V1,V2,...` or `KEY=A..B` (the powers of two from A to B); sizes may end in KiB .. TiB.

    Raises InputError for text that is none.

    >>> axis("cluster.gpus=64..512").values
    (64, 128, 256, 512)
    >>> axis("workloads.a.message_bytes=1MiB,1e9").values, axis("a.b=0.5,spray,true").values
    ((1048576, 1000000000), (0.5, 'spray', True))
    """
    key, equals, listed = text.partition("=")
    key, listed = key.strip(), listed.strip()
    if not equals or not key or not listed:
        raise _fault(text, "", "write KEY=V1,V2,... or KEY=A..B (powers of two)")
    if not all(key.split(".")):
        raise _fault(key, "", "is not a dotted scenario key")
    first, dots, last = listed.partition("..")
    if dots and "," not in listed:
        return Axis(key, _powers_of_two(key, listed, first, last))
    values = tuple(_value(word.strip()) for word in listed.split(","))
    if any(value == "" for value in values):
        raise _fault(key, listed, "has an empty value between commas")
    return _checked(Axis(key, values))


def axes(texts: Sequence[str], given: Mapping[str, Sequence[Value]] | None = None) -> tuple[Axis, ...]:
    """Axes of the command line, or those of the scenario's `sweep.axes` where the command line names none.

    Raises InputError when there is none at all, too many, or one twice.
    """
    found = [axis(text) for text in texts] or [
        _checked(Axis(key, tuple(values))) for key, values in (given or {}).items()
    ]
    if not found:
        raise _fault("", "", "nothing to sweep: give --axis KEY=V1,V2,... or sweep.axes in the scenario")
    if len(found) > AXES_MAX:
        raise _fault("", str(len(found)), f"too many axes; allowed 1 .. {AXES_MAX}")
    keys = [one.key for one in found]
    for key in keys:
        if keys.count(key) > 1:
            raise _fault(key, "", "is given twice")
    count = prod(len(one.values) for one in found)
    if count > POINTS_MAX:
        raise _fault("", f"{count} points", f"too many; allowed 1 .. {POINTS_MAX}")
    return tuple(found)


def grid(of: Sequence[Axis]) -> list[Point]:
    """Every combination of the axes' values, the last axis fastest.

    >>> grid([Axis("a", (1, 2)), Axis("b", ("x",))])
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    keys = [one.key for one in of]
    return [dict(zip(keys, values, strict=True)) for values in product(*(one.values for one in of))]


def listed_points(file: str | Path) -> list[Point]:
    """Points of a CSV whose columns are dotted keys, one point a row.

    Raises InputError for a file that cannot be read, has no points or a row with other columns.
    """
    try:
        with open(file, "rb") as source:
            raw = source.read(POINTS_BYTES_MAX + 1)
        if len(raw) > POINTS_BYTES_MAX:
            raise InputError([Fault(str(file), "", "", f"too large; at most {POINTS_BYTES_MAX} bytes")])
        rows = [row for row in csv.reader(StringIO(raw.decode("utf-8-sig"))) if row]
    except OSError as error:
        raise InputError([Fault(str(file), "", "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise InputError([Fault(str(file), "", "", f"is not UTF-8 text (byte {error.start})")]) from error
    except csv.Error as error:
        raise InputError([Fault(str(file), "", "", f"is no CSV: {error}")]) from error
    if len(rows) < 2:
        raise InputError([Fault(str(file), "", "", "holds no points: a header of dotted keys, then values")])
    header = [key.strip() for key in rows[0]]
    if len(set(header)) < len(header) or not all(header):
        raise InputError([Fault(str(file), "", "", "a column is empty or there twice", 1)])
    if len(rows) - 1 > POINTS_MAX:
        raise InputError([Fault(str(file), "", f"{len(rows) - 1} points", f"at most {POINTS_MAX}")])
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise InputError([Fault(str(file), "", "", f"has {len(row)} cells, not {len(header)}", line)])
    return [dict(zip(header, (_value(c.strip()) for c in row), strict=True)) for row in rows[1:]]


def _powers_of_two(key: str, listed: str, first: str, last: str) -> tuple[Value, ...]:
    low, high = _value(first.strip()), _value(last.strip())
    numbers = isinstance(low, int | float) and isinstance(high, int | float)
    if not numbers or isinstance(low, bool) or not 0 < float(low) <= float(high) <= 2**62:
        raise _fault(key, listed, "A..B needs two numbers above zero, the smaller first")
    values = tuple(2**p for p in range(63) if float(low) <= 2**p <= float(high))
    if not values:
        raise _fault(key, listed, "holds no power of two; list the values with commas")
    return values


def _value(word: str) -> Any:
    if word in {"true", "false"}:
        return word == "true"
    for suffix, size in SIZES.items():
        if word.endswith(suffix):
            inner = _value(word.removesuffix(suffix).strip())
            return int(inner * size) if isinstance(inner, int | float) else word
    try:
        return int(word)
    except ValueError:
        pass
    try:
        number = float(word)
    except ValueError:
        return word
    if not isfinite(number):
        return word
    # 1e9 means a whole number; 1.0 stays what was written
    return int(number) if "e" in word.lower() and number.is_integer() and abs(number) < 2**62 else number


def _checked(one: Axis) -> Axis:
    if not one.values:
        raise _fault(one.key, "", "has no values")
    if len(one.values) > VALUES_MAX:
        raise _fault(one.key, f"{len(one.values)} values", f"too many; allowed 1 .. {VALUES_MAX}")
    if len(set(map(repr, one.values))) < len(one.values):
        raise _fault(one.key, "", "holds a value twice")
    return one


def _fault(key: str, given: str, problem: str) -> InputError:
    return InputError([Fault("--axis", key, given, problem)])
