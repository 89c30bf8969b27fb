"""Chunked first-in first-out lists over one pool, and the run's random numbers (compiled).

A list owns at least one chunk of 16 entries, so a list in steady use touches the same cache line again and
again; memory touched is the peak occupancy, not the bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import CHUNK, CHUNK_SHIFT, POOL_FULL

_LOW = CHUNK - 1
U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def push(index: int, entry: int, s: Any) -> None:
    """Append `entry` to list `index`; a full pool sets the run's status instead of writing past the end."""
    one = s.lists[U(index)]
    tail = one.tail
    s.pool[U(tail)] = entry
    tail += 1
    if tail & _LOW == 0:
        fresh = s.run.free_chunk
        if fresh >= 0:
            s.run.free_chunk = s.following[U(fresh)]
        else:
            fresh = s.run.fresh_chunk
            if fresh < s.run.chunk_limit - 1:
                s.run.fresh_chunk = fresh + 1
            else:
                s.run.status = POOL_FULL
        s.following[U((tail - 1) >> CHUNK_SHIFT)] = fresh
        tail = fresh << CHUNK_SHIFT
    one.tail = tail


@njit(forceinline=True, error_model="numpy", _nrt=False)
def pop(index: int, s: Any) -> int:
    """Remove and return the first entry of list `index`, which must not be empty."""
    one = s.lists[U(index)]
    head = one.head
    entry = s.pool[U(head)]
    head += 1
    if head & _LOW == 0:
        old = (head - 1) >> CHUNK_SHIFT
        head = s.following[U(old)] << CHUNK_SHIFT
        s.following[U(old)] = s.run.free_chunk
        s.run.free_chunk = old
    one.head = head
    return entry  # type: ignore[no-any-return]


@njit(forceinline=True, error_model="numpy", _nrt=False)
def held(index: int, s: Any) -> bool:
    """Whether list `index` has an entry."""
    one = s.lists[U(index)]
    return one.head != one.tail  # type: ignore[no-any-return]


@njit(error_model="numpy", _nrt=False)
def counted(index: int, s: Any) -> int:
    """Entries of list `index`, one chunk after the other."""
    one = s.lists[U(index)]
    head = one.head
    count = 0
    while head >> CHUNK_SHIFT != one.tail >> CHUNK_SHIFT:
        count += CHUNK - (head & _LOW)
        head = s.following[U(head >> CHUNK_SHIFT)] << CHUNK_SHIFT
    return count + one.tail - head  # type: ignore[no-any-return]


@njit(forceinline=True, error_model="numpy", _nrt=False)
def uniform(run: Any) -> float:
    """Next draw in [0, 1): xorshift64*, Vigna 2016 (arXiv:1402.6246), the upper 53 bits."""
    x = run.random
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    run.random = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
