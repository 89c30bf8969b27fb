"""An incast on RoCEv2 without drawing packets: the mean recursion of senders, marks and pauses, or admission in pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from models.rocev2.expected_marks import MeanRun, mean_run
from models.rocev2.incast import incast_packets, incast_wired, incast_words, queue_limits
from models.rocev2.incast_laws import ADMITTED_SENDERS, admits, laws
from models.solvers.incast_fabric import IncastFabric
from models.solvers.queues_types import FlowSet
from models.topology.incast_wiring import incast_bound_s, incast_wiring, spreads_packets
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Burst, Metric, Phase, PhaseTime, burst_of

Floats = NDArray[np.float64]
MEAN = "expected marks, smooth flows"
LIMIT_BOUNDS, LIMIT_S = 50.0, 0.1  # the recursion ends after so many serialisation bounds and seconds


def analytical_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """One incast from expected marks and smooth flows; bursts admitted in pairs in closed form.

    Mean over the routes of the burst's seeds; the band also holds equal senders that hear of marks all in step. Lasting
    laws are its limits, and are held by tests: pauses from P_in T on, T = alpha B / (1 + P_in alpha), 1 - 1/N of the
    time; victim G / (P_in k) while links pause, what the hot flows leave once DCQCN has settled.
    """
    burst = burst_of(phase)
    found = _admitted(burst, network, link) if admits(link) else _mean(burst, network, link)
    limits = queue_limits(phase, network, link)
    waiting = limits.waiting_fraction * burst.fan_in * burst.burst_bytes
    stops = limits.stops_bytes or float("inf")
    over = Metric(
        "burst_over_buffer", waiting / stops, "1", source="waiting bytes over P_in T; above 1 PFC acts"
    )
    time = next(m for m in found if m.name == "fct_max")
    stop_s = LIMIT_BOUNDS * incast_bound_s(burst, link) + LIMIT_S
    ended = time.value < stop_s
    assert time.low is not None and time.high is not None
    note = () if ended else ("a burst does not end within the bound of the recursion",)
    return PhaseTime(
        time.value, time.low, time.high, incast_words(link), "fabric", metrics=(*found, over), notes=note
    )


@dataclass(frozen=True, eq=False)
class _Case:
    """One draw of routes with one choice of first phases: ends at the receiver, and what it took."""

    ends_s: Floats
    run: MeanRun
    queue_mean_bytes: float  # at the hot port, until the last acknowledgement is back
    victim_fraction: float
    hot_link: int
    senders: list[int]


def _mean(burst: Burst, network: Network, link: Link) -> list[Metric]:
    law, _, _ = laws(link)
    seeds = 1 if spreads_packets(link) else burst.seeds
    drawn = [_case(replace(burst, seed=burst.seed + at), network, link, True) for at in range(seeds)]
    # with DCQCN the band also holds equal senders that hear of marks all in step
    steps = [_case(burst, network, link, False)] if law.kind == "dcqcn" else []
    packet, _ = incast_packets(link)
    ideal_s, line = incast_bound_s(burst, link), link.goodput_bytes_per_s

    def banded(name: str, unit: str, of: Callable[[_Case], float], source: str = MEAN) -> Metric:
        values = [of(case) for case in drawn]
        every = values + [of(case) for case in steps]
        return Metric(name, float(np.mean(values)), unit, min(every), max(every), source)

    metrics = [
        banded("fct_mean", "s", lambda case: float(case.ends_s.mean())),
        banded("fct_p50", "s", lambda case: float(np.percentile(case.ends_s, 50))),
        banded("fct_p99", "s", lambda case: float(np.percentile(case.ends_s, 99))),
        banded("fct_max", "s", lambda case: float(case.ends_s.max())),
        banded("slowdown", "1", lambda case: float(case.ends_s.max()) / ideal_s),
        banded("queue_mean", "bytes", lambda case: case.queue_mean_bytes),
        banded("queue_peak", "bytes", lambda case: float(case.run.queue_peak_bytes[case.hot_link])),
        banded("pause_time", "s", lambda case: float(case.run.link_pause_s[case.senders].mean())),
        banded("marks", "1", lambda case: float(case.run.marks.sum())),
        banded("drops", "1", lambda case: float(case.run.lost_bytes.sum()) / packet.wire_bytes),
    ]
    first_s = [case.run.first_pause_s for case in drawn if np.isfinite(case.run.first_pause_s)]
    if first_s:
        value = float(np.mean(first_s))
        metrics.append(Metric("first_pause", value, "s", min(first_s), max(first_s), f"{MEAN}, any link"))
    if burst.victim:
        metrics.append(banded("victim_goodput", "bytes/s", lambda case: line * case.victim_fraction))
        metrics.append(
            banded("victim_share", "fraction", lambda case: case.victim_fraction, "of an idle link")
        )
    return metrics


def _case(burst: Burst, network: Network, link: Link, spread: bool) -> _Case:
    wiring, fabric = incast_wiring(network, link), incast_wired(burst, network, link)
    ideal_s = incast_bound_s(burst, link)
    stop_s = LIMIT_BOUNDS * ideal_s + LIMIT_S
    packet, _ = incast_packets(link)
    hops = len(fabric.paths[0][0])
    short_s = min(burst.burst_bytes + packet.header_bytes, packet.wire_bytes) / link.rate_bytes_per_s
    latency_s = wiring.path_latency_s + link.host_pair_latency_s + (hops - 1) * short_s
    run = _run(burst, link, fabric, stop_s, spread)
    ended_s = np.minimum(run.completion_s, stop_s)
    ends_s = ended_s + latency_s
    at = int(np.argmax(ends_s))
    ends_s[at] = max(ends_s[at], ideal_s + latency_s)
    # packets are counted until the last acknowledgement is back at its sender
    arrived_s = float(ended_s.max()) + wiring.path_latency_s
    whole_s = arrived_s + wiring.path_latency_s
    queue_mean_bytes = float(run.queue_mean_bytes[fabric.hot_link]) * run.duration_s / whole_s
    fraction = float("nan")
    if burst.victim:
        beside = _run(burst, link, fabric, arrived_s, spread, victim=True)
        fraction = (
            min(1.0, float(beside.goodput_bytes_per_s[-1]) / link.rate_bytes_per_s) * arrived_s / whole_s
        )
    senders = [path[0][0] for path in fabric.paths[: burst.fan_in]]
    return _Case(ends_s, run, queue_mean_bytes, fraction, fabric.hot_link, senders)


def _run(
    burst: Burst, link: Link, fabric: IncastFabric, stop_s: float, spread: bool, victim: bool = False
) -> MeanRun:
    law, marking, gate = laws(link)
    packet, _ = incast_packets(link)
    flows = burst.fan_in + victim
    sizes = np.append(np.full(burst.fan_in, float(burst.burst_bytes)), [np.inf] * victim)
    return mean_run(
        fabric.network, FlowSet(fabric.paths[:flows], sizes, np.zeros(flows)), law, gate, marking, packet=packet,
        stop_s=stop_s, spread_phases=spread, until_bursts_end=not victim,
    )  # fmt: skip


def _admitted(burst: Burst, network: Network, link: Link) -> list[Metric]:
    """Receiver-driven: A bursts at a time share the port; the next A start when the last acknowledgement is back.

    Rounds of A b / C, an idle round trip between them. The victim stands beside k of the N bursts, one b / C each.
    """
    wiring, fabric = incast_wiring(network, link), incast_wired(burst, network, link)
    ideal_s = incast_bound_s(burst, link)
    admitted = min(ADMITTED_SENDERS, burst.fan_in)
    rounds = ceil(burst.fan_in / admitted)
    packet, _ = incast_packets(link)
    hops = len(fabric.paths[0][0])
    short_s = min(burst.burst_bytes + packet.header_bytes, packet.wire_bytes) / link.rate_bytes_per_s
    ack_s = hops * packet.ack_bytes / link.rate_bytes_per_s
    path_s = wiring.path_latency_s + (hops - 1) * short_s
    idle_s = path_s + wiring.path_latency_s + ack_s
    one_s = ideal_s / burst.fan_in
    ends = np.array(
        [
            (min((at // admitted + 1) * admitted, burst.fan_in) * one_s) + (at // admitted) * idle_s
            for at in range(burst.fan_in)
        ]
    )
    ends += path_s + link.host_pair_latency_s
    total_s = float(ends[-1])
    source = f"{admitted} bursts at a time, a round trip between rounds"
    metrics = [
        Metric("fct_mean", float(ends.mean()), "s", source=source),
        Metric("fct_p50", float(np.percentile(ends, 50)), "s", source=source),
        Metric("fct_p99", float(np.percentile(ends, 99)), "s", source=source),
        Metric("fct_max", total_s, "s", total_s - (rounds - 1) * idle_s, total_s, source),
        Metric("slowdown", total_s / ideal_s, "1", source="over serialisation bound"),
        Metric(
            "queue_peak", (admitted - 1.0) * burst.burst_bytes, "bytes", source="all but one admitted burst"
        ),
        Metric("pause_time", 0.0, "s", source=source),
    ]
    if burst.victim:
        line = link.goodput_bytes_per_s
        beside = fabric.flows_on_victim_port * (1.0 / wiring.spines if len(fabric.paths[-1]) > 1 else 1.0)
        share = max(0.0, 1.0 - beside * one_s / total_s) if wiring.leaves > 1 else 1.0
        source = "half a link beside each of the k bursts on its path"
        metrics.append(Metric("victim_goodput", line * share, "bytes/s", source=source))
        metrics.append(Metric("victim_share", share, "fraction", source="of an idle link"))
    return metrics
