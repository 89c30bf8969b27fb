"""What an incast did, in the same words for every fabric, and its phase time over several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.workload.phase import Metric, PhaseTime

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IncastSeries:
    """Time series for charts, one value a sample."""

    time_s: Array
    queue_bytes: Array  # hot port
    rate_bytes_per_s: Array  # what the receiver gets
    victim_rate_bytes_per_s: Array
    held_fraction: (
        Array  # share of senders paused (PFC) or out of credits; share waiting for a timeout with TCP
    )


@dataclass(frozen=True, eq=False)
class IncastOutcome:
    """One run; rates in bytes/s, times in s, sizes in bytes."""

    completion_s: Array  # of each burst, nan where it did not end
    queue_mean_bytes: float
    queue_p99_bytes: float
    queue_peak_bytes: float
    held_s_per_sender: float
    pauses: int
    marks: int
    drops: int
    timeouts: int
    victim_goodput_bytes_per_s: float | None
    series: IncastSeries
    words: str  # what held the senders: "paused", "out of credits", "timeouts"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class QueueLimits:
    """How many bytes may wait for the hot port before something happens; None where it never does.

    `waiting_fraction`: the share of all bursts together that waits at once while the port drains at line rate.
    """

    buffer_bytes: float  # the memory that holds what waits
    buffer_words: str
    waiting_fraction: float
    marks_from_bytes: float | None  # the first packets are marked: senders begin to slow down
    marks_all_bytes: float | None  # every packet is marked
    stops_bytes: float | None  # links pause, credits are gone, or packets drop
    stops_words: str

    def buffers_full(self, waiting_bytes: float) -> float:
        """All bursts together, in buffers, that make so many bytes wait: waiting / (fraction x buffer).

        >>> QueueLimits(100.0, "shared", 0.5, None, None, 80.0, "links pause").buffers_full(80.0)
        1.6
        """
        if self.waiting_fraction <= 0:
            return float("inf")
        return waiting_bytes / (self.waiting_fraction * self.buffer_bytes)


def incast_phase_time(
    outcomes: Sequence[IncastOutcome],
    ideal_s: float,
    line_goodput_bytes_per_s: float,
    algorithm: str,
    source: str,
) -> PhaseTime:
    """Mean over seeds of the last completion, with their spread as the band, and the figures people ask for.

    A run in which a burst never ended makes the mean infinite in truth; it is reported in the notes and the
    ended bursts are used, never a zero.
    """
    last = np.array([np.nanmax(o.completion_s) for o in outcomes])
    metrics = [
        _over("fct_mean", "s", [float(np.nanmean(o.completion_s)) for o in outcomes], source),
        _over("fct_p50", "s", [float(np.nanpercentile(o.completion_s, 50)) for o in outcomes], source),
        _over("fct_p99", "s", [float(np.nanpercentile(o.completion_s, 99)) for o in outcomes], source),
        _over("fct_max", "s", [float(value) for value in last], source),
        Metric(
            "slowdown", float(last.mean()) / ideal_s, "1", source="last completion over serialisation bound"
        ),
        _over("queue_mean", "bytes", [o.queue_mean_bytes for o in outcomes], source),
        _over("queue_p99", "bytes", [o.queue_p99_bytes for o in outcomes], source),
        _over("queue_peak", "bytes", [o.queue_peak_bytes for o in outcomes], source),
        _over(
            "pause_time", "s", [o.held_s_per_sender for o in outcomes], f"mean a sender, {outcomes[0].words}"
        ),
        _over("pauses", "1", [float(o.pauses) for o in outcomes], source),
        _over("marks", "1", [float(o.marks) for o in outcomes], source),
        _over("drops", "1", [float(o.drops) for o in outcomes], source),
        _over("timeouts", "1", [float(o.timeouts) for o in outcomes], source),
    ]
    victims = [o.victim_goodput_bytes_per_s for o in outcomes if o.victim_goodput_bytes_per_s is not None]
    if victims:
        metrics.append(_over("victim_goodput", "bytes/s", victims, source))
        shares = [value / line_goodput_bytes_per_s for value in victims]
        metrics.append(_over("victim_share", "fraction", shares, "of an idle link, while the incast lasts"))
    notes = [note for o in outcomes for note in o.notes]
    unended = sum(int(np.isnan(o.completion_s).sum()) for o in outcomes)
    if unended:
        notes.append(f"{unended} bursts did not end within the bound of the run")
    first = outcomes[0].series
    return PhaseTime(
        time_s=float(last.mean()),
        low_s=float(last.min()),
        high_s=float(last.max()),
        algorithm=algorithm,
        binding_limit="fabric",
        metrics=tuple(metrics),
        notes=tuple(dict.fromkeys(notes)),
        series={
            "time_s": first.time_s,
            "queue_bytes": first.queue_bytes,
            "rate_bytes_per_s": first.rate_bytes_per_s,
            "victim_rate_bytes_per_s": first.victim_rate_bytes_per_s,
            "held_fraction": first.held_fraction,
            "completion_s": np.concatenate([o.completion_s for o in outcomes]),
        },
    )


def _over(name: str, unit: str, values: Sequence[float], source: str) -> Metric:
    return Metric(name, float(np.mean(values)), unit, float(np.min(values)), float(np.max(values)), source)
