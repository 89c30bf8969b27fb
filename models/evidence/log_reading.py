"""What a reader's log is and holds: which tool and test, how many GPUs, which lines were read and which were not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from models.evidence.logs import LogRow, Tool, log_rows, log_tool
from models.evidence.nccl_log import COLUMNS, LINES_MAX
from models.scenario.faults import Fault, InputError
from models.workload.phase import bus_bandwidth_factor

Kind = Literal["collective", "bandwidth", "latency"]
TEXT_BYTES_MAX = 2 * 1024 * 1024
SHOWN_LINES = 3
NAMES: dict[Tool, str] = {"nccl-tests": "nccl-tests", "perftest": "perftest", "osu": "OSU"}
WANTED = "the output of nccl-tests (all_reduce_perf ...), OSU benchmarks (osu_allreduce, osu_bw ...) or perftest (ib_write_bw ...)"
OSU_PAIRS = frozenset({"latency", "bandwidth", "bi-directional bandwidth"})
# the launchers mpirun, srun -l and pdsh put a tag before every line
_TAG = re.compile(r"^\s*(\[[\d,]+\]<std\w+>:?|\d+:(?=\s)|[\w.-]+:(?=\s+[#\d]))\s?")
_COLLECTIVES = {
    "all_reduce": "all_reduce", "all_gather": "all_gather", "reduce_scatter": "reduce_scatter", "alltoall": "all_to_all",
    "broadcast": "broadcast", "reduce": "reduce", "sendrecv": "send_recv",
    "allreduce": "all_reduce", "allgather": "all_gather", "all-to-all": "all_to_all", "bcast": "broadcast",
}  # fmt: skip
_PER_PEER = frozenset(
    {"all_gather", "all_to_all"}
)  # OSU prints the bytes for one peer, nccl-tests those of the whole


@dataclass(frozen=True)
class LogReading:
    """A log that was understood. `operation` as this tool names it, "" where the log does not say."""

    file: str
    tool: Tool
    test: str  # in the tool's own words
    kind: Kind
    operation: str
    bidirectional: bool
    ranks: int | None
    rows: tuple[LogRow, ...]
    unread: tuple[str, ...]  # lines that look like a result and are none
    passed_over: int  # headings, comments, separators
    wrong: bool  # the tool found wrong data

    @property
    def words(self) -> str:
        """What was recognised, in a sentence."""
        of = f" over {self.ranks} GPUs" if self.ranks else ""
        count = len(self.rows)
        text = f"{self.file}: {NAMES[self.tool]} {self.test}{of}, {count} result line{'s' if count != 1 else ''} read"
        text += f"; {self.passed_over} lines of headings and comments passed over"
        if self.unread:
            shown = "; ".join(f"{line.strip()[:60]!r}" for line in self.unread[:SHOWN_LINES])
            text += f"; {len(self.unread)} that look like results but are not readable: {shown}"
        return text + "."


def log_reading(content: bytes | str, file: str = "log") -> LogReading:
    """The log, recognised by its own headings.

    Raises InputError for what is too large, no text, or no log of the three tools.

    >>> found = log_reading("# OSU MPI Allreduce Latency Test v7.4\\n# Size  Avg Latency(us)\\n8 5.1\\n16 5.2\\n")
    >>> found.tool, found.operation, found.kind, len(found.rows)
    ('osu', 'all_reduce', 'collective', 2)
    """
    text = _text(content, file)
    lines = [_TAG.sub("", line) for line in text.splitlines()[:LINES_MAX]]
    clean = "\n".join(lines)
    tool = log_tool(clean)
    try:
        rows = [row for row in log_rows(clean, file) if row.time_s or row.bandwidth_bytes_per_s]
    except InputError:
        rows = []
    if not rows:
        raise InputError([Fault(file, "", _first_line(lines), _problem(tool, clean))])
    test = _test_name(tool, clean)
    kind: Kind = "collective"
    operation = _operation(tool, test)
    if tool == "osu" and not operation and test.lower() not in OSU_PAIRS:
        problem = f"is OSU {test}, which is not compared; compared are its latency, bandwidth and blocking collectives"
        raise InputError([Fault(file, "", "", problem)])
    if tool == "perftest" or (tool == "osu" and not operation):
        kind = "bandwidth" if rows[0].bandwidth_bytes_per_s is not None else "latency"
        operation = ""
    results, unread = 0, []
    for line in lines:
        if re.match(r"\s*\d+\s+\S", line):
            results += 1
            if not _readable(tool, line):
                unread.append(line)
    said = sum(bool(line.strip()) for line in lines) - results
    wrong = re.search(r"Out of bounds values\s*:\s*\d+\s+FAILED", clean) is not None
    return LogReading(
        file=file, tool=tool, test=test, kind=kind, operation=operation,
        bidirectional=bool(re.search(r"bi-?directional", test, re.IGNORECASE)), ranks=_ranks(clean), rows=tuple(rows),
        unread=tuple(unread), passed_over=max(0, said), wrong=wrong,
    )  # fmt: skip


def collective_rows(reading: LogReading, operation: str, ranks: int) -> pd.DataFrame:
    """Size, time and bus bandwidth (columns of `nccl_log`) as nccl-tests would print them.

    OSU prints a time; sizes of all-gather and all-to-all are per peer there, so they are multiplied by the ranks. Lines
    without a size (0 bytes) are left out.

    >>> found = log_reading("# OSU MPI Allgather Latency Test\\n# Size Latency(us)\\n1048576 100\\n")
    >>> collective_rows(found, "all_gather", 8).message_bytes.tolist()
    [8388608.0]
    """
    factor = bus_bandwidth_factor(operation, ranks)
    found = []
    for row in reading.rows:
        size = row.message_bytes * (ranks if reading.tool == "osu" and operation in _PER_PEER else 1)
        if size <= 0 or not row.time_s:
            continue
        bus = row.bandwidth_bytes_per_s
        found.append([size, row.time_s, factor * size / row.time_s if bus is None else bus])
    return pd.DataFrame(found, columns=COLUMNS, dtype=float)


def _text(content: bytes | str, file: str) -> str:
    if isinstance(content, str):
        content = content.encode("utf-8", errors="replace")
    if len(content) > TEXT_BYTES_MAX:
        problem = f"too large; at most {TEXT_BYTES_MAX} bytes"
        raise InputError([Fault(file, "", f"{len(content)} bytes", problem)])
    if not content.strip():
        raise InputError([Fault(file, "", "", f"is empty; wanted: {WANTED}")])
    if b"\x00" in content[:4096]:
        raise InputError([Fault(file, "", "", f"is not text; wanted: {WANTED}")])
    return content.decode("utf-8", errors="replace")


def _problem(tool: Tool, text: str) -> str:
    if tool == "osu":
        return "is headed as an OSU benchmark but has no result line (size, then latency or bandwidth)"
    if tool == "perftest":
        return "is headed as perftest but has no result line (#bytes #iterations, then bandwidth or latency)"
    if re.search(r"nccl-tests|_perf\b|busbw", text):
        return (
            "is headed as nccl-tests but has no result line (size count type redop root time algbw busbw ...)"
        )
    return f"has no result line of a known tool; wanted: {WANTED}"


def _first_line(lines: list[str]) -> str:
    return next((line.strip()[:60] for line in lines if line.strip()), "")


def _test_name(tool: Tool, text: str) -> str:
    pattern = {
        "nccl-tests": r"\b((?:all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|sendrecv)_perf)\b",
        "osu": r"OSU (?:MPI|NCCL|XCCL)\S* (.+?) Test",
        "perftest": r"((?:RDMA_)?(?:Write|Send|Read|Atomic)[\w ]*?(?:BW|Latency)) Test",
    }[tool]
    found = re.search(pattern, text)
    return found.group(1).strip() if found else ("" if tool == "nccl-tests" else "test")


def _operation(tool: Tool, test: str) -> str:
    if tool == "nccl-tests":
        return _COLLECTIVES.get(test.removesuffix("_perf"), "")
    if tool == "perftest":
        return ""
    first = test.lower().split()[0] if test else ""
    return _COLLECTIVES.get(first, "")


def _ranks(text: str) -> int | None:
    """Ranks that nccl-tests lists before its table."""
    found = {int(n) for n in re.findall(r"^#\s+Rank\s+(\d+)\s", text, re.MULTILINE)}
    return max(found) + 1 if found else None


def _readable(tool: Tool, line: str) -> bool:
    if tool == "nccl-tests":
        try:
            return bool(log_rows(line))
        except InputError:
            return False
    try:
        figures = [float(cell) for cell in line.split()]
    except ValueError:
        return False
    return len(figures) >= (4 if tool == "perftest" else 2)
