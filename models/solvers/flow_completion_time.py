"""Time of phases that are plain transfers, from the completions of their flows on the graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.solvers.collective_bands import band_factors
from models.solvers.flow_phase import RoutedPhase, routed_phase
from models.solvers.head_of_line import head_of_line_rates
from models.solvers.link_use import Use, link_use
from models.solvers.load_balance import IDEAL, LoadBalance
from models.solvers.max_min import flow_completion
from models.solvers.transfer_time import transfer_time
from models.topology.link import Link
from models.topology.mechanism import Mechanism
from models.topology.network import Network
from models.units import gbit_per_s_from_bytes_per_s
from models.workload.phase import Metric, Phase, PhaseTime

SEEDS = 5
SUBFLOWS_PER_CALL = 400_000
BLOCKED_SEEDS = 2  # head-of-line rates cost about a hundred times a max-min solve
ROUNDS = 16  # and are solved again after every fifth of the flows left has ended
Floats = NDArray[np.float64]


def flow_phase_time(phase: Phase, network: Network, link: Link, routing: Mechanism) -> PhaseTime:
    """Time of a permutation, bisection, storage or kv_transfer phase: the last completion of its flows.

    Rates are max-min fair, or subject to head-of-line blocking on lossless fabrics without congestion control
    whose flows keep to one path. Where hashing or a random permutation decides, the time is the mean over a few
    seeds and the band their range. Metrics: mean and slowest flow throughput (payload, latency included), use of
    links by tier. Raises CannotBuild when a flow cannot be routed.
    """
    first = routed_phase(phase, network, link, routing, network.seed)
    if first is None:
        return transfer_time(phase, network, link, _never_asked)
    chance = routing.hashed or (phase.operation == "permutation" and phase.pattern in {"", "random"})
    repeats = int(np.clip(SUBFLOWS_PER_CALL // first.wire_bytes.size, 1, SEEDS)) if chance else 1
    blocked = blocks_head_of_line(link, routing)
    if blocked:
        repeats = min(repeats, BLOCKED_SEEDS)
    runs = [
        _run(
            first if turn == 0 else routed_phase(phase, network, link, routing, network.seed + turn), blocked
        )
        for turn in range(repeats)
    ]
    ends = np.array([run.finish_s.max() for run in runs])
    low, high = band_factors("send_recv", phase.message_bytes)
    uses = [run.use for run in runs]
    time_s = float(ends.mean())
    notes = (f"rates {'head-of-line' if blocked else 'max-min'} on {routing.kind} routes, {repeats} seed(s)",)
    source = "flows on the graph"
    metrics = [
        Metric("flow_throughput_mean", *_spread([run.throughput.mean() for run in runs]), source=source),
        Metric("flow_throughput_slowest", *_spread([run.throughput.min() for run in runs]), source=source),
    ]
    for tier in uses[0].tiers:
        for name in ("p50", "p99", "max"):
            value = float(np.mean([getattr(use.tiers[tier], name) for use in uses if tier in use.tiers]))
            metrics.append(
                Metric(f"link_load_{tier.replace('-', '_')}_{name}", value, "fraction", source=source)
            )
    series = {"flow_rate_gbit_per_s": np.sort(gbit_per_s_from_bytes_per_s(1.0) * runs[0].throughput)}
    series |= {
        f"link_load_{tier.replace('-', '_')}": np.sort(use.loads) for tier, use in uses[0].tiers.items()
    }
    latency = float(first.latency_s.max())
    return PhaseTime(
        time_s=time_s,
        low_s=float(ends.min()) * low,
        high_s=float(ends.max()) * high,
        algorithm="direct",
        binding_limit="latency" if latency > 0.5 * time_s else uses[0].limit,
        bus_bandwidth_bytes_per_s=phase.message_bytes / time_s,
        metrics=tuple(metrics),
        notes=notes,
        series=series,
    )


def blocks_head_of_line(link: Link, routing: Mechanism) -> bool:
    """Whether congestion spreads: lossless links, no congestion control, every flow on one path."""
    technology = link.technology
    lossless = technology.flow_control.kind in {"credits", "pfc"}
    return lossless and technology.congestion_control.kind == "none" and not routing.spread


class _Run:
    """Completions of one routed phase."""

    def __init__(self, finish_s: Floats, throughput: Floats, use: Use) -> None:
        self.finish_s, self.throughput, self.use = finish_s, throughput, use


def _run(routed: RoutedPhase | None, blocked: bool) -> _Run:
    assert routed is not None
    table = routed.table
    if blocked:
        finish, rates = head_of_line_completion(routed)
    else:
        done = flow_completion(
            table.capacity, table.offsets, table.links, routed.wire_bytes, together_fraction=1e-3
        )
        finish, rates = done.finish_s + routed.latency_s, done.first_rate_bytes_per_s
    per_flow = np.zeros(table.flows)
    np.maximum.at(per_flow, table.flow, finish)
    return _Run(per_flow, routed.flow_bytes / per_flow, link_use(table, rates))


def head_of_line_completion(routed: RoutedPhase) -> tuple[Floats, Floats]:
    """Finish times and first rates under head-of-line blocking, rates renewed as flows end."""
    table = routed.table
    left, finish = routed.wire_bytes.copy(), np.zeros(routed.wire_bytes.size)
    lengths, active, now = np.diff(table.offsets), np.arange(left.size), 0.0
    first: Floats | None = None
    near: Floats | None = None
    for turn in range(ROUNDS):
        counts = lengths[active]
        offsets = np.append(0, np.cumsum(counts))
        entries = np.repeat(table.offsets[active] - offsets[:-1], counts) + np.arange(offsets[-1])
        rates = head_of_line_rates(table.capacity, offsets, table.links[entries], near=near)
        first = rates if first is None else first
        if not (rates > 0).all():
            raise ValueError("a flow crosses a link without capacity")
        needed = left[active] / rates
        step = needed.max() if turn == ROUNDS - 1 else float(np.quantile(needed, 0.2)) * (1.0 + 1e-6)
        ended = needed <= step
        finish[active[ended]] = now + needed[ended]
        left[active] -= rates * step
        now += step
        active, near = active[~ended], rates[~ended]
        if not active.size:
            break
    assert first is not None
    return finish + routed.latency_s, first


def _spread(values: list[float]) -> tuple[float, str, float | None, float | None]:
    low, high = (min(values), max(values)) if len(values) > 1 else (None, None)
    return float(np.mean(values)), "bytes/s", low, high


def _never_asked(pattern: str) -> LoadBalance:
    return IDEAL
