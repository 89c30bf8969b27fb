"""Work that takes longer than a blink: shared results, progress, cancelling; nothing here draws.

One pool and one bounded store for the whole server. A key holds everything a result depends on (the scenario's
text and the settings), so sessions share results and nothing of a session can reach another. A page that is
refreshed in mid-run finds the same run again. Results are frozen records; pages must not write to their tables.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Any

RESULTS_MAX = 96
QUEUE_MAX = 64
WORKERS = 2


class Cancelled(Exception):
    """The reader stopped the run."""


class Busy(Exception):
    """Too many runs wait already."""


@dataclass
class Job:
    """One run, on its way or ended."""

    title: str
    expected_steps: int
    started: float = field(default_factory=monotonic)
    steps: int = 0
    says: str = "waiting for a free worker"
    ended: Event = field(default_factory=Event)
    stop: Event = field(default_factory=Event)
    watchers: set[str] = field(default_factory=set)
    partial: list[Any] = field(default_factory=list)  # results so far, kept when the run is stopped
    result: Any = None
    error: BaseException | None = None

    def progress(self, text: str) -> None:
        """Notes one step; ends the run when it was cancelled."""
        if self.stop.is_set():
            raise Cancelled(self.title)
        self.steps += 1
        self.says = text

    @property
    def fraction(self) -> float:
        """Share done, by steps."""
        return min(0.99, self.steps / max(1, self.expected_steps))

    @property
    def seconds_left(self) -> float | None:
        """Time left if the steps to come take as long as those done; None before two steps are done."""
        if self.steps < 3 or self.expected_steps <= self.steps:
            return None
        return (monotonic() - self.started) / (self.steps - 1) * (self.expected_steps - self.steps + 1)


class Store:
    """Runs by key, the least recently used ended ones dropped first."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="work")

    def job(
        self,
        key: Hashable,
        title: str,
        function: Callable[[Job], Any],
        steps: int = 1,
        here: bool = False,
        after_s: float = 0.0,
    ) -> Job:
        """The run of `key`, started if there is none; `here` runs it in the calling thread, now.

        Other runs start `after_s` later, so that they do not take the interpreter from the page being drawn.

        Raises Busy when too many runs wait.
        """
        with self._lock:
            job = self._jobs.get(key)
            if job is not None and not job.stop.is_set():
                self._jobs.move_to_end(key)
                return job
            if not here and sum(not j.ended.is_set() for j in self._jobs.values()) >= QUEUE_MAX:
                raise Busy(title)
            job = Job(title, steps)
            self._jobs[key] = job
            ended = [k for k, j in self._jobs.items() if j.ended.is_set()]
            for old in ended[: max(0, len(self._jobs) - RESULTS_MAX)]:
                del self._jobs[old]
        if here:
            _run(job, function)
        else:
            self._pool.submit(_run, job, function, after_s)
        return job

    def known(self, key: Hashable) -> Job | None:
        """The run of `key`, if there is one."""
        return self._jobs.get(key)

    def leave(self, key: Hashable, session: str) -> None:
        """A session no longer wants a run; it stops when no other session waits for it."""
        job = self._jobs.get(key)
        if job is not None:
            job.watchers.discard(session)
            if not job.watchers and not job.ended.is_set():
                job.stop.set()

    def __len__(self) -> int:
        return len(self._jobs)


def _run(job: Job, function: Callable[[Job], Any], after_s: float = 0.0) -> None:
    job.stop.wait(after_s)
    job.started = monotonic()
    try:
        if job.stop.is_set():
            raise Cancelled(job.title)
        job.result = function(job)
    except BaseException as error:  # handed to the page that asked, which shows it
        job.error = error
    finally:
        job.ended.set()


STORE = Store()


def wait_s(default_s: float) -> float:
    """How long a page waits for a run before it shows progress; tests wait until the end."""
    return float(os.environ.get("FABRIC_COMPARE_WAIT_S", default_s))
