"""A report as Markdown for a review in git; charts are the sentences that say the same."""

from __future__ import annotations

from collections.abc import Sequence

from models.report_parts import Heading, Listed, Part, Table, Text


def markdown(parts: Sequence[Part]) -> str:
    """The parts as Markdown text.

    >>> print(markdown([Heading("A", 1), Table(["x", "y"], [["1|2", "3"]], right=(1,))]), end="")
    # A
    <BLANKLINE>
    | x | y |
    |---|---:|
    | 1\\|2 | 3 |
    """
    return "\n\n".join(_part(part) for part in parts) + "\n"


def _part(part: Part) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.level} {_plain(part.text)}"
    if isinstance(part, Text):
        return f"**{_plain(part.text)}**" if part.strong else _plain(part.text)
    if isinstance(part, Listed):
        return "\n".join(f"- {_plain(item)}" for item in part.items)
    if isinstance(part, Table):
        return _table(part)
    return f"*{_plain(part.words)}*"


def _table(table: Table) -> str:
    rule = "|" + "|".join("---:" if i in table.right else "---" for i in range(len(table.header))) + "|"
    return "\n".join([_row(table.header), rule, *(_row(row) for row in table.rows)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell).replace("|", "\\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    """One line; angle brackets and backticks of input text stay text."""
    return " ".join(text.split()).replace("<", "&lt;").replace("`", "'")
