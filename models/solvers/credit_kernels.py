"""Compiled event loop of the credit-flow solver: whole packets, credits, input queues, a crossbar.

Time is counted in ticks (64 bytes on the fastest link). Events sit in a wheel of per-tick lists, so only what
changes costs time: a port that waits for a credit is not looked at until the credit is back. Inside a tick
all events are applied first and outputs are arbitrated afterwards, so the outcome does not depend on the
order of events of the same tick. See `credits.py` for the meaning of every quantity.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from models.solvers.credit_arrays import (
    ARRIVE,
    CREDIT,
    CROSSBAR,
    DELIVERED,
    DIRTY,
    FINISHED,
    FLYING,
    FREE_EVENT,
    FREE_PACKET,
    HOST,
    INJECTED,
    NOT_CONSERVED,
    NOTICE,
    OPEN_FLOWS,
    PENDING,
    RUNNING,
    SAMPLE_TICKS,
    SAMPLES,
    STARTED,
    STATUS,
    STEP_LIMIT,
    STEPS,
    STUCK,
    TIME_LIMIT,
    Plan,
    Rule,
    State,
)
from models.solvers.credit_ports_kernels import (
    add_waiting,
    decay_index,
    queue_bytes,
    request,
    schedule,
    serve_host,
    serve_output,
    touch,
)


@njit(cache=True)
def _deliver(p: Plan, r: Rule, s: State, packet: int, tick: int) -> None:
    flow = s.packet_flow[packet]
    size = s.packet_bytes[packet]
    payload = size - r.header_bytes
    s.counter[DELIVERED] += size
    s.delivered[flow] += payload
    arrival = s.packet_sent[packet, 1]
    if arrival >= r.warm_tick and arrival <= r.stop_tick:
        s.delivered_window[flow] += payload
    if s.packet_sent[packet, 0] >= r.warm_tick and s.packet_sent[packet, 0] < r.stop_tick:
        s.packets_window[flow] += 1
        s.latency_window[flow] += arrival - s.packet_sent[packet, 0]
    if p.flow_bytes[flow] >= 0 and s.delivered[flow] >= p.flow_bytes[flow]:
        s.done[flow] = max(s.done[flow], arrival)
        s.counter[OPEN_FLOWS] -= 1
    if s.packet_mark[packet]:
        path = p.flow_path_first[flow]
        schedule(s, tick + p.notice_ticks[path], flow * 8 + NOTICE, 0)
    s.packet_next[packet] = s.counter[FREE_PACKET]
    s.counter[FREE_PACKET] = packet


@njit(cache=True)
def _arrive(p: Plan, r: Rule, s: State, packet: int, tick: int) -> None:
    position = s.packet_position[packet]
    size = s.packet_bytes[packet]
    s.counter[FLYING] -= size
    channel = p.route[position]
    if p.last[position]:
        blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
        schedule(s, tick + p.credit_ticks[channel], channel * 8 + CREDIT, blocks)
        _deliver(p, r, s, packet, tick)
        return
    queue = p.queue[position]
    s.packet_next[packet] = -1
    if s.queue_head[queue] < 0:
        s.queue_head[queue] = packet
    else:
        s.packet_next[s.queue_tail[queue]] = packet
    s.queue_tail[queue] = packet
    onward = p.route[position + 1]
    add_waiting(s, onward, tick, size)
    if not s.queue_busy[queue]:
        request(p, s, queue)
    level = queue_bytes(p, s, onward, tick)
    if level > s.waiting_peak[onward]:
        s.waiting_peak[onward] = level


@njit(cache=True)
def _sample(p: Plan, s: State, tick: int) -> None:
    row = s.counter[SAMPLES]
    if row == s.sample_queue.shape[0]:
        half = row // 2
        for i in range(half):
            s.sample_queue[i] = s.sample_queue[2 * i + 1]
            s.sample_delivered[i] = s.sample_delivered[2 * i + 1]
            s.sample_stalled[i] = s.sample_stalled[2 * i + 1]
        s.counter[SAMPLE_TICKS] *= 2
        row = half
    for w in range(p.watch.size):
        s.sample_queue[row, w] = queue_bytes(p, s, p.watch[w], tick)
    s.sample_delivered[row] = 0
    s.sample_stalled[row] = 0
    for flow in range(p.flow_bytes.size):
        s.sample_delivered[row, p.flow_group[flow]] += s.delivered[flow]
    for channel in range(p.wire.size):
        stalled = s.stalled[channel]
        if s.stall_since[channel] >= 0:
            stalled += max(0.0, tick - s.stall_since[channel])
        s.sample_stalled[row, p.tier[channel]] += stalled
    s.counter[SAMPLES] = row + 1


@njit(cache=True)
def _conserved(p: Plan, s: State) -> Any:
    waiting = 0
    for channel in range(p.wire.size):
        waiting += s.waiting[channel]
        if s.credit[channel] < 0 or s.credit[channel] > p.buffer_bytes[channel] or s.waiting[channel] < 0:
            return False
    return s.counter[INJECTED] == s.counter[DELIVERED] + s.counter[FLYING] + waiting


@njit(cache=True)
def run(p: Plan, r: Rule, s: State) -> int:
    """Runs until all finite flows are done, the stop tick, or nothing can move; returns the last tick."""
    tick = 0
    next_sample = s.counter[SAMPLE_TICKS]
    flows = p.flow_bytes.size
    slots = s.wheel_head.size - 1
    while s.counter[STATUS] == RUNNING:
        if s.counter[PENDING] == 0:
            if s.counter[STARTED] >= flows:
                s.counter[STATUS] = STUCK
                break
            tick = max(tick, p.flow_start[p.start_order[s.counter[STARTED]]])
        while tick >= next_sample and tick <= r.stop_tick:
            _sample(p, s, next_sample)
            next_sample = (s.counter[SAMPLES] + 1) * s.counter[SAMPLE_TICKS]
        if tick > r.stop_tick and not r.drain:
            s.counter[STATUS] = TIME_LIMIT
            tick = r.stop_tick
            break
        while s.counter[STARTED] < flows and p.flow_start[p.start_order[s.counter[STARTED]]] <= tick:
            flow = p.start_order[s.counter[STARTED]]
            touch(s, p.route[p.path_first[p.flow_path_first[flow]]])
            s.counter[STARTED] += 1
        slot = tick & slots
        event = s.wheel_head[slot]
        s.wheel_head[slot] = -1
        while event >= 0:
            kind = s.event_code[event] & 7
            subject = s.event_code[event] >> 3
            value = s.event_value[event]
            onward = s.event_next[event]
            s.event_next[event] = s.counter[FREE_EVENT]
            s.counter[FREE_EVENT] = event
            s.counter[PENDING] -= 1
            s.counter[STEPS] += 1
            if kind == ARRIVE:
                _arrive(p, r, s, subject, tick)
            elif kind == CREDIT:
                s.credit[subject] += value
                touch(s, subject)
            elif kind == CROSSBAR:
                s.queue_busy[subject] = False
                if s.queue_head[subject] >= 0:
                    request(p, s, subject)
                touch(s, value)
            elif kind == HOST:
                touch(s, subject)
            else:
                s.notices[subject] += 1
                decay_index(r, s, subject, tick)
                s.index[subject] = min(r.index_limit, s.index[subject] + r.index_increase)
            event = onward
        for i in range(s.counter[DIRTY]):
            channel = s.dirty_list[i]
            s.dirty[channel] = False
            if p.host[channel]:
                serve_host(p, r, s, channel, tick)
            else:
                serve_output(p, r, s, channel, tick)
        s.counter[DIRTY] = 0
        if r.stop_when_done and s.counter[OPEN_FLOWS] == 0:
            s.counter[STATUS] = FINISHED
            break
        if s.counter[STEPS] > r.step_limit:
            s.counter[STATUS] = STEP_LIMIT
        if r.check and not _conserved(p, s):
            s.counter[STATUS] = NOT_CONSERVED
        tick += 1
    for channel in range(p.wire.size):
        if s.stall_since[channel] >= 0:
            s.stalled[channel] += max(0.0, tick - s.stall_since[channel])
        add_waiting(s, channel, tick, 0)
    return tick
