"""What the queue solver is given: network, flows, sender law, gate, marking, packet format.

All quantities are SI: bytes, seconds, bytes per second. Arrays are read only by convention.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SENDER_KINDS = ("none", "dcqcn")
GATE_KINDS = ("none", "pfc", "drop")
RECOVERIES = ("selective_repeat", "go_back_n")
CHOICES = ("random", "least_queued")


@dataclass(frozen=True, eq=False)
class QueueNetwork:
    """Directed links between hosts and store-and-forward switches.

    Link arrays have shape (links,), node arrays shape (nodes,). `propagation_s` is one way and should
    include the latency of the device at the far end. `buffer_bytes` is the shared packet memory of a
    switch (ignored for hosts). `tier` is 0 for hosts, 1 leaf, 2 spine, 3 core.
    """

    from_node: IntArray
    to_node: IntArray
    rate_bytes_per_s: FloatArray
    propagation_s: FloatArray
    tier: IntArray
    buffer_bytes: FloatArray

    def __post_init__(self) -> None:
        links = len(self.from_node)
        if not (len(self.to_node) == len(self.rate_bytes_per_s) == len(self.propagation_s) == links):
            raise ValueError("QueueNetwork: link arrays differ in length")
        if len(self.tier) != len(self.buffer_bytes):
            raise ValueError("QueueNetwork: node arrays differ in length")
        if links and not (self.rate_bytes_per_s.min() > 0 and self.propagation_s.min() >= 0):
            raise ValueError("QueueNetwork: rates must be positive and propagation not negative")

    @property
    def links(self) -> int:
        """Number of directed links."""
        return len(self.from_node)


@dataclass(frozen=True, eq=False)
class FlowSet:
    """Flows, each with one route or several alternatives to spray over.

    `paths[f]` is a tuple of alternative routes, each a tuple of link ids from the sender's NIC link to the
    link into the receiver. `bytes` is payload, `inf` for a flow that never ends. `after[f]` names the flows
    that must complete (last acknowledgement back at their sender) before f starts, `start_s` later; empty
    means f starts at `start_s`. `ack_paths[f]` are the links that carry f's acknowledgements, empty for no
    acknowledgement load; their propagation is then that of the forward route. `group` labels flows in the
    time series (0 first).
    """

    paths: tuple[tuple[tuple[int, ...], ...], ...]
    bytes: FloatArray
    start_s: FloatArray
    after: tuple[tuple[int, ...], ...] = ()
    ack_paths: tuple[tuple[int, ...], ...] = ()
    group: IntArray | None = None

    def __post_init__(self) -> None:
        count = len(self.paths)
        if len(self.bytes) != count or len(self.start_s) != count:
            raise ValueError("FlowSet: paths, bytes and start_s differ in length")
        if (self.after and len(self.after) != count) or (self.ack_paths and len(self.ack_paths) != count):
            raise ValueError("FlowSet: after and ack_paths must be empty or have one entry a flow")
        if count and not self.bytes.min() > 0:
            raise ValueError("FlowSet: every flow must have more than 0 bytes")
        if count and not self.start_s.min() >= 0:
            raise ValueError("FlowSet: every flow must start at 0 s or later")


@dataclass(frozen=True)
class SenderLaw:
    """How a sender paces. `none` sends at line rate; `dcqcn` is the reaction-point state machine.

    State machine of Zhu et al., SIGCOMM'15, section 5, in the timer-driven form of the public HPCC ns-3
    code (`rdma-hw.cc`): the target rate is lowered at a cut only if an increase came since the last one.
    `cnp_interval_s` = 0 echoes every mark; above 0 the receiver sends one notification a flow and interval.
    `byte_counter_bytes` = 0 leaves the byte counter off. `window_bytes` = inf leaves the window off.
    """

    kind: str = "none"
    alpha_timer_s: float = 55e-6
    cut_interval_s: float = 50e-6
    increase_timer_s: float = 55e-6
    fast_recovery_stages: int = 5
    g: float = 1.0 / 256.0
    additive_bytes_per_s: float = 5e6
    hyper_bytes_per_s: float = 50e6
    min_rate_bytes_per_s: float = 12.5e6
    cnp_interval_s: float = 0.0
    byte_counter_bytes: float = 0.0
    window_bytes: float = float("inf")
    window_follows_rate: bool = True

    def __post_init__(self) -> None:
        if self.kind not in SENDER_KINDS:
            raise ValueError(f"SenderLaw.kind: {self.kind!r} is not one of {', '.join(SENDER_KINDS)}")
        if min(self.alpha_timer_s, self.cut_interval_s, self.increase_timer_s) <= 0:
            raise ValueError("SenderLaw: timers must be positive")
        if not 0.0 < self.g <= 1.0:
            raise ValueError(f"SenderLaw.g: {self.g} must be above 0 and at most 1")
        if self.min_rate_bytes_per_s <= 0 or min(self.additive_bytes_per_s, self.hyper_bytes_per_s) < 0:
            raise ValueError("SenderLaw: the least rate must be positive and the steps not negative")


@dataclass(frozen=True)
class Gate:
    """What stops a sender or switch port when the next buffer is full.

    `pfc`: ingress accounting against a dynamic threshold T = alpha (B - headrooms - reserves - shared),
    XOFF when an arrival finds headroom in use or shared use >= T, XON at a departure with headroom empty
    and use + `xon_offset_bytes` <= T (public HPCC ns-3 code, `switch-mmu.cc`). Headroom of a port =
    `headroom_multiple` x rate x one-way propagation unless `headroom_bytes` is given. `drop`: an egress
    queue that would exceed alpha x free memory drops the packet. `none`: unlimited memory.

    `recovery` of a lost packet: `selective_repeat` (the sender hears of it one unloaded round trip later and sends
    that packet again, no timeout) or `go_back_n` (the receiver refuses what follows a gap and asks once; the sender
    goes back to the gap; a lost tail waits for `retransmit_timeout_s`; in-order routes only). `loss_fraction` is the
    share of packets a `drop` gate loses at each switch port at random (a bad cable).

    A pause of a link longer than `watchdog_s` is reported; with `watchdog_drops` a switch port so paused loses its queue
    and all that arrives until it may resume. `stuck_links` are paused from the start without end (a storm from a faulty
    receiver).
    """

    kind: str = "pfc"
    alpha: float = 0.125
    reserve_bytes: float = 4096.0
    xon_offset_bytes: float = 3072.0
    headroom_multiple: float = 3.0
    headroom_bytes: float | None = None
    pause_frame_bytes: float = 28.0
    recovery: str = "selective_repeat"
    retransmit_timeout_s: float = 1e-3
    loss_fraction: float = 0.0
    watchdog_s: float = float("inf")
    watchdog_drops: bool = False
    stuck_links: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in GATE_KINDS:
            raise ValueError(f"Gate.kind: {self.kind!r} is not one of {', '.join(GATE_KINDS)}")
        if self.recovery not in RECOVERIES:
            raise ValueError(f"Gate.recovery: {self.recovery!r} is not one of {', '.join(RECOVERIES)}")
        if not 0.0 <= self.loss_fraction < 1.0 or self.retransmit_timeout_s <= 0 or self.watchdog_s <= 0:
            raise ValueError("Gate: loss_fraction must be in [0, 1), watchdog and timeout positive")
        if self.loss_fraction > 0 and self.kind != "drop":
            raise ValueError("Gate.loss_fraction: only a drop gate loses packets at random")
        if self.alpha <= 0:
            raise ValueError(f"Gate.alpha: {self.alpha} must be positive")
        if (
            min(self.reserve_bytes, self.xon_offset_bytes, self.headroom_multiple, self.headroom_bytes or 0.0)
            < 0
        ):
            raise ValueError("Gate: reserve, XON offset and headroom must not be negative")


@dataclass(frozen=True)
class Marking:
    """Explicit congestion marking at dequeue on the queue left: 0 to `kmin`, linear to `pmax` at `kmax`, then 1.

    `kmin_bytes` = inf switches marking off. The values may be arrays with one entry a link.
    """

    kmin_bytes: float | FloatArray = float("inf")
    kmax_bytes: float | FloatArray = float("inf")
    pmax: float | FloatArray = 1.0

    def __post_init__(self) -> None:
        ordered = (self.kmin_bytes >= 0.0) & (self.kmin_bytes <= self.kmax_bytes)
        if ordered is not True and not np.all(ordered):
            raise ValueError(f"Marking: kmin {self.kmin_bytes} must lie between 0 and kmax {self.kmax_bytes}")
        within = (self.pmax >= 0.0) & (self.pmax <= 1.0)
        if within is not True and not np.all(within):
            raise ValueError(f"Marking.pmax: {self.pmax} must lie between 0 and 1")


@dataclass(frozen=True)
class PacketFormat:
    """Packet sizes. `whole_ns` rounds packet times to whole nanoseconds, as the reference simulator does."""

    payload_bytes: int = 4096
    header_bytes: int = 66
    ack_bytes: int = 66
    whole_ns: bool = False
    acks_in_data_queue: bool = False

    def __post_init__(self) -> None:
        if self.payload_bytes < 1 or self.header_bytes < 0 or self.ack_bytes < 1:
            raise ValueError(
                "PacketFormat: payload and acknowledgement need at least one byte, the header none less than 0"
            )

    @property
    def wire_bytes(self) -> int:
        """Bytes of a full packet on the wire."""
        return self.payload_bytes + self.header_bytes


@dataclass(frozen=True, eq=False)
class Recording:
    """What to keep beside totals: watched queues, sampling interval, checkpoints, chart series.

    `watch_links` are sampled every `sample_s` from `sample_from_s` on. `checkpoints_s` are instants at which
    the payload delivered of every flow is noted. `series_s` > 0 keeps a chart row every so many seconds.
    """

    watch_links: tuple[int, ...] = ()
    sample_s: float = 1e-6
    sample_from_s: float = 0.0
    checkpoints_s: tuple[float, ...] = field(default=())
    series_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.sample_s > 0 or not self.series_s >= 0 or not self.sample_from_s >= 0:
            raise ValueError("Recording: sample_s must be positive, series_s and sample_from_s not negative")
