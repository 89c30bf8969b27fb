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
    Rule,
    Series,
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


@njit(forceinline=True)
def _deliver(
    packets: Any,
    events: Any,
    wheel: Any,
    flows: Any,
    ways: Any,
    counter: Any,
    r: Rule,
    packet: int,
    tick: int,
) -> None:
    flow = packets[packet].flow
    size = packets[packet].bytes
    payload = size - r.header_bytes
    counter[DELIVERED] += size
    flows[flow].delivered += payload
    arrival = packets[packet].arrival
    if arrival >= r.warm_tick and arrival <= r.stop_tick:
        flows[flow].delivered_window += payload
    if packets[packet].sent >= r.warm_tick and packets[packet].sent < r.stop_tick:
        flows[flow].packets_window += 1
        flows[flow].latency_window += arrival - packets[packet].sent
    if flows[flow].bytes >= 0 and flows[flow].delivered >= flows[flow].bytes:
        flows[flow].done = max(flows[flow].done, arrival)
        counter[OPEN_FLOWS] -= 1
    if packets[packet].mark:
        path = flows[flow].path_first
        schedule(events, wheel, counter, tick + ways[path].notice_ticks, flow * 8 + NOTICE, 0)
    packets[packet].next = counter[FREE_PACKET]
    counter[FREE_PACKET] = packet


@njit(forceinline=True)
def _arrive(
    channels: Any,
    queues: Any,
    packets: Any,
    events: Any,
    wheel: Any,
    flows: Any,
    ways: Any,
    counter: Any,
    r: Rule,
    packet: int,
    tick: int,
) -> None:
    position = packets[packet].position
    size = packets[packet].bytes
    counter[FLYING] -= size
    channel = ways[position].route
    if ways[position].last:
        blocks = (size + r.block_bytes - 1) // r.block_bytes * r.block_bytes
        schedule(events, wheel, counter, tick + channels[channel].credit_ticks, channel * 8 + CREDIT, blocks)
        _deliver(packets, events, wheel, flows, ways, counter, r, packet, tick)
        return
    queue = ways[position].queue
    packets[packet].next = -1
    if queues[queue].head < 0:
        queues[queue].head = packet
    else:
        packets[queues[queue].tail].next = packet
    queues[queue].tail = packet
    onward = ways[position + 1].route
    add_waiting(channels, onward, tick, size)
    if not queues[queue].busy:
        request(channels, queues, packets, ways, counter, queue)
    level = queue_bytes(channels, onward, tick)
    if level > channels[onward].waiting_peak:
        channels[onward].waiting_peak = level


@njit(forceinline=True)
def _sample(channels: Any, flows: Any, watch: Any, series: Any, counter: Any, tick: int) -> None:
    row = counter[SAMPLES]
    if row == series.queue.shape[0]:
        half = row // 2
        for i in range(half):
            series.queue[i] = series.queue[2 * i + 1]
            series.delivered[i] = series.delivered[2 * i + 1]
            series.stalled[i] = series.stalled[2 * i + 1]
        counter[SAMPLE_TICKS] *= 2
        row = half
    for w in range(len(watch)):
        series.queue[row, w] = queue_bytes(channels, watch[w], tick)
    series.delivered[row] = 0
    series.stalled[row] = 0
    for flow in range(len(flows)):
        series.delivered[row, flows[flow].group] += flows[flow].delivered
    for channel in range(len(channels)):
        stalled = channels[channel].stalled
        if channels[channel].stall_since >= 0:
            stalled += max(0.0, tick - channels[channel].stall_since)
        series.stalled[row, channels[channel].tier] += stalled
    counter[SAMPLES] = row + 1


@njit(forceinline=True)
def _conserved(channels: Any, counter: Any) -> Any:
    waiting = 0
    for channel in range(len(channels)):
        waiting += channels[channel].waiting
        if (
            channels[channel].credit < 0
            or channels[channel].credit > channels[channel].buffer_bytes
            or channels[channel].waiting < 0
        ):
            return False
    return counter[INJECTED] == counter[DELIVERED] + counter[FLYING] + waiting


