"""Microsecond solver: packets through egress FIFOs, with marking, sender law and pause, in lookahead windows.

What it answers: how long does an incast take, how deep is the queue, who is paused, what does the victim get.

    network = star(senders=16, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=32 * 2**20)
    flows = incast_flows(network, senders=16, bytes_per_flow=2**20)
    result = run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), seed=1)
    result.fct_s                      # (flows,) completion times, nan where a flow did not end
    result.queue.peak_bytes           # watched queues: mean, p50, p99, peak, empty fraction, samples
    result.pause.time_s["host"]       # pause time summed over the host links (also "leaf", "spine", "core")
    many = runs(network, flows, law, gate, marking, seeds=(1, 2, 3))   # tuple of QueueResult
    average(many).fct_mean_s

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
from models.solvers.queues_build import NS, Program, program, seeded, with_more_samples
from models.solvers.queues_fabrics import (
    LeafSpine,
    ThreeTier,
    incast_flows,
    leaf_spine,
    star,
    three_tier,
)
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
from models.solvers.queues_types import (
    CHOICES,
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
            if done.run[0]["status"] == state.POOL_FULL and growth + 1 < POOL_GROWTHS:
                break
            results.append(_result(network, done, recorded, stop_s))
        if len(results) == len(seeds):
            break
    return tuple(results)


def _advanced(ready: Program) -> Program:
    """The program run to its end, with room for samples added as it fills."""
    from models.solvers.train_kernels import advance_windows

    advance_windows(*ready.arguments())
    while ready.run[0]["status"] == state.SAMPLES_FULL:
        ready = with_more_samples(ready)
        advance_windows(*ready.arguments())
    return ready


_STATUS = {
    state.FINISHED: "finished",
    state.STEP_BOUND: "step bound",
    state.POOL_FULL: "step bound",
    state.UNBALANCED: "unbalanced",
    state.STALLED: "stalled",
}


def _result(network: QueueNetwork, ready: Program, recording: Recording, stop_s: float | None) -> QueueResult:
    head, flows, links = ready.run[0], ready.flows, ready.links
    end_ns = float(head["window"] * head["window_ns"])
    started = flows["waiting"] == 0
    last_end = float(np.fmax.reduce(flows["end_ns"], initial=-np.inf))  # of those that ended
    last_end = last_end if last_end > -np.inf else end_ns
    end_ns = max(end_ns, last_end) if not head["flows_open"] else end_ns
    end_ns = end_ns if stop_s is None else min(end_ns, stop_s * NS)
    pause_ns = links["pause_ns"] + np.where(np.isfinite(links["stop_ns"]), end_ns, 0.0)
    tiers = network.tier[network.from_node]
    names = len(TIER_NAMES)
    pauses = np.bincount(tiers, links["pauses"], names)
    paused_s = np.bincount(tiers, pause_ns, names) / NS
    payload = float(head["payload_bytes"])
    delivered = flows["delivered"] * payload
    short = payload - (flows["last_bytes"] - (head["packet_bytes"] - head["payload_bytes"]))
    delivered = np.where(flows["delivered"] == flows["packets"], delivered - short, delivered)
    return QueueResult(
        status=_STATUS[int(head["status"])],
        simulated_s=end_ns / NS,
        windows=int(head["window"]),
        start_s=np.where(started, flows["start_ns"], np.nan) / NS,
        fct_s=(flows["end_ns"] - flows["start_ns"]) / NS,
        delivered_bytes=delivered,
        sent_packets=flows["sent"].copy(),
        delivered_packets=flows["delivered"].copy(),
        marks=flows["marks"].copy(),
        cuts=flows["cuts"].copy(),
        losses=flows["lost"].copy(),
        refused_packets=flows["refused"].copy(),
        final_rate_bytes_per_s=flows["rate"] * NS,
        queues=_queues(ready, recording, end_ns),
        pause=PauseStatistics(
            count={name: int(pauses[k]) for k, name in enumerate(TIER_NAMES)},
            time_s={name: float(paused_s[k]) for k, name in enumerate(TIER_NAMES)},
        ),
        link_pauses=links["pauses"].copy(),
        link_pause_s=pause_ns / NS,
        link_watchdogs=links["watchdogs"].copy(),
        link_sent_bytes=links["sent_bytes"].copy(),
        link_peak_bytes=links["peak_bytes"].copy(),
        checkpoint_s=ready.checkpoint_ns / NS,
        checkpoint_bytes=np.asarray(ready.checkpoint_packets * payload, dtype=np.float64),
        series=_series(ready),
    )


def _queues(ready: Program, recording: Recording, end_ns: float) -> tuple[QueueStatistics, ...]:
    """Watched queues; sampling goes on at 0 until the last acknowledgement is home."""
    taken = int(ready.run[0]["samples"])
    wanted = int((end_ns / NS - recording.sample_from_s) / recording.sample_s + 1e-9)
    out = []
    for w, link in enumerate(ready.watch):
        samples = ready.samples[w, :taken]
        if wanted > taken:
            samples = np.concatenate([samples, np.zeros(min(wanted - taken, 100_000), dtype=np.float32)])
        out.append(
            QueueStatistics(int(link), samples[:wanted].copy(), float(ready.links["peak_bytes"][link]))
        )
    return tuple(out)


def _series(ready: Program) -> Series:
    rows = ready.series[: int(ready.run[0]["series_rows"])]
    watched = len(ready.watch)
    groups = (rows.shape[1] - 3 - watched) // 2
    return Series(
        time_s=rows[:, 0] / NS,
        hosts_paused=rows[:, 1],
        switch_links_paused=rows[:, 2],
        delivered_bytes=rows[:, 3 : 3 + groups],
        mean_rate_bytes_per_s=rows[:, 3 + groups : 3 + 2 * groups] * NS,
        queue_bytes=rows[:, 3 + 2 * groups :],
    )
