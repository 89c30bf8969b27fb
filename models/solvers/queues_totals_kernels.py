"""Totals over the records of links and flows, before a run and after it (compiled)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from models.solvers.queues_layout_kernels import TICKS_PER_S
from models.solvers.queues_state import NEVER, Extent


@njit(cache=True, error_model="numpy", _nrt=False)
def extent(links: Any, flows: Any, step_link: Any, route: Any, route_length: Any) -> Extent:
    """Extent of a run from its laid records."""
    packet, pause, hop = NEVER, NEVER, 0
    for k in range(len(step_link)):
        link = links[step_link[k]]
        packet = min(packet, link.packet_ticks)
        pause = min(pause, link.pause_delay_ticks)
        hop = max(hop, link.propagation_ticks + link.packet_ticks)
    loop = 0
    to_send = 0.0
    longest_reverse = 0
    receivers = 0
    place = 0
    for f in range(len(flows)):
        longest_reverse = max(longest_reverse, flows[f].reverse_ticks)
        loop = max(loop, flows[f].shortest_ticks)
        to_send += flows[f].packets
        place += route_length[f]
        last = links[route[place - 1]]
        if last.active == 0:  # lent for the count
            last.active = 1
            receivers += 1
    wires = 0.0
    for k in range(len(links)):
        links[k].active = 0
        wires += links[k].propagation_ticks / links[k].packet_ticks + 4.0
    crowd = min(receivers, len(flows)) * (len(route) / len(flows) - 1.0)
    return Extent(packet, pause, hop, loop + longest_reverse, wires, to_send, crowd)


@njit(cache=True, error_model="numpy", _nrt=False)
def sum_up(
    run: Any,
    links: Any,
    flows: Any,
    from_node: Any,
    tier: Any,
    end_ticks: int,
    start_s: Any,
    fct_s: Any,
    delivered_bytes: Any,
    pause_s: Any,
    peak_bytes: Any,
    pauses_by_tier: Any,
    pause_s_by_tier: Any,
) -> None:
    """Results in seconds and bytes: of flows `start_s`, `fct_s`, `delivered_bytes`; of links `pause_s`, `peak_bytes`."""
    for f in range(len(flows)):
        flow = flows[f]
        start_s[f] = np.nan if flow.waiting > 0 else flow.start_ticks / TICKS_PER_S
        fct_s[f] = np.nan if flow.end_ticks == NEVER else (flow.end_ticks - flow.start_ticks) / TICKS_PER_S
        delivered_bytes[f] = flow.delivered * run.payload_bytes
        if flow.delivered == flow.packets:
            delivered_bytes[f] -= run.packet_bytes - flow.last_bytes
    for k in range(len(links)):
        link = links[k]
        paused = link.pause_ticks
        if link.stop_ticks < NEVER:
            paused += end_ticks
        peak_bytes[k] = link.peak_bytes
        if link.longest_wait_ticks > 0:
            waited = link.longest_wait_ticks // link.packet_ticks + 1
            peak_bytes[k] = max(link.peak_bytes, waited * run.packet_bytes)
        pause_s[k] = paused / TICKS_PER_S
        kind = tier[from_node[k]]
        pauses_by_tier[kind] += link.pauses
        pause_s_by_tier[kind] += pause_s[k]
