"""The compiled main loop: windows of lookahead, each in five passes.

1. pause messages due in the window, 2. echoes, 3. senders, 4. packets arriving, bucket by bucket in time order, each
port served up to the arrival before the packet is queued, 5. every port served to the end of the window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import (
    CARRIED,
    CHOICE,
    FINISHED,
    GATE_PFC,
    LAST,
    LAW_DCQCN,
    MARKED,
    RUNNING,
    SAMPLES_FULL,
    STALLED,
    STEP_BOUND,
    TICKS_PER_NS,
    TIME_MASK,
    UNBALANCED,
)
from models.solvers.train_loss_kernels import kept, resend
from models.solvers.train_pool_kernels import pop, push
from models.solvers.train_sender_kernels import advance_sender, hear_echo
from models.solvers.train_switch_kernels import admit, chosen_child, serve
from models.solvers.train_watch_kernels import stalled, watch_pauses

INF = np.inf
U = np.uint64  # unsigned indices need no test for negative ones


@njit(cache=True, error_model="numpy", _nrt=False)
def advance_windows(
    run: Any,
    links: Any,
    switches: Any,
    slots: Any,
    children: Any,
    flows: Any,
    nics: Any,
    nic_flows: Any,
    due: Any,
    turn: Any,
    ack_links: Any,
    dependents: Any,
    lists: Any,
    pool: Any,
    following: Any,
    active: Any,
    order: Any,
    watch: Any,
    samples: Any,
    series: Any,
    checkpoint_ns: Any,
    checkpoint_bytes: Any,
) -> None:
    """Run until every flow has ended, the stop time, or the bound on windows; the reason is `run.status`."""
    senders = len(nics)
    sampling = len(watch) > 0
    while run.status == RUNNING:
        begin = run.window * run.window_ns
        end = (run.window + 1) * run.window_ns
        run.next_bucket = (run.window + 1) * run.buckets_per_window
        if sampling and end > run.next_sample_ns + (run.samples_limit - run.samples) * run.sample_ns:
            run.status = SAMPLES_FULL
            return

        # 1. pause and resume messages
        index = run.gate_first + (run.window & run.window_mask)
        for _ in range(lists[U(index)].count):
            entry = pop(lists, index, run, pool, following)
            number = entry >> 32
            link = links[U(number)]
            time = begin + (entry & TIME_MASK) * (1.0 / TICKS_PER_NS)
            if entry & MARKED:
                link.stop_ns = min(link.stop_ns, time)
                link.pauses += 1
                link.pause_ns -= time
            else:
                if (
                    link.stop_ns > begin
                ):  # paused and resumed in one window: finish what came before the pause
                    if link.nic >= 0:
                        advance_sender(
                            link.nic,
                            link.stop_ns,
                            nics,
                            nic_flows,
                            flows,
                            links,
                            slots,
                            due,
                            run,
                            lists,
                            pool,
                            following,
                        )
                link.stop_ns = INF
                link.pause_ns += time
                link.free_ns = max(link.free_ns, time)
                if link.nic >= 0:
                    due[U(link.nic)] = 0.0
                    to_front(turn, link.nic)

        # 2. echoes and acknowledgements reach the senders
        index = run.echo_first + (run.window & run.window_mask)
        for _ in range(lists[U(index)].count):
            entry = pop(lists, index, run, pool, following)
            flow = flows[U(entry >> 32)]
            time = begin + (entry & TIME_MASK) * (1.0 / TICKS_PER_NS)
            lost = entry & LAST  # a loss was noticed
            if not lost:
                flow.acked += 1
            sending = flow.left > 0
            if sending and due[U(flow.nic)] < time:
                advance_sender(
                    flow.nic, time, nics, nic_flows, flows, links, slots, due, run, lists, pool, following
                )
            if lost:
                resend(entry >> 32, entry, time, run, flows, nics, nic_flows, due)
            if lost or not sending:
                continue
            if entry & MARKED and run.law == LAW_DCQCN:
                hear_echo(flow, time, run)
                due[U(flow.nic)] = min(due[U(flow.nic)], flow.cut_ns)
            if run.echo_all:  # the window may have opened
                flow.next_ns = max(flow.next_ns, time)
                due[U(flow.nic)] = 0.0

        # 3. senders with something due
        for k in range(senders):
            n = turn[U(k)]
            if due[U(n)] < end:
                advance_sender(n, end, nics, nic_flows, flows, links, slots, due, run, lists, pool, following)

        # 4. arrivals
        bucket = run.window * run.buckets_per_window
        next_sample_ns = run.next_sample_ns if sampling else INF
        for k in range(run.buckets_per_window):
            moment = (bucket + k) * run.bucket_ns
            index = run.bucket_first + ((bucket + k) & run.bucket_mask)
            waiting = lists[U(index)].count
            while waiting > 0:
                batch = min(waiting, len(order))
                waiting -= batch
                in_time_order(order, batch, index, run, lists, pool, following)
                for place in range(batch):
                    entry = order[U(place)]
                    time = moment + (entry & TIME_MASK) * (1.0 / TICKS_PER_NS)
                    if time > next_sample_ns:
                        take_samples(
                            time, watch, samples, run, links, switches, slots, flows, nics, nic_flows, ack_links,
                            dependents, due, lists, pool, following,
                        )  # fmt: skip
                        next_sample_ns = run.next_sample_ns
                    number = entry >> 32
                    if entry & CHOICE:
                        number = np.int64(chosen_child(slots[U(number)], run, slots, links, children))
                    slot = slots[U(number)]
                    port = slot.link
                    link = links[U(port)]
                    if link.queue_bytes > 0:
                        if link.free_ns < time:
                            serve(
                                port, time, run, links, switches, slots, flows, nics, nic_flows,
                                ack_links, dependents, due, lists, pool, following,
                            )  # fmt: skip
                    if link.queue_bytes == 0 and link.free_ns < time:
                        link.free_ns = time
                    size = np.int64(slot.bytes)
                    if entry & LAST:
                        size = flows[U(slot.flow)].last_bytes
                    if run.may_lose:
                        entry = kept(
                            number,
                            entry,
                            size,
                            time,
                            run,
                            links,
                            switches,
                            slots,
                            flows,
                            lists,
                            pool,
                            following,
                        )
                        if entry < 0:
                            continue
                    push(
                        lists,
                        port,
                        (np.int64(number) << 32) | (entry & CARRIED),
                        run,
                        pool,
                        following,
                    )
                    queue = link.queue_bytes + size
                    link.queue_bytes = queue
                    link.peak_bytes = max(link.peak_bytes, queue)
                    if link.active == 0:
                        link.active = 1
                        active[U(run.ports_active)] = port
                        run.ports_active += 1
                    if run.gate == GATE_PFC:
                        admit(slot.ingress, size, time, run, links, switches, lists, pool, following)

        if end > next_sample_ns:
            take_samples(
                end, watch, samples, run, links, switches, slots, flows, nics, nic_flows, ack_links,
                dependents, due, lists, pool, following,
            )  # fmt: skip

        # 5. service to the end of the window
        k = 0
        while k < run.ports_active:
            port = active[U(k)]
            serve(
                port, end, run, links, switches, slots, flows, nics, nic_flows,
                ack_links, dependents, due, lists, pool, following,
            )  # fmt: skip
            if links[U(port)].queue_bytes == 0:
                links[U(port)].active = 0
                run.ports_active -= 1
                active[U(k)] = active[U(run.ports_active)]
            else:
                k += 1

        note(run, end, links, flows, nics, nic_flows, watch, series, checkpoint_ns, checkpoint_bytes)
        if end >= run.next_watchdog_ns:
            watch_pauses(end, run, links, switches, slots, flows, lists, pool, following)
        if run.check:
            verify(run, lists, links, flows)
        run.window += 1
        if run.flows_open == 0 or end >= run.stop_ns:
            run.status = max(run.status, FINISHED)
        elif run.window >= run.windows_limit:
            run.status = max(run.status, STEP_BOUND)
        elif run.window >= run.stall_window and stalled(end, run, links, flows, nics, nic_flows):
            run.status = max(run.status, STALLED)


@njit(error_model="numpy", _nrt=False)
def take_samples(
    until_ns: float,
    watch: Any,
    samples: Any,
    run: Any,
    links: Any,
    switches: Any,
    slots: Any,
    flows: Any,
    nics: Any,
    nic_flows: Any,
    ack_links: Any,
    dependents: Any,
    due: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Note the watched queues at every sampling instant before `until_ns`."""
    while run.next_sample_ns < until_ns:
        for w in range(len(watch)):
            port = watch[U(w)]
            serve(
                port, run.next_sample_ns, run, links, switches, slots, flows, nics, nic_flows,
                ack_links, dependents, due, lists, pool, following,
            )  # fmt: skip
            samples[w, run.samples] = links[U(port)].queue_bytes
        run.samples += 1
        run.next_sample_ns += run.sample_ns


