"""Reads the table an nccl-tests program prints."""

from __future__ import annotations

import pandas as pd

from models.scenario.faults import Fault, InputError

LINES_MAX = 20_000
COLUMNS = ["message_bytes", "time_s", "bus_bandwidth_bytes_per_s"]


def nccl_log(text: str, file: str = "log") -> pd.DataFrame:
    """Size, out-of-place time and bus bandwidth of every result line.

    Columns of nccl-tests 2.x: size, count, type, redop, root, time (us), algbw, busbw (GB/s), #wrong, and the in-place
    four; operations without a reduction print the same columns. Raises InputError when no line is one.

    >>> nccl_log("  1048576  262144  float  sum  -1  123.4  8.50  15.93  0").bus_bandwidth_bytes_per_s.tolist()
    [15930000000.0]
    """
    rows = []
    for line in text.splitlines()[:LINES_MAX]:
        cells = line.split()
        if len(cells) < 8 or line.lstrip().startswith("#") or not cells[0].isdigit():
            continue
        try:
            size, time_us, bus = int(cells[0]), float(cells[5]), float(cells[7])
        except ValueError:
            continue
        if size > 0 and time_us > 0 and bus >= 0:
            rows.append([size, time_us * 1e-6, bus * 1e9])
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
