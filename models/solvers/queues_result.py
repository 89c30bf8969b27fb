"""What one run of the queue solver tells, and the spread of a figure over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.solvers.queues_types import FloatArray, IntArray

TIER_NAMES = ("host", "leaf", "spine", "core")


@dataclass(frozen=True, eq=False)
class QueueStatistics:
    """Samples of one watched egress queue (bytes, without the packet in transmission)."""

    link: int
    samples_bytes: NDArray[np.float32]
    highest_bytes: float

    @property
    def mean_bytes(self) -> float:
        """Mean over the samples."""
        return float(self.samples_bytes.mean(dtype=np.float64)) if len(self.samples_bytes) else float("nan")

    @property
    def p99_bytes(self) -> float:
        """99th percentile of the samples."""
        return percentile(self.samples_bytes, 99.0) if len(self.samples_bytes) else float("nan")

    @property
    def peak_bytes(self) -> float:
        """Largest sample (see `highest_bytes` for the largest value between samples)."""
        return float(self.samples_bytes.max()) if len(self.samples_bytes) else float("nan")


@dataclass(frozen=True)
class PauseStatistics:
    """Pauses by the tier of the paused sender or switch: number and summed time."""

    count: dict[str, int]
    time_s: dict[str, float]


@dataclass(frozen=True, eq=False)
class Series:
    """Chart rows: `group` arrays have shape (rows, groups), `queue_bytes` (rows, watched links)."""

    time_s: FloatArray
    hosts_paused: FloatArray
    switch_links_paused: FloatArray
    delivered_bytes: FloatArray
    mean_rate_bytes_per_s: FloatArray
    queue_bytes: FloatArray


@dataclass(frozen=True, eq=False)
class QueueResult:
    """One run. Flow arrays have shape (flows,), link arrays (links,).

    `status` is `finished`, `step bound` (the bound on windows was met first), `memory bound` (more packets in the
    network than there is room for), `stalled` (packets queued behind
    pauses and nothing moved for longer than a round trip: a deadlock or pause storm) or `unbalanced` (debug
    check failed). `fct_s` is from the flow's start to its last acknowledgement at the sender, nan if it did
    not end. `losses` are packets lost, `refused_packets` those behind a gap that go-back-N sends again,
    `link_watchdogs` the pauses longer than the watchdog's time, by link.
    """

    status: str
    simulated_s: float
    windows: int
    start_s: FloatArray
    fct_s: FloatArray
    delivered_bytes: FloatArray
    sent_packets: IntArray
    delivered_packets: IntArray
    marks: IntArray
    cuts: IntArray
    losses: IntArray
    refused_packets: IntArray
    final_rate_bytes_per_s: FloatArray
    queues: tuple[QueueStatistics, ...]
    pause: PauseStatistics
    link_pauses: IntArray
    link_pause_s: FloatArray
    link_watchdogs: IntArray
    link_sent_bytes: IntArray
    link_peak_bytes: FloatArray
    checkpoint_s: FloatArray
    checkpoint_bytes: FloatArray
    series: Series

    @property
    def hit_bound(self) -> bool:
        """Whether the run ended at its bound on windows or memory, so that flows may be unfinished."""
        return self.status in ("step bound", "memory bound")

    @property
    def stalled(self) -> bool:
        """Whether a deadlock or an endless pause stopped the run: packets queued, none moving."""
        return self.status == "stalled"

    @property
    def queue(self) -> QueueStatistics:
        """The first watched queue."""
        return self.queues[0]

    @cached_property
    def _ended(self) -> FloatArray:
        return self.fct_s[np.isfinite(self.fct_s)]

    @property
    def flows_ended(self) -> int:
        """Number of flows that completed."""
        return len(self._ended)

    @property
    def fct_mean_s(self) -> float:
        """Mean completion time of the flows that ended."""
        return float(self._ended.mean()) if len(self._ended) else float("nan")

    @property
    def fct_p99_s(self) -> float:
        """99th percentile of completion times (linear interpolation)."""
        return percentile(self._ended, 99.0) if len(self._ended) else float("nan")

    @property
    def fct_max_s(self) -> float:
        """Longest completion time."""
        return float(self._ended.max()) if len(self._ended) else float("nan")

    @property
    def completion_s(self) -> float:
        """When the last flow ended."""
        ends = self.start_s + self.fct_s
        return float(np.fmax.reduce(ends)) if len(self._ended) else float("nan")

    def goodput_bytes_per_s(self, first: int = 0, last: int = -1) -> FloatArray:
        """Payload rate of every flow between two checkpoints."""
        span = self.checkpoint_s[last] - self.checkpoint_s[first]
        return np.asarray(
            (self.checkpoint_bytes[last] - self.checkpoint_bytes[first]) / span, dtype=np.float64
        )


def percentile(values: NDArray[Any], percent: float) -> float:
    """Percentile with linear interpolation; numpy's does the same and takes thirty times as long for a few values.

    >>> percentile(np.array([3.0, 1.0, 2.0]), 75.0)
    2.5
    """
    place = (len(values) - 1) * percent / 100.0
    low = int(place)
    ranked = np.sort(values)
    least, most = float(ranked[low]), float(ranked[min(low + 1, len(values) - 1)])
    return least + (most - least) * (place - low)


def jain_index(values: FloatArray) -> float:
    """Jain's fairness index (sum x)^2 / (n sum x^2).

    >>> jain_index(np.array([1.0, 1.0]))
    1.0
    """
    total = float(np.sum(values))
    squares = float(np.sum(np.square(values)))
    return total * total / (len(values) * squares) if squares > 0 else float("nan")


@dataclass(frozen=True)
class Spread:
    """Mean, least and greatest of a figure over seeds."""

    mean: float
    low: float
    high: float


def spread(values: list[float]) -> Spread:
    """Spread of a figure over seeds.

    >>> spread([1.0, 2.0, 3.0])
    Spread(mean=2.0, low=1.0, high=3.0)
    """
    return Spread(float(np.mean(values)), float(min(values)), float(max(values)))
