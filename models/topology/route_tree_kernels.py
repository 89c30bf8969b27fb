"""Routes on fat trees of one to three tiers, compiled. Plain arrays in, link numbers out.

`shape` holds, in this order: ports, leaves, up, leaves_per_pod, pods, spines, parallel, spine_up, cores; `first`
the first link of every tier (graph.TIERS, then BUNDLES). Modes: 0 destination modulo, 1 hash, 2 flowlet,
3 planned, 4 destination modulo rotated by the source leaf, 5 bundles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.topology.route_choice_kernels import (
    any_path,
    below,
    chosen,
    core_of,
    core_ok,
    core_range,
    down_ok,
    lightest,
    lightest_through,
    like_cable,
    mixed,
    planned_far,
    spine_ok,
)


@njit(cache=True)
def path_lengths(source: Any, target: Any, leaf: Any, shape: Any, prefix: Any, suffix: Any) -> Any:
    """Links of every path: host links, switch tiers crossed, NVLink prefix and suffix (-1 = none)."""
    lpp, cores = shape[3], shape[8]
    out = np.empty(source.size + 1, np.int64)
    out[0] = 0
    for f in range(source.size):
        n = 0
        if source[f] >= 0:
            n = 2
            a, b = leaf[source[f]], leaf[target[f]]
            if a != b:
                n = 4 if cores == 0 or a // lpp == b // lpp else 6
        for k in range(2):
            if prefix[f, k] >= 0:
                n += 1
            if suffix[f, k] >= 0:
                n += 1
        out[f + 1] = out[f] + n
    return out


@njit(cache=True)
def tree_links(
    mode: Any,
    source: Any,
    target: Any,
    key: Any,
    share: Any,
    leaf: Any,
    order: Any,
    shape: Any,
    first: Any,
    alive: Any,
    healthy: Any,
    seed: Any,
    polarised: Any,
    gap: Any,
    prefix: Any,
    suffix: Any,
    offsets: Any,
    links: Any,
) -> Any:
    """Fills `links` (CSR with `offsets`); returns the first flow without a live path, or -1."""
    ports, leaves, up, lpp, pods, spines, parallel, spine_up, cores = shape
    pod_cables = spines * spine_up
    hashed = mode == 1 or mode == 2
    greedy = mode == 2 or mode == 3
    load = np.zeros(first[8] if greedy else 1)
    valid = np.ones(max(up, spine_up, parallel, 1), np.bool_)
    valid_up = np.ones(max(spine_up, 1), np.bool_)
    valid_down = np.ones(max(pod_cables if cores > 0 else 1, 1), np.bool_)
    valid_leaf = np.ones(max(parallel, 1), np.bool_)
    for f in range(source.size):
        at = offsets[f]
        for k in range(2):
            if prefix[f, k] >= 0:
                links[at] = prefix[f, k]
                at += 1
        if source[f] >= 0:
            s, d = source[f], target[f]
            copy = s // ports
            a, b = leaf[s], leaf[d]
            links[at] = first[0] + s
            at += 1
            if a != b and mode == 5:
                pa, pb = copy * pods + a // lpp, copy * pods + b // lpp
                if not healthy and not any_path(alive, first, shape, copy, a, b):
                    return f
                links[at] = first[8] + copy * leaves + a
                if cores > 0 and pa != pb:
                    links[at + 1] = first[10] + pa
                    links[at + 2] = first[11] + pb
                    at += 2
                links[at + 1] = first[9] + copy * leaves + b
                at += 2
            elif a != b:
                pa, pb = a // lpp, b // lpp
                up_a = first[2] + (copy * leaves + a) * up
                down_b = first[3] + (copy * leaves + b) * up
                far = cores > 0 and pa != pb
                core_a = first[4] + (copy * pods + pa) * pod_cables
                core_b = first[5] + (copy * pods + pb) * pod_cables
                index = np.int64(order[d])
                if mode == 4:
                    index += a
                h1 = mixed(key[f], np.uint64(seed))
                h2 = h1 if polarised else mixed(h1, np.uint64(17))
                h3 = h1 if polarised else mixed(h1, np.uint64(29))
                h4 = h1 if polarised else mixed(h1, np.uint64(43))
                moved = mode == 3 or (mode == 2 and below(mixed(h1, np.uint64(61)), 1048576) < gap * 1048576)
                if not healthy:
                    for j in range(up):
                        ok = alive[up_a + j]
                        if ok and far:
                            ok = spine_ok(alive, core_a, core_b, down_b, j // parallel, pa, pb, shape)
                        elif ok:
                            ok = down_ok(alive, down_b, j // parallel, parallel)
                        valid[j] = ok
                i_planned = 0
                if mode == 3 and far:
                    j, i_planned = planned_far(
                        valid, load, alive, up_a, core_a, core_b, down_b, pa, pb, shape, index
                    )
                elif mode == 3:
                    j = lightest_through(valid, up, load, up_a, down_b, parallel, index % up)
                elif moved:
                    j = lightest(valid, up, load, up_a, index % up)
                elif healthy:
                    j = below(h1, up) if hashed else index % up
                else:
                    j = chosen(valid, up, index % up, h1, hashed)
                if j < 0:
                    return f
                links[at] = up_a + j
                at += 1
                spine = j // parallel
                wanted = j
                if far:
                    i_static = (index // up * parallel + j % parallel) % spine_up
                    if not healthy:
                        for i in range(spine_up):
                            q = spine * spine_up + i
                            core = core_of(q, pa, pod_cables, cores)
                            valid_up[i] = alive[core_a + q] and core_ok(
                                alive, core_b, down_b, core, pb, shape
                            )
                    if mode == 3 and (healthy or valid_up[i_planned]):
                        i = i_planned
                    elif moved:
                        i = lightest(valid_up, spine_up, load, core_a + spine * spine_up, i_static)
                    elif healthy:
                        i = below(h2, spine_up) if hashed else i_static
                    else:
                        i = chosen(valid_up, spine_up, i_static, h2, hashed)
                    q = spine * spine_up + i
                    links[at] = core_a + q
                    core = core_of(q, pa, pod_cables, cores)
                    lo, hi = core_range(core, pb, pod_cables, cores)
                    back = like_cable(q, pa, pb, pod_cables, cores) - lo
                    if not healthy:
                        for k in range(lo, hi):
                            valid_down[k - lo] = alive[core_b + k] and down_ok(
                                alive, down_b, k // spine_up, parallel
                            )
                    if moved:
                        k = lightest(valid_down, hi - lo, load, core_b + lo, back)
                    elif healthy:
                        k = below(h3, hi - lo) if hashed else back
                    else:
                        k = chosen(valid_down, hi - lo, back, h3, hashed)
                    links[at + 1] = core_b + lo + k
                    at += 2
                    if (lo + k) // spine_up != spine:
                        spine = (lo + k) // spine_up
                        wanted = spine * parallel + j % parallel
                if not healthy:
                    for k in range(parallel):
                        valid_leaf[k] = alive[down_b + spine * parallel + k]
                if moved:
                    k = lightest(valid_leaf, parallel, load, down_b + spine * parallel, wanted % parallel)
                elif healthy:
                    k = below(h4, parallel) if hashed else wanted % parallel
                else:
                    k = chosen(valid_leaf, parallel, wanted % parallel, h4, hashed)
                links[at] = down_b + spine * parallel + k
                at += 1
            links[at] = first[1] + d
            at += 1
        for k in range(2):
            if suffix[f, k] >= 0:
                links[at] = suffix[f, k]
                at += 1
        if greedy:
            for e in range(offsets[f], at):
                load[links[e]] += share[f]
    return -1
