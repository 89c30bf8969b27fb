"""Senders: packet pacing and round robin between the flows of a NIC (compiled).

The gap to the next packet is fixed when a packet is sent, so a later cut or increase does not move a packet
already scheduled (public HPCC ns-3 code, `rdma-hw.cc` UpdateNextAvail).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import BUCKET, BUCKET_SHIFT, EPOCH_SHIFT, LAST, NEVER
from models.solvers.train_pool_kernels import push
from models.solvers.train_rate_kernels import increase, timers

U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def fly(entry: int, arrival_ticks: int, s: Any) -> None:
    """Put a packet in flight: it reaches the far end at `arrival_ticks`, never before the next window."""
    run = s.run
    bucket = arrival_ticks >> run.bucket_shift
    inside = arrival_ticks - (bucket << run.bucket_shift)
    if bucket < run.next_bucket:
        bucket = run.next_bucket
        inside = 0
    place = bucket & run.bucket_mask
    count = s.bucket_count[U(place)]
    s.bucket_count[U(place)] = count + 1
    if count < BUCKET:
        s.buckets[U((place << BUCKET_SHIFT) + count)] = entry | inside
    else:
        push(run.bucket_first + place, entry | inside, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def post(first: int, entry: int, time_ticks: int, s: Any) -> None:
    """Post a message (echo or pause) for the window that holds `time_ticks`, at the earliest the next one."""
    run = s.run
    window = int(time_ticks * run.windows_per_tick)
    inside = time_ticks - window * run.window_ticks
    if window <= run.window:
        window = run.window + 1
        inside = 0
    push(first + (window & run.window_mask), entry | max(inside, 0), s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def wire_ticks(size_bytes: int, link: Any, run: Any) -> int:
    """Time on the wire, rounded as the run says (half up)."""
    rounding = run.rounding_ticks
    return int(size_bytes * link.ticks_per_byte / rounding + 0.5) * rounding  # type: ignore[no-any-return]


@njit(forceinline=True, error_model="numpy", _nrt=False)
def blocked(flow: Any, line: float, run: Any) -> bool:
    """Whether the window of the flow is full (bytes in flight >= W, or W R / line rate)."""
    if run.windowed == 0:
        return False
    window = run.window_bytes
    if run.window_follows_rate:
        window = max(
            1.0, np.floor(window * flow.rate / line + 1e-6)
        )  # whole bytes, the rate's rounding left out
    return (flow.sent - flow.acked) * run.payload_bytes >= window  # type: ignore[no-any-return]


@njit(forceinline=True, error_model="numpy", _nrt=False)
def send(flow: Any, link: Any, start_ticks: int, line: float, s: Any) -> None:
    """Start one packet of the flow on its NIC link at `start_ticks`."""
    run = s.run
    slot = s.slots[U(flow.root)]
    entry = slot.next_entry
    if run.go_back:
        entry |= flow.epoch << EPOCH_SHIFT
    packet = slot.packet_ticks
    arrival = start_ticks + slot.hop_ticks
    size = np.int64(slot.bytes)
    flow.left -= 1
    if flow.left == 0:
        size = np.int64(flow.last_bytes)
        entry |= LAST
        packet = wire_ticks(size, link, run)
        arrival = start_ticks + packet + link.propagation_ticks
        flow.last_sent_ticks = start_ticks
    flow.sent += 1
    link.sent_bytes += size
    link.free_ticks = start_ticks + packet
    flow.next_ticks = start_ticks + flow.gap_ticks
    fly(entry, arrival, s)
    if run.byte_counter > 0.0 and flow.increase_ticks < NEVER:
        flow.counted_bytes += size
        if flow.counted_bytes >= run.byte_counter:
            increase(flow, line, run, True)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def advance_one(flow: Any, link: Any, until_ticks: int, s: Any) -> int:
    """Advance a NIC with one flow to `until_ticks`; returns when it next has something to do."""
    run = s.run
    line = link.line
    open_until = min(until_ticks, link.stop_ticks)
    while True:
        due = min(flow.cut_ticks, flow.increase_ticks)
        limit = min(due, open_until)
        while flow.left > 0:
            start = max(flow.next_ticks, link.free_ticks)
            if start >= limit or blocked(flow, line, run):
                break
            send(flow, link, start, line, s)
            due = min(flow.cut_ticks, flow.increase_ticks)
            limit = min(due, open_until)
        if due >= until_ticks or flow.left == 0:
            break
        timers(flow, line, due + 1, s)
    if flow.left == 0:
        return NEVER
    if link.stop_ticks > until_ticks and not blocked(flow, line, run):
        due = min(due, max(flow.next_ticks, link.free_ticks))
    return due  # type: ignore[no-any-return]


@njit(error_model="numpy", _nrt=False)
def advance_many(nic: Any, link: Any, until_ticks: int, s: Any) -> int:
    """Advance a NIC with several flows, served round robin per packet; returns when it is next due."""
    run = s.run
    line = link.line
    open_until = min(until_ticks, link.stop_ticks)
    first = nic.first
    start = link.free_ticks
    while nic.active > 0:
        chosen = -1
        earliest = NEVER
        place = nic.turn
        for _ in range(nic.active):
            place += 1
            if place >= nic.active:
                place = 0
            candidate = s.flows[U(s.nic_flows[U(first + place)])]
            if run.windowed and blocked(candidate, line, run):
                continue
            if candidate.next_ticks <= start:
                chosen = place
                break
            earliest = min(earliest, candidate.next_ticks)
        if chosen < 0:
            if earliest >= open_until:
                break
            start = earliest
            continue
        if start >= open_until:
            break
        flow = s.flows[U(s.nic_flows[U(first + chosen)])]
        timers(flow, line, start, s)
        send(flow, link, start, line, s)
        start = link.free_ticks
        nic.turn = chosen
        if flow.left == 0:
            for k in range(first + chosen, first + nic.active - 1):
                s.nic_flows[U(k)] = s.nic_flows[U(k + 1)]
            nic.active -= 1
            nic.turn = chosen - 1
    due = NEVER
    packet_due = NEVER
    for k in range(first, first + nic.active):
        flow = s.flows[U(s.nic_flows[U(k)])]
        timers(flow, line, until_ticks, s)
        due = min(due, min(flow.cut_ticks, flow.increase_ticks))
        if run.windowed == 0 or not blocked(flow, line, run):
            packet_due = min(packet_due, flow.next_ticks)
    if link.stop_ticks > until_ticks:
        due = min(due, max(packet_due, link.free_ticks))
    return due


@njit(forceinline=True, error_model="numpy", _nrt=False)
def advance_sender(n: int, until_ticks: int, s: Any) -> None:
    """Advance sender `n` to `until_ticks` and note when it is next due."""
    nic = s.nics[U(n)]
    link = s.links[U(nic.link)]
    if nic.active == 1:
        flow = s.flows[U(s.nic_flows[U(nic.first)])]
        s.due[U(n)] = advance_one(flow, link, until_ticks, s)
        if flow.left == 0:
            nic.active = 0
    else:
        s.due[U(n)] = advance_many(nic, link, until_ticks, s)


@njit(error_model="numpy", _nrt=False)
def advance_sender_apart(n: int, until_ticks: int, s: Any) -> None:
    """`advance_sender` as a call of its own, for a rare case: the loop's code stays small."""
    advance_sender(n, until_ticks, s)
