"""Microsecond solver: packets through egress FIFOs, with marking, sender law and pause, in lookahead windows.

What it answers: how long does an incast take, how deep is the queue, who is paused, what does the victim get.

    network = star(senders=16, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=32 * 2**20)
    flows = incast_flows(network, senders=16, bytes_per_flow=2**20)
    result = run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), seed=1)
    result.fct_s                      # (flows,) completion times, nan where a flow did not end
    result.queue.peak_bytes           # watched queues: mean, p99, peak, samples
    result.pause.time_s["host"]       # pause time summed over the host links (also "leaf", "spine", "core")
    many = runs(network, flows, law, gate, marking, seeds=(1, 2, 3))   # tuple of QueueResult
    spread([one.fct_mean_s for one in many]).mean

Anything that is not a star: `leaf_spine(...)`, `three_tier(...)`, or a `QueueNetwork` of your own with `FlowSet.paths`
as link ids (several alternatives a flow = packets are spread over them, `choice="random" | "least_queued"`).
Flows that wait for others: `FlowSet.after`. Acknowledgement load: `FlowSet.ack_paths`.

Method. Every link is a FIFO server; nothing that happens at one end can be felt at the other before the
shortest link delay. Time therefore advances in windows of that length; inside a window each sender and each
port is advanced in exact event order by compiled code (conservative lookahead, Chandy and Misra 1979).
"""

from __future__ import annotations

import numpy as np

from models.solvers import queues_state as state
from models.solvers.queues_build import program, seeded, with_more_samples
from models.solvers.queues_fabrics import (
    LeafSpine,
    ThreeTier,
    incast_flows,
    leaf_spine,
    star,
    three_tier,
)
from models.solvers.queues_parameters import TICKS_PER_S
from models.solvers.queues_result import (
    TIER_NAMES,
    PauseStatistics,
    QueueResult,
    QueueStatistics,
    Series,
    Spread,
    jain_index,
    spread,
)
from models.solvers.queues_routes import CyclicRoutesError, dependency_cycle
from models.solvers.queues_state import State
from models.solvers.queues_types import (
    CHOICES,
    FloatArray,
    FlowSet,
    Gate,
    Marking,
    PacketFormat,
    QueueNetwork,
    Recording,
    SenderLaw,
)

__all__ = [
    "CyclicRoutesError",
    "FlowSet",
    "Gate",
    "LeafSpine",
    "Marking",
    "PacketFormat",
    "PauseStatistics",
    "QueueNetwork",
    "QueueResult",
    "QueueStatistics",
    "Recording",
    "SenderLaw",
    "Series",
    "Spread",
    "ThreeTier",
    "dependency_cycle",
    "incast_flows",
    "jain_index",
    "leaf_spine",
    "run",
    "runs",
    "spread",
    "star",
    "three_tier",
]

WINDOWS_LIMIT = 5_000_000
POOL_GROWTHS = 8


def run(
    network: QueueNetwork,
    flows: FlowSet,
    law: SenderLaw,
    gate: Gate,
    marking: Marking,
    *,
    seed: int = 1,
    stop_s: float | None = None,
    packet: PacketFormat | None = None,
    recording: Recording | None = None,
    choice: str = "random",
    windows_limit: int = WINDOWS_LIMIT,
    check: bool = False,
) -> QueueResult:
    """One run, until every flow has ended, `stop_s`, or `windows_limit` windows of the shortest link delay.

    `choice` says how a packet with several routes takes one: `random` or `least_queued` (adaptive).
    `check` verifies in every window that packets sent = delivered + lost + queued + in flight.
    The same inputs and seed give the same result to the last bit.

    Raises ValueError for contradictory inputs, CyclicRoutesError for routes that could deadlock.
    """
    return runs(
        network,
        flows,
        law,
        gate,
        marking,
        seeds=(seed,),
        stop_s=stop_s,
        packet=packet,
        recording=recording,
        choice=choice,
        windows_limit=windows_limit,
        check=check,
    )[0]


def runs(
    network: QueueNetwork,
    flows: FlowSet,
    law: SenderLaw,
    gate: Gate,
    marking: Marking,
    *,
    seeds: tuple[int, ...] = (1, 2, 3),
    stop_s: float | None = None,
    packet: PacketFormat | None = None,
    recording: Recording | None = None,
    choice: str = "random",
    windows_limit: int = WINDOWS_LIMIT,
    check: bool = False,
) -> tuple[QueueResult, ...]:
    """One run a seed, prepared once; `spread([r.fct_mean_s for r in ...])` gives the mean and range of a figure.

    Parameters and errors as in `run`.
    """
    if choice not in CHOICES:
        raise ValueError(f"choice: {choice!r} is not one of {', '.join(CHOICES)}")
    if stop_s is None and not np.isfinite(flows.bytes).all():
        raise ValueError("stop_s is needed: some flows never end")
    recorded = recording or Recording()
    results: list[QueueResult] = []
    for growth in range(POOL_GROWTHS):
        template = program(
            network,
            flows,
            law,
            gate,
            marking,
            packet=packet or PacketFormat(),
            stop_s=stop_s,
            recording=recorded,
            choice=choice,
            windows_limit=windows_limit,
            check=check,
            pool_factor=4**growth,
        )
        for seed in seeds[len(results) :]:
            done = _advanced(seeded(template, seed, again=len(results) + 1 < len(seeds)))
            if done.run["status"] == state.POOL_FULL and growth + 1 < POOL_GROWTHS:
                break
            results.append(_result(network, done, recorded))
        if len(results) == len(seeds):
            break
    return tuple(results)


