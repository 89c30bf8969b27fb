"""Counting rule of Dragonfly+, plain numbers in and out.

A full group has k/2 leaves and k/2 spines, k^2/4 hosts and as many global cables (Shpiner et al. 2017). A smaller
network has smaller groups: l leaves of k/2 hosts, s spines with s the smallest divisor of k/2 that is >= l, so that
every leaf has (k/2) / s cables to every spine and a spine keeps half its ports for other groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, inf

from models.topology.tree_size import CannotBuild, smallest_divisor_at_least

MORE_SWITCHES = 1.1  # assumption: what fewer, larger groups may cost


@dataclass(frozen=True)
class Groups:
    """Counts of one Dragonfly+; `pair_cables` join every two groups."""

    groups: int
    leaves: int  # of a group
    spines: int  # of a group
    pair_cables: int


@lru_cache(maxsize=4096)
def dragonfly_groups(endpoints: int, radix: int) -> Groups:
    """Groups for `endpoints` ports: the fewest that take at most a tenth more switches than the least.

    Large groups have more cables between every two. Raises CannotBuild beyond k^2/4 + 1 groups.

    >>> dragonfly_groups(4096, 64), dragonfly_groups(1000, 64)
    (Groups(groups=4, leaves=32, spines=32, pair_cables=341), Groups(groups=2, leaves=16, spines=16, pair_cables=512))
    """
    half = radix // 2
    per_group = half * half
    if ceil(endpoints / per_group) > per_group + 1:
        raise CannotBuild(
            f"{endpoints} ports need {ceil(endpoints / per_group)} groups; dragonfly+ of radix {radix} has "
            f"{per_group + 1}"
        )
    found: list[tuple[int, Groups]] = []
    least = inf
    for groups in range(max(2, ceil(endpoints / per_group)), per_group + 2):
        leaves = ceil(endpoints / (groups * half))
        if groups * (leaves + 1) > MORE_SWITCHES * least:
            break  # more groups of at least a leaf and a spine cost more than what is found
        spines = smallest_divisor_at_least(half, leaves)
        spare = spines * radix - leaves * half  # ports of the group's spines that face no leaf
        pair_cables = min(spare // (groups - 1), ceil(leaves * half / (groups - 1)))
        if pair_cables:
            switches = groups * (leaves + spines)
            least = min(least, switches)
            found.append((switches, Groups(groups, leaves, spines, pair_cables)))
    return next(group for switches, group in found if switches <= MORE_SWITCHES * least)
