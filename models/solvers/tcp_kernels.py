"""Compiled loop of the TCP loss solver: events in time order, see `tcp_loss.py` for what it models.

Every packet passes at most two ports: the link into the receiver's switch (shared with other flows of the same
spine) and the receiver's port.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.tcp_heap_kernels import code_of, drop_first, push
from models.solvers.tcp_record_kernels import census, drain_queue, faulty_flow, make_room, note_delivery
from models.solvers.tcp_recovery_kernels import expire
from models.solvers.tcp_sender_kernels import hear, send
from models.solvers.tcp_state import (
    ARRIVE,
    EVENT_LIMIT,
    FINISHED,
    FLOW_MASK,
    FLOW_SHIFT,
    HEAR,
    KIND_SHIFT,
    MARKED,
    SECOND_HOP,
    SENT_MASK,
    SENT_SHIFT,
    SPARE_SENT,
    START,
    TIME_LIMIT,
    UNBALANCED,
)
from models.solvers.tcp_switch_kernels import arrive


@njit(cache=True, error_model="numpy")
def advance(s: Any) -> None:
    """Runs until every flow that has an end has come to it, or to a bound of the run."""
    run = s.run
    flows = len(s.flows)
    most = int(run.window_limit) + SPARE_SENT + flows  # events one event can bring about
    heap = np.empty((flows + most + 1024, 2), np.int64)
    size = 0
    for flow in range(flows):
        size = push(heap, size, s.flows[flow].start, code_of(START, 0, flow, 0))
    endless = run.open_flows == 0
    run.status = FINISHED
    while size > 0 and (run.open_flows > 0 or endless):
        now = heap[0, 0]
        if now > run.stop:
            run.status = TIME_LIMIT
            now = run.stop
            run.now = now
            break
        if run.events >= run.events_limit:
            run.status = EVENT_LIMIT
            break
        code = heap[0, 1]
        size = drop_first(heap, size)
        run.now = now
        run.events += 1
        if size + most > len(heap):
            heap = np.concatenate((heap, np.empty_like(heap)))
        kind = code >> KIND_SHIFT
        flow = (code >> FLOW_SHIFT) & FLOW_MASK
        sent = (code >> SENT_SHIFT) & SENT_MASK
        if kind == ARRIVE:
            make_room(now, s)
            size = arrive(now, flow, sent, code & (MARKED | SECOND_HOP), heap, size, s)
        else:
            if kind == HEAR:
                make_room(now, s)
                note_delivery(now, flow, s)
                size = hear(now, flow, sent, code & MARKED, heap, size, s)
            elif kind != START:
                size = expire(now, flow, heap, size, s)
            size = send(now, flow, heap, size, s)
        if run.check and faulty_flow(now, heap, size, s) >= 0:
            run.fault_flow = faulty_flow(now, heap, size, s)
            run.status = UNBALANCED
            break
    if size == 0 and run.open_flows > 0:  # waits for a timeout that never comes
        run.status = TIME_LIMIT
        run.now = run.stop
    make_room(run.now, s)
    drain_queue(run.now, s)
    census(run.now, heap, size, s)
