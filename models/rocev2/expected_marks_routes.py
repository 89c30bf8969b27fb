"""Routes as the mean recursion wants them: links that packets share evenly are one fat link, equal flows one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.solvers.queues_types import FlowSet, QueueNetwork

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
GROUPS_MAX = 32  # flows of one route are taken together beyond; each group keeps its own state machine


@dataclass(frozen=True, eq=False)
class FatLinks:
    """Bundles of links whose packets are shared out evenly; arrays [bundles] unless said otherwise."""

    link_of: Ints  # [links of the network], -1 = on no route after the NICs
    ports: Floats  # links in the bundle
    switch_of: Ints  # number of the bundle of switches that hold the queues
    nodes: Ints  # [switch bundles], one switch of each
    copies: Floats  # [switch bundles], switches in it

    def largest(self, per_link: Floats) -> Floats:
        """Largest value of the links of every bundle."""
        found = np.zeros(self.ports.size)
        there = self.link_of >= 0
        np.maximum.at(found, self.link_of[there], per_link[there])
        return found

    def summed(self, per_link: Floats) -> Floats:
        """Sum over the links of every bundle."""
        there = self.link_of >= 0
        found = np.zeros(self.ports.size)
        np.add.at(found, self.link_of[there], per_link[there])
        return found

    def thresholds(self, value: float | Floats) -> Floats:
        """A marking figure, one value or one a link, of every bundle."""
        given = np.asarray(value, dtype=np.float64)
        return self.largest(given) if given.ndim else np.full(self.ports.size, float(given))

    def spread(self, per_bundle: Floats) -> Floats:
        """A figure of one port of each bundle, back on the links of the network; 0 off the routes."""
        return np.where(self.link_of >= 0, per_bundle[np.maximum(self.link_of, 0)], 0.0)


def fat_links(network: QueueNetwork, flows: FlowSet) -> FatLinks:
    """Bundles of the links after the NICs: all that some flow may take at the same hop are one."""
    link_of, bundles = _bundled(network.links, [_hops(routes) for routes in flows.paths])
    node_of, switches = _bundled(
        len(network.tier), [[np.unique(network.from_node[members]).tolist()] for members in bundles]
    )
    return FatLinks(
        link_of=link_of,
        ports=np.array([float(len(members)) for members in bundles]),
        switch_of=np.array([node_of[network.from_node[members[0]]] for members in bundles]),
        nodes=np.array([members[0] for members in switches]),
        copies=np.array([float(len(members)) for members in switches]),
    )


def _hops(routes: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    return [sorted(set(links)) for links in zip(*(route[1:] for route in routes), strict=True)]


def _bundled(number: int, chosen: Sequence[Sequence[Sequence[int]]]) -> tuple[Ints, list[list[int]]]:
    """Disjoint sets of items joined wherever `chosen` names them together; (set of each item or -1, sets)."""
    parent = np.full(number, -1, dtype=np.int64)

    def root(item: int) -> int:
        while parent[item] != item:
            item = int(parent[item])
        return item

    for sets in chosen:
        for together in sets:
            for item in together:
                if parent[item] < 0:
                    parent[item] = item
                parent[root(item)] = root(together[0])
    members: dict[int, list[int]] = {}
    for item in np.flatnonzero(parent >= 0).tolist():
        members.setdefault(root(item), []).append(item)
    of = np.full(number, -1, dtype=np.int64)
    for place, items in enumerate(members.values()):
        of[items] = place
    return of, list(members.values())


def equal_flows(flows: FlowSet) -> list[list[int]]:
    """Flows by groups that one row may stand for: same route after the NIC and same bytes; at most about 32 groups."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for f, routes in enumerate(flows.paths):
        key = (tuple(route[1:] for route in routes), float(flows.bytes[f]))
        alike.setdefault(key, []).append(f)
    size = -(-len(flows.paths) // GROUPS_MAX)
    groups = [same[at : at + size] for same in alike.values() for at in range(0, len(same), size)]
    return sorted(groups)


@dataclass(frozen=True, eq=False)
class RouteRows:
    """Routes of the rows with links numbered from sources to sinks; -1 = none."""

    order: Ints  # [links], the bundle each number stands for
    link_at: Ints  # [rows, hops]
    entry_at: Ints  # [rows, hops]
    first: Ints  # [links + 1], where the entries of a link start
    entry_flow: Ints
    entry_hop: Ints
    next_link: Ints  # [links], one of the links that follow it on a route


def route_rows(routes: Sequence[Ints], bundles: int) -> RouteRows:
    """Routes, each a list of bundles from the first switch to the receiver, as the recursion walks them.

    Every bundle must be on some route. Routes go up and down, so no bundle follows itself.
    """
    hops_left = np.zeros(bundles, dtype=np.int64)
    for route in routes:
        np.maximum.at(hops_left, route, np.arange(len(route), 0, -1))
    order = np.argsort(-hops_left, kind="stable")
    number = np.argsort(order)
    found: list[list[tuple[int, int]]] = [[] for _ in range(bundles)]
    link_at = np.full((len(routes), max(map(len, routes))), -1, dtype=np.int64)
    entry_at, next_link = np.full_like(link_at, -1), np.full(bundles, -1, dtype=np.int64)
    for row, route in enumerate(routes):
        link_at[row, : len(route)] = number[route]
        next_link[number[route[:-1]]] = number[route[1:]]
        for hop, link in enumerate(number[route].tolist()):
            found[link].append((row, hop))
    flat = np.array([entry for entries in found for entry in entries], dtype=np.int64)
    entry_at[flat[:, 0], flat[:, 1]] = np.arange(len(flat))
    first = np.cumsum([0, *map(len, found)])
    return RouteRows(order, link_at, entry_at, first, flat[:, 0].copy(), flat[:, 1].copy(), next_link)
