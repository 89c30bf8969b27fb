"""Ready-made networks and routes for the queue solver: star, leaf-spine, three tiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.solvers.queues_types import FloatArray, FlowSet, IntArray, QueueNetwork


def _filled(value: float, count: int) -> FloatArray:
    return np.full(count, float(value))


def _each(value: float | FloatArray, count: int) -> FloatArray:
    each = np.empty(count)
    each[:] = value
    return each


def star(
    *, senders: int, rate_bytes_per_s: float, propagation_s: float, buffer_bytes: float, receivers: int = 1
) -> QueueNetwork:
    """One switch with `senders` + `receivers` hosts.

    Host h has link h to the switch and link hosts + h from it; receivers are the last hosts.

    >>> star(senders=4, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=2**25).links
    10
    """
    hosts = senders + receivers
    ends = np.full((2, 2 * hosts), hosts, dtype=np.int64)
    ends[0, :hosts] = ends[1, hosts:] = np.arange(hosts)
    tier = np.zeros(hosts + 1, dtype=np.int64)
    tier[hosts] = 1
    buffers = np.zeros(hosts + 1)
    buffers[hosts] = buffer_bytes
    return QueueNetwork(
        from_node=ends[0],
        to_node=ends[1],
        rate_bytes_per_s=_filled(rate_bytes_per_s, 2 * hosts),
        propagation_s=_filled(propagation_s, 2 * hosts),
        tier=tier,
        buffer_bytes=buffers,
    )


def incast_flows(
    network: QueueNetwork,
    *,
    senders: int,
    bytes_per_flow: float | FloatArray,
    start_s: float | FloatArray = 0.0,
) -> FlowSet:
    """Flows of the first `senders` hosts of a star to its last host (`inf` bytes = never ending)."""
    last = network.links - 1
    return FlowSet(
        paths=tuple(((sender, last),) for sender in range(senders)),
        bytes=_each(bytes_per_flow, senders),
        start_s=_each(start_s, senders),
    )


@dataclass(frozen=True, eq=False)
class LeafSpine:
    """A leaf-spine network with its link numbering: host up, host down, leaf to spine, spine to leaf."""

    network: QueueNetwork
    leaves: int
    hosts_per_leaf: int
    spines: int

    @property
    def hosts(self) -> int:
        """Number of hosts; host h sits on leaf h // hosts_per_leaf."""
        return self.leaves * self.hosts_per_leaf

    def up(self, leaf: int, spine: int) -> int:
        """Link from a leaf to a spine."""
        return 2 * self.hosts + leaf * self.spines + spine

    def down(self, spine: int, leaf: int) -> int:
        """Link from a spine to a leaf."""
        return 2 * self.hosts + self.leaves * self.spines + spine * self.leaves + leaf

    def path(self, source: int, destination: int, spine: int) -> tuple[int, ...]:
        """Link ids from host to host; `spine` is not used between hosts of one leaf."""
        here, there = source // self.hosts_per_leaf, destination // self.hosts_per_leaf
        if here == there:
            return (source, self.hosts + destination)
        return (source, self.up(here, spine), self.down(spine, there), self.hosts + destination)

    def paths(self, source: int, destination: int) -> tuple[tuple[int, ...], ...]:
        """All shortest routes between two hosts, to spray over."""
        if source // self.hosts_per_leaf == destination // self.hosts_per_leaf:
            return (self.path(source, destination, 0),)
        return tuple(self.path(source, destination, spine) for spine in range(self.spines))


