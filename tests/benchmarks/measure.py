"""What the benchmarks share: a row of the table, and CPU time of a warm run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def row(name: str, value: float, unit: str, limit: float | None, note: str = "CPU, warm") -> dict[str, Any]:
    """A row of `make bench`; without a limit it is told and not judged."""
    ok = limit is None or value <= limit
    return {"name": name, "value": value, "unit": unit, "limit": limit, "ok": ok, "note": note}


def cpu_seconds(work: Callable[[], Any], repeats: int = 3, warm: bool = True) -> float:
    """CPU time of a run, the least of several: what else the machine does only ever adds."""
    if warm:
        work()
    taken = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)
