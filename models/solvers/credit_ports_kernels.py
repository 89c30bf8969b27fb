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
    RANDOM,
    STATUS,
    Rule,
)


@njit(forceinline=True)
def schedule(events: Any, wheel: Any, counter: Any, tick: int, code: int, value: int) -> None:
    event = counter[FREE_EVENT]
    if event < 0:
        counter[STATUS] = POOL_FULL
        return
    counter[FREE_EVENT] = events[event].next
    events[event].next = -1
    events[event].code = code
    events[event].value = value
    slot = tick & (len(wheel) - 1)
    if wheel[slot].head < 0:
        wheel[slot].head = event
    else:
        events[wheel[slot].tail].next = event
    wheel[slot].tail = event
    counter[PENDING] += 1


@njit(forceinline=True)
def touch(channels: Any, counter: Any, channel: int) -> None:
    if not channels[channel].dirty:
        channels[channel].dirty = True
        channels[counter[DIRTY]].dirty_list = channel
        counter[DIRTY] += 1


@njit(forceinline=True)
def uniform(counter: Any) -> float:
    counter[RANDOM] += 1
    z = np.uint64(counter[RANDOM]) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(forceinline=True)
def request(channels: Any, queues: Any, packets: Any, ways: Any, counter: Any, queue: int) -> None:
    """The head of an input queue joins the list of its output: first asked, first served = round robin."""
    channel = ways[packets[queues[queue].head].position + 1].route
    queues[queue].busy = True
    queues[queue].request_next = -1
    if channels[channel].request_head < 0:
        channels[channel].request_head = queue
    else:
        queues[channels[channel].request_tail].request_next = queue
    channels[channel].request_tail = queue
    touch(channels, counter, channel)


@njit(forceinline=True)
def add_waiting(channels: Any, channel: int, tick: int, change: int) -> None:
    channels[channel].waiting_integral += channels[channel].waiting * (tick - channels[channel].waiting_since)
    channels[channel].waiting_since = tick
    channels[channel].waiting += change


@njit(forceinline=True)
def queue_bytes(channels: Any, channel: int, tick: int) -> Any:
    backlog = (channels[channels[channel].wire].wire_free - tick) / channels[channel].ticks_per_byte
    return float(channels[channel].waiting) + max(0.0, backlog)


@njit(forceinline=True)
def send(
    channels: Any,
    packets: Any,
    events: Any,
    wheel: Any,
    ways: Any,
    counter: Any,
    r: Rule,
    packet: int,
    channel: int,
    tick: int,
    start: float,
) -> None:
    """Puts a packet, its credit already taken, on the wire at `start`; arrival is when the next node may act."""
    size = packets[packet].bytes
    serial = size * channels[channel].ticks_per_byte
    channels[channels[channel].wire].wire_free = start + serial
    channels[channel].sent += size
    if start >= r.warm_tick:
        channels[channel].sent_window += size
    ready = start + channels[channel].forward_ticks
    position = packets[packet].position
    if not ways[position].last:
        if not r.cut_through:
            ready += serial
        else:
            ready += max(0.0, serial - size * channels[ways[position + 1].route].ticks_per_byte)
    counter[FLYING] += size
    schedule(events, wheel, counter, max(tick + 1, int(ready + 0.5)), packet * 8 + ARRIVE, 0)
    if ways[position].last:
        packets[packet].arrival = start + serial + channels[channel].forward_ticks


@njit(forceinline=True)
def take_credit(channels: Any, r: Rule, channel: int, size: int) -> bool:
    blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
    if channels[channel].credit < blocks:
        return False
    channels[channel].credit -= blocks
    return True


@njit(forceinline=True)
def stall(channels: Any, channel: int, tick: int) -> None:
    if channels[channel].stall_since < 0:
        channels[channel].stall_since = max(float(tick), channels[channels[channel].wire].wire_free)


@njit(forceinline=True)
def unstall(channels: Any, channel: int, tick: int) -> bool:
    """Closes an open stall; true when the wire had really stood idle for want of a credit."""
    since = channels[channel].stall_since
    channels[channel].stall_since = -1.0
    if since < 0 or since >= tick:
        return False
    channels[channel].stalled += tick - since
    return True


