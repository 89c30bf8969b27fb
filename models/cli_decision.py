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

from models.scenario.faults import Fault, InputError

OK = 0
DRAWS = 4096
SAY_S = 2.0  # between progress lines where there is no terminal


def add_commands(commands: Any) -> None:
    """Adds the parsers of the four commands."""
    sweep = commands.add_parser("sweep", help="many points: any scenario keys as axes")
    sweep.add_argument("scenario")
    sweep.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="KEY=V1,V2|A..B",
        help="a dotted scenario key and its values, or powers of two; repeat for a grid",
    )
    sweep.add_argument("--points", metavar="CSV", help="listed points instead of a grid; columns are keys")
    sweep.add_argument("--method", choices=("analytical", "fluid", "both"), default="both")
    sweep.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="processes; -1 = one a core")
    sweep.add_argument("--dask", metavar="ADDRESS", help="an existing scheduler, tcp://host:port")
    sweep.add_argument("--resume", action="store_true", help="go on with what is in the folder")
    sweep.add_argument("--out", required=True, metavar="DIR")
    sweep.set_defaults(command=sweep_command)

    sensitivity = commands.add_parser("sensitivity", help="what moves the answer, and how sure it is")
    sensitivity.add_argument("scenario")
    sensitivity.add_argument("--draws", type=_draws, default=DRAWS, metavar="N")
    sensitivity.add_argument("--seed", type=int, metavar="N", help="default: the scenario's")
    sensitivity.add_argument("--method", choices=("analytical", "fluid", "both"), default="both")
    sensitivity.add_argument("--prices", metavar="CSV", help="quotes that win over the catalogue")
    sensitivity.add_argument("--out", metavar="DIR")
    sensitivity.set_defaults(command=sensitivity_command)

    report = commands.add_parser("report", help="the answer as a self-contained page and as Markdown")
    report.add_argument("scenario")
    report.add_argument("--method", choices=("analytical", "fluid", "both"), default="both")
    report.add_argument("--prices", metavar="CSV", help="quotes that win over the catalogue")
    report.add_argument("--out", default="report", metavar="DIR")
    report.set_defaults(command=report_command)

    diff = commands.add_parser("diff", help="what changed between two scenarios or result folders")
    diff.add_argument("a")
    diff.add_argument("b")
    diff.set_defaults(command=diff_command)


def sweep_command(arguments: argparse.Namespace) -> int:
    """`fabric-compare sweep`."""
    from models.compare.axes import axes, grid, listed_points
    from models.compare.sweep import Interrupted, sweep
    from models.scenario.load import load

    scenario = load(arguments.scenario)
    if arguments.points and arguments.axis:
        raise InputError([Fault(f"--points {arguments.points}", "", "", "cannot go with --axis")])
    listed = arguments.points
    points = listed_points(listed) if listed else grid(axes(arguments.axis, scenario.sweep.axes))
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
    from models.compare.sensitivity import sensitivity
    from models.export import write_tables
    from models.scenario.load import load

    scenario = load(arguments.scenario)
    if arguments.seed is not None:
        if not 0 <= arguments.seed < 2**31:
            raise InputError([Fault(f"--seed {arguments.seed}", "", "", "allowed 0 .. 2147483647")])
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
    from models.export import write_tables, write_text
    from models.report import report
    from models.scenario.load import load

    scenario = load(arguments.scenario)
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


def _jobs(text: str) -> int:
    number = int(text)
    if number == 0 or not -1024 <= number <= 1024:
        raise argparse.ArgumentTypeError("allowed 1 .. 1024, or -1 for one a core")
    return number


def _draws(text: str) -> int:
    number = int(text)
    if not 16 <= number <= 2**20:
        raise argparse.ArgumentTypeError(f"allowed 16 .. {2**20}")
    return number


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
