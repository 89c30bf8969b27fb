"""The compiled main loop: windows of lookahead, each in five passes.

1. pause messages due in the window, 2. echoes, 3. senders, 4. packets arriving, bucket by bucket in time order, each
port served up to the arrival before the packet is queued, 5. every port served to the end of the window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import (
    BUCKET,
    BUCKET_SHIFT,
    CARRIED,
    CHOICE,
    FINISHED,
    GATE_PFC,
    LARGEST_SORT,
    LAST,
    LAW_DCQCN,
    MARKED,
    NEVER,
    RUNNING,
    SAMPLES_FULL,
    STALLED,
    STEP_BOUND,
    TIME_MASK,
    State,
)
from models.solvers.train_loss_kernels import kept, resend, retry
from models.solvers.train_pool_kernels import held, pop, push
from models.solvers.train_rate_kernels import hear_echo
from models.solvers.train_record_kernels import note, verify
from models.solvers.train_sender_kernels import advance_sender, advance_sender_apart
from models.solvers.train_switch_kernels import admit, chosen_child, find_calm, pass_through, sample, serve
from models.solvers.train_watch_kernels import stalled, watch_pauses

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
    powers: Any,
    bucket_count: Any,
    buckets: Any,
    lists: Any,
    pool: Any,
    following: Any,
    active: Any,
    watch: Any,
    samples: Any,
    series: Any,
    checkpoint_ticks: Any,
    checkpoint_packets: Any,
) -> None:
    """Run until every flow has ended, the stop time, or the bound on windows; the reason is `run.status`."""
    s = State(
        run, links, switches, slots, children, flows, nics, nic_flows, due, turn, ack_links, dependents, powers,
        bucket_count, buckets, lists, pool, following, active, watch, samples, series, checkpoint_ticks, checkpoint_packets,
    )  # fmt: skip
    while run.status == RUNNING:
        begin = run.window * run.window_ticks
        end = begin + run.window_ticks
        run.end_ticks = end
        run.next_bucket = (run.window + 1) * run.buckets_per_window
        if end > run.samples_end_ticks:
            run.status = SAMPLES_FULL
            break
        hear_pauses(begin, s)
        hear_echoes(begin, s)
        if end > run.next_retry_ticks:
            retry(begin, end, s)
        for k in range(len(nics)):
            n = turn[U(k)]
            if due[U(n)] < end:
                advance_sender(n, end, s)
        if run.gate == GATE_PFC:
            find_calm(s)
        take_arrivals(s)
        serve_ports(end, s)
        note(end, s)
        if end >= run.next_watchdog_ticks:
            watch_pauses(end, s)
        if run.check:
            verify(s)
        run.window += 1
        if run.flows_open == 0 or end >= run.stop_ticks:
            run.status = max(run.status, FINISHED)
        elif run.window >= run.windows_limit:
            run.status = max(run.status, STEP_BOUND)
        elif run.window >= run.stall_window and stalled(end, s):
            run.status = max(run.status, STALLED)
    for w in range(len(watch)):  # the queues are those of the end of the last window
        sample(links[U(watch[U(w)])], run.window * run.window_ticks, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def hear_pauses(begin: int, s: Any) -> None:
    """Pause and resume messages of the window that starts at `begin` change the gates of their links."""
    run = s.run
    index = run.gate_first + (run.window & run.window_mask)
    while held(index, s):
        entry = pop(index, s)
        link = s.links[U(entry >> 32)]
        time = begin + (entry & TIME_MASK)
        if entry & MARKED:
            link.stop_ticks = min(link.stop_ticks, time)
            link.pauses += 1
            link.pause_ticks -= time
        else:
            # paused and resumed in one window: finish what came before the pause
            if begin < link.stop_ticks < NEVER and link.nic >= 0:
                advance_sender_apart(link.nic, link.stop_ticks, s)
            link.stop_ticks = NEVER
            link.pause_ticks += time
            link.free_ticks = max(link.free_ticks, time)
            if link.nic >= 0:
                s.due[U(link.nic)] = 0
                to_front(s.turn, link.nic)


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
def hear_echoes(begin: int, s: Any) -> None:
    """Echoes, acknowledgements and notices of loss reach the senders in the window that starts at `begin`."""
    run = s.run
    index = run.echo_first + (run.window & run.window_mask)
    room = len(s.bucket_count) << BUCKET_SHIFT
    while held(index, s):
        batch = 0
        while batch < LARGEST_SORT and held(index, s):
            s.buckets[U(room + batch)] = pop(index, s)
            batch += 1
        if len(s.nics) < len(s.flows):  # echoes of one flow come in order, those of a NIC's flows need not
            put_in_order(room, batch, s)
        for spot in range(room, room + batch):
            hear_echo_at(s.buckets[U(spot)], begin, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def hear_echo_at(entry: int, begin: int, s: Any) -> None:
    """One echo, acknowledgement or notice of loss reaches its sender."""
    run = s.run
    flow = s.flows[U(entry >> 32)]
    time = begin + (entry & TIME_MASK)
    lost = entry & LAST
    sending = flow.left > 0
    # An echo alone changes no packet before the flow's next timer. To send up to it all the same would put this sender's
    # packets before those of others at equal times, and that order decides who meets the pause threshold.
    now = lost or run.echo_all or min(flow.cut_ticks, flow.increase_ticks) < time
    if sending and now and s.due[U(flow.nic)] < time:
        advance_sender(flow.nic, time, s)
    if lost:
        resend(entry >> 32, entry, time, s)
        return
    flow.acked += 1  # after what was sent before: the window opens from here on
    if not sending:
        return
    if entry & MARKED and run.law == LAW_DCQCN:
        hear_echo(flow, time, s)
        s.due[U(flow.nic)] = min(s.due[U(flow.nic)], flow.cut_ticks)
    if run.echo_all:  # the window may have opened
        flow.next_ticks = max(flow.next_ticks, time)
        s.due[U(flow.nic)] = 0


@njit(forceinline=True, error_model="numpy", _nrt=False)
def take_arrivals(s: Any) -> None:
    """Packets that reach a switch in this window: straight on through an idle port, or into its queue."""
    run = s.run
    bucket = run.window * run.buckets_per_window
    for k in range(run.buckets_per_window):
        moment = (bucket + k) << run.bucket_shift
        place = (bucket + k) & run.bucket_mask
        waiting = s.bucket_count[U(place)]
        if waiting == 0:
            continue
        s.bucket_count[U(place)] = 0
        first = place << BUCKET_SHIFT
        batch = waiting
        if waiting > BUCKET:
            first, batch = gathered(first, waiting, s)
        while True:
            put_in_order(first, batch, s)
            for spot in range(first, first + batch):
                entry = s.buckets[U(spot)]
                time = moment + (entry & TIME_MASK)
                number = entry >> 32
                if entry & CHOICE:
                    number = np.int64(chosen_child(s.slots[U(number)], s))
                slot = s.slots[U(number)]
                port = slot.link
                link = s.links[U(port)]
                size = np.int64(slot.bytes)
                if entry & LAST:
                    size = np.int64(s.flows[U(slot.flow)].last_bytes)
                if link.queue_bytes > 0:
                    if link.free_ticks < time:
                        serve(port, time, s)
                if run.may_lose:
                    entry = kept(number, entry, size, time, s)
                    if entry < 0:
                        continue
                elif pass_through(entry, slot, link, size, time, s):
                    continue
                if link.queue_bytes == 0 and link.free_ticks < time:
                    link.free_ticks = time
                if link.next_sample_ticks < time:
                    sample(link, time, s)
                push(port, (np.int64(number) << 32) | (entry & CARRIED), s)
                queue = link.queue_bytes + size
                link.queue_bytes = queue
                link.peak_bytes = max(link.peak_bytes, queue)
                if link.active == 0:
                    link.active = 1
                    s.active[U(run.ports_active)] = port
                    run.ports_active += 1
                if run.gate == GATE_PFC:
                    admit(slot.ingress, size, time, s)
            waiting -= batch
            if waiting == 0:
                break
            batch = min(waiting, LARGEST_SORT)
            for spot in range(first, first + batch):
                s.buckets[U(spot)] = pop(run.bucket_first + place, s)


@njit(error_model="numpy", _nrt=False)
def gathered(first: int, waiting: int, s: Any) -> tuple[int, int]:
    """Where the packets of an overfull bucket lie side by side, and how many of them."""
    run = s.run
    place = first >> BUCKET_SHIFT
    room = len(s.bucket_count) << BUCKET_SHIFT
    batch = min(waiting, LARGEST_SORT)
    for k in range(BUCKET):
        s.buckets[U(room + k)] = s.buckets[U(first + k)]
    for k in range(BUCKET, batch):
        s.buckets[U(room + k)] = pop(run.bucket_first + place, s)
    return room, batch


@njit(forceinline=True, error_model="numpy", _nrt=False)
def put_in_order(first: int, count: int, s: Any) -> None:
    """Put packets that lie side by side in the order of their times; equal times stay in the order of sending."""
    packets = s.buckets
    latest = packets[U(first)] & TIME_MASK
    for spot in range(first + 1, first + count):
        entry = packets[U(spot)]
        time = entry & TIME_MASK
        if time >= latest:
            latest = time
        else:
            k = spot
            while k > first and (packets[U(k - 1)] & TIME_MASK) > time:
                packets[U(k)] = packets[U(k - 1)]
                k -= 1
            packets[U(k)] = entry


@njit(forceinline=True, error_model="numpy", _nrt=False)
def serve_ports(end: int, s: Any) -> None:
    """Serve every port that has packets to the end of the window."""
    run = s.run
    k = 0
    while k < run.ports_active:
        port = s.active[U(k)]
        serve(port, end, s)
        if s.links[U(port)].queue_bytes == 0:
            s.links[U(port)].active = 0
            run.ports_active -= 1
            s.active[U(k)] = s.active[U(run.ports_active)]
        else:
            k += 1
