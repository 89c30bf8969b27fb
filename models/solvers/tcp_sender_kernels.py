"""A TCP sender between losses: what it sends, and what an acknowledgement does to its window (compiled).

Slow start and one more a round trip of RFC 5681, recovery periods of RFC 9002 (7.3), the round-trip estimate of
RFC 6298 (2), marks and alpha of RFC 8257 (3.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.tcp_heap_kernels import code_of, push
from models.solvers.tcp_recovery_kernels import losses_heard, set_timer
from models.solvers.tcp_state import ARRIVE, MARKED, NEVER, SMALLEST_WINDOW, START

U = np.uint64


@njit(cache=True, error_model="numpy", _nrt=False)
def send(now: int, flow: int, heap: Any, size: int, s: Any) -> int:
    """Sends what the window allows, lost packets first."""
    run, sender = s.run, s.flows[flow]
    while sender.flying < int(sender.window):
        if sender.again > 0:
            sender.again -= 1
        elif sender.packets < 0 or sender.fresh < sender.packets:
            sender.fresh += 1
        else:
            break
        sent = sender.sent
        ready = now
        if run.jitter > 0:
            ready += _delay(run.seed, flow, sent, run.jitter)
        leave = max(ready, sender.line_free)
        sender.line_free = leave + run.send_gap
        size = push(heap, size, sender.line_free + run.to_first, code_of(ARRIVE, sent, flow, 0))
        sender.sent += 1
        sender.flying += 1
        if sender.timed < 0:
            sender.timed = sent
            sender.timed_at = leave
        if sender.deadline == NEVER:
            size = set_timer(flow, leave, heap, size, s)
    return size


@njit(cache=True, error_model="numpy", _nrt=False)
def _delay(seed: int, flow: int, sent: int, jitter: int) -> Any:
    """A random processing time below `jitter`, the same for the same seed, flow and transmission (splitmix64)."""
    x = U(seed) * U(0x9E3779B97F4A7C15) + (U(flow) << U(36)) + U(sent)
    x = (x ^ (x >> U(30))) * U(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U(27))) * U(0x94D049BB133111EB)
    x = x ^ (x >> U(31))
    return np.int64(x >> U(40)) * jitter >> 24


@njit(cache=True, error_model="numpy", _nrt=False)
def hear(now: int, flow: int, sent: int, flags: int, heap: Any, size: int, s: Any) -> int:
    """An acknowledgement is back."""
    run, sender = s.run, s.flows[flow]
    sender.flying -= 1
    sender.acked += 1
    if sender.timed >= 0 and sent >= sender.timed:
        _sample(now, sent, sender, run.rto)
    sender.backoff = 0
    size = set_timer(flow, now, heap, size, s)
    marked = flags & MARKED
    if run.dctcp:
        _estimate(sent, marked, sender, run.gain)
    if losses_heard(flow, sent, s):
        _cut(sender, 0.5)
        sender.loss_from = sender.sent
    elif sent >= sender.recovery_from:
        if marked:
            _cut(sender, 1.0 - sender.alpha / 2.0)
        elif sender.window < sender.threshold:
            sender.window += 1.0
        else:
            sender.window += 1.0 / sender.window
        sender.window = min(sender.window, run.window_limit)
    if sender.acked == sender.packets:
        sender.end = now
        sender.deadline = NEVER
        run.open_flows -= 1
        if run.open_flows == 0 and run.blocks > 0:
            size = _next_block(now, heap, size, s)
    return size


@njit(cache=True, error_model="numpy", _nrt=False)
def _next_block(now: int, heap: Any, size: int, s: Any) -> int:
    """The receiver has all it asked for and asks every sender for as much again; the request is here with the last
    acknowledgement. After a wait of more than a timeout a window starts over (RFC 5681, 4.1)."""
    run = s.run
    run.blocks -= 1
    for flow in range(len(s.flows)):
        sender = s.flows[flow]
        if sender.packets < 0:
            continue
        run.open_flows += 1
        sender.packets += sender.block
        if now - sender.end > sender.timeout:
            sender.window = min(sender.window, run.first_window)
        sender.end = NEVER
        size = push(heap, size, now, code_of(START, 0, flow, 0))
    return size


@njit(cache=True, error_model="numpy", _nrt=False)
def _cut(sender: Any, share: float) -> None:
    """A smaller window, once for all that is on its way now."""
    sender.window = max(SMALLEST_WINDOW, sender.window * share)
    sender.threshold = sender.window
    sender.recovery_from = sender.sent


@njit(cache=True, error_model="numpy", _nrt=False)
def _estimate(sent: int, marked: int, sender: Any, gain: float) -> None:
    """alpha = (1 - g) alpha + g F, F the marked share of a window of data."""
    sender.heard += 1
    sender.heard_marked += marked
    if sent >= sender.window_end:
        sender.alpha = (1.0 - gain) * sender.alpha + gain * (sender.heard_marked / sender.heard)
        sender.heard = 0
        sender.heard_marked = 0
        sender.window_end = sender.sent


@njit(cache=True, error_model="numpy", _nrt=False)
def _sample(now: int, sent: int, sender: Any, rto: int) -> None:
    """One packet is timed at a time; timeout = smoothed round trip + 4 variations, at least `rto`."""
    if sent == sender.timed:
        took = float(now - sender.timed_at)
        if sender.smoothed == 0.0:
            sender.smoothed = took
            sender.variation = took / 2.0
        else:
            sender.variation = 0.75 * sender.variation + 0.25 * abs(sender.smoothed - took)
            sender.smoothed = 0.875 * sender.smoothed + 0.125 * took
        sender.timeout = max(rto, int(sender.smoothed + 4.0 * sender.variation))
    sender.timed = -1  # acknowledged, or lost and never to be
