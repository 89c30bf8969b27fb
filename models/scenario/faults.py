"""What is wrong with an input, one readable line a fault."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unicodedata import category

SHOWN_CHARACTERS = 80
LINE_CHARACTERS = 2000


def shown(value: Any) -> str:
    """A value as its author wrote it, on one line and not too long.

    >>> shown("a\\nb"), shown(True), shown(None), shown(0.5)
    ("'a\\\\nb'", 'true', 'null', '0.5')
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def control_characters(text: str) -> bool:
    """Whether text holds what moves a terminal's cursor or is no character at all; line breaks and tabs are fine.

    >>> control_characters("a\\tb\\n"), control_characters("a\\x1b[2J"), control_characters("\\ud800")
    (False, True, True)
    """
    return any(category(c) in {"Cc", "Cs"} and c not in "\n\r\t" for c in text)


def one_line(text: str) -> str:
    """`text` with characters that would end the line, or move a terminal's cursor, written out.

    >>> one_line("a\\nb\\x1b[2J")
    'a\\\\nb\\\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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
        where = " = ".join(part for part in (self.key, self.given) if part)
        where = f"{place}: {where}" if where else place
        return one_line(f"{where}: {self.problem}"[:LINE_CHARACTERS])


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
