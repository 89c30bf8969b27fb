"""An incast on InfiniBand in closed form: a tree of round robins over links that carry what their credits allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.infiniband.credits import credit_loop_s, link_bandwidth, whole_packets_bytes
from models.infiniband.incast import incast_wired, vl_buffer_bytes
from models.solvers.incast_fabric import IncastFabric
from models.solvers.incast_tree import tree_incast
from models.topology.incast_wiring import incast_bound_s, incast_wiring, spreads_packets
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Burst, Metric, Phase, PhaseTime, burst_of

Floats = NDArray[np.float64]
TREE = "tree of round robins, links at min(C, buffer / credit round trip)"


@dataclass(frozen=True, eq=False)
class _Case:
    """One draw of routes; times at the receiver."""

    ends_s: Floats
    open_s: float  # how long the order of what is buffered at the end leaves a burst open
    stalled_s: float
    queue_peak_bytes: float
    victim_fraction: float
    victim_most_fraction: float  # were nobody held before every buffer on the way is full


def analytical_time(phase: Phase, network: Network, link: Link) -> PhaseTime:
    """Every congested port serves the links that feed it in turn; no link carries more than its credits let it.

    The law of a victim, G / (P_in k), is one instant of it: shares grow as bursts end, and nobody is held before the
    buffers into the hot switch are full (band: all buffers on the way), after buffers / ((N - 1) C). Credits of a
    link: min(C, B / (2 d + hop + update)) with B the lane's buffer in whole packets. Mean over the routes of the burst's
    seeds. *Assumptions* One lane, no congestion control.
    """
    burst = burst_of(phase)
    seeds = 1 if _one_route(link) else burst.seeds
    cases = [_case(replace(burst, seed=burst.seed + at), network, link) for at in range(seeds)]
    ideal_s, line = incast_bound_s(burst, link), link.goodput_bytes_per_s

    def banded(name: str, unit: str, of: Callable[[_Case], float], source: str = TREE) -> Metric:
        values = [of(case) for case in cases]
        return Metric(name, float(np.mean(values)), unit, min(values), max(values), source)

    mean = banded("fct_mean", "s", lambda case: float(case.ends_s.mean()))
    low = min(float(case.ends_s.mean()) - case.open_s for case in cases)
    last = banded("fct_max", "s", lambda case: float(case.ends_s.max()))
    metrics = [
        replace(
            mean, low=max(0.0, low), source=f"{TREE}; low: what is buffered at the end leaves burst by burst"
        ),
        banded("fct_p50", "s", lambda case: float(np.percentile(case.ends_s, 50))),
        banded("fct_p99", "s", lambda case: float(np.percentile(case.ends_s, 99))),
        last,
        banded("slowdown", "1", lambda case: float(case.ends_s.max()) / ideal_s),
        banded(
            "queue_peak",
            "bytes",
            lambda case: case.queue_peak_bytes,
            "a lane's buffer of each link that feeds the port",
        ),
        banded(
            "pause_time", "s", lambda case: case.stalled_s, "until a burst but for what is buffered has left"
        ),
    ]
    if burst.victim:
        most = max(case.victim_most_fraction for case in cases)
        share = replace(
            banded("victim_share", "fraction", lambda case: case.victim_fraction, "of an idle link"),
            high=most,
        )
        goodput = banded("victim_goodput", "bytes/s", lambda case: line * case.victim_fraction)
        metrics += [replace(goodput, high=line * most), share]
    assert last.low is not None and last.high is not None
    return PhaseTime(last.value, last.low, last.high * 1.05, "credits", "fabric", metrics=tuple(metrics))


def _one_route(link: Link) -> bool:
    return spreads_packets(link) or link.technology.routing.kind == "static"


def link_limits_bytes_per_s(fabric: IncastFabric, link: Link) -> Floats:
    """Most that each link of the incast's network carries: min(C, B / credit round trip), in wire bytes/s."""
    network = fabric.network
    # the wiring counts the switch a link leads to, and the NIC at the receiver's, into its delay
    cable_s = np.maximum(0.0, network.propagation_s - link.hop_latency_s)
    into_switch = network.tier[network.to_node] > 0
    trip_s = credit_loop_s(cable_s, np.where(into_switch, link.hop_latency_s, 0.0))
    held = whole_packets_bytes(vl_buffer_bytes(link), link.wire_packet_bytes)
    return np.array([link_bandwidth(held, trip, link.rate_bytes_per_s) for trip in trip_s])


def _case(burst: Burst, network: Network, link: Link) -> _Case:
    wiring, fabric = incast_wiring(network, link), incast_wired(burst, network, link)
    rate = link.rate_bytes_per_s
    limits = link_limits_bytes_per_s(fabric, link)
    routes, widths = _bundled(fabric, limits)
    wire = incast_bound_s(burst, link) * rate / burst.fan_in
    latency_s = wiring.path_latency_s + link.host_pair_latency_s
    found = tree_incast(routes[: burst.fan_in], wire, widths, routes[burst.fan_in] if burst.victim else None)
    end_s = float(found.end_s.max())
    lane = vl_buffer_bytes(link)
    feeding = {hop for routes_of in fabric.paths[: burst.fan_in] for path in routes_of for hop in path[:-1]}
    waiting = (burst.fan_in - 1) * wire
    buffered = min(lane * len(feeding), waiting)
    into_hot = min(waiting, max(1, min(fabric.shared_ports, burst.fan_in)) * lane)
    stalled = found.end_s * (1.0 - min(1.0, buffered / (burst.fan_in * wire))) - wire / rate
    free = min(float(widths[hop]) for hop in routes[-1])

    def victim_fraction(filled_bytes: float) -> float:
        """At full speed until so many bytes wait, then in the tree; of an idle link, until the last byte arrives."""
        free_s = filled_bytes / ((burst.fan_in - 1) * rate) if burst.fan_in > 1 else 0.0
        held = found.victim_rate_bytes_per_s
        mean = held + max(0.0, free - held) * min(1.0, free_s / end_s)
        return min(1.0, mean / rate) * end_s / (end_s + wiring.path_latency_s)

    return _Case(
        ends_s=found.end_s + latency_s,
        open_s=0.5 * buffered / rate if burst.fan_in > 1 else 0.0,
        stalled_s=float(np.maximum(stalled, 0.0).mean()),
        queue_peak_bytes=into_hot,
        victim_fraction=victim_fraction(into_hot) if burst.victim else 1.0,
        victim_most_fraction=victim_fraction(buffered) if burst.victim else 1.0,
    )


def _bundled(fabric: IncastFabric, limits: Floats) -> tuple[list[tuple[int, ...]], Floats]:
    """(one route a flow, limits) with the links that a flow's packets spread over taken as one of their joint width."""
    widths = limits.copy()
    routes = []
    for alternatives in fabric.paths:
        route = []
        for hop in zip(*alternatives, strict=True):
            links = sorted(set(hop))
            widths[links[0]] = float(limits[links].sum())
            route.append(links[0])
        routes.append(tuple(route))
    return routes, widths
