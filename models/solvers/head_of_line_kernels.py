"""Rates under head-of-line blocking, compiled: one sweep from the sinks to the sources, repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def level(total: Any, demand: Any, lo: Any, hi: Any) -> Any:
    """Fair level of `total` over demand[lo:hi]: what every ingress may have at most."""
    left, waiting, fair = total, hi - lo, 0.0
    for _ in range(hi - lo):
        fair = left / waiting
        met, count = 0.0, 0
        for p in range(lo, hi):
            if demand[p] <= fair:
                met += demand[p]
                count += 1
        rest = hi - lo - count
        if rest == 0 or rest == waiting:
            break
        left, waiting = total - met, rest
    return fair


# fmt: off
@njit(cache=True)
def sweeps(
    capacity: Any, offsets: Any, pair: Any, first_pair: Any, order: Any, out_start: Any, out_pairs: Any, top: Any,
    growths: Any, repeats: Any, rates: Any,
) -> Any:
    # fmt: on
    """Relaxes `rates` in place; returns the mean over the last growth stage.

    pair (entries,): the ingress of every entry of the flows' paths, numbered so that the ingresses of link m are
    first_pair[m]:first_pair[m + 1] (the first hop's ingress is the flow itself); order: links from the sinks to
    the sources; out_pairs[out_start[m]:out_start[m + 1]]: pairs whose ingress is link m; top (flows,): highest
    rate of a flow; growths: how much faster every flow tries to be, per stage.
    """
    flows, pairs = offsets.size - 1, first_pair[-1]
    demand, grant = np.zeros(pairs), np.zeros(pairs)
    total = np.zeros(capacity.size)
    mean = np.zeros(flows)
    for stage in range(growths.size):
        for _ in range(repeats):
            demand[:] = 0.0
            for f in range(flows):
                wanted = min(rates[f] * (1.0 + growths[stage]), top[f])
                for e in range(offsets[f], offsets[f + 1]):
                    demand[pair[e]] += wanted
            for k in range(order.size):
                m = order[k]
                total[m] = 0.0
                for p in range(first_pair[m], first_pair[m + 1]):
                    total[m] += demand[p]
            for k in range(order.size):
                m = order[k]
                # a FIFO runs at the pace of its most delayed next port, in proportion to its contents
                room = capacity[m]
                for q in range(out_start[m], out_start[m + 1]):
                    p = out_pairs[q]
                    if grant[p] < demand[p]:
                        room = min(room, total[m] * grant[p] / demand[p])
                if total[m] <= room:
                    for p in range(first_pair[m], first_pair[m + 1]):
                        grant[p] = demand[p]
                else:
                    fair = level(room, demand, first_pair[m], first_pair[m + 1])
                    for p in range(first_pair[m], first_pair[m + 1]):
                        grant[p] = min(demand[p], fair)
            for f in range(flows):
                rates[f] = grant[pair[offsets[f]]]
                if stage == growths.size - 1:
                    mean[f] += rates[f] / repeats
    return mean
