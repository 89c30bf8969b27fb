"""Ports of the TCP solver: drop-tail queues that mark, and what a packet's way through them takes (compiled)."""

from __future__ import annotations

from typing import Any

from numba import njit

from models.solvers.tcp_heap_kernels import code_of, push
from models.solvers.tcp_record_kernels import note_queue
from models.solvers.tcp_state import ARRIVE, HEAR, MARKED, SECOND_HOP


@njit(cache=True, error_model="numpy", _nrt=False)
def queued(port: Any, wire: int, now: int) -> int:
    """Packets whose last bit has not left; memory is given back packet by packet."""
    left = port.free - now
    return (left + wire - 1) // wire if left > 0 else 0


@njit(cache=True, error_model="numpy", _nrt=False)
def arrive(now: int, flow: int, sent: int, flags: int, heap: Any, size: int, s: Any) -> Any:
    """A packet comes to a port: dropped without room, else marked perhaps, served in turn and sent on its way."""
    run, sender = s.run, s.flows[flow]
    second = (flags & SECOND_HOP) != 0 or sender.first_port < 0
    number = sender.last_port if second else sender.first_port
    port = s.ports[number]
    held = queued(port, run.wire, now)
    run.hops += 1
    if held >= port.room_packets:
        port.drops += 1
        sender.drops += 1
        sender.unheard_drops += 1
        s.dropped[flow, sent & (s.dropped.shape[1] - 1)] = 1
        return size
    if held > port.mark_packets:
        port.marks += 1
        flags |= MARKED
    port.peak_packets = max(port.peak_packets, held + 1)
    if number == run.watch and second:
        note_queue(now, held, s)
    begin = max(now, port.free)
    port.wait += begin - now
    port.free = begin + run.wire
    if second:
        heard = port.free + run.to_host + run.back
        return push(heap, size, heard, code_of(HEAR, sent, flow, flags & MARKED))
    there = port.free + run.between
    return push(heap, size, there, code_of(ARRIVE, sent, flow, flags | SECOND_HOP))
