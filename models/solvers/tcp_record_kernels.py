"""What a TCP run notes: queue and rate series; where every packet is, and the balance in debug mode (compiled)."""

from __future__ import annotations

from typing import Any

from numba import njit

from models.solvers.tcp_state import (
    ARRIVE,
    BINS,
    FLOW_MASK,
    FLOW_SHIFT,
    HEAR,
    KIND_SHIFT,
    SECOND_HOP,
)


@njit(cache=True, error_model="numpy", _nrt=False)
def make_room(now: int, s: Any) -> None:
    """Halves the resolution of the series until `now` fits."""
    run = s.run
    while now >= BINS * run.bin:
        for k in range(BINS // 2):
            s.queue_bins[k] = max(s.queue_bins[2 * k], s.queue_bins[2 * k + 1])
            for g in range(2):
                s.rate_bins[k, g] = s.rate_bins[2 * k, g] + s.rate_bins[2 * k + 1, g]
        for k in range(BINS // 2, BINS):
            s.queue_bins[k] = 0
            for g in range(2):
                s.rate_bins[k, g] = 0
        run.bin *= 2
        run.filled //= 2


@njit(cache=True, error_model="numpy", _nrt=False)
def drain_queue(now: int, s: Any) -> int:
    """Bins begun since the last arrival hold what was still queued at their start; the bin of `now`."""
    run, free = s.run, s.ports[s.run.watch].free
    at = now // run.bin
    for k in range(run.filled + 1, at + 1):
        left = free - k * run.bin
        if left <= 0:
            break
        s.queue_bins[k] = max(s.queue_bins[k], (left + run.wire - 1) // run.wire)
    run.filled = at
    return int(at)


@njit(cache=True, error_model="numpy", _nrt=False)
def note_queue(now: int, held: int, s: Any) -> None:
    """The largest queue of a bin, the packet just come included."""
    at = drain_queue(now, s)
    s.queue_bins[at] = max(s.queue_bins[at], held + 1)


@njit(cache=True, error_model="numpy", _nrt=False)
def note_delivery(now: int, flow: int, s: Any) -> None:
    """A packet, in the bin in which it left the receiver's port; `now` is when its acknowledgement is heard."""
    run = s.run
    left = max(0, now - run.to_host - run.back) // run.bin
    s.rate_bins[left, 1 if s.flows[flow].packets < 0 else 0] += 1


@njit(cache=True, error_model="numpy", _nrt=False)
def census(now: int, heap: Any, size: int, s: Any) -> None:
    """Counts what is on its way by flow and by port, from the events to come."""
    run = s.run
    for flow in range(len(s.flows)):
        s.flows[flow].queued = s.flows[flow].in_flight = s.flows[flow].received = 0
    for number in range(len(s.ports)):
        s.ports[number].counted = 0
    for k in range(size):
        time, code = heap[k, 0], heap[k, 1]
        kind = code >> KIND_SHIFT
        sender = s.flows[(code >> FLOW_SHIFT) & FLOW_MASK]
        if kind == HEAR and time - run.back <= now:
            sender.received += 1
        elif kind == HEAR and time - run.back - run.to_host > now:
            sender.queued += 1
            s.ports[sender.last_port].counted += 1
        elif kind == ARRIVE and (code & SECOND_HOP) != 0 and time - run.between > now:
            sender.queued += 1
            s.ports[sender.first_port].counted += 1
        elif kind in (ARRIVE, HEAR):
            sender.in_flight += 1


@njit(cache=True, error_model="numpy", _nrt=False)
def faulty_flow(now: int, heap: Any, size: int, s: Any) -> int:
    """Debug mode: a flow whose packets do not add up, `flows` + a port that holds too many, or -1.

    Sent = acknowledged + received + lost + queued + in flight; every packet is in one place; the sender's count of
    what is on its way differs from the truth by losses it has not heard of.
    """
    census(now, heap, size, s)
    for flow in range(len(s.flows)):
        f = s.flows[flow]
        away = f.queued + f.in_flight + f.received
        whole = (
            f.sent == f.acked + f.drops + away
            and f.fresh == f.acked + away + f.unheard_drops + f.again
            and f.flying == away + f.unheard_drops
            and f.sent - f.settled <= s.dropped.shape[1]
            and (f.packets < 0 or f.fresh <= f.packets)
        )
        if not whole:
            return flow
    for number in range(len(s.ports)):
        p = s.ports[number]
        left = max(0, p.free - now)
        if p.counted > p.room_packets or p.counted != (left + s.run.wire - 1) // s.run.wire:
            return len(s.flows) + number
    return -1
