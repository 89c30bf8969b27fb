"""Reads what nccl-tests, perftest and the OSU benchmarks print, as one table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from models.evidence.nccl_log import LINES_MAX, nccl_log
from models.scenario.faults import Fault, InputError

Tool = Literal["nccl-tests", "perftest", "osu"]


@dataclass(frozen=True)
class LogRow:
    """One result line: a size with a time or a bandwidth, SI units; None where the tool prints no such figure."""

    tool: Tool
    operation: str
    message_bytes: float
    time_s: float | None = None
    bandwidth_bytes_per_s: float | None = None  # bus bandwidth for nccl-tests


def log_tool(text: str) -> Tool:
    """Which tool wrote a log, told by its own headings; nccl-tests when there are none.

    >>> log_tool("# OSU MPI Latency Test v7.0")
    'osu'
    """
    head = text[:200_000]
    if re.search(r"^# *OSU ", head, re.MULTILINE):
        return "osu"
    if re.search(r"#bytes +#iterations", head):
        return "perftest"
    return "nccl-tests"


def log_rows(text: str, file: str = "log") -> list[LogRow]:
    """Result lines of a log of any of the three tools. Raises InputError when there is none.

    >>> log_rows(" #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\\n 65536 5000 98.03 98.01 0.18")[0]
    LogRow(tool='perftest', operation='bandwidth', message_bytes=65536.0, time_s=None, bandwidth_bytes_per_s=12251250000.0)
    """
    tool = log_tool(text)
    if tool == "nccl-tests":
        return _nccl_rows(text, file)
    rows = _osu_rows(text) if tool == "osu" else _perftest_rows(text)
    if not rows:
        raise InputError([Fault(file, "", "", f"no result line of {tool} in it")])
    return rows


def _nccl_rows(text: str, file: str) -> list[LogRow]:
    named = re.search(
        r"\b(all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|sendrecv)_perf", text
    )
    operation = named.group(1) if named else ""
    return [
        LogRow("nccl-tests", operation, float(size), float(time_s), float(bus))
        for size, time_s, bus in nccl_log(text, file).itertuples(index=False)
    ]


def _numbers(line: str) -> list[float]:
    try:
        return [float(cell) for cell in line.split()]
    except ValueError:
        return []


def _perftest_rows(text: str) -> list[LogRow]:
    """#bytes #iterations, then bandwidth (peak, average) or latency (t_min, t_max, t_typical); units in the heading."""
    rows, heading = [], ""
    for line in text.splitlines()[:LINES_MAX]:
        if "#bytes" in line:
            heading = line
            continue
        cells = _numbers(line)
        if not heading or len(cells) < 4:
            continue
        if "t_" in heading:
            scale = 1e-6 if "usec" in heading else 1e-9 if "nsec" in heading else 1e-6
            typical = cells[4] if "t_typical" in heading and len(cells) > 4 else cells[2]
            rows.append(LogRow("perftest", "latency", cells[0], time_s=typical * scale))
        else:
            scale = 1e9 / 8 if "Gb" in heading else 2.0**20  # perftest counts 2^20 in MB/sec and MiB/sec
            rows.append(LogRow("perftest", "bandwidth", cells[0], bandwidth_bytes_per_s=cells[3] * scale))
    return rows


def _osu_rows(text: str) -> list[LogRow]:
    """Size and latency (us) or bandwidth (MB/s); the heading names test and unit."""
    rows, operation, bandwidth = [], "", False
    for line in text.splitlines()[:LINES_MAX]:
        if line.lstrip().startswith("#"):
            title = re.search(r"OSU (?:MPI|NCCL|XCCL)[^ ]*(?:-\w+)? (.+?) Test", line)
            operation = title.group(1).lower().replace(" ", "_") if title else operation
            bandwidth = "MB/s" in line if "Size" in line else bandwidth
            continue
        cells = _numbers(line)
        if len(cells) < 2 or not operation:
            continue
        if bandwidth:
            rows.append(LogRow("osu", operation, cells[0], bandwidth_bytes_per_s=cells[1] * 1e6))
        else:
            rows.append(LogRow("osu", operation, cells[0], time_s=cells[1] * 1e-6))
    return rows
