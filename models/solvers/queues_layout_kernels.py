"""From the plain arrays of a network and its flows to the records of the compiled loop (compiled).

Compiled because a short incast takes 50 us to solve: laid out with array operations, it would wait six times as
long for its own set-up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_state import CHOICE, GATE_PFC, NEVER, TICKS_PER_NS
from models.solvers.train_sender_kernels import wire_ticks

NO_FAULT, SHORT_ROUTE, UNKNOWN_LINK, BROKEN_ROUTE, NOT_AT_HOSTS = range(5)
TICKS_PER_S = 1e9 * TICKS_PER_NS
ENDLESS_PACKETS = 1 << 60
LONGEST_WAIT = 1 << 20  # packets


@njit(cache=True, error_model="numpy", _nrt=False)
def route_fault(flat: Any, lengths: Any, from_node: Any, to_node: Any, tier: Any) -> tuple[int, int]:
    """First fault of routes given as link ids one after the other: its kind, and the route or position it is at."""
    place = 0
    for route in range(len(lengths)):
        if lengths[route] < 2:
            return SHORT_ROUTE, route
        for k in range(place, place + lengths[route]):
            if flat[k] < 0 or flat[k] >= len(from_node):
                return UNKNOWN_LINK, k
            if k > place and to_node[flat[k - 1]] != from_node[flat[k]]:
                return BROKEN_ROUTE, k - 1
        last = place + lengths[route] - 1
        if tier[from_node[flat[place]]] != 0 or tier[to_node[flat[last]]] != 0:
            return NOT_AT_HOSTS, route
        place = last + 1
    return NO_FAULT, 0


@njit(error_model="numpy", _nrt=False)
def nearest(value: float) -> int:
    """Nearest whole number; NEVER where it is beyond all others."""
    return NEVER if value >= NEVER else int(np.floor(value + 0.5))


@njit(error_model="numpy", _nrt=False)
def at_most(value: float) -> int:
    """Largest whole number not above the value; NEVER where it is beyond all others."""
    return NEVER if value >= NEVER else int(np.floor(value))


@njit(cache=True, error_model="numpy", _nrt=False)
def lay_links(
    run: Any,
    links: Any,
    switches: Any,
    number: Any,
    from_node: Any,
    to_node: Any,
    rate_bytes_per_s: Any,
    propagation_s: Any,
    tier: Any,
    buffer_bytes: Any,
    kmin_bytes: Any,
    kmax_bytes: Any,
    pmax: Any,
    headroom_bytes: float,
    headroom_multiple: float,
    pause_frame_bytes: float,
) -> int:
    """Fill the records of links and switches; returns the node whose buffer its headrooms exceed, or -1.

    `number` is room for one number a node.
    """
    count = 0
    for node in range(len(tier)):
        number[node] = -1
        if tier[node] > 0:
            number[node] = count
            switches[count].budget_bytes = at_most(buffer_bytes[node])
            count += 1
    for k in range(len(links)):
        link = links[k]
        link.ticks_per_byte = TICKS_PER_S / rate_bytes_per_s[k]
        link.line = 1.0 / link.ticks_per_byte
        link.propagation_ticks = nearest(propagation_s[k] * TICKS_PER_S)
        link.packet_ticks = wire_ticks(run.packet_bytes, link, run)
        link.ack_ticks = wire_ticks(run.ack_bytes, link, run)
        link.pause_delay_ticks = link.propagation_ticks + wire_ticks(pause_frame_bytes, link, run)
        link.stop_ticks = NEVER
        link.kmin_bytes = at_most(kmin_bytes[k % len(kmin_bytes)])
        link.kmax_bytes = at_most(kmax_bytes[k % len(kmax_bytes)])
        link.pmax = pmax[k % len(pmax)]
        link.nic = -1
        link.next_sample_ticks = NEVER
        link.from_switch = number[from_node[k]]
        link.to_switch = number[to_node[k]]
        if run.gate == GATE_PFC and link.to_switch >= 0:
            headroom = headroom_bytes
            if headroom < 0.0:
                headroom = np.floor(headroom_multiple * rate_bytes_per_s[k] * propagation_s[k])
            switches[link.to_switch].budget_bytes -= nearest(headroom) + run.reserve_bytes
        if link.to_switch >= 0:
            switches[link.to_switch].links_in += 1
    for k in range(len(links)):
        link = links[k]
        if link.from_switch >= 0 and run.adaptive == 0:
            # at most one packet more than the wait has packet times arrives by each link into the switch
            round_bytes = switches[link.from_switch].links_in * run.packet_bytes
            rounds = min(link.kmin_bytes // round_bytes - 1, LONGEST_WAIT)
            link.patience_ticks = max(rounds, 0) * link.packet_ticks
    if run.gate == GATE_PFC:
        for node in range(len(tier)):
            if number[node] >= 0 and switches[number[node]].budget_bytes <= 0:
                return node
    return -1


@njit(cache=True, error_model="numpy", _nrt=False)
def lay_flows(
    run: Any,
    links: Any,
    slots: Any,
    flows: Any,
    nics: Any,
    nic_flows: Any,
    due: Any,
    step_link: Any,
    step_ingress: Any,
    step_flow: Any,
    step_children: Any,
    step_first_child: Any,
    child: Any,
    root: Any,
    route: Any,
    route_length: Any,
    ack_route: Any,
    ack_length: Any,
    size_bytes: Any,
    start_s: Any,
    group: Any,
    waiting: Any,
    header_bytes: int,
) -> int:
    """Fill the records of route steps, flows and senders; returns the number of senders, in order of their links.

    `route` are the link ids of every flow's (first) route one after the other, `ack_route` those its acknowledgements
    return by.
    """
    for k in range(len(step_link)):
        slot = slots[k]
        slot.link = step_link[k]
        slot.ingress = step_ingress[k]
        slot.flow = step_flow[k]
        slot.children = step_children[k]
        slot.first_child = step_first_child[k]
        slot.bytes = run.packet_bytes
        slot.packet_ticks = links[step_link[k]].packet_ticks
        slot.hop_ticks = slot.packet_ticks + links[step_link[k]].propagation_ticks
        slot.next_entry = -1
        if step_children[k] == 1:
            slot.next_entry = child[step_first_child[k]] << 32
        elif step_children[k] > 1:
            slot.next_entry = (np.int64(k) << 32) | CHOICE
    place = 0
    ack_place = 0
    for f in range(len(flows)):
        flow = flows[f]
        first = links[step_link[root[f]]]
        flow.packets = ENDLESS_PACKETS
        flow.last_bytes = run.packet_bytes
        if np.isfinite(size_bytes[f]):
            payload = int(np.ceil(size_bytes[f]))
            flow.packets = (payload + run.payload_bytes - 1) // run.payload_bytes
            flow.last_bytes = payload - (flow.packets - 1) * run.payload_bytes + header_bytes
        flow.left = flow.packets
        flow.root = root[f]
        flow.rate = first.line
        flow.target = first.line
        flow.gap_ticks = first.packet_ticks
        flow.alpha = 1.0
        flow.cut_ticks = flow.increase_ticks = flow.first_echo_ticks = NEVER
        flow.end_ticks = flow.retry_ticks = NEVER
        flow.start_ticks = nearest(start_s[f] * TICKS_PER_S)
        flow.next_ticks = flow.start_ticks
        flow.ack_root = flow.gap_slot = -1
        flow.group = group[f % len(group)]
        if len(waiting) > 0 and waiting[f] > 0:
            flow.waiting = waiting[f]
            flow.next_ticks = 0
        shortest = 0
        for k in range(place, place + route_length[f]):
            link = links[route[k]]
            shortest += link.propagation_ticks + wire_ticks(flow.last_bytes, link, run)
        flow.shortest_ticks = shortest
        place += route_length[f]
        for k in range(ack_place, ack_place + ack_length[f]):
            flow.reverse_ticks += links[ack_route[k]].propagation_ticks + links[ack_route[k]].ack_ticks
        ack_place += ack_length[f]
        links[step_link[root[f]]].nic += 1
    # a NIC's number is its place in the order of links, its flows keep their order
    senders = 0
    first_flow = 0
    for k in range(len(links)):
        held = links[k].nic + 1
        if held > 0:
            nics[senders].link = k
            nics[senders].first = first_flow
            nics[senders].turn = -1
            links[k].nic = senders
            due[senders] = NEVER
            first_flow += held
            senders += 1
    for f in range(len(flows)):
        flow = flows[f]
        flow.nic = links[step_link[root[f]]].nic
        if flow.waiting == 0:
            nic = nics[flow.nic]
            nic_flows[nic.first + nic.active] = f
            nic.active += 1
            due[flow.nic] = min(due[flow.nic], flow.next_ticks)
    return senders


@njit(cache=True, error_model="numpy", _nrt=False)
def lay_single_routes(flat: Any, lengths: Any, rows: Any) -> None:
    """Steps of flows with one route each into the rows of `rows`: ingress, flow, children, first child, child, root."""
    place = 0
    for f in range(len(lengths)):
        rows[5, f] = place
        for k in range(place, place + lengths[f]):
            rows[0, k] = flat[k - 1] if k > place else -1
            rows[1, k] = f
            rows[2, k] = 1
            rows[3, k] = k
            rows[4, k] = k + 1
        place += lengths[f]
        rows[2, place - 1] = 0
