"""Route sets as trees of steps for the compiled solver, and the check that no cycle of links can deadlock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from models.solvers.queues_types import FlowSet, IntArray, QueueNetwork


class CyclicRoutesError(ValueError):
    """The route set lets links wait for each other in a circle: lossless flow control can deadlock."""

    def __init__(self, cycle: tuple[int, ...], network: QueueNetwork) -> None:
        self.cycle = cycle
        hops = " -> ".join(
            f"link {link} ({network.from_node[link]} to {network.to_node[link]})"
            for link in (*cycle, cycle[0])
        )
        super().__init__(f"routes form a cycle of links that can wait for each other: {hops}")


def dependency_cycle(network: QueueNetwork, routes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Links of one cycle in the channel dependency graph of `routes`, empty if there is none.

    A packet on link a that next needs link b makes an edge a -> b; a cycle is necessary for deadlock
    (Dally and Seitz, IEEE Trans. Computers 1987). Only links between switches can be part of one.

    >>> from models.solvers.queues_fabrics import star
    >>> dependency_cycle(star(senders=2, rate_bytes_per_s=1e9, propagation_s=1e-6, buffer_bytes=1e6), ((0, 5),))
    ()
    """
    inner = (network.tier[network.from_node] > 0) & (network.tier[network.to_node] > 0)
    if not inner.any():
        return ()
    follows: dict[int, set[int]] = {}
    for route in routes:
        if len(route) < 4:
            continue
        for a, b in pairwise(route):
            if inner[a] and inner[b]:
                follows.setdefault(a, set()).add(b)
    done: set[int] = set()
    for root in sorted(follows):
        trail: list[int] = [root]
        stack = [iter(sorted(follows[root]))]
        if root in done:
            continue
        while stack:
            link = next(stack[-1], None)
            if link is None:
                done.add(trail.pop())
                stack.pop()
            elif link in trail:
                return tuple(trail[trail.index(link) :])
            elif link not in done:
                trail.append(link)
                stack.append(iter(sorted(follows.get(link, ()))))
    return ()


@dataclass(frozen=True, eq=False)
class RouteSteps:
    """Route steps: link, the link it is entered from (-1 at the sender), flow, and the steps that may follow;
    `route` are the links of every flow's first route one after the other."""

    link: IntArray
    ingress: IntArray
    flow: IntArray
    children: IntArray
    first_child: IntArray
    child: IntArray
    root: IntArray
    route: IntArray
    route_length: IntArray


def flattened(routes: Sequence[tuple[int, ...]]) -> tuple[IntArray, IntArray]:
    """Link ids of all routes one after the other, and the number of links of each."""
    lengths = np.fromiter(map(len, routes), dtype=np.int64, count=len(routes))
    return np.fromiter(chain.from_iterable(routes), dtype=np.int64), lengths


def _checked(network: QueueNetwork, flat: IntArray, lengths: IntArray) -> None:
    from models.solvers import queues_layout_kernels as layout

    fault, at = layout.route_fault(flat, lengths, network.from_node, network.to_node, network.tier)
    if fault == layout.SHORT_ROUTE:
        raise ValueError(f"route of flow {at}: at least two links are needed")
    if fault == layout.UNKNOWN_LINK:
        raise ValueError(f"routes name link {flat[at]}; the network has {network.links}")
    if fault == layout.BROKEN_ROUTE:
        raise ValueError(f"route is broken: link {flat[at + 1]} does not start where link {flat[at]} ends")
    if fault == layout.NOT_AT_HOSTS:
        raise ValueError("routes must start and end at hosts")


def route_steps(network: QueueNetwork, flows: FlowSet) -> RouteSteps:
    """Steps of every flow's routes, alternatives sharing their common beginning.

    Raises ValueError for a broken route, CyclicRoutesError where links could wait for each other.
    """
    from models.solvers import queues_layout_kernels as layout

    if not all(flows.paths):
        raise ValueError("every flow needs a route")
    routes = tuple(chain.from_iterable(flows.paths))
    flat, lengths = flattened(routes)
    _checked(network, flat, lengths)
    cycle = dependency_cycle(network, routes)
    if cycle:
        raise CyclicRoutesError(cycle, network)
    if len(routes) > len(flows.paths):
        return _tree(flows)
    rows = np.empty((6, len(flat)), dtype=np.int64)
    layout.lay_single_routes(flat, lengths, rows)
    ingress, flow, children, first_child, child, root = rows
    return RouteSteps(flat, ingress, flow, children, first_child, child, root[: len(lengths)], flat, lengths)


def _tree(flows: FlowSet) -> RouteSteps:
    links: list[int] = []
    ingress: list[int] = []
    owner: list[int] = []
    after: list[list[int]] = []
    root: list[int] = []
    for number, alternatives in enumerate(flows.paths):
        known: dict[tuple[int, ...], int] = {}
        if len({route[0] for route in alternatives}) > 1:
            raise ValueError(f"flow {number}: alternative routes must share the sender's link")
        for route in alternatives:
            parent = -1
            for hop in range(len(route)):
                prefix = route[: hop + 1]
                step = known.get(prefix)
                if step is None:
                    step = len(links)
                    known[prefix] = step
                    links.append(route[hop])
                    ingress.append(route[hop - 1] if hop else -1)
                    owner.append(number)
                    after.append([])
                    if parent >= 0:
                        after[parent].append(step)
                    else:
                        root.append(step)
                parent = step
    counts = np.fromiter(map(len, after), dtype=np.int64, count=len(after))
    first_route, route_length = flattened([alternatives[0] for alternatives in flows.paths])
    return RouteSteps(
        link=np.array(links, dtype=np.int64),
        ingress=np.array(ingress, dtype=np.int64),
        flow=np.array(owner, dtype=np.int64),
        children=counts,
        first_child=np.cumsum(counts) - counts,
        child=np.array([*chain.from_iterable(after), 0], dtype=np.int64),
        root=np.array(root, dtype=np.int64),
        route=first_route,
        route_length=route_length,
    )