@njit(cache=True)
def run(
    channels: Any,
    queues: Any,
    packets: Any,
    events: Any,
    wheel: Any,
    flows: Any,
    ways: Any,
    watch: Any,
    delays: Any,
    series: Series,
    counter: Any,
    r: Rule,
) -> int:
    """Runs until all finite flows are done, the stop tick, or nothing can move; returns the last tick."""
    tick = 0
    all_flows = len(flows)
    slots = len(wheel) - 1
    next_sample = counter[SAMPLE_TICKS]
    while counter[STATUS] == RUNNING:
        if counter[PENDING] == 0:
            if counter[STARTED] >= all_flows:
                counter[STATUS] = STUCK
                break
            tick = max(tick, flows[flows[counter[STARTED]].start_order].start)
        while tick >= next_sample and tick <= r.stop_tick:
            _sample(channels, flows, watch, series, counter, next_sample)
            next_sample = (counter[SAMPLES] + 1) * counter[SAMPLE_TICKS]
        # jump over ticks in which nothing is due
        idle_until = min(next_sample, r.stop_tick + 1)
        if r.drain and tick >= r.stop_tick:
            idle_until = tick + slots
        if counter[STARTED] < all_flows:
            idle_until = min(idle_until, flows[flows[counter[STARTED]].start_order].start)
        while tick < idle_until and wheel[tick & slots].head < 0:
            tick += 1
        if tick >= next_sample and tick <= r.stop_tick:
            continue
        if tick > r.stop_tick and not r.drain:
            counter[STATUS] = TIME_LIMIT
            tick = r.stop_tick
            break
        while counter[STARTED] < all_flows and flows[flows[counter[STARTED]].start_order].start <= tick:
            flow = flows[counter[STARTED]].start_order
            touch(channels, counter, ways[ways[flows[flow].path_first].path_first].route)
            counter[STARTED] += 1
        slot = tick & slots
        event = wheel[slot].head
        wheel[slot].head = -1
        while event >= 0:
            kind = events[event].code & 7
            subject = events[event].code >> 3
            value = events[event].value
            onward = events[event].next
            events[event].next = counter[FREE_EVENT]
            counter[FREE_EVENT] = event
            counter[PENDING] -= 1
            counter[STEPS] += 1
            if kind == ARRIVE:
                _arrive(channels, queues, packets, events, wheel, flows, ways, counter, r, subject, tick)
            elif kind == CREDIT:
                channels[subject].credit += value
                touch(channels, counter, subject)
            elif kind == CROSSBAR:
                queues[subject].busy = False
                if queues[subject].head >= 0:
                    request(channels, queues, packets, ways, counter, subject)
                touch(channels, counter, value)
            elif kind == HOST:
                touch(channels, counter, subject)
            else:
                flows[subject].notices += 1
                decay_index(flows, r, subject, tick)
                flows[subject].index = min(r.index_limit, flows[subject].index + r.index_increase)
            event = onward
        for i in range(counter[DIRTY]):
            channel = channels[i].dirty_list
            channels[channel].dirty = False
            if channels[channel].host:
                serve_host(channels, packets, events, wheel, flows, ways, delays, counter, r, channel, tick)
            else:
                serve_output(channels, queues, packets, events, wheel, ways, counter, r, channel, tick)
        counter[DIRTY] = 0
        if r.stop_when_done and counter[OPEN_FLOWS] == 0:
            counter[STATUS] = FINISHED
            break
        if counter[STEPS] > r.step_limit:
            counter[STATUS] = STEP_LIMIT
        if r.check and not _conserved(channels, counter):
            counter[STATUS] = NOT_CONSERVED
        tick += 1
    for channel in range(len(channels)):
        if channels[channel].stall_since >= 0:
            channels[channel].stalled += max(0.0, tick - channels[channel].stall_since)
        add_waiting(channels, channel, tick, 0)
    return tick
