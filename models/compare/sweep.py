"""A scenario at many points: in this process, in several, or on a Dask cluster, with the same table from each.

Points are handed out in blocks of equal times (points that differ in prices only are one block), finished ones are
written as they come, and a killed run goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import monotonic

from models.compare.axes import Point
from models.compare.concerns import COST_ONLY, concern, values_of
from models.compare.fabrics import METHODS, Method
from models.compare.sweep_answers import Answers
from models.compare.sweep_costs import Costs, spans
from models.compare.sweep_files import JOURNAL, SEAL, TABLE, Journal, finished_table, question, write_finished
from models.compare.sweep_points import Variations, checked_keys
from models.compare.sweep_rows import Rows, header
from models.compare.sweep_sizes import apart_from_sizes
from models.scenario.schema import Scenario

Report = Callable[[int, int, float | None], None]  # done, all, seconds left or None
Block = list[int]
BATCH_S = 0.5  # one process: write at least this often
BLOCK_POINTS_MAX = 2000
HANDFULS_A_WORKER = 1000
SIZES_A_HANDFUL = 64


@dataclass(frozen=True)
class Task:
    """What every worker needs to know of a sweep."""

    scenario: Scenario
    keys: tuple[str, ...]
    over: Mapping[str, tuple[float, float]]
    methods: tuple[Method, ...]


@dataclass(frozen=True)
class Swept:
    """A finished sweep: where its table is, how many of its points were there before, and what has no answer."""

    table: Path
    points: int
    reused: int
    answers: Answers


class Interrupted(KeyboardInterrupt):
    """Stopped by the user; finished points are kept."""

    def __init__(self, done: int, points: int, folder: Path) -> None:
        super().__init__(f"{done} of {points} points kept in {folder}; --resume goes on from there")


def sweep(
    scenario: Scenario,
    points: Sequence[Point],
    folder: str | Path,
    methods: Sequence[Method] = METHODS,
    *,
    jobs: int = 1,
    dask: str | None = None,
    resume: bool = False,
    report: Report = lambda done, points, left: None,
) -> Swept:
    """`points` of `scenario` worked out into `folder`/sweep.csv.

    The table is the same byte for byte for any `jobs`, on Dask (`dask` is the address of its scheduler), and after a
    stop. Points that cannot be built are rows with a reason. Raises InputError for keys that do not exist and for a
    folder that holds another sweep (with `resume`), Interrupted on Ctrl-C.
    """
    folder = Path(folder)
    checked_keys(scenario, points)
    asked = question(scenario, points, methods)
    finished = finished_table(folder, asked) if resume else None
    if finished is not None:
        report(len(points), len(points), 0.0)
        return Swept(folder / TABLE, len(points), len(points), finished)
    (folder / SEAL).unlink(missing_ok=True)
    (folder / TABLE).unlink(missing_ok=True)
    with Journal(folder, asked, resume) as journal:
        reused = len(journal.done)
        left = [block for block in blocks(scenario, points) if any(i not in journal.done for i in block)]
        started = monotonic()
        try:
            for rows in _finished(_task(scenario, points, methods), points, left, jobs, dask):
                journal.add(row for row in rows if row[0] not in journal.done)
                new = len(journal.done) - reused
                rate = (monotonic() - started) / new if new else None
                report(
                    len(journal.done),
                    len(points),
                    None if rate is None else rate * (len(points) - len(journal.done)),
                )
        except KeyboardInterrupt as error:
            raise Interrupted(len(journal.done), len(points), folder) from error
        answers = write_finished(folder, header(list(points[0]) if points else []), journal.rows(), asked)
    (folder / JOURNAL).unlink(missing_ok=True)
    return Swept(folder / TABLE, len(points), reused, answers)


def rows_text(scenario: Scenario, points: Sequence[Point], methods: Sequence[Method] = METHODS) -> str:
    """The table of a sweep as text, worked out here and now."""
    found = point_rows(scenario, points, methods)
    return header(list(points[0]) if points else []) + "".join(found)


def point_rows(scenario: Scenario, points: Sequence[Point], methods: Sequence[Method] = METHODS) -> list[str]:
    """The rows of every point as text, in order, worked out here and now."""
    checked_keys(scenario, points)
    worker = _Worker(_task(scenario, points, methods))
    worker.announce(points)
    return [text for _, text in worker.rows(range(len(points)), points)]


def _task(scenario: Scenario, points: Sequence[Point], methods: Sequence[Method]) -> Task:
    return Task(scenario, tuple(points[0]) if points else (), spans(points), tuple(methods))


def blocks(scenario: Scenario, points: Sequence[Point]) -> list[Block]:
    """Points grouped by the values that change a time, in order of their first point."""
    keys = [k for k in (points[0] if points else {}) if concern(k, scenario).section not in COST_ONLY]
    groups: dict[tuple[object, ...], Block] = {}
    for number, point in enumerate(points):
        groups.setdefault(values_of(keys, point), []).append(number)
    return [
        block[start : start + BLOCK_POINTS_MAX]
        for block in groups.values()
        for start in range(0, len(block), BLOCK_POINTS_MAX)
    ]


class _Worker:
    """What one process remembers between blocks."""

    def __init__(self, task: Task) -> None:
        self._variations = Variations(task.scenario, task.keys, task.methods)
        self._costs = Costs(self._variations, task.over)
        self._rows = Rows(self._variations, task.keys)

    def announce(self, points: Sequence[Point]) -> None:
        """Says which points will come, so that those that differ in a message size only are worked out together."""
        self._variations.announce(points)

    def rows(self, numbers: Sequence[int], points: Sequence[Point]) -> list[tuple[int, str]]:
        costs = self._costs.at(points)
        return [
            (number, self._rows.point(point, cost))
            for number, point, cost in zip(numbers, points, costs, strict=True)
        ]


_latest: list[tuple[Task, _Worker]] = []  # one per process: the next handful is of the same sweep


def handful_rows(task: Task, numbers: Sequence[int], points: Sequence[Point]) -> list[tuple[int, str]]:
    """Rows of some points of a sweep, with their numbers; what runs in other processes."""
    if not _latest or _latest[0][0] != task:
        _latest[:] = [(task, _Worker(task))]
    _latest[0][1].announce(points)
    return _latest[0][1].rows(numbers, points)


def _finished(
    task: Task, points: Sequence[Point], left: list[Block], jobs: int, dask: str | None
) -> Iterator[list[tuple[int, str]]]:
    """Rows of the blocks, as they are done."""
    if dask is not None:
        from models.compare.sweep_dask import finished

        yield from finished(dask, handful_rows, task, _handfuls(task, left, points, 8))
    elif jobs == 1 or len(left) <= 1:
        yield from _here(_Worker(task), points, left)
    else:
        from joblib import Parallel, delayed, effective_n_jobs

        handfuls = _handfuls(task, left, points, effective_n_jobs(jobs))
        parallel = Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered")
        yield from parallel(delayed(handful_rows)(task, *handful) for handful in handfuls)


def _here(worker: _Worker, points: Sequence[Point], left: list[Block]) -> Iterator[list[tuple[int, str]]]:
    rows: list[tuple[int, str]] = []
    written = monotonic()
    try:
        worker.announce([points[block[0]] for block in left])
        for block in left:
            rows += worker.rows(block, [points[i] for i in block])
            if monotonic() - written > BATCH_S:
                ready, rows = rows, []
                yield ready
                written = monotonic()
    except KeyboardInterrupt:
        if rows:
            yield rows
        raise
    if rows:
        yield rows


def _handfuls(
    task: Task, left: list[Block], points: Sequence[Point], workers: int
) -> list[tuple[Block, list[Point]]]:
    """Blocks in handfuls, with their points: one block each, so that little is lost, unless there are very many.

    Blocks that differ in message sizes only go together, some for each worker: they cost little more than one.
    """
    size = max(1, len(left) // (workers * HANDFULS_A_WORKER))
    keys = [k for k in task.keys if concern(k, task.scenario).section not in COST_ONLY]
    apart = apart_from_sizes(task.scenario, keys)
    together: dict[tuple[object, ...], list[Block]] = {}
    for block in left:
        at = values_of(apart, points[block[0]]) if len(apart) < len(keys) else ()
        together.setdefault(at, []).append(block)
    joined = []
    for group in together.values():
        most = size if len(apart) == len(keys) else max(size, min(SIZES_A_HANDFUL, -(-len(group) // workers)))
        starts = range(0, len(group), most)
        joined += [list(chain.from_iterable(group[start : start + most])) for start in starts]
    return [(numbers, [points[i] for i in numbers]) for numbers in joined]
