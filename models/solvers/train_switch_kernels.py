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
from models.solvers.train_sender_kernels import fly, post, step_entry

INF = np.inf
U = np.uint64  # unsigned indices need no test for negative ones


@njit(forceinline=True, error_model="numpy", _nrt=False)
def admit(
    ingress: int,
    size: int,
    now_ns: float,
    run: Any,
    links: Any,
    switches: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Charge an arriving packet to its ingress link; ask for a pause where the threshold is reached."""
    link = links[U(ingress)]
    switch = switches[U(link.to_switch)]
    reserve = run.reserve
    held = link.ingress_bytes + size
    # the threshold is a whole number, floor(x): a > floor(x) is a > x, a >= floor(x) is a + 1 > x
    threshold = (switch.budget_bytes - switch.shared_bytes) * run.gate_alpha
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
        entry = (np.int64(ingress) << 32) | MARKED
        post(run.gate_first, entry, now_ns + link.pause_delay_ns, run, lists, pool, following)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def release(
    ingress: int,
    size: int,
    now_ns: float,
    run: Any,
    links: Any,
    switches: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Give back what a departing packet was charged: headroom first; let the ingress link resume."""
    link = links[U(ingress)]
    switch = switches[U(link.to_switch)]
    reserve = run.reserve
    from_headroom = min(link.headroom_bytes, size)
    rest = size - from_headroom
    from_shared = min(rest, max(0, link.ingress_bytes - reserve))
    link.headroom_bytes -= from_headroom
    link.ingress_bytes -= rest
    switch.shared_bytes -= from_shared
    if link.xoff_sent == 1 and link.headroom_bytes == 0:
        used = max(0, link.ingress_bytes - reserve)
        threshold = (switch.budget_bytes - switch.shared_bytes) * run.gate_alpha
        if used == 0 or used + run.xon_offset <= threshold:
            link.xoff_sent = 0
            entry = np.int64(ingress) << 32
            post(run.gate_first, entry, now_ns + link.pause_delay_ns, run, lists, pool, following)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def finish(
    number: int, end_ns: float, run: Any, flows: Any, nics: Any, nic_flows: Any, dependents: Any, due: Any
) -> None:
    """Note a flow's completion and start the flows that wait for it alone."""
    flow = flows[U(number)]
    flow.end_ns = max(end_ns, flow.last_sent_ns + flow.shortest_ns + flow.reverse_ns)
    run.flows_open -= 1
    for k in range(flow.dependent_first, flow.dependent_first + flow.dependent_count):
        waiter = flows[U(dependents[U(k)])]
        waiter.waiting -= 1
        waiter.next_ns = max(waiter.next_ns, flow.end_ns)
        if waiter.waiting == 0:
            waiter.next_ns += waiter.start_ns
            waiter.start_ns = waiter.next_ns
            nic = nics[U(waiter.nic)]
            nic_flows[U(nic.first + nic.active)] = dependents[U(k)]
            nic.active += 1
            due[U(waiter.nic)] = min(due[U(waiter.nic)], waiter.next_ns)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def acknowledge(
    number: int,
    marked: int,
    dequeue_ns: float,
    arrival_ns: float,
    run: Any,
    links: Any,
    slots: Any,
    flows: Any,
    ack_links: Any,
    lists: Any,
    pool: Any,
    following: Any,
) -> None:
    """Load the reverse links with one acknowledgement, and send the echo it carries."""
    flow = flows[U(number)]
    echo = marked
    if echo and run.cnp_interval_ns > 0.0:
        if arrival_ns >= flow.cnp_next_ns:
            flow.cnp_next_ns = arrival_ns + run.cnp_interval_ns
        else:
            echo = 0
    if run.acks_in_data_queue and flow.ack_root >= 0:
        link = links[U(ack_links[U(flow.ack_first)])]
        start = max(arrival_ns, link.free_ns)
        link.free_ns = max(link.free_ns, dequeue_ns) + link.ack_ns
        entry = step_entry(np.int64(flow.ack_root), slots[U(flow.ack_root)])
        if echo:
            entry |= MARKED
        run.acks += 1
        fly(entry, start + link.ack_ns + link.propagation_ns, run, lists, pool, following)
        return
    for k in range(flow.ack_first, flow.ack_first + flow.ack_count):
        reverse = links[U(ack_links[U(k)])]
        if reverse.queue_bytes > 0 or reverse.free_ns > dequeue_ns:
            reverse.free_ns += reverse.ack_ns
    if echo or run.echo_all:
        entry = np.int64(number) << 32
        if echo:
            entry |= MARKED
        post(run.echo_first, entry, arrival_ns + flow.reverse_ns, run, lists, pool, following)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def serve(
    port: int,
    until_ns: float,
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
    """Start every packet of the port's queue that can start before `until_ns`."""
    link = links[U(port)]
    limit = min(until_ns, link.stop_ns)
    while link.queue_bytes > 0 and link.free_ns < limit:
        now = link.free_ns
        entry = pop(lists, port, run, pool, following)
        number = entry >> 32
        slot = slots[U(number)]
        size = np.int64(slot.bytes)
        packet_ns = slot.packet_ns
        if entry & LAST:
            size = flows[U(slot.flow)].last_bytes
            packet_ns = size * link.ns_per_byte
            if run.whole_ns:
                packet_ns = np.floor(packet_ns + 0.5)
        queue = link.queue_bytes - size
        link.queue_bytes = queue
        link.sent_bytes += size
        link.free_ns = now + packet_ns
        arrival = now + packet_ns + link.propagation_ns
        marked = entry & MARKED
        if queue > link.kmin and slot.ack == 0 and marked == 0:
            if queue > link.kmax:
                marked = MARKED
            elif uniform(run) * (link.kmax - link.kmin) < link.pmax * (queue - link.kmin):
                marked = MARKED
        if run.gate == GATE_PFC:
            release(slot.ingress, size, now, run, links, switches, lists, pool, following)
        elif run.gate == GATE_DROP:
            switches[U(link.from_switch)].used_bytes -= size
        if slot.next != -1:
            fly(
                step_entry(number, slot) | marked | (entry & (CARRIED ^ MARKED)),
                arrival,
                run,
                lists,
                pool,
                following,
            )
        elif slot.ack == 1:
            run.acks -= 1
            entry = (np.int64(slot.flow) << 32) | marked
            post(run.echo_first, entry, arrival, run, lists, pool, following)
        else:
            flow = flows[U(slot.flow)]
            if run.go_back and refused(slot.flow, entry, arrival, run, flow, lists, pool, following):
                continue
            flow.delivered += 1
            if marked:
                flow.marks += 1
            if flow.delivered == flow.packets:
                finish(slot.flow, arrival + flow.reverse_ns, run, flows, nics, nic_flows, dependents, due)
            if marked or run.echo_all or flow.ack_count > 0:
                acknowledge(
                    slot.flow,
                    marked,
                    now,
                    arrival,
                    run,
                    links,
                    slots,
                    flows,
                    ack_links,
                    lists,
                    pool,
                    following,
                )


@njit(forceinline=True, error_model="numpy", _nrt=False)
def chosen_child(slot: Any, run: Any, slots: Any, links: Any, children: Any) -> int:
    """One of several next route steps: a random one, or the least queued (random among equals)."""
    offset = int(uniform(run) * slot.children)
    choice = children[U(slot.first_child + offset)]
    if run.adaptive:
        least = links[U(slots[U(choice)].link)].queue_bytes
        for k in range(1, slot.children):
            place = offset + k
            if place >= slot.children:
                place -= slot.children
            other = children[U(slot.first_child + place)]
            queue = links[U(slots[U(other)].link)].queue_bytes
            if queue < least:
                least = queue
                choice = other
    return choice  # type: ignore[no-any-return]
