"""How many ports each switch of a network has in use: what decides modules, which come whole to each switch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil

from models.topology.size import NetworkSize


@dataclass(frozen=True)
class PortUse:
    """So many switches of a tier that have the same ports in use."""

    switches: int
    down: int
    up: int


def port_use(size: NetworkSize, host_ports: int, rails: int = 1) -> dict[str, tuple[PortUse, ...]]:
    """Ports in use by tier, all copies; `host_ports` are dealt to the leaves as they are wired.

    Leaves are filled one after the other; with `rails` of a rail-optimised network, node by node on the leaves of
    every rail. Ports beyond a whole number of nodes (management) take one each.

    >>> from models.scenario.schema import Topology
    >>> from models.topology.size import network_size
    >>> size = network_size(Topology(kind="rail_optimized"), 50, 8, 64)
    >>> port_use(size, 400, 8)["leaf"]
    (PortUse(switches=8, down=32, up=32), PortUse(switches=8, down=18, up=32))
    """
    found = {"leaf": _leaves(size, host_ports, rails)}
    if size.spines_per_copy:
        found["spine"] = _spines(size)
    if size.cores_per_copy:
        found["core"] = _cores(size)
    return {
        tier: tuple(PortUse(count, *ports) for ports, count in use.items() if count)
        for tier, use in found.items()
    }


def _leaves(size: NetworkSize, host_ports: int, rails: int) -> Counter[tuple[int, int]]:
    use: Counter[tuple[int, int]] = Counter()
    by_rail = size.kind == "rail_optimized" and size.leaves_per_copy > 1
    rows = size.copies * (rails if by_rail else 1)
    leaves = size.copies * size.leaves_per_copy // rows
    for row in range(rows):
        ports = host_ports // rows + (row < host_ports % rows)
        full, rest = divmod(ports, size.leaf_down)
        use[size.leaf_down, size.leaf_up] += full
        use[rest, size.leaf_up] += leaves > full
        use[0, size.leaf_up] += max(0, leaves - full - 1)
    return use


def _spines(size: NetworkSize) -> Counter[tuple[int, int]]:
    use: Counter[tuple[int, int]] = Counter()
    pods = max(1, size.pods_per_copy)
    spines = size.spines_per_copy // pods
    each = ceil(size.leaves_per_copy / pods)
    for pod in range(pods):
        down = min(each, size.leaves_per_copy - pod * each) * size.leaf_up // spines
        if size.groups:
            up, more = divmod(2 * size.spine_core_links // size.groups, spines)
            use[down, up + 1] += size.copies * more
            use[down, up] += size.copies * (spines - more)
        else:
            use[down, down if size.cores_per_copy else 0] += size.copies * spines
    return use


def _cores(size: NetworkSize) -> Counter[tuple[int, int]]:
    # dealt in turn over the pods, so cores differ by one cable at most
    each, more = divmod(size.spine_core_links // size.copies, size.cores_per_copy)
    return Counter({(each + 1, 0): size.copies * more, (each, 0): size.copies * (size.cores_per_copy - more)})
