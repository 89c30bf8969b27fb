"""Counting rules of fat trees of one to three tiers, plain numbers in and out.

A leaf of radix k has d ports down and u up, d / u at most the oversubscription. Two tiers: spines = the smallest
divisor of u that is >= L u / K (K: radix of the upper switches), so that every leaf reaches every spine equally.
Three tiers: the same rule in each pod with half of a spine's ports, cores = ceil(L u / K). Of the splits of a
tapered leaf the one with fewest switches is taken, then the one with fewest cables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import ceil


class CannotBuild(ValueError):
    """The requested network does not exist with these switches; the text says why."""


@dataclass(frozen=True)
class Tree:
    """Counts of one tree; spines and cores are 0 where the tier does not exist, spines are of all pods."""

    endpoints: int
    leaf_down: int
    leaf_up: int
    leaves: int
    spines: int
    cores: int
    pods: int


@lru_cache(maxsize=8192)
def tree(
    endpoints: int, radix: int, oversubscription: float = 1.0, upper_radix: int = 0, rails: int = 0
) -> Tree:
    """The tree for `endpoints` ports: leaves of `radix`, spines and cores of `upper_radix` (0: the same).

    With `rails`, endpoint j of every node sits on a leaf of rail j and endpoints come whole nodes at a time, so
    there are as many leaves of every rail. Raises CannotBuild when three tiers do not reach the size.

    >>> tree(1024, 64)
    Tree(endpoints=1024, leaf_down=32, leaf_up=32, leaves=32, spines=16, cores=0, pods=1)
    >>> tree(1024, 64, upper_radix=128).spines, tree(1024, 64, oversubscription=3.0).spines
    (8, 8)
    """
    upper = upper_radix or radix
    if endpoints <= radix:
        return Tree(endpoints, radix, 0, 1, 0, 0, 1)
    found = []
    for down, up in leaf_splits(radix, oversubscription):
        leaves = rails * ceil(endpoints / rails / down) if rails else ceil(endpoints / down)
        above = _above(leaves, up, upper)
        if above is not None:
            pods, spines, cores = above
            found.append((leaves + spines + cores, leaves * up, down, up, leaves, spines, cores, pods))
    if not found:
        most = upper * (upper // 2) * down_ports(radix, oversubscription)
        raise CannotBuild(
            f"{endpoints} ports exceed the {most} a three-tier tree of {radix}-port switches reaches"
        )
    _, _, down, up, leaves, spines, cores, pods = min(found)
    return Tree(endpoints, down, up, leaves, spines, cores, pods)


def leaf_splits(radix: int, oversubscription: float) -> Iterator[tuple[int, int]]:
    """(down, up) ports of a leaf within the oversubscription, most host ports first.

    A non-blocking leaf has one split; a tapered one may give up a few host ports for uplinks that share out
    over few spines (26 uplinks would ask for 13 spines where 28 need 4), never the taper asked for. Both sides of a
    tapered leaf are even, because a cage of two ports holds one module.

    >>> list(leaf_splits(64, 1.0)), list(leaf_splits(16, 3.0))
    ([(32, 32)], [(12, 4), (10, 6), (8, 8)])
    """
    step = 2 if oversubscription > 1 and radix % 4 == 0 else 1
    down = max(step, down_ports(radix, oversubscription) // step * step)
    up = min(radix - down, step * max(1, ceil(down / oversubscription / step - 1e-9)))
    yield down, up
    if oversubscription > 1:
        for more in range(up + step, min(2 * up, radix - step) + 1, step):
            yield min(radix - more, int(more * oversubscription + 1e-9) // step * step), more


def down_ports(radix: int, oversubscription: float) -> int:
    """Ports of a leaf that face hosts: k r / (1 + r), rounded down."""
    return max(1, int(radix * oversubscription / (1.0 + oversubscription) + 1e-9))


def smallest_divisor_at_least(number: int, least: float) -> int:
    """The smallest divisor of `number` that is >= `least`.

    >>> smallest_divisor_at_least(72, 16)
    18
    """
    return next(d for d in range(max(1, ceil(least - 1e-9)), number + 1) if number % d == 0)


def _above(leaves: int, up: int, radix: int) -> tuple[int, int, int] | None:
    """(pods, spines, cores) above the leaves, None when three tiers do not carry them."""
    if leaves <= radix:
        return 1, smallest_divisor_at_least(up, leaves * up / radix), 0
    if ceil(leaves / (radix // 2)) > radix:
        return None
    pods, spines = pod_spines(leaves, up, radix)
    return pods, pods * spines, ceil(leaves * up / radix)


@lru_cache(maxsize=8192)
def pod_spines(leaves: int, up: int, radix: int) -> tuple[int, int]:
    """Pods and spines of each: equal pods of at most k/2 leaves that take fewest spines, then fewest pods.

    72 leaves of radix 64 are nine pods of eight leaves and eight spines (72 spines, as "spines = leaves" says), not
    three of 24 with 32 spines each.

    >>> pod_spines(128, 32, 64), pod_spines(72, 32, 64)
    ((4, 32), (9, 8))
    """
    found = []
    for pods in range(ceil(leaves / (radix // 2)), min(leaves, radix) + 1):
        each = ceil(leaves / pods)
        if (pods - 1) * each < leaves:
            spines = smallest_divisor_at_least(up, each * up / (radix // 2))
            found.append((pods * spines, pods, spines))
    _, pods, spines = min(found)
    return pods, spines
