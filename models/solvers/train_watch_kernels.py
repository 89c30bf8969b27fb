"""Pauses that last too long: the watchdog, and the end of a run in which nothing moves any more (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import GATE_DROP, GATE_PFC, LAST
from models.solvers.train_loss_kernels import lose
from models.solvers.train_pool_kernels import pop
from models.solvers.train_switch_kernels import release

INF = np.inf
U = np.uint64  # unsigned indices need no test for negative ones


@njit(error_model="numpy", _nrt=False)
def watch_pauses(
    now_ns: float,
    run: Any,
    links: Any,
    switches: Any,
    slots: Any,
    flows: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Report links paused longer than the watchdog's time; with `watchdog_drops` empty their queues."""
    run.next_watchdog_ns = now_ns + 0.25 * run.watchdog_ns
    for port in range(len(links)):
        link = links[U(port)]
        if now_ns - link.stop_ns < run.watchdog_ns:
            if link.stop_ns == INF:
                link.tripped = 0
            continue
        if link.tripped == 0:
            link.tripped = 1
            link.watchdogs += 1
        if run.watchdog_drops == 0 or link.nic >= 0:
            continue
        while link.queue_bytes > 0:
            entry = pop(lists, port, run, pool, following)
            number = entry >> 32
            slot = slots[U(number)]
            size = np.int64(slot.bytes)
            if entry & LAST:
                size = np.int64(flows[U(slot.flow)].last_bytes)
            link.queue_bytes -= size
            if run.gate == GATE_PFC:
                release(slot.ingress, size, now_ns, run, links, switches, lists, pool, following)
            elif run.gate == GATE_DROP:
                switches[U(link.from_switch)].used_bytes -= size
            lose(number, entry, now_ns, run, links, slots, flows, lists, pool, following)


@njit(error_model="numpy", _nrt=False)
def stalled(end_ns: float, run: Any, links: Any, flows: Any, nics: Any, nic_flows: Any) -> bool:
    """Whether no byte has left any port since the last look although packets are queued behind a pause."""
    run.stall_window = run.window + run.stall_windows
    sent = 0
    held = False
    for port in range(len(links)):
        link = links[U(port)]
        sent += link.sent_bytes
        held |= link.queue_bytes > 0 and link.stop_ns < INF
    still = held and sent == run.stall_bytes
    for n in range(len(nics)):
        nic = nics[U(n)]
        if links[U(nic.link)].stop_ns == INF:
            for k in range(nic.first, nic.first + nic.active):
                still &= flows[U(nic_flows[U(k)])].next_ns <= end_ns  # a start or paced packet is to come
    run.stall_bytes = sent
    return still
