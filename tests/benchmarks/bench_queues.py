"""Speed of the queue solver (warm, one core, CPU time) against the packet simulator's own CPU time of the same runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from models.evidence.packet import SHIPPED, Job, _jobs
from models.evidence.packet_fabric import permutation_figures, victim_figures
from models.evidence.packet_incast import incast_figures
from models.solvers.queues import (
    FlowSet,
    Gate,
    Marking,
    PacketFormat,
    SenderLaw,
    incast_flows,
    run,
    star,
    three_tier,
)
from models.units import MIB
from tests.benchmarks.measure import cpu_seconds, row

EVERY = {"incast_summary": 5, "victim_summary": 4, "permutation_summary": 3}
PACKET = PacketFormat(payload_bytes=1000, header_bytes=36, ack_bytes=48)


def rows() -> list[dict[str, Any]]:
    """Ratios are written as our time over the simulator's, so that smaller is better; the note has the factor."""
    table = []
    for name, step in EVERY.items():
        jobs = list(_jobs(SHIPPED, name, None))[::step]
        table.extend(_ratio(name.removesuffix("_summary"), jobs))
    table.append(
        row("incast 64:1 of 8 MiB at 100G, DCQCN", cpu_seconds(lambda: _star(64, 8 * MIB)), "s", 0.060)
    )
    table.append(row("incast 1,000:1 of 1 MiB, three tiers, lossless", cpu_seconds(_three_tiers), "s", 5.0))
    return table


def _ratio(kind: str, jobs: list[Job]) -> list[dict[str, Any]]:
    answer: dict[str, Callable[[Job], Any]] = {
        "incast": lambda job: incast_figures(job.rows[0], job.flows, seeds=(1,)),
        "victim": lambda job: victim_figures(job.rows[0], job.flows, seeds=(1,)),
        "permutation": lambda job: permutation_figures(job.rows[0], job.flows, job.acks, seeds=(1,)),
    }
    found = []
    for job in jobs:
        ours = cpu_seconds(lambda job=job: answer[kind](job))
        found.append((float(job.rows[0]["cpu_s"]) / ours, job.rows[0]["run_id"]))
    mean = math.exp(float(np.mean([math.log(ratio) for ratio, _ in found])))
    worst, run_id = min(found)
    return [
        row(
            f"{kind}: time over the packet simulator's",
            1.0 / mean,
            "ratio",
            0.01,
            f"{mean:.0f}x, {len(found)} runs",
        ),
        row(f"{kind}: slowest run", 1.0 / worst, "ratio", 1 / 35, f"{worst:.0f}x, {run_id}"),
    ]


def _star(senders: int, size: int) -> None:
    network = star(senders=senders, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=32e6)
    law = SenderLaw(
        "dcqcn", alpha_timer_s=1e-6, cut_interval_s=4e-6, increase_timer_s=300e-6, fast_recovery_stages=1
    )
    flows = incast_flows(network, senders=senders, bytes_per_flow=size)
    run(network, flows, law, Gate("pfc"), Marking(400e3, 1600e3, 0.2), packet=PACKET, stop_s=1.0)


def _three_tiers() -> None:
    fabric = three_tier(
        pods=4, leaves_per_pod=8, hosts_per_leaf=33, spines_per_pod=8, cores_per_spine=1, rate_bytes_per_s=50e9,
        propagation_s=1e-6, buffer_bytes=165e6,
    )  # fmt: skip
    paths = tuple((fabric.path(i, fabric.hosts - 1, i % 8),) for i in range(1000))
    flows = FlowSet(paths, np.full(1000, float(MIB)), np.zeros(1000))
    run(fabric.network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PacketFormat(), stop_s=1.0)
