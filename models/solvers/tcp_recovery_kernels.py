"""What a TCP sender does about loss: three later packets, the retransmission timer (compiled).

RFC 9002 (6.1.1) for loss found by later packets, RFC 6298 for the timer, RFC 5681 (4.3) for the threshold after it.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from models.solvers.tcp_heap_kernels import code_of, push
from models.solvers.tcp_state import (
    EXPIRE,
    LONGEST_TIMEOUT_TICKS,
    NEVER,
    REORDER_PACKETS,
    SMALLEST_WINDOW,
)


@njit(cache=True, error_model="numpy", _nrt=False)
def learn_losses(flow: int, before: int, s: Any) -> Any:
    """Puts lost transmissions below `before` up for sending again; whether one is news, sent since the last cut."""
    sender = s.flows[flow]
    mask = s.dropped.shape[1] - 1
    news = False
    sent = sender.settled
    while sent < before and sender.unheard_drops > 0:
        if s.dropped[flow, sent & mask] != 0:
            s.dropped[flow, sent & mask] = 0
            sender.unheard_drops -= 1
            sender.flying -= 1
            sender.again += 1
            news = news or sent >= sender.loss_from
        sent += 1
    return news


@njit(cache=True, error_model="numpy", _nrt=False)
def losses_heard(flow: int, sent: int, s: Any) -> Any:
    """An acknowledgement of `sent` tells of losses before it. Ports keep a flow's order: what is not yet
    acknowledged of the earlier ones was dropped."""
    sender = s.flows[flow]
    before = sent - REORDER_PACKETS + 1
    news = learn_losses(flow, before, s)
    sender.settled = max(sender.settled, before)
    return news


@njit(cache=True, error_model="numpy", _nrt=False)
def set_timer(flow: int, since: int, heap: Any, size: int, s: Any) -> Any:
    """Lets the timer run out one timeout after `since`. A later deadline needs no event: the one in the heap asks."""
    sender = s.flows[flow]
    wait = sender.timeout
    for _ in range(sender.backoff):
        if wait >= LONGEST_TIMEOUT_TICKS:
            break
        wait = min(2 * wait, LONGEST_TIMEOUT_TICKS)
    sender.deadline = since + wait
    if sender.deadline < sender.timer:
        sender.timer = sender.deadline
        size = push(heap, size, sender.deadline, code_of(EXPIRE, 0, flow, 0))
    return size


@njit(cache=True, error_model="numpy", _nrt=False)
def expire(now: int, flow: int, heap: Any, size: int, s: Any) -> Any:
    """A timer event: nothing if it is stale, asked again if the deadline has moved, else the timeout.

    Sent again is what the ports have dropped; what is still on its way is not, as if found out by RFC 5682.
    """
    sender = s.flows[flow]
    if now != sender.timer:
        return size
    sender.timer = NEVER
    if now < sender.deadline:
        if sender.deadline < NEVER:
            sender.timer = sender.deadline
            size = push(heap, size, sender.deadline, code_of(EXPIRE, 0, flow, 0))
        return size
    sender.timeouts += 1
    if sender.backoff == 0:
        sender.threshold = max(SMALLEST_WINDOW, sender.window / 2.0)
    sender.window = 1.0
    sender.backoff += 1
    sender.recovery_from = sender.sent
    sender.loss_from = sender.sent
    learn_losses(flow, sender.sent, s)
    if sender.flying == 0:
        sender.settled = sender.sent
    return set_timer(flow, now, heap, size, s)
