"""The axis that decides an incast: all bursts together against the memory that has to hold them.

Every candidate is put at its own burst / buffer: the shared buffer of the hot switch where the fabric is Ethernet,
the input buffers of the links that feed the hot port where it is InfiniBand. On that axis the thresholds of
different fabrics and speeds lie side by side, and the burst of the scenario is one point of every line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, inf, log2

import numpy as np
import pandas as pd

from models.compare.fabrics import METHODS, Method, incast_queue_limits
from models.compare.performance import Setup, WorkloadTime, setup, workload_time
from models.export import frame_of
from models.scenario.load import with_value
from models.scenario.schema import Scenario
from models.solvers.incast_outcome import QueueLimits
from models.topology.incast_wiring import incast_bound_s, incast_wiring
from models.units import size_text
from models.workload.incast import BYTES_MAX
from models.workload.phase import burst_of
from models.workload.phases import phases

BUFFERS_LEAST, BUFFERS_MOST = 1 / 256, 4.0
PAST_THE_SCENARIO = 1  # doublings of the scenario's own burst that are always looked at
# seconds of one core for both methods, a byte of all bursts and seed; only used to say how long a run takes
S_PER_BYTE = {"ib": 4.5e-10, "roce": 3.5e-10, "spectrum_x": 1.6e-10, "tcp": 0.6e-10}
S_PER_POINT = 0.015


@dataclass(frozen=True)
class AxisPoint:
    """One burst size on one candidate by one method."""

    candidate: str
    method: str
    fan_in: int
    burst_bytes: int
    bursts_bytes: int  # all of them
    buffer_bytes: float
    burst_over_buffer: float
    scenario_burst: bool
    victim_fraction: float = field(metadata={"unit": "of an idle link"})
    victim_low_fraction: float
    victim_high_fraction: float
    p99_s: float  # last completion where the method has no p99
    p99_low_s: float
    p99_high_s: float
    p99_over_ideal: float  # ideal: serialisation at the hot port plus the unloaded path
    pauses: float
    marks: float
    drops: float
    timeouts: float


def axis_bursts(scenario: Scenario, workload: str, on: Setup) -> tuple[int, ...]:
    """Burst sizes of one candidate: the scenario's own times powers of two, from 1/256 to 4 buffers.

    At least one packet, one doubling past the scenario's own, and no more bytes in all than an incast may have.
    """
    item = scenario.workloads[workload]
    assert item.kind == "incast"
    limits = _limits(scenario, workload, on)
    now = item.fan_in * item.burst_bytes / limits.buffer_bytes
    first = ceil(max(log2(BUFFERS_LEAST / now), log2(on.link.packet_bytes / item.burst_bytes)) - 1e-9)
    last = floor(
        min(
            max(log2(BUFFERS_MOST / now), PAST_THE_SCENARIO), log2(BYTES_MAX / item.fan_in / item.burst_bytes)
        )
    )
    sizes = {round(item.burst_bytes * 2.0**k) for k in range(min(first, 0), max(last, 0) + 1)}
    return tuple(sorted(size for size in sizes if size >= 1))


@dataclass(frozen=True)
class Span:
    """A candidate's part of the axis, in bursts / buffer: its ends and the scenario's own burst."""

    first: float
    here: float
    last: float


def axis_spans(scenario: Scenario, workload: str) -> dict[str, Span]:
    """Per candidate where its points begin and end and where the scenario is."""
    item = scenario.workloads[workload]
    assert item.kind == "incast"
    spans = {}
    for name in scenario.candidates:
        on = setup(scenario, name)
        sizes, buffer_bytes = (
            axis_bursts(scenario, workload, on),
            _limits(scenario, workload, on).buffer_bytes,
        )
        first, here, last = (
            item.fan_in * size / buffer_bytes for size in (sizes[0], item.burst_bytes, sizes[-1])
        )
        spans[name] = Span(first, here, last)
    return spans


def axis_seconds(scenario: Scenario, workload: str) -> float:
    """About how long the axis takes by both methods, s: bytes moved x seeds."""
    item = scenario.workloads[workload]
    assert item.kind == "incast"
    total = 0.0
    for name in scenario.candidates:
        on = setup(scenario, name)
        for size in axis_bursts(scenario, workload, on):
            total += S_PER_POINT + item.fan_in * size * item.seeds * S_PER_BYTE[on.technology.fabric]
    return total


def axis_points(
    scenario: Scenario,
    workload: str,
    progress: Callable[[str], None] = lambda text: None,
    known: Sequence[AxisPoint] = (),
    methods: Sequence[Method] = METHODS,
) -> Iterator[AxisPoint]:
    """Points of every candidate by each method, the small bursts first, as they are worked out.

    `known` points are passed over. Raises InputError for an incast that does not fit the cluster.
    """
    setups = [setup(scenario, name) for name in scenario.candidates]
    sizes = {on.name: axis_bursts(scenario, workload, on) for on in setups}
    there = {(point.candidate, point.method, point.burst_bytes) for point in known}
    for place in range(max(map(len, sizes.values()), default=0)):
        for on in setups:
            for method in methods if place < len(sizes[on.name]) else ():
                size = sizes[on.name][place]
                if (on.name, method, size) in there:
                    continue
                progress(f"{on.name}, {size_text(size)} a sender, {method}")
                yield _point(scenario, workload, on, method, size)


def axis_steps(scenario: Scenario, workload: str) -> int:
    """Number of points by both methods."""
    counts = [len(axis_bursts(scenario, workload, setup(scenario, name))) for name in scenario.candidates]
    return len(METHODS) * sum(counts)


def incast_axis(
    scenario: Scenario, workload: str, progress: Callable[[str], None] = lambda text: None
) -> pd.DataFrame:
    """The whole axis by both methods, columns of AxisPoint."""
    return axis_frame(list(axis_points(scenario, workload, progress)))


def axis_frame(points: list[AxisPoint]) -> pd.DataFrame:
    """Points as a table, by candidate, method and burst."""
    order = {p.candidate: None for p in points}
    place = {name: i for i, name in enumerate(order)}
    return frame_of(sorted(points, key=lambda p: (place[p.candidate], p.method, p.burst_bytes)), AxisPoint)


def _point(scenario: Scenario, workload: str, on: Setup, method: Method, size: int) -> AxisPoint:
    key = f"workloads.{workload}.burst_bytes"
    same = size == scenario.workloads[workload].burst_bytes  # type: ignore[union-attr]
    at = scenario if same else with_value(scenario, key, size)
    item = workload_time(at, on, workload, method)
    phase = item.plan.phases[0]
    burst = burst_of(phase)
    ideal_s = incast_bound_s(burst, on.link)
    ideal_s += incast_wiring(on.network, on.link).path_latency_s + on.link.host_pair_latency_s
    limits = _limits(scenario, workload, on)
    figures = _figures(item)
    nothing = (float("nan"),) * 3
    victim = figures.get("victim_share", nothing)
    p99 = figures.get("fct_p99") or figures["fct_max"]
    total = burst.fan_in * burst.burst_bytes
    return AxisPoint(
        candidate=on.name, method=method, fan_in=burst.fan_in, burst_bytes=burst.burst_bytes, bursts_bytes=total,
        buffer_bytes=limits.buffer_bytes, burst_over_buffer=total / limits.buffer_bytes, scenario_burst=same,
        victim_fraction=victim[0], victim_low_fraction=victim[1], victim_high_fraction=victim[2],
        p99_s=p99[0], p99_low_s=p99[1], p99_high_s=p99[2], p99_over_ideal=p99[0] / ideal_s,
        **{name: figures.get(name, nothing)[0] for name in ("pauses", "marks", "drops", "timeouts")},
    )  # fmt: skip


def _figures(item: WorkloadTime) -> dict[str, tuple[float, float, float]]:
    return {
        m.name: (m.value, m.value if m.low is None else m.low, m.value if m.high is None else m.high)
        for time in item.times.values()
        for m in time.metrics
    }


def _limits(scenario: Scenario, workload: str, on: Setup) -> QueueLimits:
    phase = phases(scenario.workloads[workload], scenario, workload).phases[0]
    return incast_queue_limits(phase, on)


@dataclass(frozen=True)
class Stage:
    """What a fabric does between two points of the axis."""

    candidate: str
    stage: str  # waits | slowed | stopped
    words: str
    from_buffers: float
    to_buffers: float  # inf: from there on
    from_burst_bytes: float  # of one sender


def axis_stages(scenario: Scenario, workload: str) -> pd.DataFrame:
    """Per candidate where the bursts just wait in memory, where marks slow the senders, where links stop.

    Columns of Stage; thresholds in bursts / buffer, from queue thresholds by the share of the bursts that waits.
    """
    rows: list[Stage] = []
    item = scenario.workloads[workload]
    assert item.kind == "incast"
    for name in scenario.candidates:
        limits = _limits(scenario, workload, setup(scenario, name))
        marks = inf if limits.marks_from_bytes is None else limits.buffers_full(limits.marks_from_bytes)
        stops = inf if limits.stops_bytes is None else limits.buffers_full(limits.stops_bytes)
        marks = min(marks, stops)
        one_s = limits.buffer_bytes / item.fan_in
        rows.append(Stage(name, "waits", f"bursts wait in the {limits.buffer_words}", 0.0, marks, 0.0))
        if marks < stops:
            rows.append(Stage(name, "slowed", "marks ask senders to slow down", marks, stops, marks * one_s))
        if stops < inf:
            rows.append(Stage(name, "stopped", limits.stops_words, stops, inf, stops * one_s))
    return frame_of(rows, Stage)


def stage_of(stages: pd.DataFrame, candidate: str, buffers: float) -> str:
    """The stage a candidate is in at so many buffers."""
    own = stages[(stages.candidate == candidate) & (stages.from_buffers <= buffers)]
    return str(own.stage.iloc[-1])


def axis_sentence(scenario: Scenario, workload: str) -> str:
    """How far the scenario's burst is from where each candidate's links stop."""
    item = scenario.workloads[workload]
    assert item.kind == "incast"
    stages = axis_stages(scenario, workload)
    parts = []
    for name in scenario.candidates:
        stop = stages[(stages.candidate == name) & (stages.stage == "stopped")]
        if not len(stop):
            parts.append(f"{name} any size")
            continue
        at, words = float(stop.from_burst_bytes.iloc[0]), str(stop.words.iloc[0])
        parts.append(f"{name} {size_text(at)} ({words}; now {_times(item.burst_bytes / at)} that)")
    return f"With {item.fan_in} senders, a burst of each may grow to: {'; '.join(parts)}."


def _times(ratio: float) -> str:
    """A ratio in words.

    >>> _times(254.3), _times(0.394)
    ('254 times', '0.39 times')
    """
    return f"{ratio:,.0f} times" if ratio >= 10 else f"{ratio:.2g} times"


def half_rate_buffers(table: pd.DataFrame) -> dict[str, float]:
    """Per candidate the smallest bursts / buffer of the fullest method from which on the victim keeps under half.

    nan where it never does within the axis.
    """
    found = {}
    for name, own in table.groupby("candidate", sort=False):
        method = "fluid" if (own.method == "fluid").any() else "analytical"
        rows = own[own.method == method].sort_values("burst_over_buffer")
        under = rows.victim_fraction.to_numpy() < 0.5
        lasting = np.logical_and.accumulate(under[::-1])[::-1]
        found[str(name)] = (
            float(rows.burst_over_buffer.to_numpy()[lasting][0]) if lasting.any() else float("nan")
        )
    return found
