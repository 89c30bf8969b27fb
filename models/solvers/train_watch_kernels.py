"""Pauses that last too long: the watchdog, and the end of a run in which nothing moves any more (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import GATE_DROP, GATE_PFC, LAST, NEVER
from models.solvers.train_loss_kernels import lose
from models.solvers.train_pool_kernels import pop
from models.solvers.train_switch_kernels import release

U = np.uint64  # unsigned indices need no test for negative ones


@njit(error_model="numpy", _nrt=False)
def watch_pauses(now_ticks: int, s: Any) -> None:
    """Report links paused longer than the watchdog's time; with `watchdog_drops` empty their queues."""
    run = s.run
    run.next_watchdog_ticks = now_ticks + run.watchdog_ticks // 4
    for port in range(len(s.links)):
        link = s.links[U(port)]
        if now_ticks - link.stop_ticks < run.watchdog_ticks:
            if link.stop_ticks == NEVER:
                link.tripped = 0
            continue
        if link.tripped == 0:
            link.tripped = 1
            link.watchdogs += 1
        if run.watchdog_drops == 0 or link.nic >= 0:
            continue
        while link.queue_bytes > 0:
            entry = pop(port, s)
            number = entry >> 32
            slot = s.slots[U(number)]
            size = np.int64(slot.bytes)
            if entry & LAST:
                size = np.int64(s.flows[U(slot.flow)].last_bytes)
            link.queue_bytes -= size
            if run.gate == GATE_PFC:
                release(slot.ingress, size, now_ticks, s)
            elif run.gate == GATE_DROP:
                s.switches[U(link.from_switch)].used_bytes -= size
            lose(number, entry, now_ticks, s)


@njit(error_model="numpy", _nrt=False)
def stalled(end_ticks: int, s: Any) -> bool:
    """Whether no byte has left any port since the last look although packets are queued behind a pause."""
    run = s.run
    run.stall_window = run.window + run.stall_windows
    sent = 0
    held = False
    for port in range(len(s.links)):
        link = s.links[U(port)]
        sent += link.sent_bytes
        held |= link.queue_bytes > 0 and link.stop_ticks < NEVER
    still = held and sent == run.stall_bytes
    for n in range(len(s.nics)):
        nic = s.nics[U(n)]
        if s.links[U(nic.link)].stop_ticks == NEVER:
            for k in range(nic.first, nic.first + nic.active):
                # a start or paced packet is to come
                still &= s.flows[U(s.nic_flows[U(k)])].next_ticks <= end_ticks
    run.stall_bytes = sent
    return still