def _advanced(ready: State) -> State:
    """The state run to its end, with room for samples added as it fills."""
    from models.solvers.train_kernels import advance_windows

    advance_windows(*ready)
    while ready.run["status"] == state.SAMPLES_FULL:
        ready = with_more_samples(ready)
        advance_windows(*ready)
    return ready


_STATUS = {
    state.FINISHED: "finished",
    state.STEP_BOUND: "step bound",
    state.POOL_FULL: "memory bound",
    state.UNBALANCED: "unbalanced",
    state.STALLED: "stalled",
}


def _result(network: QueueNetwork, ready: State, recording: Recording) -> QueueResult:
    from models.solvers.queues_totals_kernels import sum_up

    head, flows, links = ready.run, ready.flows, ready.links
    end_ticks = int(head["window"] * head["window_ticks"])
    if not head["flows_open"]:
        end_ticks = max(end_ticks, int(flows["end_ticks"].max()))
    end_ticks = min(end_ticks, int(head["stop_ticks"]))
    start_s, fct_s, delivered_bytes = np.empty((3, len(flows)))
    pause_s, peak_bytes = np.empty((2, len(links)))
    pauses, paused_s = np.zeros((2, len(TIER_NAMES)))
    sum_up(
        head, links, flows, network.from_node, network.tier, end_ticks, start_s, fct_s, delivered_bytes, pause_s,
        peak_bytes, pauses, paused_s,
    )  # fmt: skip
    end_s = end_ticks / TICKS_PER_S
    return QueueResult(
        status=_STATUS[int(head["status"])],
        simulated_s=end_s,
        windows=int(head["window"]),
        start_s=start_s,
        fct_s=fct_s,
        delivered_bytes=delivered_bytes,
        sent_packets=flows["sent"],
        delivered_packets=flows["delivered"],
        marks=flows["marks"],
        cuts=flows["cuts"],
        losses=flows["lost"],
        refused_packets=flows["refused"],
        final_rate_bytes_per_s=flows["rate"] * TICKS_PER_S,
        queues=_queues(ready, recording, end_s, peak_bytes),
        pause=PauseStatistics(
            count={name: int(pauses[k]) for k, name in enumerate(TIER_NAMES)},
            time_s={name: float(paused_s[k]) for k, name in enumerate(TIER_NAMES)},
        ),
        link_pauses=links["pauses"],
        link_pause_s=pause_s,
        link_watchdogs=links["watchdogs"],
        link_sent_bytes=links["sent_bytes"],
        link_peak_bytes=peak_bytes,
        checkpoint_s=ready.checkpoint_ticks / TICKS_PER_S,
        checkpoint_bytes=np.asarray(
            ready.checkpoint_packets * float(head["payload_bytes"]), dtype=np.float64
        ),
        series=_series(ready),
    )


def _queues(
    ready: State, recording: Recording, end_s: float, peak_bytes: FloatArray
) -> tuple[QueueStatistics, ...]:
    """Watched queues; sampling goes on at 0 until the last acknowledgement is home."""
    wanted = int((end_s - recording.sample_from_s) / recording.sample_s + 1e-9)
    out = []
    for link in ready.watch:
        w, taken = int(ready.links["watch"][link]), int(ready.links["samples"][link])
        samples = ready.samples[w, :taken]
        if wanted > taken:
            samples = np.concatenate([samples, np.zeros(min(wanted - taken, 100_000), dtype=np.float32)])
        out.append(QueueStatistics(int(link), samples[:wanted].copy(), float(peak_bytes[link])))
    return tuple(out)


def _series(ready: State) -> Series:
    rows = ready.series[: int(ready.run["series_rows"])]
    watched = len(ready.watch)
    groups = (rows.shape[1] - 3 - watched) // 2
    return Series(
        time_s=rows[:, 0] / 1e9,
        hosts_paused=rows[:, 1],
        switch_links_paused=rows[:, 2],
        delivered_bytes=rows[:, 3 : 3 + groups],
        mean_rate_bytes_per_s=rows[:, 3 + groups : 3 + 2 * groups] * 1e9,
        queue_bytes=rows[:, 3 + 2 * groups :],
    )
