"""Events in order: a binary heap of [time, code] rows (compiled). Equal times go by code, see `tcp_state.py`."""

from __future__ import annotations

from typing import Any

from numba import njit

from models.solvers.tcp_state import FLOW_SHIFT, KIND_SHIFT, SENT_SHIFT


@njit(cache=True, inline="always")
def code_of(kind: int, sent: int, flow: int, flags: int) -> int:
    """The number an event is ordered by at its instant."""
    return (kind << KIND_SHIFT) | (sent << SENT_SHIFT) | (flow << FLOW_SHIFT) | flags


@njit(cache=True, error_model="numpy", _nrt=False)
def push(heap: Any, size: int, time: int, code: int) -> int:
    """Size of the heap with one more event; the caller has seen to the room."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above, 0] < time or (heap[above, 0] == time and heap[above, 1] <= code):
            break
        heap[at, 0] = heap[above, 0]
        heap[at, 1] = heap[above, 1]
        at = above
    heap[at, 0] = time
    heap[at, 1] = code
    return size + 1


@njit(cache=True, error_model="numpy", _nrt=False)
def drop_first(heap: Any, size: int) -> int:
    """Size of the heap without its first event."""
    size -= 1
    time, code = heap[size, 0], heap[size, 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        right = below + 1
        if right < size and (
            heap[right, 0] < heap[below, 0]
            or (heap[right, 0] == heap[below, 0] and heap[right, 1] < heap[below, 1])
        ):
            below = right
        if heap[below, 0] > time or (heap[below, 0] == time and heap[below, 1] >= code):
            break
        heap[at, 0] = heap[below, 0]
        heap[at, 1] = heap[below, 1]
        at = below
    heap[at, 0] = time
    heap[at, 1] = code
    return size
