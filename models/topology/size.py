"""How many switches and cables a network takes: counting rules, no graph.

Rule for a non-blocking tree of radix k and N endpoints (reproduces the published reference designs):
leaves L = N / (k/2); two tiers: spines = the smallest divisor of the uplinks per leaf that is >= L u / k, so
that every leaf reaches every spine equally; three tiers: spines = L, cores = L / 2 (`tree_size.py`). Rail-only and
multi-plane networks apply the rule per rail or plane and multiply. Dragonfly+: `dragonfly_size.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from models.scenario.schema import Topology
from models.topology.dragonfly_size import dragonfly_groups
from models.topology.tree_size import CannotBuild, Tree, tree

__all__ = ["CannotBuild", "NetworkSize", "Tier", "network_size", "radix_at"]


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
    upper_radix: int = 0  # of spines and cores where they are another switch; 0: radix

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
        tiers, radix = [leaf], self.upper_radix or self.radix
        if self.spines_per_copy:
            count = self.copies * self.spines_per_copy
            # a dragonfly+ global cable has both its ends in the spines
            above = self.spine_core_links * (2 if self.groups else 1)
            tiers.append(Tier("spine", count, self.leaf_spine_links, above, count * radix))
        if self.cores_per_copy:
            count = self.copies * self.cores_per_copy
            tiers.append(Tier("core", count, self.spine_core_links, 0, count * radix))
        return tuple(tiers)


def radix_at(ports: int, port_gbit_per_s: float, link_gbit_per_s: float) -> int:
    """Ports of a switch when its cages run at the link's speed (per direction, never the headline Tb/s).

    >>> radix_at(64, 800, 400), radix_at(64, 400, 400), radix_at(144, 800, 800)
    (128, 64, 144)
    """
    if link_gbit_per_s > port_gbit_per_s:
        raise CannotBuild(
            f"a switch port of {port_gbit_per_s:g} Gbit/s cannot carry a link of {link_gbit_per_s:g} Gbit/s"
        )
    return int(ports * (port_gbit_per_s // link_gbit_per_s))


def network_size(
    topology: Topology,
    nodes: int,
    nics_per_node: int,
    radix: int,
    extra_leaf_ports: int = 0,
    upper_radix: int = 0,
) -> NetworkSize:
    """Size of the compute network for `nodes` servers of `nics_per_node` ports with switches of `radix`.

    `radix` counts ports at the NIC's full speed, `upper_radix` those of spines and cores where they are another
    model (0: the same); `extra_leaf_ports` are endpoints that are not GPUs' NICs (management). Raises CannotBuild
    when the switches cannot reach the size.

    >>> size = network_size(Topology(kind="fat_tree"), 512, 8, 64)
    >>> [(tier.name, tier.switches) for tier in size.tiers()]
    [('leaf', 128), ('spine', 128), ('core', 64)]
    >>> network_size(Topology(kind="rail_only"), 512, 8, 64).switches
    192
    """
    kind, taper = topology.kind, topology.oversubscription
    upper = upper_radix or radix
    endpoints = nodes * nics_per_node + extra_leaf_ports
    if kind == "dragonfly_plus":
        return _dragonfly_plus(endpoints, radix, upper)
    copies, words, rails = 1, "any-to-any fat tree", 0
    if kind == "rail_only":
        copies, endpoints = nics_per_node, nodes + ceil(extra_leaf_ports / nics_per_node)
        words = f"rail-only: {nics_per_node} separate networks, one per NIC of a node; rails meet only inside nodes"
    elif kind == "multi_plane":
        copies, radix, upper = topology.planes, radix * topology.planes, upper * topology.planes
        words = f"{copies} independent planes, each NIC split into {copies} ports"
    elif kind == "rail_optimized":
        rails = nics_per_node
        words = (
            "rail-optimised any-to-any fat tree: NIC j of every node of a unit on leaf j, all leaves joined"
        )
    size = tree(endpoints, radix, taper, upper, rails)
    port_rate_fraction = 1.0 / copies if kind == "multi_plane" else 1.0
    return _copies(size, kind, words, copies, radix, upper, port_rate_fraction)


def _copies(
    size: Tree, kind: str, words: str, copies: int, radix: int, upper_radix: int, port_rate_fraction: float
) -> NetworkSize:
    uplinks = size.leaves * size.leaf_up
    return NetworkSize(
        kind=kind,
        words=words,
        endpoints=size.endpoints * copies,
        radix=radix,
        upper_radix=upper_radix,
        copies=copies,
        leaf_down=size.leaf_down,
        leaf_up=size.leaf_up,
        leaves_per_copy=size.leaves,
        spines_per_copy=size.spines,
        cores_per_copy=size.cores,
        pods_per_copy=size.pods,
        host_leaf_links=size.endpoints * copies,
        leaf_spine_links=uplinks * copies,
        spine_core_links=uplinks * copies if size.cores else 0,
        port_rate_fraction=port_rate_fraction,
    )


def _dragonfly_plus(endpoints: int, radix: int, upper_radix: int) -> NetworkSize:
    if upper_radix != radix:
        raise CannotBuild(
            f"dragonfly+ is sized for one switch model, not {radix}-port leaves under {upper_radix}-port spines"
        )
    if endpoints <= radix:
        words = "dragonfly+: one switch carries every port, no groups are needed"
        return _copies(tree(endpoints, radix), "dragonfly_plus", words, 1, radix, radix, 1.0)
    found = dragonfly_groups(endpoints, radix)
    half, groups = radix // 2, found.groups
    return NetworkSize(
        kind="dragonfly_plus",
        words=f"dragonfly+: {groups} groups of {found.leaves} leaves and {found.spines} spines, "
        f"{found.pair_cables} cables between every two",
        endpoints=endpoints,
        radix=radix,
        upper_radix=radix,
        copies=1,
        leaf_down=half,
        leaf_up=half,
        leaves_per_copy=groups * found.leaves,
        spines_per_copy=groups * found.spines,
        cores_per_copy=0,
        pods_per_copy=groups,
        host_leaf_links=endpoints,
        leaf_spine_links=groups * found.leaves * half,
        spine_core_links=groups * (groups - 1) // 2 * found.pair_cables,
        port_rate_fraction=1.0,
        groups=groups,
    )
