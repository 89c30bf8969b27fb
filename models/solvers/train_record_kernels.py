"""What a run notes beside its totals: checkpoints, chart rows; and the balance in debug mode (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import TICKS_PER_NS, UNBALANCED
from models.solvers.train_pool_kernels import counted

U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def note(end_ticks: int, s: Any) -> None:
    """Checkpoints of delivered packets and rows of the chart series that fall due by the end of the window."""
    run = s.run
    while run.checkpoints < len(s.checkpoint_ticks) and s.checkpoint_ticks[run.checkpoints] <= end_ticks:
        for f in range(len(s.flows)):
            s.checkpoint_packets[run.checkpoints, f] = s.flows[U(f)].delivered
        run.checkpoints += 1
    if run.next_series_ticks <= end_ticks and run.series_rows < run.series_limit:
        write_series(end_ticks, s)


@njit(error_model="numpy", _nrt=False)
def write_series(end_ticks: int, s: Any) -> None:
    """One chart row: time in ns, paused host links, paused switch links, then by group delivered bytes and mean rate
    in bytes per ns, then the watched queues."""
    run = s.run
    row = s.series[run.series_rows]
    run.series_rows += 1
    while run.next_series_ticks <= end_ticks:
        run.next_series_ticks += run.series_ticks
    row[0] = end_ticks / TICKS_PER_NS
    groups = (len(row) - 3 - len(s.watch)) // 2
    for k in range(len(s.links)):
        if s.links[U(k)].stop_ticks < end_ticks:
            if s.links[U(k)].nic >= 0:
                row[1] += 1.0
            else:
                row[2] += 1.0
    for f in range(len(s.flows)):
        row[3 + s.flows[U(f)].group] += s.flows[U(f)].delivered * run.payload_bytes
    for g in range(groups):
        members = 0
        for f in range(len(s.flows)):
            flow = s.flows[U(f)]
            if flow.group == g and flow.left > 0 and flow.waiting == 0:
                row[3 + groups + g] += flow.rate * TICKS_PER_NS
                members += 1
        if members > 0:
            row[3 + groups + g] /= members
    for w in range(len(s.watch)):
        row[3 + 2 * groups + w] = s.links[U(s.watch[U(w)])].queue_bytes


@njit(error_model="numpy", _nrt=False)
def verify(s: Any) -> None:
    """Debug mode: packets sent = delivered + lost + queued + in flight; no queue below zero."""
    run = s.run
    inside = 0
    for k in range(len(s.links)):
        inside += counted(k, s)
    for k in range(len(s.bucket_count)):
        inside += s.bucket_count[U(k)]
    for k in range(len(s.links)):
        if s.links[U(k)].queue_bytes < 0 or s.links[U(k)].ingress_bytes < 0:
            run.status = UNBALANCED
    balance = run.acks - inside
    for f in range(len(s.flows)):
        flow = s.flows[U(f)]
        balance += flow.sent - flow.delivered - flow.lost - flow.refused
    if balance != 0:
        run.status = UNBALANCED
