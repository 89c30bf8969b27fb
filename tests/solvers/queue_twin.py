"""Packet-by-packet twin of the queue solver: one heap, one event a packet and hop, nothing clever.

It knows pacing, several flows a NIC, step marking (no random draw), the DCQCN reaction point with every step of the
alpha timer taken, shared buffers with pause, and completion times; in whole ticks, as the solver. Written from the
public description of the state machines, not from the solver.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from models.solvers.queues_types import FlowSet, Gate, Marking, PacketFormat, QueueNetwork, SenderLaw

TICKS = 64e9  # a second


@dataclass
class Packet:
    """A packet on its way."""

    flow: int
    hop: int
    size: int
    marked: bool = False


@dataclass
class Port:
    """A link and the queue in front of it; `held` and `headroom` are what its far end holds of what it brought."""

    busy: bool = False  # until the event that ends its packet, whatever else happens at the same time
    paused: bool = False
    asked: bool = False
    queue: deque[Packet] = field(default_factory=deque)
    held: int = 0
    headroom: int = 0
    pauses: int = 0


@dataclass
class Sender:
    """One flow at its sender."""

    left: int
    due: int
    gap: int
    rate: float
    target: float
    alpha: float = 1.0
    first_echo: int = -1
    echo_for_alpha: bool = False
    echo_for_cut: bool = False
    stage: int = 0
    round: int = 0  # of the increase timer: older ones are stale
    cuts: int = 0
    last_sent: int = 0
    delivered: int = 0


class Twin:
    """One run. `fct_s`, `cuts`, `marks` by flow and `pauses` by link hold the outcome."""

    def __init__(
        self,
        network: QueueNetwork,
        flows: FlowSet,
        law: SenderLaw,
        gate: Gate,
        marking: Marking,
        packet: PacketFormat,
    ) -> None:
        self.network, self.flows, self.law, self.gate, self.packet = network, flows, law, gate, packet
        self.kmin = math.inf if math.isinf(float(marking.kmin_bytes)) else float(marking.kmin_bytes)
        self.ports = [Port() for _ in range(network.links)]
        self.paths = [alternatives[0] for alternatives in flows.paths]
        self.propagation = [round(x * TICKS) for x in network.propagation_s]
        self.per_byte = [TICKS / rate for rate in network.rate_bytes_per_s]
        self.events: list[tuple[int, int, Callable[[int], None]]] = []
        self.order = 0
        self.now = 0
        self.shared = [0] * len(network.tier)
        self.budget = [int(b) for b in network.buffer_bytes]
        if gate.kind == "pfc":
            for link, node in enumerate(network.to_node):
                if network.tier[node] > 0:
                    rate, far_s = network.rate_bytes_per_s[link], network.propagation_s[link]
                    self.budget[node] -= int(gate.headroom_multiple * rate * far_s) + int(gate.reserve_bytes)
        self.senders: list[Sender] = []
        self.sizes: list[int] = []  # of the last packets
        for f, size in enumerate(flows.bytes):
            packets = math.ceil(size / packet.payload_bytes)
            line = 1.0 / self.per_byte[self.paths[f][0]]
            start = round(flows.start_s[f] * TICKS)
            self.senders.append(
                Sender(packets, start, self.wire(packet.wire_bytes, self.paths[f][0]), line, line)
            )
            self.sizes.append(int(size) - (packets - 1) * packet.payload_bytes + packet.header_bytes)
        self.packets = [s.left for s in self.senders]
        self.turn: dict[int, int] = {}
        self.nic_flows: dict[int, list[int]] = {}
        for f, path in enumerate(self.paths):
            self.nic_flows.setdefault(path[0], []).append(f)
        self.fct_s = [math.nan] * len(self.paths)
        self.marks = [0] * len(self.paths)
        for nic, members in self.nic_flows.items():
            self.turn[nic] = -1
            for f in members:
                self.at(self.senders[f].due, lambda t, nic=nic: self.send(nic, t))
        while self.events:
            self.now, _, action = heapq.heappop(self.events)
            action(self.now)

    def at(self, time: int, action: Callable[[int], None]) -> None:
        """Do something at a time; what was asked for first goes first."""
        self.order += 1
        heapq.heappush(self.events, (time, self.order, action))

    def wire(self, size: float, link: int) -> int:
        """Ticks on the wire."""
        return int(size * self.per_byte[link] + 0.5)

    # senders

    def send(self, nic: int, now: int) -> None:
        """Start the next packet of a NIC if one is due."""
        port = self.ports[nic]
        members = self.nic_flows[nic]
        if port.paused or port.busy:
            return
        for step in range(1, len(members) + 1):
            place = (self.turn[nic] + step) % len(members)
            flow = members[place]
            sender = self.senders[flow]
            if sender.left > 0 and sender.due <= now:
                break
        else:
            return
        self.turn[nic] = place
        sender.left -= 1
        size = self.sizes[flow] if sender.left == 0 else self.packet.wire_bytes
        sender.last_sent = now
        sender.due = now + sender.gap
        packet = Packet(flow, 1, size)
        self.transmit(packet, nic, now)
        self.at(sender.due, lambda t: self.send(nic, t))
        if sender.left == 0:  # the others keep their order behind it
            members.pop(place)
            self.turn[nic] = place - 1

    def echo(self, flow: int, now: int) -> None:
        """A congestion echo is back at the sender."""
        sender = self.senders[flow]
        if sender.left == 0:
            return
        cut = round(self.law.cut_interval_s * TICKS)
        if sender.first_echo < 0:
            sender.alpha, sender.target = 1.0, sender.rate
            sender.echo_for_cut = True
            sender.first_echo = now
            self.at(now + cut + 64, lambda t: self.tick(flow, t))  # 1 ns after the alpha timer
            step = round(self.law.alpha_timer_s * TICKS)
            self.at(now + step, lambda t: self.step_alpha(flow, step, t))
            return
        sender.echo_for_alpha = True
        sender.echo_for_cut = True

    def step_alpha(self, flow: int, step: int, now: int) -> None:
        """One step of the alpha timer."""
        sender = self.senders[flow]
        if sender.left == 0:
            return
        g = self.law.g
        sender.alpha = (1.0 - g) * sender.alpha + g * sender.echo_for_alpha
        sender.echo_for_alpha = False
        self.at(now + step, lambda t: self.step_alpha(flow, step, t))

    def tick(self, flow: int, now: int) -> None:
        """The cut timer: lower the rate if an echo came since its last tick."""
        sender = self.senders[flow]
        if sender.left == 0:
            return
        self.at(now + round(self.law.cut_interval_s * TICKS), lambda t: self.tick(flow, t))
        if not sender.echo_for_cut:
            return
        if sender.stage > 0:
            sender.target = sender.rate
        rate = sender.rate * (1.0 - sender.alpha / 2.0)
        self.set_rate(sender, max(self.law.min_rate_bytes_per_s / TICKS, rate))
        sender.stage, sender.echo_for_cut = 0, False
        sender.cuts += 1
        self.wait_for_increase(flow, now)

    def wait_for_increase(self, flow: int, now: int) -> None:
        """Start the increase timer over."""
        sender = self.senders[flow]
        sender.round += 1
        stamp = sender.round
        self.at(now + round(self.law.increase_timer_s * TICKS), lambda t: self.increase(flow, stamp, t))

    def increase(self, flow: int, stamp: int, now: int) -> None:
        """The increase timer ran out with no cut."""
        sender = self.senders[flow]
        if stamp != sender.round or sender.left == 0:
            return
        line = 1.0 / self.per_byte[self.paths[flow][0]]
        if sender.stage >= self.law.fast_recovery_stages:
            hyper = sender.stage > self.law.fast_recovery_stages
            step = self.law.hyper_bytes_per_s if hyper else self.law.additive_bytes_per_s
            sender.target = min(line, sender.target + step / TICKS)
        self.set_rate(sender, min(line, 0.5 * (sender.rate + sender.target)))
        sender.stage += 1
        self.wait_for_increase(flow, now)

    def set_rate(self, sender: Sender, rate: float) -> None:
        """A new rate; a packet already due keeps its time."""
        sender.rate = rate
        sender.gap = int(self.packet.wire_bytes / rate + 0.5)

    # switches

    def arrive(self, packet: Packet, now: int) -> None:
        """A packet reaches the node its last link leads to."""
        path = self.paths[packet.flow]
        if packet.hop == len(path):
            self.deliver(packet, now)
            return
        link = path[packet.hop]
        if self.gate.kind == "pfc":
            self.admit(path[packet.hop - 1], packet.size, now)
        self.ports[link].queue.append(packet)
        self.serve(link, now)

    def serve(self, link: int, now: int) -> None:
        """Start the first packet of a port if it may."""
        port = self.ports[link]
        if port.paused or port.busy or not port.queue:
            return
        packet = port.queue.popleft()
        if sum(waiting.size for waiting in port.queue) > self.kmin:
            packet.marked = True
        path = self.paths[packet.flow]
        if self.gate.kind == "pfc":
            self.release(path[packet.hop - 1], packet.size, now)
        packet.hop += 1
        self.transmit(packet, link, now)

    def transmit(self, packet: Packet, link: int, now: int) -> None:
        """Put a packet on the wire."""
        end = now + self.wire(packet.size, link)
        self.ports[link].busy = True
        self.at(end + self.propagation[link], lambda t: self.arrive(packet, t))
        self.at(end, lambda t: self.go_on(link, t))

    def go_on(self, link: int, now: int) -> None:
        """The packet on the wire has left."""
        self.ports[link].busy = False
        if self.network.tier[self.network.from_node[link]] == 0:
            self.send(link, now)
        else:
            self.serve(link, now)

    def threshold(self, node: int) -> int:
        """What one port may hold of the shared memory."""
        return math.floor((self.budget[node] - self.shared[node]) * self.gate.alpha)

    def admit(self, link: int, size: int, now: int) -> None:
        """Charge a packet to the link it came by."""
        port, node = self.ports[link], int(self.network.to_node[link])
        reserve = int(self.gate.reserve_bytes)
        room = reserve + self.threshold(node) - port.held
        if size <= room:
            before = max(0, port.held - reserve)
            port.held += size
            self.shared[node] += max(0, port.held - reserve) - before
        else:
            port.headroom += size
        used = max(0, port.held - reserve)
        if not port.asked and (port.headroom > 0 or used >= self.threshold(node)):
            port.asked = True
            self.at(now + self.message(link), lambda t: self.pause(link, t))

    def release(self, link: int, size: int, now: int) -> None:
        """Give back what a packet was charged."""
        port, node = self.ports[link], int(self.network.to_node[link])
        reserve = int(self.gate.reserve_bytes)
        back = min(port.headroom, size)
        port.headroom -= back
        before = max(0, port.held - reserve)
        port.held -= size - back
        self.shared[node] -= before - max(0, port.held - reserve)
        used = max(0, port.held - reserve)
        low = used == 0 or used + self.gate.xon_offset_bytes <= (
            (self.budget[node] - self.shared[node]) * self.gate.alpha
        )
        if port.asked and port.headroom == 0 and low:
            port.asked = False
            self.at(now + self.message(link), lambda t: self.resume(link, t))

    def message(self, link: int) -> int:
        """Ticks until a pause frame is heard at the near end of a link."""
        return self.propagation[link] + self.wire(self.gate.pause_frame_bytes, link)

    def pause(self, link: int, now: int) -> None:
        """Stop a link after the packet it is sending."""
        self.ports[link].paused = True
        self.ports[link].pauses += 1

    def resume(self, link: int, now: int) -> None:
        """Let a link go on."""
        self.ports[link].paused = False
        if self.network.tier[self.network.from_node[link]] == 0:
            self.send(link, now)
        else:
            self.serve(link, now)

    # receivers

    def deliver(self, packet: Packet, now: int) -> None:
        """Count a packet, send its echo, end the flow."""
        flow, path = packet.flow, self.paths[packet.flow]
        sender = self.senders[flow]
        back = sum(self.propagation[link] + self.wire(self.packet.ack_bytes, link) for link in path)
        sender.delivered += 1
        if packet.marked:
            self.marks[flow] += 1
            if self.law.kind == "dcqcn":
                self.at(now + back, lambda t: self.echo(flow, t))
        if sender.delivered == self.packets[flow]:
            alone = sum(self.propagation[link] + self.wire(self.sizes[flow], link) for link in path)
            end = max(now + back, sender.last_sent + alone + back)
            self.fct_s[flow] = (end - round(self.flows.start_s[flow] * TICKS)) / TICKS
