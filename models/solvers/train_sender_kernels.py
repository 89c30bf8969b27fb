"""Senders: packet pacing, round robin between the flows of a NIC, and the DCQCN reaction point (compiled).

The gap to the next packet is fixed when a packet is sent, so a later cut or increase does not move a packet
already scheduled (public HPCC ns-3 code, `rdma-hw.cc` UpdateNextAvail).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import CHOICE, EPOCH_SHIFT, LAST, TICKS_PER_NS
from models.solvers.train_pool_kernels import push

INF = np.inf
U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def fly(entry: int, arrival_ns: float, run: Any, lists: Any, pool: Any, following: Any) -> None:
    """Put a packet in flight: it reaches the far end at `arrival_ns`, never before the next window."""
    bucket = int(arrival_ns * run.buckets_per_ns)
    inside = int((arrival_ns - bucket * run.bucket_ns) * TICKS_PER_NS)
    if bucket < run.next_bucket:
        bucket = run.next_bucket
        inside = 0
    push(lists, run.bucket_first + (bucket & run.bucket_mask), entry | max(inside, 0), run, pool, following)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def step_entry(number: int, slot: Any) -> int:
    """Packet entry for the step after `number`: that step, or `number` itself where there is a choice."""
    if slot.next >= 0:
        return np.int64(slot.next) << 32  # type: ignore[return-value]
    return (number << 32) | CHOICE


@njit(forceinline=True, error_model="numpy", _nrt=False)
def post(first: int, entry: int, time_ns: float, run: Any, lists: Any, pool: Any, following: Any) -> None:
    """Post a message (echo or pause) for the window that holds `time_ns`, at the earliest the next one."""
    window = int(time_ns * run.windows_per_ns)
    inside = int((time_ns - window * run.window_ns) * TICKS_PER_NS)
    if window <= run.window:
        window = run.window + 1
        inside = 0
    push(lists, first + (window & run.window_mask), entry | max(inside, 0), run, pool, following)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def set_gap(flow: Any, run: Any) -> None:
    """Gap between packet starts at the present rate."""
    gap = run.packet_bytes / flow.rate
    if run.whole_ns:
        gap = np.floor(gap + 0.5)
    flow.gap_ns = gap


@njit(forceinline=True, error_model="numpy", _nrt=False)
def power(base: float, exponent: int) -> float:
    """base ** exponent by squaring: the same bits on every machine."""
    result = 1.0
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@njit(forceinline=True, error_model="numpy", _nrt=False)
def update_alpha(flow: Any, now_ns: float, run: Any) -> None:
    """Apply the alpha ticks up to `now_ns`: the first with the echo flag, the others decay only."""
    ticks = int((now_ns - flow.first_echo_ns + 0.5) * run.alpha_ticks_per_ns)
    elapsed = ticks - flow.ticks
    if elapsed > 0:
        keep = 1.0 - run.g
        flow.alpha = keep * flow.alpha + run.g * flow.echo_for_alpha
        if elapsed > 1:
            flow.alpha *= power(keep, elapsed - 1)
        flow.echo_for_alpha = 0
        flow.ticks = ticks


@njit(forceinline=True, error_model="numpy", _nrt=False)
def cut(flow: Any, now_ns: float, run: Any) -> None:
    """Rate decrease at a tick of the cut timer with an echo since the last."""
    update_alpha(flow, now_ns, run)
    if flow.stage > 0 or flow.byte_stage > 0:
        flow.target = flow.rate
    flow.rate = max(run.min_rate, flow.rate * (1.0 - flow.alpha / 2.0))
    set_gap(flow, run)
    flow.stage = 0
    flow.byte_stage = 0
    flow.counted_bytes = 0
    flow.increase_ns = now_ns + run.increase_ns
    flow.cut_ns = INF
    flow.echo_for_cut = 0
    flow.cuts += 1


@njit(forceinline=True, error_model="numpy", _nrt=False)
def increase(flow: Any, line: float, run: Any, by_bytes: bool) -> None:
    """Fast recovery, additive or hyper increase, by the timer's and the byte counter's stages."""
    low = flow.stage
    high = flow.stage
    if run.byte_counter > 0.0:
        low = min(flow.stage, flow.byte_stage)
        high = max(flow.stage, flow.byte_stage)
    if high >= run.fast_stages:
        step = run.hyper if low > run.fast_stages else run.additive
        flow.target = min(line, flow.target + step)
    flow.rate = min(line, 0.5 * (flow.rate + flow.target))
    set_gap(flow, run)
    if by_bytes:
        flow.byte_stage += 1
        flow.counted_bytes = 0
    else:
        flow.stage += 1


@njit(forceinline=True, error_model="numpy", _nrt=False)
def timers(flow: Any, line: float, until_ns: float, run: Any) -> None:
    """Fire the cut and increase timers due before `until_ns`, in order."""
    while True:
        due = min(flow.cut_ns, flow.increase_ns)
        if due >= until_ns:
            break
        if flow.cut_ns <= due:
            cut(flow, due, run)
        else:
            increase(flow, line, run, False)
            flow.increase_ns = due + run.increase_ns


@njit(forceinline=True, error_model="numpy", _nrt=False)
def blocked(flow: Any, line: float, run: Any) -> bool:
    """Whether the window of the flow is full (bytes in flight >= W, or W R / line rate)."""
    window = run.window_bytes
    if window == INF:
        return False
    if run.window_follows_rate:
        window = max(1.0, window * flow.rate / line)
    return (flow.sent - flow.acked) * run.payload_bytes >= window  # type: ignore[no-any-return]


@njit(forceinline=True, error_model="numpy", _nrt=False)
def send(
    flow: Any,
    link: Any,
    slots: Any,
    start_ns: float,
    line: float,
    run: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Start one packet of the flow on its NIC link at `start_ns`."""
    slot = slots[U(flow.root)]
    entry = step_entry(np.int64(flow.root), slot)
    if run.go_back:
        entry |= flow.epoch << EPOCH_SHIFT
    packet_ns = slot.packet_ns
    size = run.packet_bytes
    flow.left -= 1
    if flow.left == 0:
        size = flow.last_bytes
        entry |= LAST
        packet_ns = size * link.ns_per_byte
        if run.whole_ns:
            packet_ns = np.floor(packet_ns + 0.5)
        flow.last_sent_ns = start_ns
    flow.sent += 1
    link.sent_bytes += size
    link.free_ns = start_ns + packet_ns
    flow.next_ns = start_ns + flow.gap_ns
    fly(entry, start_ns + packet_ns + link.propagation_ns, run, lists, pool, following)
    if run.byte_counter > 0.0 and flow.increase_ns < INF:
        flow.counted_bytes += size
        if flow.counted_bytes >= run.byte_counter:
            increase(flow, line, run, True)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def advance_one(
    flow: Any, link: Any, slots: Any, until_ns: float, run: Any, lists: Any, pool: Any, following: Any
) -> float:
    """Advance a NIC with one flow to `until_ns`; returns when it next has something to do."""
    line = link.line
    open_until = min(until_ns, link.stop_ns)
    due = 0.0
    while True:
        due = min(flow.cut_ns, flow.increase_ns)
        limit = min(due, open_until)
        while flow.left > 0:
            start = max(flow.next_ns, link.free_ns)
            if start >= limit or blocked(flow, line, run):
                break
            send(flow, link, slots, start, line, run, lists, pool, following)
            due = min(flow.cut_ns, flow.increase_ns)
            limit = min(due, open_until)
        if due >= until_ns or flow.left == 0:
            break
        timers(flow, line, np.nextafter(due, INF), run)
    if flow.left == 0:
        return INF
    if link.stop_ns > until_ns and not blocked(flow, line, run):
        due = min(due, max(flow.next_ns, link.free_ns))
    return due  # type: ignore[no-any-return]