@njit(forceinline=True, error_model="numpy", _nrt=False)
def to_front(turn: Any, sender: int) -> None:
    """Let a sender that resumes go before the others at equal times: its resume was under way before their
    next packet was due, and an event queue serves the older event first. It decides who meets the threshold."""
    k = 0
    while turn[U(k)] != sender:
        k += 1
    while k > 0:
        turn[U(k)] = turn[U(k - 1)]
        k -= 1
    turn[U(0)] = sender


@njit(forceinline=True, error_model="numpy", _nrt=False)
def in_time_order(
    order: Any, count: int, index: int, run: Any, lists: Any, pool: Any, following: Any
) -> None:
    """Take `count` entries of a bucket in the order of their times; equal times stay in the order of sending."""
    latest = np.int64(-1)
    for place in range(count):
        entry = pop(lists, index, run, pool, following)
        time = entry & TIME_MASK
        if time >= latest:
            latest = time
            order[U(place)] = entry
        else:
            k = place
            while k > 0 and (order[U(k - 1)] & TIME_MASK) > time:
                order[U(k)] = order[U(k - 1)]
                k -= 1
            order[U(k)] = entry


@njit(forceinline=True, error_model="numpy", _nrt=False)
def note(
    run: Any,
    end_ns: float,
    links: Any,
    flows: Any,
    nics: Any,
    nic_flows: Any,
    watch: Any,
    series: Any,
    checkpoint_ns: Any,
    checkpoint_bytes: Any,
) -> None:
    """Checkpoints of delivered packets and rows of the chart series that fall due by the end of the window."""
    while run.checkpoints < len(checkpoint_ns) and checkpoint_ns[run.checkpoints] <= end_ns:
        for f in range(len(flows)):
            checkpoint_bytes[run.checkpoints, f] = flows[U(f)].delivered
        run.checkpoints += 1
    if run.next_series_ns <= end_ns and run.series_rows < run.series_limit:
        write_series(run, end_ns, links, flows, watch, series)


