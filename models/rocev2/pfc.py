"""Priority flow control: pause timing, shared-buffer thresholds, how long senders stand still, ECN before
PFC.

A switch keeps, for every ingress port and lossless priority, a reserve and a headroom of its own; the rest of
the memory is shared. With B_s = buffer - headrooms - reserves and S in use, the threshold of every port is T
= alpha (B_s - S); a port at its threshold sends XOFF, and XON once it is an offset below. Sources: HPCC ns-3
`switch-mmu.cc`, `third.cc`; IEEE 802.1Qbb; Zhu et al., SIGCOMM 2015; Guo et al., SIGCOMM 2016. Headroom:
`pfc_headroom.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

QUANTUM_BITS = 512
LARGEST_QUANTA = 65535
RESERVE_BYTES = 4096.0  # per port and priority (HPCC switch-mmu.cc)
XON_OFFSET_BYTES = 3072.0
HEADROOM_DELAYS = 3.0  # headroom = 3 x C x one-way delay (HPCC third.cc)
SWITCH_WATCHDOG_S = (0.1, 0.4)  # usual range of a switch's detection time; then the queue drops


def quantum_s(rate_bytes_per_s: float) -> float:
    """One pause quantum: 512 bit times."""
    return QUANTUM_BITS / 8.0 / rate_bytes_per_s


def longest_pause_s(rate_bytes_per_s: float) -> float:
    """Longest pause one frame can ask for: 65,535 quanta. An XOFF is refreshed, so it matters for a lost XON
    only.

    >>> [round(longest_pause_s(g * 1e9 / 8) * 1e6, 1) for g in (10, 40, 100, 400, 800)]
    [3355.4, 838.8, 335.5, 83.9, 41.9]
    """
    return LARGEST_QUANTA * quantum_s(rate_bytes_per_s)


@dataclass(frozen=True)
class SharedBuffer:
    """A switch's memory and how one lossless priority may use it."""

    buffer_bytes: float
    ports: int
    headroom_bytes: float  # per port
    alpha: float = 1.0 / 8.0
    reserve_bytes: float = RESERVE_BYTES
    xon_offset_bytes: float = XON_OFFSET_BYTES

    def __post_init__(self) -> None:
        if self.shared_bytes <= 0:
            raise ValueError(
                f"headroom of {self.ports} ports x {self.headroom_bytes:g} B leaves nothing of "
                f"{self.buffer_bytes:g} B to share"
            )

    @property
    def shared_bytes(self) -> float:
        """Memory left to share: B - ports (headroom + reserve)."""
        return self.buffer_bytes - self.ports * (self.headroom_bytes + self.reserve_bytes)


def simple_headroom_bytes(rate_bytes_per_s: float, propagation_s: float) -> float:
    """3 C d, the rule of the HPCC simulator.

    >>> simple_headroom_bytes(12.5e9, 1e-6)
    37500.0
    """
    return HEADROOM_DELAYS * rate_bytes_per_s * propagation_s


def steady_threshold_bytes(buffer: SharedBuffer, congested_ports: int) -> float:
    """Threshold at which n equally congested ports settle: T = alpha B_s / (1 + n alpha); together they hold
    n T.

    >>> two = SharedBuffer(32 * 2**20, ports=3, headroom_bytes=37500)
    >>> round(2 * steady_threshold_bytes(two, 2) / 1e6, 2)
    6.69
    """
    return buffer.alpha * buffer.shared_bytes / (1.0 + congested_ports * buffer.alpha)


def lasting_queue_bytes(
    buffer: SharedBuffer, rate_bytes_per_s: float, ingress_ports: int, loop_s: float
) -> float:
    """Queue of a hot port while P line-rate ingress ports take turns: P (reserve + T) + (P - 1) C loop.

    What is on its way when a port asks for a pause goes to its headroom and stays until the port is resumed: the
    loop is the pause's way up and the packets' way down, 2 d + one packet.

    >>> round(lasting_queue_bytes(SharedBuffer(4 * 2**20, 65, 37500), 12.5e9, 64, 2.083e-6) / 1e6, 2)
    3.23
    """
    held = ingress_ports * (buffer.reserve_bytes + steady_threshold_bytes(buffer, ingress_ports))
    return held + (ingress_ports - 1) * rate_bytes_per_s * loop_s


def pause_fraction(fan_in: int, senders_per_port: int = 1) -> float:
    """Share of time an ingress link is paused in a lasting incast of line-rate senders without congestion
    control.

    Each of P = N / senders_per_port ingress links may run 1/P of the time: 1 - 1/P.

    >>> pause_fraction(8)
    0.875
    """
    return 1.0 - senders_per_port / fan_in if fan_in > senders_per_port else 0.0


