"""Compiled ports of the credit-flow solver: credits, output stage, crossbar arbitration and host senders.

An output takes requests from input queues in the order they were made (round robin among queues that are
always busy), needs a credit for every packet, and passes it to the wire when that is free.
`credit_kernels.py` holds the event loop, `credits.py` the meaning of every quantity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.credit_arrays import (
    ARRIVE,
    CREDIT,
    CROSSBAR,
    DIRTY,
    FLYING,
    FREE_EVENT,
    FREE_PACKET,
    HOST,
    INJECTED,
    PENDING,
    POOL_FULL,
    STATUS,
    Plan,
    Rule,
    State,
)


@njit(cache=True)
def schedule(s: State, tick: int, code: int, value: int) -> None:
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
def touch(s: State, channel: int) -> None:
    if not s.dirty[channel]:
        s.dirty[channel] = True
        s.dirty_list[s.counter[DIRTY]] = channel
        s.counter[DIRTY] += 1


@njit(cache=True)
def uniform(s: State) -> float:
    s.random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = s.random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def request(p: Plan, s: State, queue: int) -> None:
    """The head of an input queue joins the list of its output: first asked, first served = round robin."""
    channel = p.route[s.packet_position[s.queue_head[queue]] + 1]
    s.queue_busy[queue] = True
    s.request_next[queue] = -1
    if s.request_head[channel] < 0:
        s.request_head[channel] = queue
    else:
        s.request_next[s.request_tail[channel]] = queue
    s.request_tail[channel] = queue
    touch(s, channel)


@njit(cache=True)
def add_waiting(s: State, channel: int, tick: int, change: int) -> None:
    s.waiting_integral[channel] += s.waiting[channel] * (tick - s.waiting_since[channel])
    s.waiting_since[channel] = tick
    s.waiting[channel] += change


@njit(cache=True)
def queue_bytes(p: Plan, s: State, channel: int, tick: int) -> Any:
    backlog = (s.wire_free[p.wire[channel]] - tick) / p.ticks_per_byte[channel]
    return float(s.waiting[channel]) + max(0.0, backlog)


@njit(cache=True)
def send(p: Plan, r: Rule, s: State, packet: int, channel: int, tick: int, start: float) -> None:
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
    schedule(s, max(tick + 1, int(ready + 0.5)), packet * 8 + ARRIVE, 0)
    if p.last[position]:
        s.packet_sent[packet, 1] = start + serial + p.forward_ticks[channel]


@njit(cache=True)
def take_credit(r: Rule, s: State, channel: int, size: int, tick: int) -> bool:
    blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
    if s.credit[channel] < blocks:
        return False
    s.credit[channel] -= blocks
    return True


@njit(cache=True)
def stall(p: Plan, s: State, channel: int, tick: int) -> None:
    if s.stall_since[channel] < 0:
        s.stall_since[channel] = max(float(tick), s.wire_free[p.wire[channel]])


@njit(cache=True)
def unstall(r: Rule, s: State, channel: int, tick: int) -> bool:
    """Closes an open stall; true when the wire had really stood idle for want of a credit."""
    since = s.stall_since[channel]
    s.stall_since[channel] = -1.0
    if since < 0 or since >= tick:
        return False
    s.stalled[channel] += tick - since
    return True


@njit(cache=True)
def serve_output(p: Plan, r: Rule, s: State, channel: int, tick: int) -> None:
    queue = s.request_head[channel]
    if queue < 0 or s.crossbar_free[channel] > tick:
        return
    packet = s.queue_head[queue]
    size = s.packet_bytes[packet]
    if not take_credit(r, s, channel, size, tick):
        stall(p, s, channel, tick)
        return
    starved = unstall(r, s, channel, tick)
    s.request_head[channel] = s.request_next[queue]
    s.queue_head[queue] = s.packet_next[packet]
    if r.mark_bytes >= 0 and (r.mark_victims or not starved):
        over = queue_bytes(p, s, channel, tick) > r.mark_bytes
        if over and (r.mark_probability >= 1.0 or uniform(s) < r.mark_probability):
            s.packet_mark[packet] = True
    came_by = p.route[s.packet_position[packet]]
    blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
    schedule(s, tick + p.credit_ticks[came_by], came_by * 8 + CREDIT, blocks)
    start = max(s.wire_free[p.wire[channel]], float(tick))
    add_waiting(s, channel, tick, -size)
    s.waiting_integral[channel] += size * (start - tick)
    s.packet_position[packet] += 1
    send(p, r, s, packet, channel, tick, start)
    busy = size * p.crossbar_ticks_per_byte[channel]
    until = tick + max(1, int(busy + 0.999))
    s.crossbar_free[channel] = until
    schedule(s, until, queue * 8 + CROSSBAR, channel)


@njit(cache=True)
def path(p: Plan, r: Rule, s: State, flow: int, tick: int) -> Any:
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
        candidate = first + (turn + offset) % paths
        position = p.path_first[candidate]
        if p.last[position]:
            return candidate
        queue = queue_bytes(p, s, p.route[position + 1], tick)
        if queue < least:
            best, least = candidate, queue
    return best


@njit(cache=True)
def decay_index(r: Rule, s: State, flow: int, tick: int) -> None:
    elapsed = int(tick / r.index_timer_ticks)
    steps = elapsed - s.index_tick[flow]
    if steps > 0:
        s.index[flow] = max(r.index_minimum, s.index[flow] - steps)
        s.index_tick[flow] = elapsed


@njit(cache=True)
def serve_host(p: Plan, r: Rule, s: State, channel: int, tick: int) -> None:
    if tick >= r.stop_tick:
        return
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
                schedule(s, at, channel * 8 + HOST, 0)
        return
    flow = p.host_flows[p.host_flow_first[channel] + chosen]
    payload = r.payload_bytes if s.left[flow] < 0 else min(s.left[flow], r.payload_bytes)
    size = payload + r.header_bytes
    if not take_credit(r, s, channel, size, tick):
        stall(p, s, channel, tick)
        return
    unstall(r, s, channel, tick)
    packet = s.counter[FREE_PACKET]
    if packet < 0:
        s.counter[STATUS] = POOL_FULL
        return
    s.counter[FREE_PACKET] = s.packet_next[packet]
    s.host_turn[channel] = chosen + 1
    chosen_path = path(p, r, s, flow, tick)
    start = free if free > tick - 1 else float(tick)
    s.packet_position[packet] = p.path_first[chosen_path]
    s.packet_flow[packet] = flow
    s.packet_bytes[packet] = size
    s.packet_mark[packet] = False
    s.packet_sent[packet, 0] = start
    if s.left[flow] > 0:
        s.left[flow] -= payload
    s.counter[INJECTED] += size
    send(p, r, s, packet, channel, tick, start)
    if r.mark_bytes >= 0:
        decay_index(r, s, flow, tick)
        gap = size * p.ticks_per_byte[channel]
        s.allowed[flow] = start + gap * (1.0 + p.delay_factor[s.index[flow]])
    at = max(tick + 1, int(np.ceil(s.wire_free[p.wire[channel]])))
    s.host_wake[channel] = at
    schedule(s, at, channel * 8 + HOST, 0)
