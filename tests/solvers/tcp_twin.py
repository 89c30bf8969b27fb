"""Packet-by-packet twin of the TCP loss solver: one heap, one event for everything that happens, nothing clever.

Written from the public descriptions, not from the solver: windows and slow start of RFC 5681, packet numbers, loss
by three later ones and recovery periods of RFC 9002 (sections 6.1.1, 7.3), the timeout of RFC 6298 and its back-off,
marks and alpha of RFC 8257 (section 3.3), drop-tail ports with the threshold of Choudhury and Hahne 1998. Times are
whole picoseconds. Of what happens at one instant, packets leave, then arrive, then acknowledgements are heard, then
timers run out; of two alike the packet whose sender has sent less goes first, then the lower flow.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from models.solvers.tcp_loss import TcpRules

LEAVE, ARRIVE, HEAR, START, EXPIRE = range(5)  # order of what happens at one instant
LONGEST_TIMEOUT_S = 60.0  # RFC 6298 (2.5)


def ticks(seconds: float) -> int:
    """Picoseconds."""
    return round(seconds * 1e12)


@dataclass
class Sent:
    """One transmission."""

    flow: int
    number: int  # counts transmissions of the flow, so that a packet sent again has another one
    packet: int
    at: int  # time it left
    ports: list[int]  # still to pass
    marked: bool = False
    dropped: bool = False  # known to the network only


@dataclass
class Port:
    """Packets in a port, the first on the wire until its last bit has left."""

    queue: deque[Sent] = field(default_factory=deque)
    drops: int = 0
    peak: int = 0


@dataclass
class Sender:
    """One flow: congestion window, what is on its way, timer."""

    packets: int
    route: list[int]
    line_free: int
    window: float
    timeout: int
    threshold: float = math.inf
    fresh: int = 0
    again: deque[int] = field(default_factory=deque)
    number: int = 0
    outstanding: dict[int, Sent] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    recovery_from: int = 0  # growth, and cuts by marks, only by packets sent since the last cut
    loss_from: int = 0  # cuts by loss only by packets sent since the last one
    backoff: int = 0
    deadline: int | None = None
    round: int = 0  # of the timer: older ones are stale
    timed: Sent | None = None
    smoothed: float = 0.0
    variation: float = 0.0
    alpha: float = 1.0
    window_end: int = 0
    heard: int = 0
    heard_marked: int = 0
    timeouts: int = 0
    drops: int = 0
    end: int | None = None


class Twin:
    """One run to the end of all flows; `senders` and `ports` hold the outcome, `now` the end."""

    def __init__(
        self,
        packets: list[int],
        first: list[int],
        last: list[int],
        start_s: list[float],
        links: int,
        rules: TcpRules,
        blocks: int = 1,
    ) -> None:
        self.rules = rules
        self.ports = [Port() for _ in range(links)]
        self.block, self.blocks = list(packets), blocks
        self.marks = 0
        self.now = 0
        self.hops = 0
        self.order = 0
        self.events: list[tuple[int, int, int, int, int, Callable[[], None]]] = []
        self.start = [ticks(s) for s in start_s]
        self.senders = [
            Sender(
                packets[f],
                [last[f]] if first[f] < 0 else [first[f], last[f]],
                self.start[f],
                min(rules.initial_window_packets, rules.window_limit_packets),
                ticks(rules.rto_s),
            )
            for f in range(len(packets))
        ]
        for f, begin in enumerate(self.start):
            self.at(begin, START, 0, f, lambda f=f: self.send(f))
        stop = ticks(rules.stop_s)
        while self.events and (
            any(s.packets >= 0 and s.end is None for s in self.senders) or max(packets) < 0
        ):
            if self.events[0][0] > stop:
                self.now = stop
                break
            self.now, *_, action = heapq.heappop(self.events)
            action()
            self.look()

    def at(self, time: int, kind: int, number: int, flow: int, action: Callable[[], None]) -> None:
        """Do something at a time, in the order of the module's description."""
        self.order += 1
        heapq.heappush(self.events, (time, kind, number, flow, self.order, action))

    def look(self) -> None:
        """What must hold at any time."""
        for port in self.ports:
            assert len(port.queue) * self.rules.packet_bytes <= self.rules.buffer_bytes
        for s in self.senders:
            assert s.fresh == len(s.acknowledged) + len(s.outstanding) + len(s.again)

    # network

    def arrive(self, sent: Sent) -> None:
        """A packet reaches a port: it is dropped, or queued and perhaps marked."""
        rules, port = self.rules, self.ports[sent.ports[0]]
        size, held = rules.packet_bytes, len(port.queue) * rules.packet_bytes
        self.hops += 1
        fits = held + size <= rules.buffer_bytes
        if not fits or held + size > rules.alpha * (rules.buffer_bytes - held):
            port.drops += 1
            self.senders[sent.flow].drops += 1
            sent.dropped = True
            return
        if rules.law == "dctcp" and held > rules.ecn_bytes:
            sent.marked = True
            self.marks += 1
        port.queue.append(sent)
        port.peak = max(port.peak, len(port.queue))
        if len(port.queue) == 1:
            self.serve(sent.ports[0])

    def serve(self, number: int) -> None:
        """Put the first packet of a port on the wire."""
        self.at(self.now + ticks(self.rules.wire_s), LEAVE, 0, number, lambda: self.leave(number))

    def leave(self, number: int) -> None:
        """The last bit has left a port."""
        port = self.ports[number]
        sent = port.queue.popleft()
        sent.ports.pop(0)
        if sent.ports:
            far = self.now + ticks(self.rules.between_s)
            self.at(far, ARRIVE, sent.number, sent.flow, lambda: self.arrive(sent))
        else:
            heard = self.now + ticks(self.rules.to_host_s) + ticks(self.rules.back_s)
            self.at(heard, HEAR, sent.number, sent.flow, lambda: self.hear(sent))
        if port.queue:
            self.serve(number)

    # senders

    def send(self, flow: int) -> None:
        """Send what the window allows, lost packets first."""
        s = self.senders[flow]
        while len(s.outstanding) < int(s.window):
            if s.again:
                packet = s.again.popleft()
            elif s.packets < 0 or s.fresh < s.packets:
                packet, s.fresh = s.fresh, s.fresh + 1
            else:
                return
            leave = max(self.now + self.delay(flow, s.number), s.line_free)
            s.line_free = leave + ticks(self.rules.send_gap_s)
            sent = Sent(flow, s.number, packet, leave, list(s.route))
            s.outstanding[s.number] = sent
            s.number += 1
            there = s.line_free + ticks(self.rules.to_first_s)
            self.at(there, ARRIVE, sent.number, flow, lambda sent=sent: self.arrive(sent))
            if s.timed is None:
                s.timed = sent
            if s.deadline is None:
                self.set_timer(flow, leave)

    def delay(self, flow: int, number: int) -> int:
        """Processing time in the host: splitmix64 of the seed, as the solver's, so that both draw the same."""
        word = (1 << 64) - 1
        x = (self.rules.seed * 0x9E3779B97F4A7C15 + (flow << 36) + number) & word
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & word
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & word
        return ((x ^ (x >> 31)) >> 40) * ticks(self.rules.jitter_s) >> 24

    def hear(self, sent: Sent) -> None:
        """An acknowledgement is back at the sender."""
        s = self.senders[sent.flow]
        del s.outstanding[sent.number]
        assert sent.packet not in s.acknowledged
        s.acknowledged.add(sent.packet)
        self.sample(s, sent)
        s.backoff = 0
        self.set_timer(sent.flow, self.now)
        self.estimate(s, sent)
        lost = [number for number in s.outstanding if number <= sent.number - 3]
        for number in lost:
            s.again.append(s.outstanding.pop(number).packet)
        if any(number >= s.loss_from for number in lost):
            s.threshold = s.window = max(2.0, s.window / 2.0)
            s.recovery_from = s.loss_from = s.number
        elif sent.number >= s.recovery_from:
            if sent.marked:
                s.threshold = s.window = max(2.0, s.window * (1.0 - s.alpha / 2.0))
                s.recovery_from = s.number
            elif s.window < s.threshold:
                s.window += 1.0
            else:
                s.window += 1.0 / s.window
            s.window = min(s.window, self.rules.window_limit_packets)
        if len(s.acknowledged) == s.packets:
            s.end = self.now
            s.deadline = None
            if self.blocks > 1 and all(s.packets < 0 or s.end is not None for s in self.senders):
                self.next_block()
        self.send(sent.flow)

    def next_block(self) -> None:
        """The receiver asks for as much again; RFC 5681 (4.1): a window starts over after a wait of a timeout."""
        self.blocks -= 1
        for flow, s in enumerate(self.senders):
            if s.end is not None:
                s.packets += self.block[flow]
                if self.now - s.end > s.timeout:
                    s.window = min(s.window, self.rules.initial_window_packets)
                s.end = None
                self.at(self.now, START, 0, flow, lambda flow=flow: self.send(flow))

    def estimate(self, s: Sender, sent: Sent) -> None:
        """RFC 8257 section 3.3: alpha from the share of marked acknowledgements in a window of data."""
        s.heard += 1
        s.heard_marked += sent.marked
        if sent.number >= s.window_end:
            s.alpha = (1.0 - self.rules.gain) * s.alpha + self.rules.gain * (s.heard_marked / s.heard)
            s.heard = s.heard_marked = 0
            s.window_end = s.number

    def sample(self, s: Sender, sent: Sent) -> None:
        """RFC 6298 section 2: one packet is timed at a time; the timeout is at least the floor of the rules."""
        if s.timed is None or sent.number < s.timed.number:
            return
        if sent is s.timed:
            took = float(self.now - sent.at)
            if s.smoothed == 0.0:
                s.smoothed, s.variation = took, took / 2.0
            else:
                s.variation = 0.75 * s.variation + 0.25 * abs(s.smoothed - took)
                s.smoothed = 0.875 * s.smoothed + 0.125 * took
            s.timeout = max(ticks(self.rules.rto_s), int(s.smoothed + 4.0 * s.variation))
        s.timed = None  # acknowledged, or lost and never to be

    def set_timer(self, flow: int, since: int) -> None:
        """Let the timer run out one timeout after `since`, whatever it did before."""
        s = self.senders[flow]
        longest = max(ticks(LONGEST_TIMEOUT_S), s.timeout)
        s.deadline = since + min(s.timeout * 2**s.backoff, longest)
        s.round += 1
        stamp = s.round
        self.at(s.deadline, EXPIRE, 0, flow, lambda: self.expire(flow, stamp))

    def expire(self, flow: int, stamp: int) -> None:
        """RFC 6298 section 5.4 to 5.7; what is still on its way is not sent again (as if found out by RFC 5682)."""
        s = self.senders[flow]
        if stamp != s.round or s.deadline is None:
            return
        s.timeouts += 1
        if s.backoff == 0:  # RFC 5681: held constant when the same data times out again
            s.threshold = max(2.0, s.window / 2.0)
        s.window = 1.0
        s.backoff += 1
        s.recovery_from = s.loss_from = s.number
        for number in [number for number, sent in s.outstanding.items() if sent.dropped]:
            s.again.append(s.outstanding.pop(number).packet)
        self.set_timer(flow, self.now)
        self.send(flow)
