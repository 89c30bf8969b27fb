"""What is wrong with an input, one readable line a fault."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault: where it is, what was given, what is allowed."""

    file: str
    key: str
    given: str
    problem: str
    line: int | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        key = f" {self.key}" if self.key else ""
        given = f" = {self.given}" if self.given else ""
        where = f"{place}:{key}{given}" if key or given else place
        return f"{where}: {self.problem}"


class InputError(Exception):
    """One or more faults in something a user wrote; `str()` is one line a fault.

    >>> print(InputError([Fault("a.yaml", "cluster.gpus", "-8", "must be at least 1", 4)]))
    a.yaml:4: cluster.gpus = -8: must be at least 1
    """

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.faults = tuple(faults)

    def __str__(self) -> str:
        return "\n".join(str(fault) for fault in self.faults)
