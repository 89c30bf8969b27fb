"""Commands about the decision: sweep, sensitivity, report, diff."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from models.cli_options import add_method, add_out, add_prices, add_scenario, whole
from models.scenario.faults import Fault, InputError

OK = 0
DRAWS = 4096
DRAWS_ALLOWED = (16, 2**20)
SAY_S = 2.0  # between progress lines where there is no terminal


def add_commands(commands: Any) -> None:
    """Adds the parsers of the four commands."""
    sweep = commands.add_parser("sweep", help="many points: any scenario keys as axes")
    add_scenario(sweep)
    sweep.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="KEY=V1,V2|A..B",
        help="a dotted scenario key and its values in the key's unit, or the powers of two from A to B; sizes may end in "
        "KiB .. TiB; repeat for a grid (default: sweep.axes of the scenario)",
    )
    sweep.add_argument(
        "--points",
        metavar="CSV",
        help="listed points instead of a grid; columns are keys, one point a row (default: none)",
    )
    add_method(sweep)
    sweep.add_argument(
        "--jobs",
        type=whole(1, 1024, -1),
        default=1,
        metavar="N",
        help="processes; -1 = one a core (default: 1)",
    )
    sweep.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="scheduler of a Dask cluster that is there, tcp://host:port (default: this machine)",
    )
    sweep.add_argument(
        "--resume", action="store_true", help="go on with the points a stopped sweep left in the folder"
    )
    add_out(sweep, "sweep.csv", required=True)
    sweep.set_defaults(command=sweep_command)

    sensitivity = commands.add_parser("sensitivity", help="what moves the answer, and how sure it is")
    add_scenario(sensitivity)
    sensitivity.add_argument(
        "--draws",
        type=whole(*DRAWS_ALLOWED),
        default=DRAWS,
        metavar="N",
        help=f"Monte Carlo draws, {DRAWS_ALLOWED[0]} .. {DRAWS_ALLOWED[1]} (default: {DRAWS})",
    )
    sensitivity.add_argument(
        "--seed",
        type=whole(0, 2**31 - 1),
        metavar="N",
        help="seed of the draws, 0 .. 2147483647 (default: the scenario's)",
    )
    add_method(sensitivity)
    add_prices(sensitivity)
    add_out(sensitivity, "tornado.csv, draws.csv, decision.csv and break_even.csv")
    sensitivity.set_defaults(command=sensitivity_command)

    report = commands.add_parser("report", help="the answer as a self-contained page and as Markdown")
    add_scenario(report)
    add_method(report)
    add_prices(report)
    add_out(report, "report.html, report.md and decision.csv", default="report")
    report.set_defaults(command=report_command)

    diff = commands.add_parser(
        "diff",
        help="what changed between two scenarios or two results",
        description="What changed from A to B: keys and answers of two scenario files, or added, removed and changed rows "
        "of two result folders or result tables (*.csv), paired by the columns that identify a row.",
    )
    diff.add_argument("a", metavar="A", help="scenario file, result folder or result table")
    diff.add_argument("b", metavar="B", help="the same kind of thing")
    diff.set_defaults(command=diff_command)


def sweep_command(arguments: argparse.Namespace) -> int:
    """`fabric-compare sweep`."""
    from models.compare.axes import axes, grid, listed_points
    from models.compare.axis_notes import axis_notes
    from models.compare.sweep import Interrupted, sweep
    from models.compare.sweep_winners import winners, winners_sentence
    from models.scenario.load import load

    scenario = load(arguments.scenario)
    if arguments.points and arguments.axis:
        raise InputError([Fault(f"--points {arguments.points}", "", "", "cannot go with --axis")])
    listed = arguments.points
    points = listed_points(listed) if listed else grid(axes(arguments.axis, scenario.sweep.axes))
    for note in axis_notes(arguments.axis, points, scenario):
        print(f"note: {note}", file=sys.stderr)
    try:
        with _ctrl_c():
            done = sweep(
                scenario,
                points,
                arguments.out,
                _methods(arguments.method),
                jobs=arguments.jobs,
                dask=arguments.dask,
                resume=arguments.resume,
                report=_point_progress(),
            )
    except Interrupted as error:
        print(f"\n{error}", file=sys.stderr)
        raise
    except OSError as error:
        raise InputError(
            [Fault(f"--out {arguments.out}", "", "", f"cannot be written: {error.strerror}")]
        ) from error
    again = f", {done.reused} of them from before" if done.reused else ""
    print(f"{done.points} points{again}", file=sys.stderr)
    for line in done.answers.lines(done.table):
        print(line, file=sys.stderr)
    if len(scenario.candidates) > 1 and (said := winners_sentence(*winners(done.table))):
        print(said, file=sys.stderr)
    print(done.table)
    return OK


class _CtrlC(KeyboardInterrupt):
    """Ctrl-C of our own class.

    A plain KeyboardInterrupt that passes through exec() (imports of generated code do that) makes CPython end the
    process by signal although it was handled, and the exit status is not 130.
    """


@contextmanager
def _ctrl_c() -> Iterator[None]:
    def raised(number: int, frame: object) -> None:
        raise _CtrlC

    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, raised)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def sensitivity_command(arguments: argparse.Namespace) -> int:
    """`fabric-compare sensitivity`."""
    from models.cli_decision_text import sensitivity_text
    from models.compare.feasibility import check
    from models.compare.sensitivity import sensitivity
    from models.export import write_tables
    from models.scenario.load import load

    scenario = load(arguments.scenario)
    check(scenario)
    if arguments.seed is not None:
        scenario = scenario.model_copy(update={"seed": arguments.seed})
    result = sensitivity(
        scenario, arguments.draws, _methods(arguments.method), prices=arguments.prices, progress=_progress()
    )
    if arguments.out:
        for path in write_tables(result.tables(), arguments.out):
            print(f"wrote {path}", file=sys.stderr)
    print(sensitivity_text(result))
    return OK


def report_command(arguments: argparse.Namespace) -> int:
    """`fabric-compare report`."""
    from models.compare.feasibility import check
    from models.export import write_tables, write_text
    from models.report import report
    from models.scenario.load import load

    scenario = load(arguments.scenario)
    check(scenario)
    made = report(scenario, _methods(arguments.method), prices=arguments.prices, progress=_progress())
    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "report.html", made.html)
    write_text(folder / "report.md", made.markdown)
    write_tables({"decision": made.decision}, folder)
    for name in ("report.html", "report.md", "decision.csv"):
        print(folder / name)
    return OK


def diff_command(arguments: argparse.Namespace) -> int:
    """`fabric-compare diff`."""
    from models.compare.diff import difference_text

    print(difference_text(Path(arguments.a), Path(arguments.b), progress=_progress()))
    return OK


def _methods(name: str) -> Any:
    from models.compare.fabrics import METHODS

    return METHODS if name == "both" else (name,)


def _progress() -> Callable[[str], None]:
    def say(text: str) -> None:
        if sys.stderr.isatty() or text.startswith("compiling"):
            print(text, file=sys.stderr)

    return say


def _point_progress() -> Callable[[int, int, float | None], None]:
    """Points done and the time left: one moving line on a terminal, else a line every few seconds."""
    terminal = sys.stderr.isatty()
    said = monotonic()

    def say(done: int, points: int, left_s: float | None) -> None:
        nonlocal said
        last = done == points
        if not terminal and (not last and monotonic() - said < SAY_S):
            return
        said = monotonic()
        text = f"{done}/{points} points ({100 * done // max(1, points)} %)"
        if left_s is not None and not last:
            text += f", {_duration_text(left_s)} left"
        if terminal:
            print(f"\r\x1b[K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    return say


def _duration_text(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
