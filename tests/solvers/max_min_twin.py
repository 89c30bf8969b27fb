"""Slow, obvious max-min rates and completions, for comparison."""

from __future__ import annotations

import math

Paths = list[list[int]]


def rates(capacity: list[float], paths: Paths, weights: list[float]) -> list[float]:
    """Raise all rates in proportion to their weights; at every full link, stop the flows that cross it."""
    rate = [0.0] * len(paths)
    growing = {f for f, path in enumerate(paths) if path}
    room = list(capacity)
    while growing:
        weight_on = [sum(weights[f] * paths[f].count(link) for f in growing) for link in range(len(capacity))]
        step, full = min((room[link] / weight, link) for link, weight in enumerate(weight_on) if weight > 0)
        for f in growing:
            rate[f] += step * weights[f]
        for link, weight in enumerate(weight_on):
            room[link] -= step * weight
        growing -= {f for f in growing if full in paths[f]}
    return rate


def finish_times(
    capacity: list[float], paths: Paths, weights: list[float], sizes: list[float], starts: list[float]
) -> list[float]:
    """Solve all rates again at every arrival and every completion."""
    left, done, now = list(sizes), [math.inf] * len(paths), 0.0
    while any(math.isinf(t) for t in done):
        active = [f for f in range(len(paths)) if math.isinf(done[f]) and starts[f] <= now]
        coming = [starts[f] for f in range(len(paths)) if math.isinf(done[f]) and starts[f] > now]
        found = rates(capacity, [paths[f] for f in active], [weights[f] for f in active])
        ends = [now + left[f] / r for f, r in zip(active, found, strict=True)]
        then = min(ends + coming)
        for f, r, end in zip(active, found, ends, strict=True):
            left[f] -= r * (then - now)
            if end <= then * (1 + 1e-12):
                done[f] = end
        now = then
    return done
