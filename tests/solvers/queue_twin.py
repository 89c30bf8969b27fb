"""Packet-by-packet twin of the queue solver: one heap, one event a packet and hop, nothing clever."""

from __future__ import annotations

import heapq
from collections import deque

from models.solvers.queues_types import FlowSet, PacketFormat, QueueNetwork


def twin_fct_s(network: QueueNetwork, flows: FlowSet, packet: PacketFormat) -> list[float]:
    """Completion times without congestion control, marking or pauses; one flow a NIC."""
    events: list[tuple[float, int, str, int, int, int]] = []
    order = 0
    queues: dict[int, deque[tuple[int, int, int]]] = {link: deque() for link in range(network.links)}
    busy: set[int] = set()
    left = [int(size) for size in flows.bytes]
    fct = [0.0] * len(left)

    def push(time: float, kind: str, flow: int, hop: int, size: int) -> None:
        nonlocal order
        order += 1
        heapq.heappush(events, (time, order, kind, flow, hop, size))

    def start(time: float, link: int) -> None:
        flow, hop, size = queues[link].popleft()
        busy.add(link)
        push(time + size / network.rate_bytes_per_s[link], "sent", flow, hop, size)

    for flow, begin in enumerate(flows.start_s):
        link = flows.paths[flow][0][0]
        while left[flow] > 0:
            payload = min(left[flow], packet.payload_bytes)
            left[flow] -= payload
            queues[link].append((flow, 0, payload + packet.header_bytes))
        push(float(begin), "begin", flow, 0, 0)
    while events:
        time, _, kind, flow, hop, size = heapq.heappop(events)
        path = flows.paths[flow][0]
        link = path[hop]
        if kind == "begin":
            start(time, link)
        elif kind == "arrive":
            queues[link].append((flow, hop, size))
            if link not in busy:
                start(time, link)
        else:
            busy.discard(link)
            if queues[link]:
                start(time, link)
            ahead = time + network.propagation_s[link]
            if hop + 1 < len(path):
                push(ahead, "arrive", flow, hop + 1, size)
            else:
                back = sum(
                    network.propagation_s[step] + packet.ack_bytes / network.rate_bytes_per_s[step]
                    for step in path
                )
                fct[flow] = ahead + back - float(flows.start_s[flow])
    return fct
