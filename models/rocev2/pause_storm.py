"""A receiver that stops taking packets: how its pause climbs the tree, and whom it stops, until a watchdog acts.

The port to the receiver of an incast is paused without end (a NIC whose receive pipeline hangs). Its queue fills
the last switch, whose ingress ports pause, and so on up to the senders; flows to healthy receivers that share
these links stop with them. ECN does not help: nothing leaves the stuck queue to be marked. Source: Guo et al.,
RDMA over Commodity Ethernet at Scale, SIGCOMM 2016.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.rocev2.incast import incast_packets, incast_wired
from models.rocev2.incast_laws import laws
from models.solvers.queues_types import FloatArray, FlowSet, Recording
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Phase, burst_of

BUFFERS_TO_FILL = 1.5  # the run ends when so many switch buffers could have been sent at line rate
SAMPLES = 400


@dataclass(frozen=True)
class PauseStorm:
    """What a stuck receiver has stopped by the end of the run; times from its last packet taken, s."""

    tiers: tuple[str, ...]  # whose links were paused: host, leaf, spine
    switches_after_s: float  # a switch beyond the stuck port is paused first; inf: never
    hosts_after_s: float  # a sender is paused first
    hosts_fraction: float  # senders (victim included) that are paused in the end
    victim_fraction: float | None  # of an idle link, in the last quarter of the run; None without a victim


def pause_storm(phase: Phase, network: Network, link: Link) -> PauseStorm:
    """The storm in the wiring of the incast `phase`, every sender with data without end; one seed.

    *Assumptions* No watchdog acts within the run: it is a hundred times slower than the storm.
    """
    from models.solvers.queues import run

    burst = burst_of(phase)
    fabric = incast_wired(burst, network, link)
    law, marking, gate = laws(link)
    flows = len(fabric.paths)
    buffer_bytes = link.technology.flow_control.switch_buffer_mb.value * 1e6
    stop_s = BUFFERS_TO_FILL * buffer_bytes / link.rate_bytes_per_s
    packet, choice = incast_packets(link)
    found = run(
        fabric.network,
        FlowSet(
            paths=fabric.paths,
            bytes=np.full(flows, np.inf),
            start_s=np.zeros(flows),
            group=np.array([0] * burst.fan_in + [1] * (flows - burst.fan_in), dtype=np.int64),
        ),
        law,
        replace(gate, stuck_links=(fabric.hot_link,)),
        marking,
        seed=burst.seed,
        packet=packet,
        stop_s=stop_s,
        choice=choice,
        recording=Recording(watch_links=(fabric.hot_link,), series_s=stop_s / SAMPLES),
    )
    series = found.series
    victim = None
    if fabric.victim is not None:
        quarter = 3 * len(series.time_s) // 4
        sent = series.delivered_bytes[-1, 1] - series.delivered_bytes[quarter, 1]
        victim = float(sent / (series.time_s[-1] - series.time_s[quarter]) / link.goodput_bytes_per_s)
    return PauseStorm(
        tiers=tuple(name for name, count in found.pause.count.items() if count > (name == "leaf")),
        switches_after_s=_first(series.time_s, series.switch_links_paused > 1),
        hosts_after_s=_first(series.time_s, series.hosts_paused > 0),
        hosts_fraction=float(series.hosts_paused[-1]) / flows,
        victim_fraction=victim,
    )


def _first(time_s: FloatArray, happens: NDArray[np.bool_]) -> float:
    return float(time_s[int(np.argmax(happens))]) if happens.any() else float("inf")
