"""Cyclic buffer dependency of a route set: the necessary condition of deadlock in a lossless network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise


def dependency_cycle(routes: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Links of one cycle of "waits for", or () when the route set cannot deadlock.

    Nodes are links (or link-and-lane channels); a packet that holds buffer behind link a and wants link b
    makes the edge a -> b. Without a cycle no deadlock is possible (Dally and Seitz 1987); a cycle makes one
    possible, not certain.

    >>> dependency_cycle([(0, 1), (1, 2)])
    ()
    >>> dependency_cycle([(0, 1), (1, 2), (2, 0)])
    (0, 1, 2)
    """
    onward: dict[int, set[int]] = {}
    for route in routes:
        for link, following in pairwise(route):
            onward.setdefault(link, set()).add(following)
    finished: set[int] = set()
    for root in sorted(onward):
        if root in finished:
            continue
        trail, on_trail = [root], {root}
        branches = [iter(sorted(onward[root]))]
        while trail:
            following = next(branches[-1], -1)
            if following < 0:
                finished.add(trail[-1])
                on_trail.discard(trail.pop())
                branches.pop()
            elif following in on_trail:
                return tuple(trail[trail.index(following) :])
            elif following not in finished:
                trail.append(following)
                on_trail.add(following)
                branches.append(iter(sorted(onward.get(following, ()))))
    return ()
