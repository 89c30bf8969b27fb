"""Credit flow control at packet grain: who waits for whose buffer, and what that costs.

The lossless network of InfiniBand (and of BookSim's input-queued router): every link has an input buffer at
its far end, a packet moves only with a credit for that buffer, and the credit comes back when the packet
leaves it. A switch reads its input buffers in order (`queueing="fifo"`: the head blocks what is behind it) or
per output (`"per_output"`), passes packets through a crossbar of given speed-up, output by output in round
robin, and holds them at the output as far as credits for the next buffer reach. Nothing is ever dropped;
congestion spreads backwards instead.

    links = CreditLinks(rate_bytes_per_s=..., forward_s=..., credit_s=..., buffer_bytes=..., tier=...)
    flows = CreditFlows(paths=..., payload_bytes=..., start_s=..., group=...)
    result = credit_result(links, flows, CreditRules(packet_payload_bytes=4096))

*Assumptions* Cut-through where the output is idle (`cut_through=False`: store and forward); a credit is
returned when the packet starts to leave the buffer, plus the link's credit delay; hosts drain at line rate;
lanes of one link share its wire first come, first served. Valid between packets: a packet is never split over
two lanes or paths. Every run ends: finished, time limit, step limit, or stuck (nothing can move: deadlock),
as `status` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from models.solvers.dependency_cycle import dependency_cycle

Floats = npt.NDArray[np.float64]
Status = Literal["finished", "time limit", "stuck", "step limit"]


@dataclass(frozen=True)
class CreditLinks:
    """Directed links. All arrays [links]; buffers are per lane of a link.

    `forward_s`: head of a packet leaves -> the next node may act on it (propagation and switch latency).
    `credit_s`: buffer freed -> credit usable upstream. `tier`: any small number, stalls are reported by it.
    """

    rate_bytes_per_s: Floats
    forward_s: Floats
    credit_s: Floats
    buffer_bytes: Floats
    tier: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        sizes = {len(getattr(self, name)) for name in self.__dataclass_fields__}
        if len(sizes) != 1:
            raise ValueError(f"link arrays of different lengths: {sorted(sizes)}")
        if min(self.rate_bytes_per_s, default=1.0) <= 0:
            raise ValueError("rate_bytes_per_s must be positive on every link")


@dataclass(frozen=True)
class CreditFlows:
    """Flows. `paths[f]` = one or more routes (link indices, host link first); the rest are arrays [flows].

    `payload_bytes` -1 = endless. `group` numbers the curves of the time series. `lane`: virtual lane.
    """

    paths: tuple[tuple[tuple[int, ...], ...], ...]
    payload_bytes: npt.NDArray[np.int64]
    start_s: Floats
    group: npt.NDArray[np.int64]
    lane: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True)
class MarkingRule:
    """FECN marking at congested outputs and the sender's answer, as the solver needs them.

    A packet that leaves more than `threshold_bytes` waiting at its output is marked with `probability`;
    unless
    `mark_victims`, only where the output had credits (root of the congestion). The notice raises the flow's
    index by
    `increase` up to `limit`; every `timer_s` it falls by one down to `minimum`. After a packet the flow waits
    `delay_packets[index]` packet times.
    """

    threshold_bytes: float
    probability: float
    delay_packets: Floats
    increase: int = 1
    limit: int = 127
    minimum: int = 0
    timer_s: float = 150 * 1.024e-6
    mark_victims: bool = False


@dataclass(frozen=True)
class CreditRules:
    """How packets move, and when to stop.

    Goodput, utilisation and latency count from `warmup_s`; `stop_s` None = when all finite flows are done;
    `drain`: packets on their way at `stop_s` are still delivered (their latency counts, goodput does not).
    `watch`: links whose queue is recorded (default: links into hosts shared by flows, at most 8).
    """

    packet_payload_bytes: int = 4096
    header_bytes: int = 30
    queueing: Literal["fifo", "per_output"] = "fifo"
    path_choice: Literal["first", "spray", "adaptive"] = "first"
    crossbar_speedup: float = 2.0
    cut_through: bool = True
    marking: MarkingRule | None = None
    warmup_s: float = 0.0
    stop_s: float | None = None
    drain: bool = False
    watch: tuple[int, ...] | None = None
    sample_s: float | None = None
    seed: int = 0
    step_limit: int = 400_000_000
    check_conservation: bool = False


@dataclass(frozen=True)
class CreditResult:
    """What happened. Arrays [flows], [links], or [samples, ...] as named; NaN = did not finish."""

    status: Status
    end_s: float
    completion_s: Floats  # [flows] last byte at the receiver, from the flow's start
    delivered_bytes: Floats  # [flows] payload
    goodput_bytes_per_s: Floats  # [flows] payload from warm-up to the end (or to the flow's own end)
    latency_s: Floats  # [flows] mean time of a packet in the network
    packets: npt.NDArray[np.int64]  # [flows] packets behind latency_s
    notices: npt.NDArray[np.int64]  # [flows] congestion notices received
    utilisation: Floats  # [links]
    stalled_s: Floats  # [links] time with a packet waiting, an idle wire and no credit
    queue_mean_bytes: Floats  # [links] waiting in the switch for this link
    queue_peak_bytes: Floats  # [links]
    watch: tuple[int, ...]
    queue_p99_bytes: Floats  # [watched links]
    time_s: Floats  # [samples]
    queue_bytes: Floats  # [samples, watched links]
    rate_bytes_per_s: Floats  # [samples, groups] payload
    stalled_fraction: Floats  # [samples, tiers] mean over the tier's links
    steps: int = field(compare=False)

    @property
    def jain(self) -> float:
        """Jain's fairness index of the flows' goodputs: 1 = all equal, 1/n = one has all."""
        return jain_index(self.goodput_bytes_per_s)


def jain_index(values: Floats) -> float:
    """(sum x)^2 / (n sum x^2).

    >>> jain_index(np.array([1.0, 1.0])), jain_index(np.array([1.0, 0.0]))
    (1.0, 0.5)
    """
    square = float(np.square(values).sum())
    return float(values.sum()) ** 2 / (len(values) * square) if square > 0 else 1.0


def credit_result(links: CreditLinks, flows: CreditFlows, rules: CreditRules) -> CreditResult:
    """Completion, goodput, latency, queues and stalls of `flows` over `links`; deterministic for a seed.

    Raises ValueError for a route set that could deadlock (the cycle is named), a buffer below one packet, or
    endless flows without `stop_s`; RuntimeError when packets or bytes are not conserved (a fault of the
    solver).
    """
    from models.solvers.credit_kernels import run
    from models.solvers.credit_outcome import result
    from models.solvers.credit_setup import setup

    cycle = dependency_cycle(route for paths in flows.paths for route in paths)
    if cycle and flows.lane is None:
        raise ValueError(
            f"routes can deadlock: links {' -> '.join(map(str, (*cycle, cycle[0])))} wait for each other"
        )
    made = setup(links, flows, rules)
    last_tick = run(
        made.channels,
        made.queues,
        made.packets,
        made.events,
        made.wheel,
        made.flows,
        made.ways,
        made.watch,
        made.delays,
        made.series,
        made.counter,
        made.rule,
    )
    return result(made, links, flows, rules, int(last_tick))
