"""How many switches and cables a network takes: counting rules, no graph.

Rule for a non-blocking tree of radix k and N endpoints (reproduces the published reference designs):
leaves L = N / (k/2); two tiers: spines = the smallest divisor of the uplinks per leaf that is >= L u / k, so
that every leaf reaches every spine equally; three tiers: spines = L, cores = L / 2. Rail-only and multi-plane
networks apply the rule per rail or plane and multiply.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from models.scenario.schema import Topology


class CannotBuild(ValueError):
    """The requested network does not exist with these switches; the text says why."""


@dataclass(frozen=True)
class Tier:
    """One layer of switches, all copies (rails or planes) together."""

    name: str  # leaf | spine | core
    switches: int
    down_ports_used: int
    up_ports_used: int
    ports: int

    @property
    def ports_unused(self) -> int:
        """Ports of this tier that carry no cable."""
        return self.ports - self.down_ports_used - self.up_ports_used


@dataclass(frozen=True)
class NetworkSize:
    """Counts of one compute network; `words` says what was built so that it is never quietly another one."""

    kind: str
    words: str
    endpoints: int  # NIC ports x planes
    radix: int
    copies: int  # independent rails or planes
    leaf_down: int  # ports of one leaf towards hosts
    leaf_up: int  # ports of one leaf towards spines
    leaves_per_copy: int
    spines_per_copy: int
    cores_per_copy: int
    pods_per_copy: int  # 3-tier: groups of leaves that share spines
    host_leaf_links: int
    leaf_spine_links: int
    spine_core_links: int
    port_rate_fraction: float  # rate of one port over the NIC's rate (1 / planes)
    groups: int = 0  # dragonfly+

    @property
    def tiers_count(self) -> int:
        """1, 2 or 3 layers of switches."""
        return 1 + (self.spines_per_copy > 0) + (self.cores_per_copy > 0)

    @property
    def switches(self) -> int:
        """Switches of all tiers and copies."""
        return self.copies * (self.leaves_per_copy + self.spines_per_copy + self.cores_per_copy)

    @property
    def hops_max(self) -> int:
        """Switches on the longest minimal path."""
        return (1, 3, 5)[self.tiers_count - 1] if not self.groups else 4

    @property
    def oversubscription(self) -> float:
        """Leaf bandwidth down over up, as built."""
        return self.leaf_down / self.leaf_up if self.leaf_up else 1.0

    def tiers(self) -> tuple[Tier, ...]:
        """Layers from the hosts up."""
        leaf = Tier(
            "leaf",
            self.copies * self.leaves_per_copy,
            self.host_leaf_links,
            self.leaf_spine_links,
            self.copies * self.leaves_per_copy * self.radix,
        )
        tiers = [leaf]
        if self.spines_per_copy:
            count = self.copies * self.spines_per_copy
            tiers.append(
                Tier("spine", count, self.leaf_spine_links, self.spine_core_links, count * self.radix)
            )
        if self.cores_per_copy:
            count = self.copies * self.cores_per_copy
            tiers.append(Tier("core", count, self.spine_core_links, 0, count * self.radix))
        return tuple(tiers)


def radix_at(ports: int, port_gbit_per_s: float, link_gbit_per_s: float) -> int:
    """Ports of a switch when its cages run at the link's speed (per direction, never the headline Tb/s).

    >>> radix_at(64, 800, 400), radix_at(64, 400, 400), radix_at(144, 800, 800)
    (128, 64, 144)
    """
    if link_gbit_per_s > port_gbit_per_s:
        raise CannotBuild(
            f"a {port_gbit_per_s:g} Gbit/s switch port cannot carry a {link_gbit_per_s:g} Gbit/s link"
        )
    return int(ports * (port_gbit_per_s // link_gbit_per_s))


def network_size(
    topology: Topology, nodes: int, nics_per_node: int, radix: int, extra_leaf_ports: int = 0
) -> NetworkSize:
    """Size of the compute network for `nodes` servers of `nics_per_node` ports with switches of `radix`.

    `radix` counts ports at the NIC's full speed; `extra_leaf_ports` are endpoints that are not GPUs' NICs
    (management). Raises CannotBuild when the switches cannot reach the size.

    >>> size = network_size(Topology(kind="fat_tree"), 512, 8, 64)
    >>> [(tier.name, tier.switches) for tier in size.tiers()]
    [('leaf', 128), ('spine', 128), ('core', 64)]
    >>> network_size(Topology(kind="rail_only"), 512, 8, 64).switches
    192
    """
    kind, taper = topology.kind, topology.oversubscription
    endpoints = nodes * nics_per_node + extra_leaf_ports
    if kind == "rail_only":
        size = _tree(nodes + ceil(extra_leaf_ports / nics_per_node), radix, taper)
        words = f"rail-only: {nics_per_node} separate networks, one per NIC of a node; rails meet only inside nodes"
        return _copies(size, kind, words, nics_per_node, 1.0)
    if kind == "multi_plane":
        size = _tree(endpoints, radix * topology.planes, taper)
        words = f"{topology.planes} independent planes, each NIC split into {topology.planes} ports"
        return _copies(size, kind, words, topology.planes, 1.0 / topology.planes)
    if kind == "dragonfly_plus":
        return _dragonfly_plus(endpoints, radix)
    if kind == "rail_optimized":
        size = _rail_optimized(nodes, nics_per_node, radix, taper, extra_leaf_ports)
        words = (
            "rail-optimised any-to-any fat tree: NIC j of every node of a unit on leaf j, all leaves joined"
        )
        return _copies(size, kind, words, 1, 1.0)
    return _copies(_tree(endpoints, radix, taper), kind, "any-to-any fat tree", 1, 1.0)


def down_ports(radix: int, oversubscription: float) -> int:
    """Ports of a leaf that face hosts: k r / (1 + r), rounded down."""
    return max(1, int(radix * oversubscription / (1.0 + oversubscription) + 1e-9))


def smallest_divisor_at_least(number: int, least: float) -> int:
    """The smallest divisor of `number` that is >= `least`.

    >>> smallest_divisor_at_least(72, 16)
    18
    """
    return next(d for d in range(max(1, ceil(least - 1e-9)), number + 1) if number % d == 0)


@dataclass(frozen=True)
class _Tree:
    endpoints: int
    radix: int
    leaf_down: int
    leaf_up: int
    leaves: int
    spines: int
    cores: int
    pods: int


def _tree(endpoints: int, radix: int, taper: float, leaves: int | None = None) -> _Tree:
    if leaves is None and endpoints <= radix:
        return _Tree(endpoints, radix, radix, 0, 1, 0, 0, 1)
    down = down_ports(radix, taper)
    up = min(radix - down, max(1, ceil(down / taper - 1e-9)))
    if taper > 1 and (leaves or ceil(endpoints / down)) <= radix:
        down, up = _dividing(radix, down, up, leaves or ceil(endpoints / down))
    if leaves is None:
        leaves = ceil(endpoints / down)
    if leaves <= radix:
        spines = smallest_divisor_at_least(up, leaves * up / radix)
        return _Tree(endpoints, radix, down, up, leaves, spines, 0, 1)
    pod_leaves = radix // 2
    if ceil(leaves / pod_leaves) > radix:
        most = radix * pod_leaves * down
        raise CannotBuild(
            f"{endpoints} ports exceed the {most} a three-tier tree of {radix}-port switches reaches"
        )
    pods, spines_per_pod = _pods(leaves, up, radix)
    spines = pods * spines_per_pod
    cores = ceil(leaves * up / radix)
    return _Tree(endpoints, radix, down, up, leaves, spines, cores, pods)


def _pods(leaves: int, up: int, radix: int) -> tuple[int, int]:
    """Pods and spines of each: equal pods of at most k/2 leaves that take fewest spines, then fewest pods.

    72 leaves of radix 64 are nine pods of eight leaves and eight spines (72 spines, as "spines = leaves" says), not
    three of 24 with 32 spines each.

    >>> _pods(128, 32, 64), _pods(72, 32, 64)
    ((4, 32), (9, 8))
    """
    found = []
    for pods in range(ceil(leaves / (radix // 2)), min(leaves, radix) + 1):
        spines = smallest_divisor_at_least(up, ceil(leaves / pods) * up / (radix - radix // 2))
        found.append((pods * spines, pods, spines))
    _, pods, spines = min(found)
    return pods, spines


def _dividing(radix: int, down: int, up: int, leaves: int) -> tuple[int, int]:
    """Ports of a tapered leaf whose uplinks share out over few spines: 26 uplinks would ask for 13 spines where 4 do.

    A few host ports are given up, never the taper asked for.

    >>> _dividing(128, 102, 26, 16)
    (100, 28)
    """
    for more in range(up, min(2 * up, radix - 1) + 1):
        least = ceil(leaves * more / radix)
        if smallest_divisor_at_least(more, leaves * more / radix) <= max(2 * least - 1, 1):
            return min(down, radix - more), more
    return down, up


def _rail_optimized(nodes: int, nics_per_node: int, radix: int, taper: float, extra: int) -> _Tree:
    if nodes * nics_per_node + extra <= radix:
        return _tree(nodes * nics_per_node + extra, radix, taper)
    units = ceil((nodes + ceil(extra / nics_per_node)) / down_ports(radix, taper))
    return _tree(nodes * nics_per_node + extra, radix, taper, leaves=units * nics_per_node)


def _copies(tree: _Tree, kind: str, words: str, copies: int, port_rate_fraction: float) -> NetworkSize:
    uplinks = tree.leaves * tree.leaf_up
    return NetworkSize(
        kind=kind,
        words=words,
        endpoints=tree.endpoints * copies,
        radix=tree.radix,
        copies=copies,
        leaf_down=tree.leaf_down,
        leaf_up=tree.leaf_up,
        leaves_per_copy=tree.leaves,
        spines_per_copy=tree.spines,
        cores_per_copy=tree.cores,
        pods_per_copy=tree.pods,
        host_leaf_links=tree.endpoints * copies,
        leaf_spine_links=uplinks * copies,
        spine_core_links=uplinks * copies if tree.cores else 0,
        port_rate_fraction=port_rate_fraction,
    )


def _dragonfly_plus(endpoints: int, radix: int) -> NetworkSize:
    """Groups of k/2 leaves and k/2 spines, k^2/4 hosts and global ports each (Shpiner et al. 2017)."""
    half = radix // 2
    per_group = half * half
    groups = max(2, ceil(endpoints / per_group))
    if groups > per_group + 1:
        raise CannotBuild(
            f"{endpoints} ports need {groups} groups; dragonfly+ of radix {radix} has {per_group + 1}"
        )
    return NetworkSize(
        kind="dragonfly_plus",
        words=f"dragonfly+: {groups} groups of {half} leaves and {half} spines",
        endpoints=endpoints,
        radix=radix,
        copies=1,
        leaf_down=half,
        leaf_up=half,
        leaves_per_copy=groups * half,
        spines_per_copy=groups * half,
        cores_per_copy=0,
        pods_per_copy=groups,
        host_leaf_links=endpoints,
        leaf_spine_links=groups * half * half,
        spine_core_links=groups * (groups - 1) // 2 * (per_group // (groups - 1)),
        port_rate_fraction=1.0,
        groups=groups,
    )