def leaf_spine(
    *,
    leaves: int,
    hosts_per_leaf: int,
    spines: int,
    rate_bytes_per_s: float,
    propagation_s: float,
    buffer_bytes: float,
    uplink_rate_bytes_per_s: float | None = None,
    uplink_propagation_s: float | None = None,
) -> LeafSpine:
    """Two tiers, every leaf with one link to every spine; hosts first, then leaves, then spines.

    >>> leaf_spine(leaves=2, hosts_per_leaf=2, spines=1, rate_bytes_per_s=1e9, propagation_s=1e-6,
    ...            buffer_bytes=1e6).path(0, 3, 0)
    (0, 8, 11, 7)
    """
    hosts = leaves * hosts_per_leaf
    host = np.arange(hosts, dtype=np.int64)
    leaf = hosts + np.arange(leaves, dtype=np.int64)
    spine = hosts + leaves + np.arange(spines, dtype=np.int64)
    own_leaf = leaf[host // hosts_per_leaf]
    fabric = leaves * spines
    up_rate = rate_bytes_per_s if uplink_rate_bytes_per_s is None else uplink_rate_bytes_per_s
    up_delay = propagation_s if uplink_propagation_s is None else uplink_propagation_s
    nodes = hosts + leaves + spines
    tier = np.zeros(nodes, dtype=np.int64)
    tier[leaf] = 1
    tier[spine] = 2
    network = QueueNetwork(
        from_node=np.concatenate([host, own_leaf, np.repeat(leaf, spines), np.repeat(spine, leaves)]),
        to_node=np.concatenate([own_leaf, host, np.tile(spine, leaves), np.tile(leaf, spines)]),
        rate_bytes_per_s=np.concatenate([_filled(rate_bytes_per_s, 2 * hosts), _filled(up_rate, 2 * fabric)]),
        propagation_s=np.concatenate([_filled(propagation_s, 2 * hosts), _filled(up_delay, 2 * fabric)]),
        tier=tier,
        buffer_bytes=np.where(tier > 0, float(buffer_bytes), 0.0),
    )
    return LeafSpine(network, leaves, hosts_per_leaf, spines)


@dataclass(frozen=True, eq=False)
class ThreeTier:
    """Pods of leaf-spine joined by cores; core c connects to spine c // cores_per_spine of every pod."""

    network: QueueNetwork
    pods: int
    leaves_per_pod: int
    hosts_per_leaf: int
    spines_per_pod: int
    cores_per_spine: int

    @property
    def hosts(self) -> int:
        """Number of hosts, numbered leaf by leaf, pod by pod."""
        return self.pods * self.leaves_per_pod * self.hosts_per_leaf

    def path(self, source: int, destination: int, spine: int, core: int = 0) -> tuple[int, ...]:
        """Link ids between two hosts over `spine` of each pod and the spine's core number `core`."""
        hosts, spines, leaves = self.hosts, self.spines_per_pod, self.leaves_per_pod
        here, there = source // self.hosts_per_leaf, destination // self.hosts_per_leaf
        if here == there:
            return (source, hosts + destination)
        all_leaves = self.pods * leaves
        up, down = 2 * hosts, 2 * hosts + all_leaves * spines
        first = (source, up + here * spines + spine)
        last = (down + there * spines + spine, hosts + destination)
        pod, other = here // leaves, there // leaves
        if pod == other:
            return first + last
        rise = down + all_leaves * spines
        fall = rise + self.pods * spines * self.cores_per_spine
        climb = rise + (pod * spines + spine) * self.cores_per_spine + core
        descend = fall + (other * spines + spine) * self.cores_per_spine + core
        return (*first, climb, descend, *last)


def three_tier(
    *,
    pods: int,
    leaves_per_pod: int,
    hosts_per_leaf: int,
    spines_per_pod: int,
    cores_per_spine: int,
    rate_bytes_per_s: float,
    propagation_s: float,
    buffer_bytes: float,
) -> ThreeTier:
    """Three tiers of equal links; hosts, leaves, spines, cores numbered in that order."""
    hosts = pods * leaves_per_pod * hosts_per_leaf
    leaves, spines = pods * leaves_per_pod, pods * spines_per_pod
    cores = spines_per_pod * cores_per_spine
    host = np.arange(hosts, dtype=np.int64)
    leaf = hosts + np.arange(leaves, dtype=np.int64)
    spine = hosts + leaves + np.arange(spines, dtype=np.int64)
    core = hosts + leaves + spines + np.arange(cores, dtype=np.int64)
    own_leaf = leaf[host // hosts_per_leaf]
    leaf_end: IntArray = np.repeat(leaf, spines_per_pod)
    spine_end = np.concatenate(
        [np.tile(spine[p * spines_per_pod : (p + 1) * spines_per_pod], leaves_per_pod) for p in range(pods)]
    )
    spine_side: IntArray = np.repeat(spine, cores_per_spine)
    core_side = np.tile(core, pods)
    tier = np.repeat(np.arange(4, dtype=np.int64), [hosts, leaves, spines, cores])
    from_node = np.concatenate([host, own_leaf, leaf_end, spine_end, spine_side, core_side])
    to_node = np.concatenate([own_leaf, host, spine_end, leaf_end, core_side, spine_side])
    network = QueueNetwork(
        from_node=from_node,
        to_node=to_node,
        rate_bytes_per_s=_filled(rate_bytes_per_s, len(from_node)),
        propagation_s=_filled(propagation_s, len(from_node)),
        tier=tier,
        buffer_bytes=np.where(tier > 0, float(buffer_bytes), 0.0),
    )
    return ThreeTier(network, pods, leaves_per_pod, hosts_per_leaf, spines_per_pod, cores_per_spine)
