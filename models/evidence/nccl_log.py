"""Reads the table an nccl-tests program prints."""

from __future__ import annotations

import re
from math import isfinite

import pandas as pd

from models.scenario.faults import Fault, InputError

LINES_MAX = 20_000
_TAG = re.compile(r"^\s*(\[[\d,]+\]<std\w+>:?|\d+:(?=\s)|[\w.-]+:(?=\s))\s*")  # mpirun, srun -l, pdsh
COLUMNS = ["message_bytes", "time_s", "bus_bandwidth_bytes_per_s"]


def nccl_log(text: str, file: str = "log") -> pd.DataFrame:
    """Size, out-of-place time and bus bandwidth of every result line.

    Columns of nccl-tests 2.x: size, count, type, redop, root, time (us), algbw, busbw (GB/s), #wrong, and the in-place
    four; older versions have no root, some operations no redop, and launchers put a tag before the line. Raises
    InputError when no line is one.

    >>> nccl_log("  1048576  262144  float  sum  -1  123.4  8.50  15.93  0").bus_bandwidth_bytes_per_s.tolist()
    [15930000000.0]
    """
    rows = []
    for line in text.splitlines()[:LINES_MAX]:
        found = _result(_TAG.sub("", line).split())
        if found is not None:
            rows.append(found)
    if not rows:
        raise InputError(
            [
                Fault(
                    file,
                    "",
                    "",
                    "has no result line of nccl-tests (size count type redop root time algbw busbw ...)",
                )
            ]
        )
    return pd.DataFrame(rows, columns=COLUMNS)


def _result(cells: list[str]) -> list[float] | None:
    """Size, time and bus bandwidth of a result line in SI units, None for any other line."""
    if len(cells) < 7 or not cells[0].isdigit() or not cells[1].isdigit() or _is_number(cells[2]):
        return None
    figures = cells[3:] if _is_number(cells[3]) else cells[4:]
    if len(figures) % 2:  # four figures out of place, four in place, and the root before them
        figures = figures[1:]
    if len(figures) < 3 or not all(_is_number(cell) for cell in figures[:3]):
        return None
    size, time_us, bus = int(cells[0]), float(figures[0]), float(figures[2])
    return [size, time_us * 1e-6, bus * 1e9] if size > 0 and time_us > 0 and bus >= 0 else None


def _is_number(cell: str) -> bool:
    try:
        return isfinite(float(cell))
    except ValueError:
        return False
