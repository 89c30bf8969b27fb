"""The `fabric-compare` command. Results to stdout, progress and warnings to stderr.

Exit status: 0 done, 1 a check failed, 2 bad input (one line a fault), 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from models import __version__
from models.catalog.parts import CATEGORIES
from models.cli_decision import add_commands as add_decision_commands
from models.cli_options import BAD_INPUT, Parser, add_method, add_out, add_prices, add_scenario
from models.scenario.faults import Fault, InputError, one_line

if TYPE_CHECKING:
    pass

OK, CHECK_FAILED, INTERRUPTED = 0, 1, 130
FAULTS_SHOWN = 100


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without a character is no reason to stop
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = _parser().parse_args(argv)
    command: Callable[[argparse.Namespace], int] = arguments.command
    try:
        out = getattr(arguments, "out", None)
        if out and Path(out).exists() and not Path(out).is_dir():
            raise InputError(
                [Fault("--out", "", out, "is a file; must be a folder, made where it is not there")]
            )
        return command(arguments)
    except InputError as error:
        from models.scenario.placed import placed_faults

        files = [getattr(arguments, name) for name in ("scenario", "a", "b") if hasattr(arguments, name)]
        faults = placed_faults(error, files)
        for fault in faults[:FAULTS_SHOWN]:
            print(f"error: {fault}", file=sys.stderr)
        if len(faults) > FAULTS_SHOWN:
            print(f"error: {len(faults) - FAULTS_SHOWN} more faults", file=sys.stderr)
        return BAD_INPUT
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            sys.stderr.close()
            return OK
        what = one_line(f"{error.filename or 'output'}: {error.strerror or error}")
        print(f"error: {what}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="fabric-compare",
        description="Which network gives most work per dollar for a GPU cluster, how sure is that, what would flip it?",
    )
    parser.add_argument("--version", action="version", version=f"fabric-compare {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    compare = commands.add_parser("compare", help="performance, cost and verdict of every candidate")
    add_scenario(compare)
    add_method(compare)
    compare.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="what stdout holds: text to read, comparison.csv, or verdict and rows as JSON (default: table)",
    )
    add_prices(compare)
    add_out(compare, "comparison.csv, phases.csv, bill_of_materials.csv and ownership.csv")
    compare.set_defaults(command=_compare)

    bom = commands.add_parser("bom", help="bill of materials, ownership and cabling")
    add_scenario(bom)
    bom.add_argument("--candidate", metavar="NAME", help="one candidate of the scenario (default: all)")
    add_prices(bom)
    add_out(bom, "bill_of_materials.csv, ownership.csv and cabling.csv")
    bom.set_defaults(command=_bom)

    validate = commands.add_parser(
        "validate",
        help="error against published measurements, packet simulators and reference bills",
        description="Errors in per cent on your own reference sets; with none named, on all that ship with the tool.",
    )
    validate.add_argument(
        "--published",
        metavar="CSV",
        help="measurements with the columns of models/evidence/published.csv (default: none)",
    )
    validate.add_argument(
        "--packet",
        metavar="DIR",
        help="folder of packet-simulator runs, laid out as models/evidence/packet (default: none)",
    )
    validate.add_argument(
        "--bom",
        metavar="CSV",
        help="bills with the columns of models/evidence/bom_reference.csv (default: none)",
    )
    validate.add_argument(
        "--format",
        choices=("table", "json", "csv"),
        default="table",
        help="what stdout holds (default: table)",
    )
    validate.add_argument(
        "--rows",
        action="store_true",
        help="every row after the groups, unusable ones with their reason; `record` says which is which",
    )
    validate.set_defaults(command=_validate)

    add_decision_commands(commands)

    listed = commands.add_parser(
        "parts", help="ids of the catalogue's parts, for `parts` and `prices` of a scenario"
    )
    listed.add_argument("--category", choices=CATEGORIES, default="", help="one category (default: all)")
    listed.set_defaults(command=_parts)

    schema = commands.add_parser("schema", help="JSON Schema of scenario files, to stdout")
    schema.set_defaults(command=_schema)
    return parser


def _schema(arguments: argparse.Namespace) -> int:
    from models.scenario.json_schema import schema_text

    sys.stdout.write(schema_text())
    return OK


def _parts(arguments: argparse.Namespace) -> int:
    from models.scenario.part_words import parts_text

    print(parts_text(arguments.category))
    return OK


def _compare(arguments: argparse.Namespace) -> int:
    from models.cli_text import checks_text, comparison_text
    from models.compare.comparison import compare
    from models.compare.fabrics import METHODS
    from models.compare.feasibility import check
    from models.export import csv_text, write_tables
    from models.scenario.load import load

    scenario = load(arguments.scenario)
    check(scenario)
    methods = METHODS if arguments.method == "both" else (arguments.method,)
    if "fluid" in methods:
        _tell_of_compilation()
    result = compare(scenario, methods, prices=arguments.prices, progress=_progress())
    for warning in result.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if arguments.out:
        for path in write_tables(result.tables(), arguments.out):
            print(f"wrote {path}", file=sys.stderr)
    if arguments.format == "csv":
        sys.stdout.write(csv_text(result.comparison))
    elif arguments.format == "json":
        records = result.comparison.to_dict("records")
        checks = [asdict(check) for check in result.checks()]
        document = {"verdict": result.verdict.sentence, "comparison": records, "checks": checks}
        json.dump(document, sys.stdout, indent=1, allow_nan=False)
        sys.stdout.write("\n")
    else:
        print(comparison_text(result))
        print(checks_text(result.checks()))
    return OK


def _bom(arguments: argparse.Namespace) -> int:
    from models.cli_text import bill_text
    from models.compare.costs import bill_tables, cabling_plan, named_candidates
    from models.cost.cabling import write_cabling
    from models.export import write_tables
    from models.scenario.load import load
    from models.scenario.plausible import doubts

    scenario = load(arguments.scenario)
    names = named_candidates(scenario, arguments.candidate)
    for doubt in doubts(scenario):
        print(f"warning: {doubt}", file=sys.stderr)
    tables, warnings = bill_tables(scenario, names, arguments.prices)
    for warning in warnings:
        print(f"note: {warning}", file=sys.stderr)
    if arguments.out:
        for path in write_tables(tables, arguments.out):
            print(f"wrote {path}", file=sys.stderr)
        path = Path(arguments.out) / "cabling.csv"
        part = path.with_name("cabling.csv.part")
        write_cabling(cabling_plan(scenario, names, arguments.prices), part)
        part.replace(path)
        print(f"wrote {path}", file=sys.stderr)
    print(bill_text(tables))
    return OK


def _validate(arguments: argparse.Namespace) -> int:
    from models.evidence.command import run

    return run(
        published=_path(arguments.published),
        packet=_path(arguments.packet),
        bom=_path(arguments.bom),
        output=arguments.format,
        rows=arguments.rows,
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _tell_of_compilation() -> None:
    """One line on the first run ever, when the compiled kernels are not cached yet."""
    import models

    cached = any(Path(models.__file__).parent.glob("solvers/__pycache__/*.nbi"))
    if not cached:
        print(
            "compiling the fluid solvers once, half a minute or so; later runs start at once", file=sys.stderr
        )


def _progress() -> Callable[[str], None]:
    """Says on stderr what is being done, on a terminal only."""

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(text, file=sys.stderr)

    return say


if __name__ == "__main__":
    raise SystemExit(main())
