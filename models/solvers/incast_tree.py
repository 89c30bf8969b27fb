"""Lossless incast as a tree of round robins: rates of bursts that share one hot port, until each has ended.

Congestion spreads from the hot port to the senders. Every congested port serves the links that feed it in turn, so the
hot port's rate is split evenly over its ingress links, each share over the links that feed that one, and so down to the
senders; a branch that cannot use its share (a cable limited by its credits) leaves the rest to the others. When a burst
ends the shares of its neighbours grow. The law G / (P_in k) of a victim is one instant of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeIncast:
    """Ends of the bursts, and the mean rate of a victim that enters the tree and leaves it before the hot port."""

    end_s: Floats  # [flows]
    victim_rate_bytes_per_s: float  # mean until the last burst has ended


def tree_incast(
    paths: Sequence[tuple[int, ...]],
    burst_bytes: float,
    limit_bytes_per_s: Floats,
    victim: tuple[int, ...] | None = None,
) -> TreeIncast:
    """Bursts of `burst_bytes` over `paths` (links from the NIC to the hot port, the last one the same for all).

    limit [links]: most that a link carries. The victim never ends; it shares links with some of the bursts up to the
    last switch, where it counts as one more burst, and goes to a port of its own there. *Assumptions* Bursts are long
    against what the buffers on the way hold; the victim's own port is idle otherwise.

    >>> import numpy as np
    >>> found = tree_incast([(0, 2), (1, 2)], 100.0, np.array([10.0, 10.0, 10.0]))
    >>> found.end_s.tolist()
    [20.0, 20.0]
    """
    flows = len(paths)
    left = np.full(flows, float(burst_bytes))
    end_s = np.zeros(flows)
    now, victim_bytes = 0.0, 0.0
    active = list(range(flows))
    while active:
        rates, victim_rate = _rates(paths, active, limit_bytes_per_s, victim)
        step_s = float((left[active] / rates).min())
        victim_bytes += victim_rate * step_s
        now += step_s
        left[active] -= rates * step_s
        ended = left[active] <= 1e-9 * burst_bytes
        for f in np.array(active)[ended]:
            end_s[f] = now
        active = [f for f, done in zip(active, ended, strict=True) if not done]
    return TreeIncast(end_s, victim_bytes / now)


def _rates(
    paths: Sequence[tuple[int, ...]], active: Sequence[int], limit: Floats, victim: tuple[int, ...] | None
) -> tuple[Floats, float]:
    """(rates of the active bursts, rate of the victim) at one instant."""
    root = paths[active[0]][-1]
    feeds: dict[int, set[int]] = {}
    for path in [paths[f] for f in active] + ([victim[:-1]] if victim else []):
        for before, after in pairwise(path):
            feeds.setdefault(after, set()).add(before)
    nics = [paths[f][0] for f in active]
    able: dict[int, float] = {}
    given: dict[int, float] = {}

    def most(link: int) -> float:
        if link not in able:
            below = feeds.get(link)
            able[link] = min(limit[link], sum(map(most, below))) if below else float(limit[link])
        return able[link]

    def fill(link: int, rate: float) -> None:
        given[link] = rate
        waiting = sorted(feeds.get(link, ()), key=most)
        for place, before in enumerate(waiting):
            got = min(rate / (len(waiting) - place), most(before))
            rate -= got
            fill(before, got)

    def beside(link: int, rate: float) -> float:
        """What passes on to the hot port when the link that the victim leaves by carries `rate`."""
        fill(link, rate)
        return rate - given[victim[0]] if victim else rate

    if victim is None or victim[-2] not in feeds.get(root, ()):
        fill(root, most(root))
        alone = min(float(limit[link]) for link in victim) if victim else 0.0
        return np.array([given[nic] for nic in nics]), alone
    shared = victim[-2]
    whole = most(shared)
    able[shared] = beside(shared, whole)
    fill(root, most(root))
    wanted, low, high = given[shared], 0.0, whole
    if wanted < able[shared]:
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if beside(shared, middle) < wanted else (low, middle)
        beside(shared, high)
    else:
        beside(shared, whole)
    return np.array([given[nic] for nic in nics]), min(given[victim[0]], float(limit[victim[-1]]))