@njit(error_model="numpy", _nrt=False)
def write_series(run: Any, end_ns: float, links: Any, flows: Any, watch: Any, series: Any) -> None:
    """One chart row: time, paused host links, paused switch links, then by group delivered bytes and mean rate,
    then the watched queues."""
    row = series[run.series_rows]
    run.series_rows += 1
    while run.next_series_ns <= end_ns:
        run.next_series_ns += run.series_ns
    row[0] = end_ns
    groups = (len(row) - 3 - len(watch)) // 2
    for k in range(len(links)):
        if links[U(k)].stop_ns < end_ns:
            if links[U(k)].nic >= 0:
                row[1] += 1.0
            else:
                row[2] += 1.0
    for f in range(len(flows)):
        row[3 + flows[U(f)].group] += flows[U(f)].delivered * run.payload_bytes
    for g in range(groups):
        members = 0
        for f in range(len(flows)):
            flow = flows[U(f)]
            if flow.group == g and flow.left > 0 and flow.waiting == 0:
                row[3 + groups + g] += flow.rate
                members += 1
        if members > 0:
            row[3 + groups + g] /= members
    for w in range(len(watch)):
        row[3 + 2 * groups + w] = links[U(watch[U(w)])].queue_bytes


@njit(error_model="numpy", _nrt=False)
def verify(run: Any, lists: Any, links: Any, flows: Any) -> None:
    """Debug mode: packets sent = delivered + lost + queued + in flight; no queue below zero."""
    inside = 0
    for k in range(run.echo_first):
        inside += lists[U(k)].count
    for k in range(len(links)):
        if links[U(k)].queue_bytes < 0 or links[U(k)].ingress_bytes < 0:
            run.status = UNBALANCED
    balance = run.acks - inside
    for f in range(len(flows)):
        flow = flows[U(f)]
        balance += flow.sent - flow.delivered - flow.lost - flow.refused
    if balance != 0:
        run.status = UNBALANCED
        run.unbalanced_window = run.window