def first_pause_s(
    buffer: SharedBuffer,
    rate_bytes_per_s: float,
    ingress_ports: int,
    arrival_rate_bytes_per_s: float | None = None,
) -> float:
    """Time from the first byte of a burst at the switch until a port crosses its threshold and sends XOFF.

    All P ports receive at `arrival_rate_bytes_per_s` (default: line rate), one output drains at C. Each port
    fills at A - C/P; the shared part grows with it and lowers T, so a port holds reserve + T when t =
    (reserve + T) / (A - C/P), T = alpha B_s / (1 + P alpha). Infinite when the output keeps up.

    >>> star = SharedBuffer(32 * 2**20, ports=9, headroom_bytes=37500)
    >>> round(first_pause_s(star, 12.5e9, 8) * 1e6)
    190
    """
    arrival = rate_bytes_per_s if arrival_rate_bytes_per_s is None else arrival_rate_bytes_per_s
    growth = arrival - rate_bytes_per_s / ingress_ports
    if growth <= 0:
        return inf
    return (buffer.reserve_bytes + steady_threshold_bytes(buffer, ingress_ports)) / growth


def pause_time_s(buffer: SharedBuffer, rate_bytes_per_s: float, fan_in: int, burst_bytes: float) -> float:
    """Pause time of one sender for a finite burst: it ends sending when its last byte leaves, less its own
    sending.

    The hot port drains N x burst in N burst / C; each sender's link holds what its port may hold at the end
    (reserve + T), so it stops earlier by that: max(0, (N burst - N min(burst, held)) / C - burst / C + held /
    C).

    >>> pause_time_s(SharedBuffer(32 * 2**20, 9, 37500), 12.5e9, 8, 2**20)
    0.0
    """
    held = buffer.reserve_bytes + steady_threshold_bytes(buffer, fan_in)
    if burst_bytes <= held:
        return 0.0
    return max(0.0, (fan_in * (burst_bytes - held) - burst_bytes) / rate_bytes_per_s)


@dataclass(frozen=True)
class EcnBeforePfc:
    """Does marking start before pausing?"""

    holds: bool
    ecn_limit_bytes: float  # Kmin must stay below
    pfc_limit_bytes: float  # a static pause threshold must stay below
    text: str


def ecn_before_pfc(
    buffer_bytes: float,
    ports: int,
    headroom_bytes: float,
    beta: float,
    ecn_threshold_bytes: float,
    lossless_priorities: int = 8,
) -> EcnBeforePfc:
    """ECN acts first when t_ECN < beta (B - p n h) / (p n (beta + 1)); static pause threshold <= (B - p n h)
    / (p n).

    n ports, p lossless priorities, h headroom a port and priority, beta the parameter of the dynamic
    threshold t_PFC = beta (B - p n h - s) / p of Zhu et al., SIGCOMM 2015 (their numbers: 12 MB, 32 ports,
    22.4 KB, beta 8).

    >>> ecn_before_pfc(12e6, 32, 22.4e3, 8, 5e3).holds
    True
    """
    queues = lossless_priorities * ports
    room = buffer_bytes - queues * headroom_bytes
    static = room / queues
    limit = beta * room / (queues * (beta + 1.0))
    holds = ecn_threshold_bytes < limit
    text = (
        f"Kmin {ecn_threshold_bytes / 1e3:.4g} kB is {'below' if holds else 'not below'} {limit / 1e3:.4g} kB: "
        + ("ECN marks before PFC pauses" if holds else "PFC can pause before ECN has marked")
    )
    return EcnBeforePfc(holds, limit, static, text)


def port_marks_before_pausing(buffer: SharedBuffer, ingress_ports: int, kmin_bytes: float) -> bool:
    """Does the hot egress queue reach Kmin before its P ingress ports reach their thresholds together?

    The egress queue is P (reserve + T) when the ports pause.

    >>> port_marks_before_pausing(SharedBuffer(32 * 2**20, 9, 37500), 8, 400e3)
    True
    """
    threshold = steady_threshold_bytes(buffer, ingress_ports)
    return kmin_bytes < ingress_ports * (buffer.reserve_bytes + threshold)


def storm_exposure_s_per_year(
    nic_failures_per_year: float, blocked_fraction: float, detection_s: float = SWITCH_WATCHDOG_S[1]
) -> float:
    """Seconds of fabric time lost a year to NICs that pause for ever: failures x detection time x share
    blocked.

    Without a watchdog `detection_s` is the time until someone pulls the plug.

    >>> round(storm_exposure_s_per_year(20, 1.0, 0.4), 3), storm_exposure_s_per_year(20, 1.0, 1800.0)
    (8.0, 36000.0)
    """
    return nic_failures_per_year * blocked_fraction * detection_s
