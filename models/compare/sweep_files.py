"""Files of a sweep: a journal that a killed run leaves usable, and the finished table.

The journal holds a record a finished point: a line with its number and the length of its rows, then the rows. A
last record cut off by a kill is dropped. Its first line names the question; the journal or table of another question
is refused, never mixed in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from itertools import chain
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, BinaryIO

from models import __version__
from models.compare.axes import Point
from models.compare.sweep_answers import Answers, answers_of, counted
from models.export import write_text
from models.scenario.faults import Fault, InputError
from models.scenario.load import dump
from models.scenario.schema import Scenario

TABLE, JOURNAL, SEAL = "sweep.csv", "sweep.journal", "sweep.json"
SET_ASIDE = "sweep.journal.before"
FORMAT = 1
MARK = b"point "
SYNC_S = 1.0  # a kill loses nothing that was written; a power cut at most this


def question(scenario: Scenario, points: Sequence[Point], methods: Sequence[str]) -> dict[str, Any]:
    """What a sweep asks, as a few hashes: equal questions have equal tables."""
    return {
        "format": FORMAT,
        "version": __version__,
        "scenario": scenario.name,
        "scenario_sha256": _hash(dump(scenario)),
        "points": len(points),
        "points_sha256": _hash(json.dumps([list(point.items()) for point in points])),
        "methods": list(methods),
    }


class Journal:
    """The finished points of a sweep in a folder, appended as they come."""

    def __init__(self, folder: Path, asked: Mapping[str, Any], resume: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / JOURNAL
        self.done: dict[
            int, tuple[int, int]
        ] = {}  # point -> where its rows are in the file, and how many bytes
        keep = 0
        if resume and self.path.exists():
            self.done, keep = _finished(self.path, asked)
        elif self.path.exists():  # hours of work are not thrown away because of a forgotten --resume
            os.replace(self.path, folder / SET_ASIDE)
        self._file: BinaryIO = open(self.path, "r+b" if keep else "wb")  # noqa: SIM115
        self._file.truncate(keep)
        self._file.seek(keep)
        self._end = keep
        self._synced = monotonic()
        if not keep:
            first = (json.dumps(asked) + "\n").encode()
            self._file.write(first)
            self._end = len(first)
            self._sync()

    def add(self, rows: Iterable[tuple[int, str]]) -> None:
        """Keeps the rows of finished points."""
        for number, text in rows:
            encoded = text.encode()
            head = b"%s%d %d\n" % (MARK, number, len(encoded))
            self._file.write(head + encoded)
            self.done[number] = (self._end + len(head), len(encoded))
            self._end += len(head) + len(encoded)
        self._file.flush()
        if monotonic() - self._synced > SYNC_S:
            self._sync()

    def rows(self) -> Iterator[bytes]:
        """Rows of the points in their order."""
        self._file.flush()
        with open(self.path, "rb") as file:
            for number in range(len(self.done)):
                start, size = self.done[number]
                file.seek(start)
                yield file.read(size)

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sync()
        self._file.close()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._synced = monotonic()


def finished_table(folder: Path, asked: Mapping[str, Any]) -> Answers | None:
    """The answers of the folder's table where it is the whole, unchanged one of this question; else None.

    Raises InputError when it holds that of another one.
    """
    seal, table = folder / SEAL, folder / TABLE
    if not (seal.exists() and table.exists()):
        return None
    try:
        found = json.loads(seal.read_text("utf-8"))
    except (ValueError, OSError):
        return None
    if not isinstance(found, dict):
        return None
    _refuse_other(found.get("question"), asked, seal)
    with open(table, "rb") as file:
        whole = found.get("table_sha256") == file_digest(file, "sha256").hexdigest()
    return answers_of(found.get("answers")) if whole else None


def write_finished(folder: Path, header: str, rows: Iterable[bytes], asked: Mapping[str, Any]) -> Answers:
    """Writes the table in the order of the points, then its seal; returns what has no answer."""
    answers = Answers()
    path = folder / TABLE
    part = path.with_name(path.name + ".part")
    digest = sha256()
    with open(part, "wb") as file:
        for piece in chain([header.encode()], counted(rows, answers)):
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
    seal = {"question": dict(asked), "answers": answers.record(), "table_sha256": digest.hexdigest()}
    write_text(folder / SEAL, json.dumps(seal, indent=1) + "\n")
    return answers


def _finished(path: Path, asked: Mapping[str, Any]) -> tuple[dict[int, tuple[int, int]], int]:
    """Points of a journal and how many bytes of it are whole records."""
    done: dict[int, tuple[int, int]] = {}
    with open(path, "rb") as file:
        first = file.readline()
        if not first.endswith(b"\n"):
            return {}, 0
        try:
            found = json.loads(first)
        except ValueError:
            found = None
        _refuse_other(found, asked, path)
        keep = len(first)
        while head := file.readline():
            words = head.removeprefix(MARK).split()
            if not (head.startswith(MARK) and head.endswith(b"\n") and len(words) == 2):
                break
            number, size = int(words[0]), int(words[1])
            rows = file.read(size)
            if len(rows) < size or not rows.endswith(b"\n") or not 0 <= number < asked["points"]:
                break
            done[number] = (keep + len(head), size)
            keep += len(head) + size
    return done, keep


def _refuse_other(found: Any, asked: Mapping[str, Any], path: Path) -> None:
    if not isinstance(found, dict):
        raise InputError(
            [Fault(str(path), "", "", "is not the record of a sweep; choose another --out folder")]
        )
    words = {
        "scenario_sha256": "another scenario",
        "points_sha256": "other axes",
        "methods": "another method",
        "version": f"version {found.get('version')} of the models",
        "format": "another file format",
    }
    other = [text for key, text in words.items() if found.get(key) != asked[key]]
    if other:
        problem = (
            f"is of {', '.join(other)}; choose another --out folder, or leave out --resume to start over"
        )
        raise InputError([Fault(str(path), "", "", problem)])


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
