"""Weighted max-min rates by progressive filling, and completions event by event, compiled.

Arrays: capacity (links,); offsets, links: CSR of flow -> links; weights (flows,). A flow's *level* is its rate
over its weight; filling raises all levels together and freezes the flows of a link when the link is full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def transposed(offsets: Any, links: Any, number: Any) -> Any:
    """CSR of link -> flows."""
    out = np.zeros(number + 1, np.int64)
    for e in range(offsets[-1]):
        out[links[e] + 1] += 1
    for m in range(number):
        out[m + 1] += out[m]
    at = out[:-1].copy()
    flows = np.empty(offsets[-1], np.int32)
    for f in range(offsets.size - 1):
        for e in range(offsets[f], offsets[f + 1]):
            m = links[e]
            flows[at[m]] = f
            at[m] += 1
    return out, flows


@njit(cache=True)
def _sifted(keys: Any, items: Any, size: Any, at: Any) -> Any:
    """Moves the entry at `at` down to its place in a binary min-heap."""
    key, item = keys[at], items[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[at], items[at] = keys[child], items[child]
        at = child
    keys[at], items[at] = key, item


@njit(cache=True)
def fill(
    room: Any,
    offsets: Any,
    links: Any,
    weights: Any,
    state: Any,
    level: Any,
    by_link: Any,
    flows_of: Any,
    touched: Any,
    count: Any,
    weight_on: Any,
    keys: Any,
    items: Any,
) -> Any:
    """Raises every flow with state 1 until a link of its path is full; writes `level`, sets state 2.

    room (links,): capacity left for these flows, eaten up on return; touched: the links they use; count and
    weight_on (links,): their number and weight per link, eaten up on return. A link's level only rises while
    others freeze, so a stale heap entry is simply re-keyed when it comes up.
    """
    size = 0
    for m in touched:
        if count[m] > 0:
            keys[size] = max(room[m], 0.0) / weight_on[m]
            items[size] = m
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sifted(keys, items, size, at)
    now = 0.0
    while size > 0:
        m = items[0]
        if count[m] == 0:
            size -= 1
            keys[0], items[0] = keys[size], items[size]
            _sifted(keys, items, size, 0)
            continue
        current = max(room[m], 0.0) / weight_on[m]
        if current > keys[0] * (1.0 + 1e-13) and size > 1:
            keys[0] = current
            _sifted(keys, items, size, 0)
            if items[0] != m:
                continue
        now = max(now, current)
        for k in range(by_link[m], by_link[m + 1]):
            f = flows_of[k]
            if state[f] != 1:
                continue
            state[f] = 2
            level[f] = now
            w = weights[f]
            for e in range(offsets[f], offsets[f + 1]):
                n = links[e]
                room[n] -= now * w
                weight_on[n] -= w
                count[n] -= 1


@njit(cache=True)
def levels(capacity: Any, offsets: Any, links: Any, weights: Any) -> Any:
    """Level of every flow; infinite for a flow without links."""
    number = capacity.size
    by_link, flows_of = transposed(offsets, links, number)
    flows = offsets.size - 1
    level = np.full(flows, np.inf)
    state = np.ones(flows, np.int8)
    count = np.zeros(number, np.int64)
    weight_on = np.zeros(number)
    for f in range(flows):
        for e in range(offsets[f], offsets[f + 1]):
            count[links[e]] += 1
            weight_on[links[e]] += weights[f]
    touched = np.flatnonzero(count)
    keys = np.empty(touched.size)
    items = np.empty(touched.size, np.int64)
    fill(
        capacity.copy(), offsets, links, weights, state, level, by_link, flows_of, touched, count, weight_on, keys,
        items,
    )  # fmt: skip
    return level


@njit(cache=True)
def loads(offsets: Any, links: Any, rates: Any, number: Any) -> Any:
    """Sum of rates per link."""
    out = np.zeros(number)
    for f in range(offsets.size - 1):
        for e in range(offsets[f], offsets[f + 1]):
            out[links[e]] += rates[f]
    return out


@njit(cache=True)
def completions(
    capacity: Any, offsets: Any, links: Any, weights: Any, size: Any, start: Any, together: Any
) -> Any:
    """Finish time of every flow, the first max-min rates and the number of solves.

    Flows whose ends lie within a factor 1 + `together` retire together, each at its own time. Levels below
    the lowest level among retiring flows do not change (every link of a flow fills no earlier than the flow
    itself), so only flows at or above it are solved again; an arrival solves all again.
    """
    flows, number = offsets.size - 1, capacity.size
    by_link, flows_of = transposed(offsets, links, number)
    finish = np.full(flows, np.inf)
    first_rate = np.zeros(flows)
    level = np.full(flows, np.inf)
    rate = np.zeros(flows)
    left = size.copy()
    since = np.zeros(flows)
    state = np.zeros(flows, np.int8)  # 0 waiting or done, 1 being solved, 2 running
    used = np.zeros(number)
    room = np.zeros(number)
    count = np.zeros(number, np.int64)
    weight_on = np.zeros(number)
    touched = np.empty(number, np.int64)
    keys = np.empty(number)
    items = np.empty(number, np.int64)
    running = np.empty(flows, np.int64)
    active, coming = 0, 0
    order = np.argsort(start, kind="mergesort")
    solves = 0
    now = start[order[0]] if flows else 0.0
    while active > 0 or coming < flows:
        arrival = start[order[coming]] if coming < flows else np.inf
        ending = np.inf
        for k in range(active):
            ending = min(ending, finish[running[k]])
        threshold = np.inf
        if arrival <= ending:
            now = arrival
            while coming < flows and start[order[coming]] <= now:
                f = order[coming]
                coming += 1
                if offsets[f] == offsets[f + 1] or left[f] <= 0.0:
                    finish[f] = now
                    continue
                running[active] = f
                active += 1
                since[f] = now
            threshold = 0.0
        else:
            now = ending
            limit = ending * (1.0 + together) if together > 0 else ending * (1.0 + 1e-12)
            kept = 0
            for k in range(active):
                f = running[k]
                if finish[f] <= limit:
                    threshold = min(threshold, level[f])
                    for e in range(offsets[f], offsets[f + 1]):
                        used[links[e]] -= rate[f]
                    state[f] = 0
                else:
                    running[kept] = f
                    kept += 1
            active = kept
            threshold *= 1.0 - 1e-12
        reached = 0
        again = 0
        for k in range(active):
            f = running[k]
            if state[f] == 2 and level[f] < threshold:
                continue
            again += 1
            if state[f] == 2:
                left[f] = max(left[f] - rate[f] * (now - since[f]), 0.0)
                for e in range(offsets[f], offsets[f + 1]):
                    used[links[e]] -= rate[f]
            since[f] = now
            state[f] = 1
            for e in range(offsets[f], offsets[f + 1]):
                m = links[e]
                if count[m] == 0:
                    touched[reached] = m
                    reached += 1
                    weight_on[m] = 0.0
                count[m] += 1
                weight_on[m] += weights[f]
        if again == 0:
            continue
        solves += 1
        if again == active:
            used[:] = 0.0  # no drift from long sums
        for k in range(reached):
            room[touched[k]] = capacity[touched[k]] - used[touched[k]]
        fill(
            room, offsets, links, weights, state, level, by_link, flows_of, touched[:reached], count, weight_on,
            keys, items,
        )  # fmt: skip
        for k in range(active):
            f = running[k]
            if since[f] != now or state[f] != 2:
                continue
            rate[f] = level[f] * weights[f]
            finish[f] = now + left[f] / rate[f] if rate[f] > 0 else np.inf
            if first_rate[f] == 0.0:
                first_rate[f] = rate[f]
            for e in range(offsets[f], offsets[f + 1]):
                used[links[e]] += rate[f]
        if active > 0 and not np.isfinite(finish[running[:active]].min()) and coming == flows:
            break
    return finish, first_rate, solves
