"""Choosing among the ports of a switch, compiled: hashes, what is still reachable, what is least loaded."""

from __future__ import annotations

from typing import Any

# ruff: noqa: SIM110 - compiled code has no generators
import numpy as np
from numba import njit


@njit(cache=True)
def mixed(a: Any, b: Any) -> Any:
    """Hash of two 64-bit words (splitmix64 finaliser), integers only so that every machine agrees."""
    x = np.uint64(a) + np.uint64(0x9E3779B97F4A7C15) * (np.uint64(b) + np.uint64(1))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True)
def below(h: Any, n: Any) -> Any:
    """Hash reduced to 0 .. n-1."""
    return np.int64((h >> np.uint64(11)) % np.uint64(n))


@njit(cache=True)
def core_of(cable: Any, pod: Any, pod_cables: Any, cores: Any) -> Any:
    """Core of a pod's cable, wired as `core_wiring.py` says."""
    each, over = pod_cables // cores, pod_cables % cores
    turn = cable // (each + 1) if cable < over * (each + 1) else over + (cable - over * (each + 1)) // each
    return (turn + pod * over) % cores


@njit(cache=True)
def core_range(core: Any, pod: Any, pod_cables: Any, cores: Any) -> Any:
    """Cables of a pod that end at `core`: first and one past the last."""
    each, over = pod_cables // cores, pod_cables % cores
    turn = (core - pod * over) % cores
    lo = turn * each + min(turn, over)
    return lo, lo + each + (1 if turn < over else 0)


@njit(cache=True)
def like_cable(cable: Any, pod: Any, other: Any, pod_cables: Any, cores: Any) -> Any:
    """Cable of the pod `other` that takes the place of `cable` of `pod` at the same core."""
    core = core_of(cable, pod, pod_cables, cores)
    here, _ = core_range(core, pod, pod_cables, cores)
    lo, hi = core_range(core, other, pod_cables, cores)
    return lo + (cable - here) % (hi - lo)


@njit(cache=True)
def down_ok(alive: Any, base: Any, spine: Any, parallel: Any) -> Any:
    for j in range(spine * parallel, (spine + 1) * parallel):
        if alive[base + j]:
            return True
    return False


@njit(cache=True)
def core_ok(alive: Any, down_base: Any, leaf_base: Any, core: Any, pod: Any, shape: Any) -> Any:
    """Whether `core` reaches the destination leaf in `pod`."""
    parallel, spine_up, cores = shape[6], shape[7], shape[8]
    lo, hi = core_range(core, pod, shape[5] * spine_up, cores)
    for q in range(lo, hi):
        if alive[down_base + q] and down_ok(alive, leaf_base, q // spine_up, parallel):
            return True
    return False


@njit(cache=True)
def spine_ok(
    alive: Any, up_base: Any, down_base: Any, leaf_base: Any, spine: Any, pod: Any, other: Any, shape: Any
) -> Any:
    """Whether a spine of the source pod reaches the destination leaf in the pod `other`."""
    spine_up, cores = shape[7], shape[8]
    for i in range(spine_up):
        q = spine * spine_up + i
        core = core_of(q, pod, shape[5] * spine_up, cores)
        if alive[up_base + q] and core_ok(alive, down_base, leaf_base, core, other, shape):
            return True
    return False


@njit(cache=True)
def chosen(valid: Any, n: Any, wanted: Any, h: Any, hashed: Any) -> Any:
    """Index among the valid ones: the hash-th, or the first at or after `wanted`; -1 when none is valid."""
    count = 0
    for j in range(n):
        count += valid[j]
    if count == 0:
        return -1
    if hashed:
        k = below(h, count)
        for j in range(n):
            if valid[j]:
                if k == 0:
                    return j
                k -= 1
    for step in range(n):
        j = (wanted + step) % n
        if valid[j]:
            return j
    return -1


@njit(cache=True)
def lightest(valid: Any, n: Any, load: Any, base: Any, wanted: Any) -> Any:
    """Valid index with the least load, ties from `wanted` on."""
    best, at = np.inf, -1
    for step in range(n):
        j = (wanted + step) % n
        if valid[j] and load[base + j] < best - 1e-12:
            best, at = load[base + j], j
    return at


@njit(cache=True)
def lightest_through(
    valid: Any, n: Any, load: Any, base: Any, far_base: Any, parallel: Any, wanted: Any
) -> Any:
    """Valid uplink whose own load and the lightest far cable of the same spine are least, for planning."""
    best, at = np.inf, -1
    for step in range(n):
        j = (wanted + step) % n
        if not valid[j]:
            continue
        far = np.inf
        first = j // parallel * parallel
        for k in range(first, first + parallel):
            far = min(far, load[far_base + k])
        cost = max(load[base + j], far)
        if cost < best - 1e-12:
            best, at = cost, j
    return at


@njit(cache=True)
def planned_far(
    valid: Any, load: Any, alive: Any, up_a: Any, core_a: Any, core_b: Any, down_b: Any, pa: Any, pb: Any,
    shape: Any, index: Any,
) -> Any:  # fmt: skip
    """Leaf uplink and spine cable whose path over the like cable down has the least load on its fullest link."""
    up, parallel, spine_up, cores = shape[2], shape[6], shape[7], shape[8]
    pod_cables = shape[5] * spine_up
    best, at, cable = np.inf, -1, 0
    for step in range(up):
        j = (index + step) % up
        if not valid[j]:
            continue
        ends = max(load[up_a + j], load[down_b + j])
        if ends >= best - 1e-12:
            continue
        for turn in range(spine_up):
            i = (index // up + turn) % spine_up
            q = j // parallel * spine_up + i
            back = like_cable(q, pa, pb, pod_cables, cores)
            if not (alive[core_a + q] and alive[core_b + back]):
                continue
            cost = max(ends, load[core_a + q], load[core_b + back])
            if cost < best - 1e-12:
                best, at, cable = cost, j, i
                if cost <= ends:
                    break
    if at < 0:  # no path over the same cables both ways: take any live one
        at = lightest(valid, up, load, up_a, index % up)
    return at, cable


@njit(cache=True)
def any_path(alive: Any, first: Any, shape: Any, copy: Any, a: Any, b: Any) -> Any:
    leaves, up, lpp, pods = shape[1:5]
    spines, parallel, spine_up, cores = shape[5:]
    up_a = first[2] + (copy * leaves + a) * up
    down_b = first[3] + (copy * leaves + b) * up
    core_a = first[4] + (copy * pods + a // lpp) * spines * spine_up
    core_b = first[5] + (copy * pods + b // lpp) * spines * spine_up
    far = cores > 0 and a // lpp != b // lpp
    for j in range(up):
        if not alive[up_a + j]:
            continue
        if far and spine_ok(alive, core_a, core_b, down_b, j // parallel, a // lpp, b // lpp, shape):
            return True
        if not far and down_ok(alive, down_b, j // parallel, parallel):
            return True
    return False
