"""The network of an incast question: senders spread over leaves, a hot receiver, and a victim beside it.

Link numbering is that of `queues_fabrics`, so the queue, credit and TCP solvers can be drawn on one chart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from models.solvers.queues_fabrics import LeafSpine, ThreeTier, leaf_spine, three_tier
from models.solvers.queues_types import QueueNetwork
from models.topology.incast_wiring import IncastWiring
from models.topology.link import Link
from models.workload.phase import Burst

IncastRouting = Literal["hash", "destination", "spray"]


@dataclass(frozen=True, eq=False)
class IncastFabric:
    """Network and routes: flows 0 .. fan_in - 1 go to the hot receiver, flow fan_in (if any) is the victim.

    Several paths of a flow are alternatives for spraying or adaptive choice.
    """

    network: QueueNetwork
    paths: tuple[tuple[tuple[int, ...], ...], ...]
    fan_in: int
    hot_link: int
    victim_link: int
    shared_ports: int  # P_in: links into the last leaf (or hosts on it) that carry incast
    flows_on_victim_port: int  # k: incast flows that share the victim's link into the last leaf

    @property
    def victim(self) -> int | None:
        """Index of the victim flow, None without one."""
        return self.fan_in if len(self.paths) > self.fan_in else None


def burst_fabric(
    burst: Burst,
    wiring: IncastWiring,
    link: Link,
    *,
    routing: IncastRouting,
    seed: int,
    victim: bool | None = None,
) -> IncastFabric:
    """`incast_fabric` of a burst (its own `victim` if None) on the wiring around its receiver, with the link's figures."""
    return incast_fabric(
        fan_in=burst.fan_in,
        rate_bytes_per_s=link.rate_bytes_per_s,
        propagation_s=wiring.host_propagation_s,
        fabric_propagation_s=wiring.fabric_propagation_s,
        leaves=wiring.leaves,
        spines=wiring.spines,
        buffer_bytes=link.technology.flow_control.switch_buffer_mb.value * 1e6,
        victim=burst.victim if victim is None else victim,
        routing=routing,
        seed=seed,
    )


def incast_fabric(
    *,
    fan_in: int,
    rate_bytes_per_s: float,
    propagation_s: float,
    leaves: int = 4,
    spines: int = 4,
    pods: int = 1,
    fabric_propagation_s: float | None = None,
    buffer_bytes: float = 32e6,
    victim: bool = True,
    routing: IncastRouting = "hash",
    seed: int = 1,
) -> IncastFabric:
    """Senders in turn on all leaves but the last, both receivers on the last; one leaf: all on one switch.

    `pods` > 1: three tiers, `leaves` and `spines` per pod, one core a spine, senders in all pods.
    `routing`: a seeded hash a flow (ECMP), one spine a destination (D-mod-K), or all paths of every flow.
    The victim starts on the first leaf. Raises ValueError for counts below 1.

    >>> f = incast_fabric(fan_in=8, rate_bytes_per_s=50e9, propagation_s=1e-7, leaves=2, spines=2, seed=3)
    >>> len(f.paths), f.victim, f.flows_on_victim_port <= 8
    (9, 8, True)
    """
    for name, value in (("fan_in", fan_in), ("leaves", leaves), ("spines", spines), ("pods", pods)):
        if value < 1:
            raise ValueError(f"{name}: {value} must be at least 1")
    total = leaves * pods
    sending = max(1, total - 1)
    per_leaf = ceil(fan_in / sending) + 1
    hosts_per_leaf = max(per_leaf, 2) if total > 1 else per_leaf + 2
    delay_s = propagation_s if fabric_propagation_s is None else fabric_propagation_s
    random = np.random.default_rng(seed)
    fabric: LeafSpine | ThreeTier
    if pods > 1:
        fabric = three_tier(
            pods=pods,
            leaves_per_pod=leaves,
            hosts_per_leaf=hosts_per_leaf,
            spines_per_pod=spines,
            cores_per_spine=1,
            rate_bytes_per_s=rate_bytes_per_s,
            propagation_s=delay_s,
            buffer_bytes=buffer_bytes,
        )
    else:
        fabric = leaf_spine(
            leaves=leaves,
            hosts_per_leaf=hosts_per_leaf,
            spines=spines,
            rate_bytes_per_s=rate_bytes_per_s,
            propagation_s=propagation_s,
            buffer_bytes=buffer_bytes,
            uplink_propagation_s=delay_s,
        )
    hot, cold = fabric.hosts - 1, fabric.hosts - 2
    senders = [(i % sending) * hosts_per_leaf + i // sending for i in range(fan_in)]
    ends = [(sender, hot) for sender in senders]
    if victim:
        ends.append((hosts_per_leaf - 1 if total > 1 else fan_in, cold))
    paths = []
    for source, destination in ends:
        every = tuple(dict.fromkeys(fabric.path(source, destination, spine) for spine in range(spines)))
        pick = destination % spines if routing == "destination" else int(random.integers(spines))
        paths.append(every if routing == "spray" else (every[pick % len(every)],))
    into_leaf = [{path[-2] for path in alternatives} for alternatives in paths]
    own = into_leaf[-1] if victim else set()
    return IncastFabric(
        network=fabric.network,
        paths=tuple(paths),
        fan_in=fan_in,
        hot_link=fabric.hosts + hot,
        victim_link=fabric.hosts + cold,
        shared_ports=len(set().union(*into_leaf[:fan_in])),
        flows_on_victim_port=sum(1 for links in into_leaf[:fan_in] if links & own),
    )
