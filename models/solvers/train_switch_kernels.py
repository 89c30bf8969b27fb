"""Switches: arrival, shared-buffer accounting with pause, egress service with marking, delivery (compiled).

Accounting and thresholds follow the public HPCC ns-3 code (`switch-mmu.cc`, `switch-node.cc`), packet by packet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import CARRIED, GATE_DROP, GATE_PFC, LAST, MARKED
from models.solvers.train_loss_kernels import refused
from models.solvers.train_pool_kernels import pop, uniform
from models.solvers.train_sender_kernels import fly, post, wire_ticks

U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def admit(ingress: int, size: int, now_ticks: int, s: Any) -> None:
    """Charge an arriving packet to its ingress link; ask for a pause where the threshold is reached."""
    run = s.run
    link = s.links[U(ingress)]
    switch = s.switches[U(link.to_switch)]
    reserve = run.reserve_bytes
    held = link.ingress_bytes + size
    if switch.calm == 1:
        link.ingress_bytes = held
        switch.shared_bytes += min(size, max(0, held - reserve))
        return
    free = switch.budget_bytes - switch.shared_bytes
    # the threshold is a whole number, floor(x): a > floor(x) is a > x, a >= floor(x) is a + 1 > x
    threshold = free * run.gate_alpha
    if held <= reserve:
        link.ingress_bytes = held
    elif held - reserve > threshold:
        link.headroom_bytes += size
    else:
        taken = min(size, held - reserve)
        link.ingress_bytes = held
        switch.shared_bytes += taken
        threshold -= taken * run.gate_alpha
    if link.xoff_sent == 0 and (
        link.headroom_bytes > 0 or max(0, link.ingress_bytes - reserve) + 1 > threshold
    ):
        link.xoff_sent = 1
        switch.asked += 1
        tell(link, (np.int64(ingress) << 32) | MARKED, now_ticks, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def tell(link: Any, entry: int, now_ticks: int, s: Any) -> None:
    """Send a pause or resume message to the near end of the link, where it is heard after those sent before it.

    Ports of a switch are served one after the other within a window, so a port may release at an earlier time what another
    has already asked a pause for; a resume that went ahead of its pause would leave the link paused for ever.
    """
    heard = max(now_ticks + link.pause_delay_ticks, link.told_ticks)
    link.told_ticks = heard
    post(s.run.gate_first, entry, heard, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def release(ingress: int, size: int, now_ticks: int, s: Any) -> None:
    """Give back what a departing packet was charged: headroom first; let the ingress link resume."""
    run = s.run
    link = s.links[U(ingress)]
    reserve = run.reserve_bytes
    held = link.ingress_bytes
    switch = s.switches[U(link.to_switch)]
    if switch.calm == 1:
        link.ingress_bytes = held - size
        switch.shared_bytes -= min(size, max(0, held - reserve))
        return
    from_headroom = min(link.headroom_bytes, size)
    rest = size - from_headroom
    from_shared = min(rest, max(0, held - reserve))
    link.headroom_bytes -= from_headroom
    link.ingress_bytes = held - rest
    switch.shared_bytes -= from_shared
    if link.xoff_sent == 1 and link.headroom_bytes == 0:
        used = max(0, link.ingress_bytes - reserve)
        threshold = (switch.budget_bytes - switch.shared_bytes) * run.gate_alpha
        if used == 0 or used + run.xon_offset_bytes <= threshold:
            link.xoff_sent = 0
            switch.asked -= 1
            tell(link, np.int64(ingress) << 32, now_ticks, s)


@njit(error_model="numpy", _nrt=False)
def find_calm(s: Any) -> None:
    """Note which switches cannot ask for a pause in this window whatever arrives: no link has asked, and all that is
    held stays below the threshold of a single one."""
    run = s.run
    for k in range(len(s.switches)):
        switch = s.switches[U(k)]
        most = switch.shared_bytes + switch.links_in * run.window_bytes_in
        calm = most + 1 < (switch.budget_bytes - most) * run.gate_alpha
        switch.calm = 1 if calm and switch.asked == 0 else 0


@njit(error_model="numpy", _nrt=False)
def finish(number: int, end_ticks: int, s: Any) -> None:
    """Note a flow's completion and start the flows that wait for it alone."""
    flow = s.flows[U(number)]
    flow.end_ticks = max(end_ticks, flow.last_sent_ticks + flow.shortest_ticks + flow.reverse_ticks)
    s.run.flows_open -= 1
    for k in range(flow.dependent_first, flow.dependent_first + flow.dependent_count):
        waiter = s.flows[U(s.dependents[U(k)])]
        waiter.waiting -= 1
        waiter.next_ticks = max(waiter.next_ticks, flow.end_ticks)
        if waiter.waiting == 0:
            waiter.next_ticks += waiter.start_ticks
            waiter.start_ticks = waiter.next_ticks
            nic = s.nics[U(waiter.nic)]
            s.nic_flows[U(nic.first + nic.active)] = s.dependents[U(k)]
            nic.active += 1
            s.due[U(waiter.nic)] = min(s.due[U(waiter.nic)], waiter.next_ticks)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def acknowledge(number: int, marked: int, dequeue_ticks: int, arrival_ticks: int, s: Any) -> None:
    """Load the reverse links with one acknowledgement, and send the echo it carries."""
    run = s.run
    flow = s.flows[U(number)]
    echo = marked
    if echo and run.cnp_interval_ticks > 0:
        if arrival_ticks >= flow.cnp_next_ticks:
            flow.cnp_next_ticks = arrival_ticks + run.cnp_interval_ticks
        else:
            echo = 0
    if run.acks_in_data_queue and flow.ack_root >= 0:
        link = s.links[U(s.ack_links[U(flow.ack_first)])]
        start = max(arrival_ticks, link.free_ticks)
        link.free_ticks = max(link.free_ticks, dequeue_ticks) + link.ack_ticks
        entry = s.slots[U(flow.ack_root)].next_entry
        if echo:
            entry |= MARKED
        run.acks += 1
        fly(entry, start + link.ack_ticks + link.propagation_ticks, s)
        return
    for k in range(flow.ack_first, flow.ack_first + flow.ack_count):
        reverse = s.links[U(s.ack_links[U(k)])]
        if reverse.queue_bytes > 0 or reverse.free_ticks > dequeue_ticks:
            reverse.free_ticks += reverse.ack_ticks
    if echo or run.echo_all:
        entry = np.int64(number) << 32
        if echo:
            entry |= MARKED
        post(run.echo_first, entry, arrival_ticks + flow.reverse_ticks, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def depart(entry: int, slot: Any, link: Any, now_ticks: int, left_bytes: int, s: Any) -> None:
    """Start the packet on its port's link at `now_ticks`, `left_bytes` staying in the queue; send it on, or deliver."""
    run = s.run
    size = np.int64(slot.bytes)
    packet = slot.packet_ticks
    arrival = now_ticks + slot.hop_ticks
    if entry & LAST:
        size = np.int64(s.flows[U(slot.flow)].last_bytes)
        packet = wire_ticks(size, link, run)
        arrival = now_ticks + packet + link.propagation_ticks
    link.sent_bytes += size
    link.free_ticks = now_ticks + packet
    marked = entry & MARKED
    if left_bytes > link.kmin_bytes and slot.ack == 0 and marked == 0:
        if left_bytes > link.kmax_bytes:
            marked = MARKED
        elif uniform(run) * (link.kmax_bytes - link.kmin_bytes) < link.pmax * (left_bytes - link.kmin_bytes):
            marked = MARKED
    if slot.next_entry >= 0:
        fly(slot.next_entry | marked | (entry & (CARRIED ^ MARKED)), arrival, s)
    elif slot.ack == 1:
        run.acks -= 1
        post(run.echo_first, (np.int64(slot.flow) << 32) | marked, arrival, s)
    else:
        flow = s.flows[U(slot.flow)]
        if run.go_back and refused(slot.flow, entry, arrival, flow, s):
            return
        flow.delivered += 1
        if marked:
            flow.marks += 1
        if flow.delivered == flow.packets:
            finish(slot.flow, arrival + flow.reverse_ticks, s)
        if marked or run.echo_all or flow.ack_count > 0:
            acknowledge(slot.flow, marked, now_ticks, arrival, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def sample(link: Any, until_ticks: int, s: Any) -> None:
    """Note a watched queue, constant since the last event, at every sampling instant before `until_ticks`."""
    while link.next_sample_ticks < until_ticks:
        s.samples[U(link.watch), U(link.samples)] = link.queue_bytes
        link.samples += 1
        link.next_sample_ticks += s.run.sample_ticks


@njit(forceinline=True, error_model="numpy", _nrt=False)
def serve(port: int, until_ticks: int, s: Any) -> None:
    """Start every packet of the port's queue that can start before `until_ticks`."""
    run = s.run
    link = s.links[U(port)]
    limit = min(until_ticks, link.stop_ticks)
    while link.queue_bytes > 0 and link.free_ticks < limit:
        now = link.free_ticks
        if link.next_sample_ticks <= now:
            sample(link, now + 1, s)
        entry = pop(port, s)
        slot = s.slots[U(entry >> 32)]
        size = np.int64(slot.bytes)
        if entry & LAST:
            size = np.int64(s.flows[U(slot.flow)].last_bytes)
        left = link.queue_bytes - size
        link.queue_bytes = left
        if run.gate == GATE_PFC:
            release(slot.ingress, size, now, s)
        elif run.gate == GATE_DROP:
            s.switches[U(link.from_switch)].used_bytes -= size
        depart(entry, slot, link, now, left, s)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def pass_through(entry: int, slot: Any, link: Any, size: int, now_ticks: int, s: Any) -> bool:
    """Send a packet that meets an idle open port, or has little to wait, straight on; false where it must queue.

    Only where queueing would come to the same: it starts in this window, in which all pauses are known; what arrives
    while it waits cannot reach the marking threshold; and no pause can be asked for.
    """
    run = s.run
    wait = max(link.free_ticks - now_ticks, 0)
    start = now_ticks + wait
    if link.queue_bytes > 0 or wait > link.patience_ticks or start >= min(run.end_ticks, link.stop_ticks):
        return False
    if run.gate == GATE_PFC:
        ingress = s.links[U(slot.ingress)]
        switch = s.switches[U(ingress.to_switch)]
        if switch.calm == 0:
            held = ingress.ingress_bytes + size
            if wait > 0 or ingress.xoff_sent == 1 or ingress.headroom_bytes > 0:
                return False
            free = switch.budget_bytes - switch.shared_bytes
            if max(0, held - run.reserve_bytes) + 1 > free * run.gate_alpha:
                return False
    link.peak_bytes = max(link.peak_bytes, size)
    link.longest_wait_ticks = max(link.longest_wait_ticks, wait)
    depart(entry, slot, link, start, 0, s)
    return True


@njit(forceinline=True, error_model="numpy", _nrt=False)
def chosen_child(slot: Any, s: Any) -> int:
    """One of several next route steps: a random one, or the least queued (random among equals)."""
    offset = int(uniform(s.run) * slot.children)
    choice = s.children[U(slot.first_child + offset)]
    if s.run.adaptive:
        least = s.links[U(s.slots[U(choice)].link)].queue_bytes
        for k in range(1, slot.children):
            place = offset + k
            if place >= slot.children:
                place -= slot.children
            other = s.children[U(slot.first_child + place)]
            queue = s.links[U(s.slots[U(other)].link)].queue_bytes
            if queue < least:
                least = queue
                choice = other
    return choice  # type: ignore[no-any-return]
