"""Links and switches that are down: seeded fractions and names.

Names: `leaf3`, `spine2`, `core0` are switches; `host12-leaf3`, `leaf3-spine2`, `spine2-core0` are all cables
between the two, and `leaf3-spine2.1` the second of several parallel ones. Spines are numbered through the pods.
Networks of several rails or planes prefix the copy: `rail2/leaf3`, `plane0/leaf3-spine2`. Dragonfly+ names a
global cable `group0-group3` or `group0-group3.1`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.topology.core_wiring import core_of_cable
from models.topology.size import CannotBuild

if TYPE_CHECKING:
    from models.topology.graph import Graph

_END = r"(host|leaf|spine|core|group)(\d+)"
_NAME = re.compile(rf"^(?:(?:rail|plane)(\d+)/)?{_END}(?:-{_END}(?:\.(\d+))?)?$")


def with_failures(graph: Graph) -> Graph:
    """`graph` with the scenario's failures marked in `alive`.

    A fraction takes round(fraction x cables) cables, drawn without replacement from the scenario's seed.
    `spine_links_fraction` counts cables above the spines; a two-tier network has none, so there it counts
    leaf-spine cables. Raises CannotBuild for a name that does not exist.
    """
    failures, shape = graph.network.failures, graph.shape
    alive = np.ones(graph.alive.size, dtype=np.bool_)
    rng = np.random.default_rng((graph.network.seed, 0xFA11))
    above = "spine-core" if shape.pod_cables else "leaf-spine"
    for fraction, name in (
        (failures.host_links_fraction, "host-leaf"),
        (failures.leaf_links_fraction, "leaf-spine"),
        (failures.spine_links_fraction, above),
    ):
        tier = graph.tier(name)
        links = np.arange(tier.start, tier.stop)
        if shape.global_links and name == "spine-core":
            links = links[links < _reverse(graph, links)]
        count = round(fraction * links.size)
        if count:
            _take_down(graph, alive, rng.choice(links, size=count, replace=False))
    for name in (*failures.links, *failures.switches):
        _take_down(graph, alive, named_links(graph, name))
    return replace(graph, alive=alive)


def named_links(graph: Graph, name: str) -> NDArray[np.int64]:
    """Upward links (one per cable) of a named switch or cable.

    Raises CannotBuild when the network has no such part.
    """
    match = _NAME.match(name)
    if not match:
        raise CannotBuild(
            f"failures: {name!r} is not a name like leaf3, leaf3-spine2, host12-leaf3 or plane0/spine1"
        )
    copy = int(match[1] or 0)
    first_kind, first, second_kind, second, cable = match[2], int(match[3]), match[4], match[5], match[6]
    links = _touching(graph, copy, first_kind, first)
    if second_kind is not None:
        both = np.intersect1d(links, _touching(graph, copy, second_kind, int(second)))
        links = both if cable is None else both[int(cable) : int(cable) + 1]
    if not links.size or copy >= graph.shape.copies:
        s = graph.shape
        spines, groups = s.pods * s.spines, f", {s.pods} groups" if s.global_links else ""
        raise CannotBuild(
            f"failures: this network has no {name}; it has {s.leaves} leaves, {spines} spines, {s.cores} cores"
            f"{groups} in each of {s.copies} copies, numbered from 0"
        )
    return links


def _touching(graph: Graph, copy: int, kind: str, number: int) -> NDArray[np.int64]:
    """Upward links of the copy that start or end at a part."""
    shape = graph.shape
    host, leaf, above = (
        graph.tier("host-leaf").start,
        graph.tier("leaf-spine").start,
        graph.tier("spine-core").start,
    )
    ports = np.arange(copy * shape.ports, (copy + 1) * shape.ports)
    uplink = np.arange(shape.leaves * shape.up)
    up_leaf, up_cable = np.divmod(uplink, max(shape.up, 1))
    up_spine = up_leaf // shape.leaves_per_pod * shape.spines + up_cable // shape.parallel
    cable = np.arange(shape.pods * shape.pod_cables)
    pod, q = np.divmod(cable, max(shape.pod_cables, 1))
    at_leaf, at_above = leaf + copy * uplink.size, above + copy * cable.size
    if copy >= shape.copies:
        return np.empty(0, dtype=np.int64)
    if kind == "host":
        return np.asarray(host + ports[number : number + 1], dtype=np.int64)
    if kind == "leaf":
        hosts = host + ports[graph.leaf_of_port[ports] == number]
        return np.concatenate([hosts, at_leaf + uplink[up_leaf == number]]).astype(np.int64)
    if kind == "spine":
        own = pod * shape.spines + (q % shape.spines if shape.global_links else q // max(shape.spine_up, 1))
        return np.concatenate([at_leaf + uplink[up_spine == number], at_above + cable[own == number]]).astype(
            np.int64
        )
    if kind == "core" and shape.cores:
        return np.asarray(
            at_above + cable[core_of_cable(q, pod, shape.pod_cables, shape.cores) == number], dtype=np.int64
        )
    if kind == "group" and shape.global_links:
        links = at_above + cable
        ends = np.where(links < _reverse(graph, links), links, _reverse(graph, links))
        mine = links[(pod == number)]
        return np.unique(ends[np.isin(links, mine)]).astype(np.int64)
    return np.empty(0, dtype=np.int64)


def _reverse(graph: Graph, links: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same Dragonfly+ global cables in the other direction."""
    shape, start = graph.shape, graph.tier("spine-core").start
    group, rest = np.divmod(links - start, shape.pod_cables)
    peer, cable = np.divmod(rest, shape.global_links)
    other = peer + (peer >= group)
    back = group - (group > other)
    return np.asarray(start + other * shape.pod_cables + back * shape.global_links + cable, dtype=np.int64)


def _take_down(graph: Graph, alive: NDArray[np.bool_], up_links: NDArray[np.int64]) -> None:
    alive[up_links] = False
    for up, down in (("host-leaf", "leaf-host"), ("leaf-spine", "spine-leaf"), ("spine-core", "core-spine")):
        there, back = graph.tier(up), graph.tier(down)
        own = up_links[(up_links >= there.start) & (up_links < there.stop)]
        if up == "spine-core" and graph.shape.global_links:
            alive[_reverse(graph, own)] = False
        else:
            alive[own - there.start + back.start] = False
