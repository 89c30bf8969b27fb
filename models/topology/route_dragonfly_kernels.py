"""Routes on Dragonfly+, compiled: minimal leaf-spine-spine-leaf and non-minimal through a third group.

`shape` holds: ports, leaves, up, leaves_per_group, groups, global links per pair, spines of a group. Leaf cable j
ends at spine j // (up / spines); cable q of a group towards the others sits on spine q % spines. Modes: 0 destination
modulo, 1 hash, 2 hash with the lighter of two where a flowlet gap lets it, 3 least loaded of minimal and non-minimal
(UGAL).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.topology.route_choice_kernels import below, mixed

WIDTH = 8  # leaf-up, global, down, up, global, down: six, and the two host links
TRIES = 4  # random intermediate groups an adaptive choice looks at


@njit(cache=True)
def _cable(shape: Any, group: Any, other: Any, number: Any) -> Any:
    """Cable of `group` towards `other`."""
    return (other - (1 if other > group else 0)) * shape[5] + number


@njit(cache=True)
def _leaf_cable(shape: Any, cable: Any) -> Any:
    """Leaf cable that serves a global cable: one of those to its spine, dealt in turn."""
    spines = shape[6]
    parallel = shape[2] // spines
    return cable % spines * parallel + cable // spines % parallel


@njit(cache=True)
def _direct(shape: Any, first: Any, a: Any, b: Any, t: Any, out: Any) -> Any:
    """Minimal path between leaves: over cable t of the pair of groups, or leaf cable t inside a group."""
    up, lpg = shape[2], shape[3]
    g, h = a // lpg, b // lpg
    cables = (shape[4] - 1) * shape[5]
    if g == h:
        out[0] = first[2] + a * up + t
        out[1] = first[3] + b * up + t
        return 2
    q, back = _cable(shape, g, h, t), _cable(shape, h, g, t)
    out[0] = first[2] + a * up + _leaf_cable(shape, q)
    out[1] = first[4] + g * cables + q
    out[2] = first[3] + b * up + _leaf_cable(shape, back)
    return 3


@njit(cache=True)
def _detour(
    shape: Any, first: Any, a: Any, b: Any, middle: Any, t1: Any, t2: Any, leaf: Any, out: Any
) -> Any:
    """Path through group `middle`; changes spine there over `leaf` unless the same spine holds both cables."""
    up, lpg = shape[2], shape[3]
    g, h = a // lpg, b // lpg
    cables = (shape[4] - 1) * shape[5]
    q1, in1 = _cable(shape, g, middle, t1), _cable(shape, middle, g, t1)
    q2, in2 = _cable(shape, middle, h, t2), _cable(shape, h, middle, t2)
    out[0] = first[2] + a * up + _leaf_cable(shape, q1)
    out[1] = first[4] + g * cables + q1
    at = 2
    if in1 % shape[6] != q2 % shape[6]:
        out[2] = first[3] + (middle * lpg + leaf) * up + _leaf_cable(shape, in1)
        out[3] = first[2] + (middle * lpg + leaf) * up + _leaf_cable(shape, q2)
        at = 4
    out[at] = first[4] + middle * cables + q2
    out[at + 1] = first[3] + b * up + _leaf_cable(shape, in2)
    return at + 2


@njit(cache=True)
def _worst(out: Any, n: Any, load: Any, capacity: Any, added: Any) -> Any:
    """Highest use of a path's links with `added` more, infinite over a dead link."""
    worst = 0.0
    for k in range(n):
        if capacity[out[k]] <= 0.0:
            return np.inf
        worst = max(worst, (load[out[k]] + added) / capacity[out[k]])
    return worst


@njit(cache=True)
def dragonfly_paths(
    mode: Any,
    source: Any,
    target: Any,
    key: Any,
    share: Any,
    leaf: Any,
    order: Any,
    shape: Any,
    first: Any,
    capacity: Any,
    seed: Any,
    gap: Any,
    rounds: Any,
    prefix: Any,
    suffix: Any,
    path: Any,
    length: Any,
) -> Any:
    """Fills path (subflows, 12) and its length; returns the first subflow without a live path, or -1."""
    up, lpg, groups, pairs = shape[2], shape[3], shape[4], shape[5]
    load = np.zeros(capacity.size)
    best, trial = np.empty(WIDTH, np.int64), np.empty(WIDTH, np.int64)
    for turn in range(rounds):
        for f in range(source.size):
            middle_at = 0
            for k in range(2):
                if prefix[f, k] >= 0:
                    path[f, middle_at] = prefix[f, k]
                    middle_at += 1
            if source[f] < 0:
                length[f] = middle_at
                continue
            if turn > 0:
                for k in range(length[f]):
                    load[path[f, k]] -= share[f]
            a, b = leaf[source[f]], leaf[target[f]]
            n = 0
            if a != b:
                same = a // lpg == b // lpg
                choices = up if same else pairs
                h = mixed(key[f], np.uint64(seed))
                wanted = np.int64(order[target[f]]) % choices if mode == 0 else below(h, choices)
                least = np.inf
                looks = 1
                if mode == 3:
                    looks = min(choices, 8)
                elif mode == 2 and below(mixed(h, np.uint64(61)), 1048576) < gap * 1048576:
                    looks = min(choices, 2)
                for look in range(choices):
                    m = _direct(shape, first, a, b, (wanted + look) % choices, trial)
                    cost = _worst(trial, m, load, capacity, share[f])
                    if cost < least:
                        least, n = cost, m
                        best[:m] = trial[:m]
                    if look + 1 >= looks and n > 0:
                        break
                if groups > 2 and not same:
                    for look in range(4 * groups):
                        if n > 0 and (mode != 3 or look >= TRIES):
                            break
                        h = mixed(h, np.uint64(look))
                        middle = below(h, groups)
                        if middle == a // lpg or middle == b // lpg:
                            continue
                        t1, t2 = below(mixed(h, np.uint64(3)), pairs), below(mixed(h, np.uint64(5)), pairs)
                        m = _detour(
                            shape, first, a, b, middle, t1, t2, below(mixed(h, np.uint64(7)), lpg), trial
                        )
                        # UGAL: queue times hops, so a detour must be that much emptier
                        cost = _worst(trial, m, load, capacity, share[f]) * (m + 1) / 4.0
                        if cost < least:
                            least, n = cost, m
                            best[:m] = trial[:m]
                if n == 0:
                    return f
            at = middle_at
            path[f, at] = first[0] + source[f]
            at += 1
            for k in range(n):
                path[f, at] = best[k]
                at += 1
            path[f, at] = first[1] + target[f]
            at += 1
            for k in range(2):
                if suffix[f, k] >= 0:
                    path[f, at] = suffix[f, k]
                    at += 1
            length[f] = at
            for k in range(at):
                load[path[f, k]] += share[f]
    return -1


@njit(cache=True)
def packed(path: Any, length: Any) -> Any:
    """CSR of fixed-width rows."""
    offsets = np.zeros(length.size + 1, np.int64)
    for f in range(length.size):
        offsets[f + 1] = offsets[f] + length[f]
    links = np.empty(offsets[-1], np.int32)
    for f in range(length.size):
        links[offsets[f] : offsets[f + 1]] = path[f, : length[f]]
    return offsets, links
