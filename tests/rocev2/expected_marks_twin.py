"""The mean recursion written plainly: queues as lists of slices, one small object a flow. Slow; equal to the kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, inf

from models.solvers.queues_types import Gate, Marking, SenderLaw


@dataclass
class Sender:
    law: SenderLaw
    line: float
    owed: float  # expected marks that are not yet a whole one
    rate: float = 0.0
    target: float = 0.0
    alpha: float = 1.0
    stage: int = 0
    started: bool = False
    echo: bool = False
    echo_for_alpha: bool = False
    cut_due: float = inf
    alpha_due: float = inf
    increase_due: float = inf

    def __post_init__(self) -> None:
        self.rate = self.target = self.line

    def step(self, now: float, marks: float) -> None:
        law = self.law
        self.owed += marks
        if self.owed >= 1.0:
            self.owed -= floor(self.owed)
            self.echo = True
            if self.started:
                self.echo_for_alpha = True
            else:
                self.started, self.alpha, self.target = True, 1.0, self.rate
                self.cut_due, self.alpha_due = now + law.cut_interval_s, now + law.alpha_timer_s
        while self.alpha_due <= now:
            self.alpha = (1 - law.g) * self.alpha + law.g * self.echo_for_alpha
            self.echo_for_alpha = False
            self.alpha_due += law.alpha_timer_s
        if self.cut_due <= now:
            while self.cut_due <= now:
                self.cut_due += law.cut_interval_s
            if self.echo:
                if self.stage:
                    self.target = self.rate
                self.rate = max(law.min_rate_bytes_per_s, self.rate * (1 - self.alpha / 2))
                self.stage, self.echo, self.increase_due = 0, False, now + law.increase_timer_s
        while self.increase_due <= now:
            if self.stage == law.fast_recovery_stages:
                self.target += law.additive_bytes_per_s
            elif self.stage > law.fast_recovery_stages:
                self.target += law.hyper_bytes_per_s
            self.target = min(self.target, self.line)
            self.rate = min(self.line, (self.rate + self.target) / 2)
            self.stage += 1
            self.increase_due += law.increase_timer_s


@dataclass
class Port:
    """A FIFO of slices {flow: [bytes, marks]}; a slice that is full is followed by a new one."""

    capacity: float
    grain: float
    slices: list[dict[int, list[float]]] = field(default_factory=lambda: [{}])

    def bytes_of(self, flow: int | None = None) -> float:
        return sum(b for s in self.slices for f, (b, _) in s.items() if flow is None or f == flow)

    def push(self, flow: int, amount: float, marks: float) -> None:
        held = self.slices[-1].setdefault(flow, [0.0, 0.0])
        held[0] += amount
        held[1] += marks

    def take(self, wanted: float) -> dict[int, list[float]]:
        gone: dict[int, list[float]] = {}
        while wanted > 0:
            first = self.slices[0]
            whole = sum(b for b, _ in first.values())
            share = 1.0 if whole <= wanted else wanted / whole
            for f, held in first.items():
                out = gone.setdefault(f, [0.0, 0.0])
                for i in (0, 1):
                    out[i] += held[i] * share
                    held[i] -= held[i] * share
            wanted -= whole * share
            if share < 1.0 or len(self.slices) == 1:
                break
            self.slices.pop(0)
        return gone

    def close_slice(self) -> None:
        if sum(b for b, _ in self.slices[-1].values()) >= self.grain:
            self.slices.append({})


def star_twin(
    senders: int, size: float, rate: float, shared: float, law: SenderLaw, gate: Gate, marking: Marking,
    packet: float, loop_steps: int, gate_steps: int, step_s: float, memory: float, slices: int, controlled: bool,
) -> tuple[list[float], float, list[float]]:  # fmt: skip
    """(completion of every flow, peak queue, pause of every sender) of equal bursts through one port."""
    port = Port(rate, 2 * memory / slices)
    nics = [Sender(law, rate, i / senders) for i in range(senders)]
    sending, next_s = [rate] * senders, [0.0] * senders
    sent, got, end, paused = [0.0] * senders, [0.0] * senders, [inf] * senders, [0.0] * senders
    heard = [[0.0] * senders for _ in range(loop_steps)]
    shut = [[False] * senders for _ in range(gate_steps)]
    peak, k = 0.0, 0
    while inf in end:
        now = k * step_s
        for i in range(senders):
            if sent[i] >= size:
                continue
            if controlled:
                nics[i].step(now, heard[k % loop_steps][i])
                heard[k % loop_steps][i] = 0.0
            if now >= next_s[i]:
                sending[i] = nics[i].rate
                next_s[i] = now + packet / sending[i]
            if shut[k % gate_steps][i]:
                paused[i] += step_s
                continue
            amount = min(sending[i] * step_s, size - sent[i])
            sent[i] += amount
            port.push(i, amount, 0.0)
        gone = port.take(min(port.bytes_of(), rate * step_s))
        depth = port.bytes_of()
        peak = max(peak, depth)
        ramp = marking.pmax * (depth - marking.kmin_bytes) / (marking.kmax_bytes - marking.kmin_bytes)
        p = 0.0 if depth <= marking.kmin_bytes else 1.0 if depth > marking.kmax_bytes else ramp
        for i, (amount, _) in gone.items():
            if sent[i] < size:
                heard[k % loop_steps][i] += p * amount / packet
            before, got[i] = got[i], got[i] + amount
            if before < size - 0.5 <= got[i]:
                end[i] = now + step_s * (size - before) / (got[i] - before)
        port.close_slice()
        limit = gate.reserve_bytes + gate.alpha * max(0.0, shared - depth)
        for i in range(senders):
            shut[k % gate_steps][i] = gate.kind == "pfc" and port.bytes_of(i) >= limit
        k += 1
    return end, peak, paused
