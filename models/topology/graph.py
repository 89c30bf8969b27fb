"""The network as arrays: directed links with capacities, blocks of links per tier, what is down.

Link numbers are arithmetic in switch positions, so routes need no search. Node kinds are host NIC ports,
leaves, spines, cores and NVLink (scale-up) switches. `Routes` adds bundles: the parallel links over which an
adaptive or sprayed flow spreads evenly, seen as one link.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.topology.failures import with_failures
from models.topology.network import Network
from models.topology.size import CannotBuild
from models.units import size_text

MEMORY_LIMIT_BYTES = 3 * 1024**3
TIERS = (
    "host-leaf",
    "leaf-host",
    "leaf-spine",
    "spine-leaf",
    "spine-core",
    "core-spine",
    "gpu-nvlink",
    "nvlink-gpu",
)
BUNDLES = ("leaf-spine bundle", "spine-leaf bundle", "spine-core bundle", "core-spine bundle")
HOST_TIERS = frozenset({"host-leaf", "leaf-host", "gpu-nvlink", "nvlink-gpu"})


@dataclass(frozen=True)
class Shape:
    """Counts per copy (rail or plane) from which link numbers follow.

    A leaf has `up` cables, cable j ends at spine j // parallel of its pod; spine s has `spine_up` cables, cable
    q = s spine_up + i of a pod ends at the core that `core_wiring.py` names. A two-tier tree is one pod without
    cores; a Dragonfly+ group is a pod, and `global_links` cables join every pair of groups.
    """

    copies: int
    ports: int  # NIC ports per copy
    leaves: int
    down: int
    up: int
    pods: int
    leaves_per_pod: int
    spines: int  # per pod
    parallel: int
    spine_up: int
    cores: int
    gpus: int
    global_links: int = 0

    @property
    def pod_cables(self) -> int:
        """Cables of one pod towards the cores (Dragonfly+: towards the other groups)."""
        return (self.pods - 1) * self.global_links if self.global_links else self.spines * self.spine_up


@dataclass(frozen=True, eq=False)
class Graph:
    """Directed links of a network.

    capacity: bytes/s of wire per link, shape (links,), background load taken off; alive: shape
    (links,), bundles always;
    first: number of the first link of every tier and bundle, one more at the end; leaf_of_port: leaf within its
    copy of every NIC port, shape (copies * ports,), port = copy * ports + port within the copy;
    order_of_port: leaf * down + position under the leaf, the index destination-modulo routing counts with.
    """

    network: Network
    shape: Shape
    rate_bytes_per_s: float
    capacity: NDArray[np.float64]
    alive: NDArray[np.bool_]
    first: tuple[int, ...]
    leaf_of_port: NDArray[np.int32]
    order_of_port: NDArray[np.int32]

    @property
    def links(self) -> int:
        """Real directed links, bundles apart."""
        return self.first[len(TIERS)]

    @property
    def healthy(self) -> bool:
        """Whether every link is up."""
        return bool(self.alive.all())

    def tier(self, name: str) -> slice:
        """Links of a tier or bundle as a slice of link numbers."""
        at = (*TIERS, *BUNDLES).index(name)
        return slice(self.first[at], self.first[at + 1])


def check_memory(needed_bytes: float, what: str) -> None:
    """Raises CannotBuild when `what` would take more memory than the limit; called before allocating."""
    if needed_bytes > MEMORY_LIMIT_BYTES:
        limit = size_text(MEMORY_LIMIT_BYTES)
        raise CannotBuild(f"{what} would take {size_text(needed_bytes)} of memory; the limit is {limit}")


@lru_cache(maxsize=16)
def graph(network: Network, rate_bytes_per_s: float) -> Graph:
    """The graph of `network` with NICs of `rate_bytes_per_s`, failures and background load applied.

    Raises CannotBuild when it would not fit in memory or a named link or switch does not exist.

    >>> from models.scenario.schema import Topology
    >>> from models.topology.network import plain_network
    >>> g = graph(plain_network(128, Topology(kind="fat_tree"), radix=16), 50e9)
    >>> g.shape.leaves, g.shape.up, g.shape.spines, g.links
    (16, 8, 8, 768)
    """
    shape = shape_of(network)
    first = _first_links(shape)
    check_memory(first[-1] * 9.0 + shape.copies * shape.ports * 8.0, f"a graph of {first[-1]} links")
    capacity = np.full(first[-1], rate_bytes_per_s * network.size.port_rate_fraction)
    background = 1.0 - network.placement.background_load
    for name in ("leaf-spine", "spine-leaf", "spine-core", "core-spine"):
        at = TIERS.index(name)
        capacity[first[at] : first[at + 1]] *= background
    for at in (TIERS.index("gpu-nvlink"), TIERS.index("nvlink-gpu")):
        capacity[first[at] : first[at + 1]] = network.gpu.scale_up_bytes_per_s
    _thin_last_pod(capacity, first, shape)
    leaf, position = _leaves(network, shape)
    built = Graph(
        network=network,
        shape=shape,
        rate_bytes_per_s=rate_bytes_per_s,
        capacity=capacity,
        alive=np.ones(first[-1], dtype=np.bool_),
        first=first,
        leaf_of_port=leaf,
        order_of_port=(leaf.astype(np.int64) * shape.down + position).astype(np.int32),
    )
    built = with_failures(built)
    _fill_bundles(built)
    return built


def shape_of(network: Network) -> Shape:
    """Counts of the graph that follow from the network's sizes."""
    size = network.size
    pods = max(1, size.pods_per_copy)
    leaves_per_pod = -(-size.leaves_per_copy // pods)
    spines = size.spines_per_copy // pods
    parallel = size.leaf_up // spines if spines else 1
    spine_up = leaves_per_pod * size.leaf_up // spines if size.cores_per_copy else 0
    return Shape(
        copies=size.copies,
        ports=size.endpoints // size.copies,
        leaves=size.leaves_per_copy,
        down=size.leaf_down,
        up=size.leaf_up,
        pods=pods,
        leaves_per_pod=leaves_per_pod,
        spines=spines,
        parallel=parallel,
        spine_up=spine_up,
        cores=size.cores_per_copy,
        gpus=network.gpus,
        global_links=size.spine_core_links * 2 // (pods * (pods - 1)) if size.groups else 0,
    )


def _first_links(shape: Shape) -> tuple[int, ...]:
    ports = shape.copies * shape.ports
    uplinks = shape.copies * shape.leaves * shape.up
    above = shape.copies * shape.pods * shape.pod_cables
    leaves, pods = shape.copies * shape.leaves, shape.copies * shape.pods
    # a Dragonfly+ cable between groups g and h is one link in g's block and one in h's, so one block does
    below = 0 if shape.global_links else above
    counts = (
        ports,
        ports,
        uplinks,
        uplinks,
        above,
        below,
        shape.gpus,
        shape.gpus,
        leaves,
        leaves,
        pods,
        pods,
    )
    return (0, *(int(n) for n in np.cumsum(counts)))


def _leaves(network: Network, shape: Shape) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Leaf within its copy and position under it, for every port."""
    port = np.arange(shape.ports, dtype=np.int32)
    if network.topology.kind == "rail_optimized" and shape.leaves > 1:
        node, rail = np.divmod(port, np.int32(network.nics_per_node))
        unit, position = np.divmod(node, np.int32(shape.down))
        leaf = unit * network.nics_per_node + rail
    else:
        leaf, position = np.divmod(port, np.int32(shape.down))
    return np.tile(leaf.astype(np.int32), shape.copies), np.tile(position.astype(np.int32), shape.copies)


def _thin_last_pod(capacity: NDArray[np.float64], first: tuple[int, ...], shape: Shape) -> None:
    """A last pod with fewer leaves has as many core cables in total as its leaves have uplinks."""
    if not shape.cores:
        return
    last = shape.leaves - (shape.pods - 1) * shape.leaves_per_pod
    for name in ("spine-core", "core-spine"):
        at = TIERS.index(name)
        per_pod = capacity[first[at] : first[at + 1]].reshape(shape.copies, shape.pods, shape.pod_cables)
        per_pod[:, -1, :] *= last / shape.leaves_per_pod


def _fill_bundles(built: Graph) -> None:
    """Bundle capacity = sum of the live links it stands for."""
    shape, live = built.shape, built.capacity * built.alive
    for name, rows in (
        ("leaf-spine", shape.copies * shape.leaves),
        ("spine-leaf", shape.copies * shape.leaves),
        ("spine-core", shape.copies * shape.pods),
        ("core-spine", shape.copies * shape.pods),
    ):
        links = live[built.tier(name)]
        sums = links.reshape(rows, -1).sum(axis=1) if links.size else np.zeros(rows)
        built.capacity[built.tier(f"{name} bundle")] = sums