@njit(forceinline=True, error_model="numpy", _nrt=False)
def advance_many(
    nic: Any,
    nic_flows: Any,
    flows: Any,
    link: Any,
    slots: Any,
    until_ns: float,
    run: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> float:
    """Advance a NIC with several flows, served round robin per packet; returns when it is next due."""
    line = link.line
    open_until = min(until_ns, link.stop_ns)
    first = nic.first
    start = link.free_ns
    while nic.active > 0:
        chosen = -1
        earliest = INF
        place = nic.turn
        for _ in range(nic.active):
            place += 1
            if place >= nic.active:
                place = 0
            candidate = flows[U(nic_flows[U(first + place)])]
            if run.window_bytes < INF and blocked(candidate, line, run):
                continue
            if candidate.next_ns <= start:
                chosen = place
                break
            earliest = min(earliest, candidate.next_ns)
        if chosen < 0:
            if earliest >= open_until:
                break
            start = earliest
            continue
        if start >= open_until:
            break
        flow = flows[U(nic_flows[U(first + chosen)])]
        timers(flow, line, start, run)
        send(flow, link, slots, start, line, run, lists, pool, following)
        start = link.free_ns
        nic.turn = chosen
        if flow.left == 0:
            for k in range(first + chosen, first + nic.active - 1):
                nic_flows[U(k)] = nic_flows[U(k + 1)]
            nic.active -= 1
            nic.turn = chosen - 1
    due = INF
    packet_due = INF
    for k in range(first, first + nic.active):
        flow = flows[U(nic_flows[U(k)])]
        timers(flow, line, until_ns, run)
        due = min(due, min(flow.cut_ns, flow.increase_ns))
        if run.window_bytes == INF or not blocked(flow, line, run):
            packet_due = min(packet_due, flow.next_ns)
    if link.stop_ns > until_ns:
        due = min(due, max(packet_due, link.free_ns))
    return due


@njit(forceinline=True, error_model="numpy", _nrt=False)
def advance_sender(
    n: int,
    until_ns: float,
    nics: Any,
    nic_flows: Any,
    flows: Any,
    links: Any,
    slots: Any,
    due: Any,
    run: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Advance sender `n` to `until_ns` and note when it is next due."""
    nic = nics[U(n)]
    link = links[U(nic.link)]
    if nic.active == 1:
        flow = flows[U(nic_flows[U(nic.first)])]
        due[U(n)] = advance_one(flow, link, slots, until_ns, run, lists, pool, following)
        if flow.left == 0:
            nic.active = 0
    else:
        due[U(n)] = advance_many(nic, nic_flows, flows, link, slots, until_ns, run, lists, pool, following)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def hear_echo(flow: Any, now_ns: float, run: Any) -> None:
    """A congestion echo reaches the sender: start the timers at the first, arm the next cut tick."""
    if flow.first_echo_ns == INF:
        flow.first_echo_ns = now_ns
        flow.alpha = 1.0
        flow.target = flow.rate
        flow.echo_for_alpha = 0
        flow.ticks = 0
        flow.echo_for_cut = 1
        flow.cut_ns = now_ns + run.cut_ns
        return
    update_alpha(flow, now_ns, run)
    flow.echo_for_alpha = 1
    if flow.cut_ns == INF:
        tick = int((now_ns - flow.first_echo_ns) * run.cuts_per_ns) + 1
        flow.cut_ns = flow.first_echo_ns + tick * run.cut_ns
        flow.echo_for_cut = 1
