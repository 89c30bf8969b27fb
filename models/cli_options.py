"""Options that commands share, each with its unit and its default."""

from __future__ import annotations

import argparse
import sys
from typing import Any

BAD_INPUT = 2


class Parser(argparse.ArgumentParser):
    """A parser whose faults are one line on stderr and status 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Ends the command."""
        from models.scenario.faults import one_line

        print(f"error: {one_line(message)} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def add_scenario(parser: Any) -> None:
    """The scenario file."""
    parser.add_argument(
        "scenario", metavar="SCENARIO", help="scenario file (YAML, at most 1 MB; see scenarios/)"
    )


def add_method(parser: Any) -> None:
    """Which models answer."""
    parser.add_argument(
        "--method",
        choices=("analytical", "fluid", "both"),
        default="both",
        help="closed forms, solved flows and queues, or both with their difference as uncertainty (default: both)",
    )


def add_prices(parser: Any) -> None:
    """The user's own quotes."""
    parser.add_argument(
        "--prices",
        metavar="CSV",
        help="your quotes in USD, by part id; they win over the catalogue (default: catalogue prices)",
    )


def add_out(parser: Any, written: str, default: str | None = None, required: bool = False) -> None:
    """The folder results are written to."""
    without = "required" if required else f"default: {default}" if default else "default: nothing is written"
    parser.add_argument(
        "--out",
        metavar="DIR",
        default=default,
        required=required,
        help=f"folder for {written}; made where it is not there ({without})",
    )


def whole(low: int, high: int, also: int | None = None) -> Any:
    """The type of an option that is a whole number of `low` .. `high`, or `also`.

    >>> whole(1, 8)("4")
    4
    """
    words = f"allowed {low} .. {high}" + ("" if also is None else f", or {also}")

    def number(text: str) -> int:
        try:
            found = int(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number; {words}") from error
        if found != also and not low <= found <= high:
            raise argparse.ArgumentTypeError(f"{found}: {words}")
        return found

    return number
