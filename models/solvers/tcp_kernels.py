"""Compiled loop of the TCP loss solver: events in time order, see `tcp_loss.py` for what it models.

Every packet passes at most two queues: the link into the receiver's switch (shared with other flows of the same
spine) and the receiver's port. Both drop what exceeds a dynamic threshold of their switch's memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FIRST, LAST, ACK, TIMER = 0, 1, 2, 3
FINISHED, TIME_LIMIT, EVENT_LIMIT = 0, 1, 2
BINS = 2048


@njit(cache=True)
def _push(
    heap_time: Any,
    heap_data: Any,
    size: int,
    time: float,
    kind: int,
    flow: int,
    packet: int,
    tx: int,
    marked: int,
) -> int:
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap_time[above] <= time:
            break
        heap_time[at] = heap_time[above]
        for k in range(5):
            heap_data[at, k] = heap_data[above, k]
        at = above
    heap_time[at] = time
    heap_data[at, 0] = kind
    heap_data[at, 1] = flow
    heap_data[at, 2] = packet
    heap_data[at, 3] = tx
    heap_data[at, 4] = marked
    return size + 1


@njit(cache=True)
def _pop(heap_time: Any, heap_data: Any, size: int) -> int:
    size -= 1
    time = heap_time[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and heap_time[below + 1] < heap_time[below]:
            below += 1
        if heap_time[below] >= time:
            break
        heap_time[at] = heap_time[below]
        for k in range(5):
            heap_data[at, k] = heap_data[below, k]
        at = below
    heap_time[at] = time
    for k in range(5):
        heap_data[at, k] = heap_data[size, k]
    return size


@njit(cache=True)
def advance(
    packets: Any,  # [flow] packets to deliver; < 0: without end
    first_link: Any,  # [flow] queue into the receiver's switch, -1 = none
    last_link: Any,  # [flow] receiver's port
    start_s: Any,  # [flow]
    links: Any,  # number of queues
    packet_bytes: Any,
    wire_s: Any,  # serialisation of one packet on a fabric link
    send_gap_s: Any,  # least time between packets of one sender (line or host limit)
    to_first_s: Any,
    between_s: Any,
    to_host_s: Any,
    back_s: Any,
    threshold_alpha: Any,
    buffer_bytes: Any,
    ecn_bytes: Any,  # inf = no marks
    dctcp: Any,
    gain: Any,
    initial_window: Any,
    window_limit: Any,
    rto_s: Any,
    stop_s: Any,
    event_limit: Any,
    bin_s: Any,
) -> Any:
    flows = len(packets)
    heap_time = np.empty(1024, np.float64)
    heap_data = np.empty((1024, 5), np.int64)
    size = 0
    window = np.full(flows, initial_window)
    threshold = np.full(flows, 1e18)
    fresh = np.zeros(flows, np.int64)  # next packet never sent
    tx = np.zeros(flows, np.int64)
    flying = np.zeros(flows, np.int64)
    done = np.zeros(flows, np.int64)
    delivered = np.zeros(flows, np.int64)
    free_s = start_s.copy()
    recover_tx = np.full(flows, -1, np.int64)
    backoff = np.ones(flows, np.float64)
    deadline = np.full(flows, np.inf)
    armed = np.zeros(flows, np.bool_)
    alpha = np.zeros(flows, np.float64)
    seen = np.zeros(flows, np.int64)
    marks_seen = np.zeros(flows, np.int64)
    window_end = np.zeros(flows, np.int64)
    fct_s = np.full(flows, np.nan)
    lost_head = np.full(flows, -1, np.int64)  # lists of dropped transmissions, in order
    lost_tail = np.full(flows, -1, np.int64)
    again_head = np.full(flows, -1, np.int64)  # packets to send again
    again_tail = np.full(flows, -1, np.int64)
    node_next = np.empty(1024, np.int64)
    node_packet = np.empty(1024, np.int64)
    node_tx = np.empty(1024, np.int64)
    nodes = 0
    spare = np.int64(-1)  # list of nodes not in use
    busy_until = np.zeros(links, np.float64)
    waiting = np.zeros(links, np.float64)
    peak = np.zeros(links, np.float64)
    drops = np.zeros(links, np.int64)
    marks = 0
    timeouts = np.zeros(flows, np.int64)
    queue_bins = np.zeros(BINS, np.float64)
    rate_bins = np.zeros((BINS, 2), np.float64)
    open_flows = 0
    for f in range(flows):
        if packets[f] >= 0:
            open_flows += 1
        size = _push(heap_time, heap_data, size, start_s[f], TIMER, f, 0, 0, 1)  # a first chance to send
    now = 0.0
    events = 0
    status = FINISHED
    while size > 0 and open_flows > 0:
        now = heap_time[0]
        kind, flow, packet, sent_tx, marked = (
            heap_data[0, 0],
            heap_data[0, 1],
            heap_data[0, 2],
            heap_data[0, 3],
            heap_data[0, 4],
        )
        size = _pop(heap_time, heap_data, size)
        events += 1
        if now > stop_s:
            status = TIME_LIMIT
            break
        if events > event_limit:
            status = EVENT_LIMIT
            break
        while now >= BINS * bin_s:  # halve the resolution, keep the whole run
            for k in range(BINS // 2):
                queue_bins[k] = max(queue_bins[2 * k], queue_bins[2 * k + 1])
                for g in range(2):
                    rate_bins[k, g] = rate_bins[2 * k, g] + rate_bins[2 * k + 1, g]
            queue_bins[BINS // 2 :] = 0.0
            rate_bins[BINS // 2 :] = 0.0
            bin_s *= 2.0
        at = int(now / bin_s)
        may_send = False
        if kind in (FIRST, LAST):
            link = first_link[flow] if kind == FIRST else last_link[flow]
            queued = max(0.0, busy_until[link] - now) / wire_s * packet_bytes
            if queued + packet_bytes > threshold_alpha * max(0.0, buffer_bytes - queued):
                drops[link] += 1
                if spare >= 0:
                    node = spare
                    spare = node_next[node]
                else:
                    if nodes == len(node_next):
                        node_next = np.concatenate((node_next, np.empty(nodes, np.int64)))
                        node_packet = np.concatenate((node_packet, np.empty(nodes, np.int64)))
                        node_tx = np.concatenate((node_tx, np.empty(nodes, np.int64)))
                    node = np.int64(nodes)
                    nodes += 1
                node_next[node] = -1
                node_packet[node] = packet
                node_tx[node] = sent_tx
                if lost_tail[flow] >= 0:
                    node_next[lost_tail[flow]] = node
                else:
                    lost_head[flow] = node
                lost_tail[flow] = node
            else:
                if queued > ecn_bytes:
                    marked = 1
                    marks += 1
                begin = max(now, busy_until[link])
                waiting[link] += (begin - now) * packet_bytes
                busy_until[link] = begin + wire_s
                peak[link] = max(peak[link], queued)
                if kind == LAST and link == last_link[0]:
                    queue_bins[at] = max(queue_bins[at], queued)
                out = begin + wire_s
                if size + 2 >= len(heap_time):
                    heap_time = np.concatenate((heap_time, np.empty_like(heap_time)))
                    heap_data = np.concatenate((heap_data, np.empty_like(heap_data)))
                if kind == FIRST:
                    size = _push(
                        heap_time, heap_data, size, out + between_s, LAST, flow, packet, sent_tx, marked
                    )
                else:
                    delivered[flow] += 1
                    size = _push(
                        heap_time,
                        heap_data,
                        size,
                        out + to_host_s + back_s,
                        ACK,
                        flow,
                        packet,
                        sent_tx,
                        marked,
                    )
        elif kind == ACK:
            flying[flow] -= 1
            done[flow] += 1
            left = int(max(0.0, now - to_host_s - back_s) / bin_s)  # when it left the receiver's port
            rate_bins[left, 1 if packets[flow] < 0 else 0] += packet_bytes
            backoff[flow] = 1.0
            deadline[flow] = now + rto_s
            seen[flow] += 1
            marks_seen[flow] += marked
            if dctcp and sent_tx >= window_end[flow]:
                share = marks_seen[flow] / seen[flow]
                alpha[flow] = (1.0 - gain) * alpha[flow] + gain * share
                if marks_seen[flow] > 0:
                    window[flow] = max(2.0, window[flow] * (1.0 - alpha[flow] / 2.0))
                    threshold[flow] = window[flow]
                seen[flow] = 0
                marks_seen[flow] = 0
                window_end[flow] = tx[flow]
            cut = False
            while lost_head[flow] >= 0 and node_tx[lost_head[flow]] + 3 <= sent_tx:
                node = lost_head[flow]
                lost_head[flow] = node_next[node]
                if lost_head[flow] < 0:
                    lost_tail[flow] = -1
                node_next[node] = -1
                if again_tail[flow] >= 0:
                    node_next[again_tail[flow]] = node
                else:
                    again_head[flow] = node
                again_tail[flow] = node
                flying[flow] -= 1
                cut = cut or node_tx[node] > recover_tx[flow]
            if cut:
                recover_tx[flow] = tx[flow] - 1
                threshold[flow] = max(2.0, window[flow] / 2.0)
                window[flow] = threshold[flow]
            elif window[flow] < threshold[flow]:
                window[flow] += 1.0
            else:
                window[flow] += 1.0 / window[flow]
            window[flow] = min(window[flow], window_limit)
            if packets[flow] >= 0 and done[flow] == packets[flow]:
                fct_s[flow] = now - start_s[flow]
                deadline[flow] = np.inf
                open_flows -= 1
            may_send = True
        elif marked == 1:
            may_send = True
        else:
            armed[flow] = False
            if not np.isinf(deadline[flow]):
                if now >= deadline[flow] - 1e-12:
                    timeouts[flow] += 1
                    threshold[flow] = max(2.0, window[flow] / 2.0)
                    window[flow] = 1.0
                    backoff[flow] = min(backoff[flow] * 2.0, 64.0)
                    recover_tx[flow] = tx[flow] - 1
                    while lost_head[flow] >= 0:
                        node = lost_head[flow]
                        lost_head[flow] = node_next[node]
                        node_next[node] = -1
                        if again_tail[flow] >= 0:
                            node_next[again_tail[flow]] = node
                        else:
                            again_head[flow] = node
                        again_tail[flow] = node
                        flying[flow] -= 1
                    lost_tail[flow] = -1
                    deadline[flow] = now + rto_s * backoff[flow]
                    may_send = True
                if not armed[flow]:
                    armed[flow] = True
                    size = _push(heap_time, heap_data, size, deadline[flow], TIMER, flow, 0, 0, 0)
        if may_send:
            while flying[flow] < int(window[flow]):
                if again_head[flow] >= 0:
                    node = again_head[flow]
                    packet = node_packet[node]
                    again_head[flow] = node_next[node]
                    if again_head[flow] < 0:
                        again_tail[flow] = -1
                    node_next[node] = spare
                    spare = node
                elif packets[flow] < 0 or fresh[flow] < packets[flow]:
                    packet = fresh[flow]
                    fresh[flow] += 1
                else:
                    break
                leave = max(now, free_s[flow])
                free_s[flow] = leave + send_gap_s
                if size + 3 >= len(heap_time):
                    heap_time = np.concatenate((heap_time, np.empty_like(heap_time)))
                    heap_data = np.concatenate((heap_data, np.empty_like(heap_data)))
                kind = FIRST if first_link[flow] >= 0 else LAST
                size = _push(
                    heap_time,
                    heap_data,
                    size,
                    leave + send_gap_s + to_first_s,
                    kind,
                    flow,
                    packet,
                    tx[flow],
                    0,
                )
                tx[flow] += 1
                flying[flow] += 1
                if np.isinf(deadline[flow]):
                    deadline[flow] = leave + rto_s * backoff[flow]
                if not armed[flow]:
                    armed[flow] = True
                    size = _push(heap_time, heap_data, size, deadline[flow], TIMER, flow, 0, 0, 0)
    return (
        status,
        now,
        fct_s,
        delivered,
        tx,
        timeouts,
        drops,
        marks,
        waiting,
        peak,
        queue_bins,
        rate_bins,
        bin_s,
        events,
    )