@njit(forceinline=True)
def serve_output(
    channels: Any,
    queues: Any,
    packets: Any,
    events: Any,
    wheel: Any,
    ways: Any,
    counter: Any,
    r: Rule,
    channel: int,
    tick: int,
) -> None:
    queue = channels[channel].request_head
    if queue < 0 or channels[channel].crossbar_free > tick:
        return
    packet = queues[queue].head
    size = packets[packet].bytes
    if not take_credit(channels, r, channel, size):
        stall(channels, channel, tick)
        return
    starved = unstall(channels, channel, tick)
    channels[channel].request_head = queues[queue].request_next
    queues[queue].head = packets[packet].next
    if r.mark_bytes >= 0 and (r.mark_victims or not starved):
        over = queue_bytes(channels, channel, tick) - size > r.mark_bytes
        if over and (r.mark_probability >= 1.0 or uniform(counter) < r.mark_probability):
            packets[packet].mark = True
    came_by = ways[packets[packet].position].route
    blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
    schedule(events, wheel, counter, tick + channels[came_by].credit_ticks, came_by * 8 + CREDIT, blocks)
    start = max(channels[channels[channel].wire].wire_free, float(tick))
    add_waiting(channels, channel, tick, -size)
    channels[channel].waiting_integral += size * (start - tick)
    packets[packet].position += 1
    send(channels, packets, events, wheel, ways, counter, r, packet, channel, tick, start)
    busy = size * channels[channel].crossbar_ticks_per_byte
    until = tick + max(1, int(busy + 0.999))
    channels[channel].crossbar_free = until
    schedule(events, wheel, counter, until, queue * 8 + CROSSBAR, channel)


@njit(forceinline=True)
def path(channels: Any, flows: Any, ways: Any, r: Rule, flow: int, tick: int) -> Any:
    paths = flows[flow].paths
    first = flows[flow].path_first
    if paths == 1 or r.path_choice == 0:
        return first
    turn = flows[flow].path_turn
    flows[flow].path_turn = (turn + 1) % paths
    if r.path_choice == 1:
        return first + turn
    best, least = first + turn, np.inf
    for offset in range(paths):
        candidate = first + (turn + offset) % paths
        position = ways[candidate].path_first
        if ways[position].last:
            return candidate
        queue = queue_bytes(channels, ways[position + 1].route, tick)
        if queue < least:
            best, least = candidate, queue
    return best


@njit(forceinline=True)
def decay_index(flows: Any, r: Rule, flow: int, tick: int) -> None:
    elapsed = int(tick / r.index_timer_ticks)
    steps = elapsed - flows[flow].index_tick
    if steps > 0:
        flows[flow].index = max(r.index_minimum, flows[flow].index - steps)
        flows[flow].index_tick = elapsed


@njit(forceinline=True)
def serve_host(
    channels: Any,
    packets: Any,
    events: Any,
    wheel: Any,
    flows: Any,
    ways: Any,
    delays: Any,
    counter: Any,
    r: Rule,
    channel: int,
    tick: int,
) -> None:
    if tick >= r.stop_tick:
        return
    free = channels[channels[channel].wire].wire_free
    wake = free
    chosen = -1
    if free <= tick:
        wake = np.inf
        first = channels[channel].host_flow_first
        count = channels[channel].host_flow_end - first
        for offset in range(count):
            turn = (channels[channel].host_turn + offset) % count
            flow = flows[first + turn].host_flows
            if flows[flow].left == 0 or flows[flow].start > tick:
                continue
            if flows[flow].allowed <= tick:
                chosen = turn
                break
            wake = min(wake, flows[flow].allowed)
    if chosen < 0:
        if wake < np.inf:
            at = max(tick + 1, int(np.ceil(wake)))
            if channels[channel].host_wake <= tick or at < channels[channel].host_wake:
                channels[channel].host_wake = at
                schedule(events, wheel, counter, at, channel * 8 + HOST, 0)
        return
    flow = flows[channels[channel].host_flow_first + chosen].host_flows
    payload = r.payload_bytes if flows[flow].left < 0 else min(flows[flow].left, r.payload_bytes)
    size = payload + r.header_bytes
    if not take_credit(channels, r, channel, size):
        stall(channels, channel, tick)
        return
    unstall(channels, channel, tick)
    packet = counter[FREE_PACKET]
    if packet < 0:
        counter[STATUS] = POOL_FULL
        return
    counter[FREE_PACKET] = packets[packet].next
    channels[channel].host_turn = chosen + 1
    chosen_path = path(channels, flows, ways, r, flow, tick)
    start = free if free > tick - 1 else float(tick)
    packets[packet].position = ways[chosen_path].path_first
    packets[packet].flow = flow
    packets[packet].bytes = size
    packets[packet].mark = False
    packets[packet].sent = start
    if flows[flow].left > 0:
        flows[flow].left -= payload
    counter[INJECTED] += size
    send(channels, packets, events, wheel, ways, counter, r, packet, channel, tick, start)
    if r.mark_bytes >= 0:
        decay_index(flows, r, flow, tick)
        gap = size * channels[channel].ticks_per_byte
        flows[flow].allowed = start + gap * (1.0 + delays[flows[flow].index])
    at = max(tick + 1, int(np.ceil(channels[channels[channel].wire].wire_free)))
    channels[channel].host_wake = at
    schedule(events, wheel, counter, at, channel * 8 + HOST, 0)
