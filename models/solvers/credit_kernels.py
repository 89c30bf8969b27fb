"""Compiled event loop of the credit-flow solver: whole packets, credits, input queues, a crossbar.

Time is counted in ticks (64 bytes on the fastest link). Events sit in a wheel of per-tick lists, so only what
changes costs time: a port that waits for a credit is not looked at until the credit is back. Inside a tick all
events are applied first and outputs are arbitrated afterwards, so the outcome does not depend on the order of
events of the same tick. See `credits.py` for the meaning of every quantity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

ARRIVE, CREDIT, CROSSBAR, HOST, NOTICE = 0, 1, 2, 3, 4
RUNNING, FINISHED, TIME_LIMIT, STUCK, STEP_LIMIT, POOL_FULL, NOT_CONSERVED = 0, 1, 2, 3, 4, 5, 6


class Plan(NamedTuple):
    """What stays fixed in a run. `channel` = one lane of one link; positions index the flat route array."""

    wire: Any  # [channel] link that carries the channel
    ticks_per_byte: Any  # [channel]
    forward_ticks: Any  # [channel] propagation and fall-through
    credit_ticks: Any  # [channel] time a freed buffer needs to become a credit upstream
    buffer_bytes: Any  # [channel] input buffer at the far end
    sink: Any  # [channel] ends in a host
    host: Any  # [channel] starts in a host
    tier: Any  # [channel]
    crossbar_ticks_per_byte: Any  # [channel]
    route: Any  # [position] channel
    last: Any  # [position] is this the route's last channel
    queue: Any  # [position] input queue the packet waits in after this channel (-1 at a sink)
    path_first: Any  # [path] first position
    notice_ticks: Any  # [path] delay of a congestion notice back to the sender
    flow_path_first: Any  # [flow]
    flow_paths: Any  # [flow]
    flow_bytes: Any  # [flow] payload, -1 = endless
    flow_start: Any  # [flow] tick
    flow_group: Any  # [flow]
    start_order: Any  # [flow] flows by start
    host_flow_first: Any  # [channel + 1]
    host_flows: Any  # flows by first channel
    watch: Any  # [watched] channels whose queue is recorded
    delay_factor: Any  # [CCTI] inter-packet delay in packet times


class Rule(NamedTuple):
    """Scalars of a run."""

    payload_bytes: int
    header_bytes: int
    block_bytes: int
    path_choice: int  # 0 first path, 1 spray in turn, 2 shortest queue at the second channel
    cut_through: bool
    warm_tick: int
    stop_tick: int
    stop_when_done: bool
    step_limit: int
    mark_bytes: int  # < 0: no congestion control
    mark_probability: float
    mark_victims: bool
    index_increase: int
    index_limit: int
    index_minimum: int
    index_timer_ticks: float
    check: bool


class State(NamedTuple):
    """What changes. Packets, queues and events are linked lists in fixed pools; index -1 ends a list."""

    credit: Any
    wire_free: Any
    waiting: Any
    waiting_integral: Any
    waiting_since: Any
    waiting_peak: Any
    sent: Any
    sent_window: Any
    stall_since: Any
    stalled: Any
    crossbar_free: Any
    request_head: Any
    request_tail: Any
    host_turn: Any
    host_wake: Any
    dirty: Any
    dirty_list: Any
    queue_head: Any
    queue_tail: Any
    queue_busy: Any
    request_next: Any
    packet_position: Any
    packet_flow: Any
    packet_bytes: Any
    packet_next: Any
    packet_sent: Any
    packet_mark: Any
    wheel_head: Any
    wheel_tail: Any
    event_next: Any
    event_code: Any
    event_value: Any
    left: Any
    delivered: Any
    delivered_window: Any
    packets_window: Any
    latency_window: Any
    done: Any
    path_turn: Any
    index: Any
    index_tick: Any
    allowed: Any
    notices: Any
    counter: Any  # see the constants below
    random: Any
    sample_queue: Any
    sample_delivered: Any
    sample_stalled: Any


FREE_EVENT, PENDING, FREE_PACKET, DIRTY, OPEN_FLOWS, INJECTED, DELIVERED, FLYING, STARTED, SAMPLES, SAMPLE_TICKS, STEPS, STATUS = range(13)


@njit(cache=True)
def _schedule(s: State, tick: int, code: int, value: int) -> None:
    event = s.counter[FREE_EVENT]
    if event < 0:
        s.counter[STATUS] = POOL_FULL
        return
    s.counter[FREE_EVENT] = s.event_next[event]
    s.event_next[event] = -1
    s.event_code[event] = code
    s.event_value[event] = value
    slot = tick & (s.wheel_head.size - 1)
    if s.wheel_head[slot] < 0:
        s.wheel_head[slot] = event
    else:
        s.event_next[s.wheel_tail[slot]] = event
    s.wheel_tail[slot] = event
    s.counter[PENDING] += 1


@njit(cache=True)
def _touch(s: State, channel: int) -> None:
    if not s.dirty[channel]:
        s.dirty[channel] = True
        s.dirty_list[s.counter[DIRTY]] = channel
        s.counter[DIRTY] += 1


@njit(cache=True)
def _uniform(s: State) -> float:
    s.random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = s.random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def _request(p: Plan, s: State, queue: int) -> None:
    """The head of an input queue joins the list of its output: first asked, first served = round robin."""
    channel = p.route[s.packet_position[s.queue_head[queue]] + 1]
    s.queue_busy[queue] = True
    s.request_next[queue] = -1
    if s.request_head[channel] < 0:
        s.request_head[channel] = queue
    else:
        s.request_next[s.request_tail[channel]] = queue
    s.request_tail[channel] = queue
    _touch(s, channel)


@njit(cache=True)
def _add_waiting(s: State, channel: int, tick: int, change: int) -> None:
    s.waiting_integral[channel] += s.waiting[channel] * (tick - s.waiting_since[channel])
    s.waiting_since[channel] = tick
    s.waiting[channel] += change


@njit(cache=True)
def _queue_bytes(p: Plan, s: State, channel: int, tick: int) -> float:
    backlog = (s.wire_free[p.wire[channel]] - tick) / p.ticks_per_byte[channel]
    return float(s.waiting[channel]) + max(0.0, backlog)


@njit(cache=True)
def _send(p: Plan, r: Rule, s: State, packet: int, channel: int, tick: int, start: float) -> None:
    """Puts a packet, its credit already taken, on the wire at `start`; arrival is when the next node may act."""
    size = s.packet_bytes[packet]
    serial = size * p.ticks_per_byte[channel]
    s.wire_free[p.wire[channel]] = start + serial
    s.sent[channel] += size
    if start >= r.warm_tick:
        s.sent_window[channel] += size
    ready = start + p.forward_ticks[channel]
    position = s.packet_position[packet]
    if not p.last[position]:
        if not r.cut_through:
            ready += serial
        else:
            ready += max(0.0, serial - size * p.ticks_per_byte[p.route[position + 1]])
    s.counter[FLYING] += size
    _schedule(s, max(tick + 1, int(ready + 0.5)), packet * 8 + ARRIVE, 0)
    if p.last[position]:
        s.packet_sent[packet, 1] = start + serial + p.forward_ticks[channel]


@njit(cache=True)
def _take_credit(r: Rule, s: State, channel: int, size: int, tick: int) -> bool:
    blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
    if s.credit[channel] < blocks:
        return False
    s.credit[channel] -= blocks
    return True


@njit(cache=True)
def _stall(p: Plan, s: State, channel: int, tick: int) -> None:
    if s.stall_since[channel] < 0:
        s.stall_since[channel] = max(float(tick), s.wire_free[p.wire[channel]])


@njit(cache=True)
def _unstall(r: Rule, s: State, channel: int, tick: int) -> bool:
    """Closes an open stall; true when the wire had really stood idle for want of a credit."""
    since = s.stall_since[channel]
    s.stall_since[channel] = -1.0
    if since < 0 or since >= tick:
        return False
    s.stalled[channel] += tick - since
    return True


@njit(cache=True)
def _serve_output(p: Plan, r: Rule, s: State, channel: int, tick: int) -> None:
    queue = s.request_head[channel]
    if queue < 0 or s.crossbar_free[channel] > tick:
        return
    packet = s.queue_head[queue]
    size = s.packet_bytes[packet]
    if not _take_credit(r, s, channel, size, tick):
        _stall(p, s, channel, tick)
        return
    starved = _unstall(r, s, channel, tick)
    s.request_head[channel] = s.request_next[queue]
    s.queue_head[queue] = s.packet_next[packet]
    if r.mark_bytes >= 0 and (r.mark_victims or not starved):
        over = _queue_bytes(p, s, channel, tick) > r.mark_bytes
        if over and (r.mark_probability >= 1.0 or _uniform(s) < r.mark_probability):
            s.packet_mark[packet] = True
    came_by = p.route[s.packet_position[packet]]
    blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
    _schedule(s, tick + p.credit_ticks[came_by], came_by * 8 + CREDIT, blocks)
    start = max(s.wire_free[p.wire[channel]], float(tick))
    _add_waiting(s, channel, tick, -size)
    s.waiting_integral[channel] += size * (start - tick)
    s.packet_position[packet] += 1
    _send(p, r, s, packet, channel, tick, start)
    busy = size * p.crossbar_ticks_per_byte[channel]
    until = tick + max(1, int(busy + 0.999))
    s.crossbar_free[channel] = until
    _schedule(s, until, queue * 8 + CROSSBAR, channel)


@njit(cache=True)
def _path(p: Plan, r: Rule, s: State, flow: int, tick: int) -> int:
    paths = p.flow_paths[flow]
    first = p.flow_path_first[flow]
    if paths == 1 or r.path_choice == 0:
        return first
    turn = s.path_turn[flow]
    s.path_turn[flow] = (turn + 1) % paths
    if r.path_choice == 1:
        return first + turn
    best, least = first + turn, np.inf
    for offset in range(paths):
        path = first + (turn + offset) % paths
        position = p.path_first[path]
        if p.last[position]:
            return path
        queue = _queue_bytes(p, s, p.route[position + 1], tick)
        if queue < least:
            best, least = path, queue
    return best


@njit(cache=True)
def _decay_index(r: Rule, s: State, flow: int, tick: int) -> None:
    elapsed = int(tick / r.index_timer_ticks)
    steps = elapsed - s.index_tick[flow]
    if steps > 0:
        s.index[flow] = max(r.index_minimum, s.index[flow] - steps)
        s.index_tick[flow] = elapsed


@njit(cache=True)
def _serve_host(p: Plan, r: Rule, s: State, channel: int, tick: int) -> None:
    free = s.wire_free[p.wire[channel]]
    wake = free
    chosen = -1
    if free <= tick:
        wake = np.inf
        first = p.host_flow_first[channel]
        flows = p.host_flow_first[channel + 1] - first
        for offset in range(flows):
            turn = (s.host_turn[channel] + offset) % flows
            flow = p.host_flows[first + turn]
            if s.left[flow] == 0 or p.flow_start[flow] > tick:
                continue
            if s.allowed[flow] <= tick:
                chosen = turn
                break
            wake = min(wake, s.allowed[flow])
    if chosen < 0:
        if wake < np.inf:
            at = max(tick + 1, int(np.ceil(wake)))
            if s.host_wake[channel] <= tick or at < s.host_wake[channel]:
                s.host_wake[channel] = at
                _schedule(s, at, channel * 8 + HOST, 0)
        return
    flow = p.host_flows[p.host_flow_first[channel] + chosen]
    payload = r.payload_bytes if s.left[flow] < 0 else min(s.left[flow], r.payload_bytes)
    size = payload + r.header_bytes
    if not _take_credit(r, s, channel, size, tick):
        _stall(p, s, channel, tick)
        return
    _unstall(r, s, channel, tick)
    packet = s.counter[FREE_PACKET]
    if packet < 0:
        s.counter[STATUS] = POOL_FULL
        return
    s.counter[FREE_PACKET] = s.packet_next[packet]
    s.host_turn[channel] = chosen + 1
    path = _path(p, r, s, flow, tick)
    start = free if free > tick - 1 else float(tick)
    s.packet_position[packet] = p.path_first[path]
    s.packet_flow[packet] = flow
    s.packet_bytes[packet] = size
    s.packet_mark[packet] = False
    s.packet_sent[packet, 0] = start
    s.packet_next[packet] = path
    if s.left[flow] > 0:
        s.left[flow] -= payload
    s.counter[INJECTED] += size
    _send(p, r, s, packet, channel, tick, start)
    if r.mark_bytes >= 0:
        _decay_index(r, s, flow, tick)
        gap = size * p.ticks_per_byte[channel]
        s.allowed[flow] = start + gap * (1.0 + p.delay_factor[s.index[flow]])
    at = max(tick + 1, int(np.ceil(s.wire_free[p.wire[channel]])))
    s.host_wake[channel] = at
    _schedule(s, at, channel * 8 + HOST, 0)


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
    if s.packet_sent[packet, 0] >= r.warm_tick:
        s.packets_window[flow] += 1
        s.latency_window[flow] += arrival - s.packet_sent[packet, 0]
    if p.flow_bytes[flow] >= 0 and s.delivered[flow] >= p.flow_bytes[flow]:
        s.done[flow] = max(s.done[flow], arrival)
        s.counter[OPEN_FLOWS] -= 1
    if s.packet_mark[packet]:
        # the packet's path was kept in packet_next while it was in no list
        path = p.flow_path_first[flow]
        _schedule(s, tick + p.notice_ticks[path], flow * 8 + NOTICE, 0)
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
        _schedule(s, tick + p.credit_ticks[channel], channel * 8 + CREDIT, blocks)
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
    _add_waiting(s, onward, tick, size)
    if not s.queue_busy[queue]:
        _request(p, s, queue)
    level = _queue_bytes(p, s, onward, tick)
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
        s.sample_queue[row, w] = _queue_bytes(p, s, p.watch[w], tick)
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
def _conserved(p: Plan, s: State) -> bool:
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
        if tick > r.stop_tick:
            s.counter[STATUS] = TIME_LIMIT
            tick = r.stop_tick
            break
        while s.counter[STARTED] < flows and p.flow_start[p.start_order[s.counter[STARTED]]] <= tick:
            flow = p.start_order[s.counter[STARTED]]
            _touch(s, p.route[p.path_first[p.flow_path_first[flow]]])
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
                _touch(s, subject)
            elif kind == CROSSBAR:
                s.queue_busy[subject] = False
                if s.queue_head[subject] >= 0:
                    _request(p, s, subject)
                _touch(s, value)
            elif kind == HOST:
                _touch(s, subject)
            else:
                s.notices[subject] += 1
                _decay_index(r, s, subject, tick)
                s.index[subject] = min(r.index_limit, s.index[subject] + r.index_increase)
            event = onward
        for i in range(s.counter[DIRTY]):
            channel = s.dirty_list[i]
            s.dirty[channel] = False
            if p.host[channel]:
                _serve_host(p, r, s, channel, tick)
            else:
                _serve_output(p, r, s, channel, tick)
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
        _add_waiting(s, channel, tick, 0)
    return tick
