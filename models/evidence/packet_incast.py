"""Single-switch runs of a packet reference: incast (finite, long, unequal), steady, join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.evidence.packet_setup import CannotRerun, PacketSetup, Row, number, packet_setup
from models.solvers.queues_types import FlowSet, Recording

SEEDS = (1, 2, 3)
ENOUGH_PAUSES = 50  # rarer pauses are a matter of luck in both simulators
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Figures:
    """metric -> one value a seed; and what went wrong with none."""

    values: Mapping[str, Sequence[float]]


def star_rows(row: Row, senders: int) -> PacketSetup:
    """Set-up of a single-switch row: two links a path, a port a sender and one for the receiver."""
    return packet_setup(row, hops=2, ports=senders + 1)


def incast_figures(row: Row, flows: Sequence[Row] | None, seeds: Sequence[int] = SEEDS) -> Figures:
    """Figures of an incast or steady row by the solver, in the reference's units.

    `flows` are the rows of the flows file, needed where flow_bytes = -2 (unequal sizes and starts).
    """
    from models.solvers.queues import incast_flows, runs, star

    senders = int(number(row, "n"))
    size = number(row, "flow_bytes")
    if size == -2:
        if not flows:
            raise CannotRerun("flow_bytes = -2 needs the run's rows in incast_flows.csv")
        sizes = np.array([number(flow, "size_bytes") for flow in flows])
        starts = np.array([number(flow, "start_ns") for flow in flows]) * 1e-9
        senders = len(flows)
    else:
        sizes, starts = np.full(senders, np.inf if size < 0 else size), np.zeros(senders)
    setup = star_rows(row, senders)
    network = star(
        senders=senders,
        rate_bytes_per_s=setup.rate_bytes_per_s,
        propagation_s=setup.propagation_s,
        buffer_bytes=setup.buffer_bytes,
    )
    endless = not np.isfinite(sizes).all()
    end_s = number(row, "sim_end_us") * 1e-6
    half_s = end_s / 2.0
    whole = row.get("q_scope", "whole_run") != "second_half"
    recording = Recording(
        watch_links=(network.links - 1,),
        checkpoints_s=(half_s, end_s) if endless else (),
    )
    flow_set = incast_flows(network, senders=senders, bytes_per_flow=sizes, start_s=starts)
    line = setup.rate_bytes_per_s * setup.packet.payload_bytes / setup.packet.wire_bytes
    found: dict[str, list[float]] = {}
    for result in runs(
        network, flow_set, setup.law, setup.gate, setup.marking, seeds=tuple(seeds), packet=setup.packet,
        recording=recording, stop_s=end_s if endless else 20.0 * end_s + 0.1,
    ):  # fmt: skip
        if endless:
            goodput = float(result.goodput_bytes_per_s().sum())
        else:
            _add(found, "fct_mean", result.fct_mean_s * 1e6)
            _add(found, "fct_p99", result.fct_p99_s * 1e6)
            _add(found, "fct_max", result.fct_max_s * 1e6)
            goodput = float(sizes.sum()) / result.completion_s
        _add(found, "utilisation", goodput / line)
        samples = result.queue.samples_bytes  # the peak is the whole run's, the mean that of the stated scope
        scope = samples if whole else samples[len(samples) // 2 :]
        _add(found, "queue_mean", float(scope.mean(dtype=np.float64)) / 1e3)
        _add(found, "queue_peak", float(samples.max()) / 1e3)
        _add(found, "pause_us", result.pause.time_s["host"] / senders * 1e6)
    return Figures(found)


def queue_curve(row: Row, step_s: float = 5e-6, seed: int = 1) -> tuple[Array, Array]:
    """(time us, queue kB) of a finite incast row by the solver, one seed."""
    from models.solvers.queues import incast_flows, run, star

    senders = int(number(row, "n"))
    setup = star_rows(row, senders)
    network = star(
        senders=senders,
        rate_bytes_per_s=setup.rate_bytes_per_s,
        propagation_s=setup.propagation_s,
        buffer_bytes=setup.buffer_bytes,
    )
    flows = incast_flows(network, senders=senders, bytes_per_flow=number(row, "flow_bytes"))
    result = run(
        network, flows, setup.law, setup.gate, setup.marking, seed=seed, packet=setup.packet,
        recording=Recording(watch_links=(network.links - 1,), series_s=step_s),
    )  # fmt: skip
    return result.series.time_s * 1e6, result.series.queue_bytes[:, 0] / 1e3


def join_figures(rows: Sequence[Row], seeds: Sequence[int] = SEEDS) -> list[Figures]:
    """Figures of every epoch of one join run: flow i starts at i x join_gap_us and never ends."""
    from models.solvers.queues import runs, star

    first = rows[0]
    senders = max(int(number(row, "active_flows")) for row in rows)
    setup = star_rows(first, senders)
    gap_s = number(first, "join_gap_us") * 1e-6
    network = star(
        senders=senders,
        rate_bytes_per_s=setup.rate_bytes_per_s,
        propagation_s=setup.propagation_s,
        buffer_bytes=setup.buffer_bytes,
    )
    windows = [(number(row, "window_start_us") * 1e-6, number(row, "window_end_us") * 1e-6) for row in rows]
    times = sorted({time for window in windows for time in window})
    flow_set = FlowSet(
        paths=tuple(((sender, network.links - 1),) for sender in range(senders)),
        bytes=np.full(senders, np.inf),
        start_s=np.arange(senders, dtype=np.float64) * gap_s,
    )
    found: list[dict[str, list[float]]] = [{} for _ in rows]
    for result in runs(
        network, flow_set, setup.law, setup.gate, setup.marking, seeds=tuple(seeds), packet=setup.packet,
        stop_s=times[-1], recording=Recording(watch_links=(network.links - 1,), checkpoints_s=tuple(times)),
    ):  # fmt: skip
        samples = result.queue.samples_bytes
        for epoch, (begin, end) in zip(found, windows, strict=True):
            a, b = times.index(begin), times.index(end)
            goodput = (result.checkpoint_bytes[b] - result.checkpoint_bytes[a]) / (end - begin)
            _add(epoch, "goodput", float(goodput.sum()) * 8e-9)
            part = samples[int(begin * 1e6) : int(end * 1e6)]
            _add(epoch, "queue_mean", float(part.mean(dtype=np.float64)) / 1e3 if len(part) else 0.0)
    return [Figures(epoch) for epoch in found]


def _add(found: dict[str, list[float]], metric: str, value: float) -> None:
    found.setdefault(metric, []).append(value)
