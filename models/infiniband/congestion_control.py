"""InfiniBand congestion control: FECN marks at switches, BECN notices, and the sender's rate table. Off by
default.

Switch port: packets that pass an output over its threshold are marked, every (1 + marking rate)-th in the
mean, at the root of the congestion only unless the victim mask is set. Sender: a notice raises the index CCTI
by `increase` up to `limit`; every timer x 1.024 us it falls by one. The table turns the index into a wait of
mult / 2^shift packet times after each packet: rate = C / (1 + mult / 2^shift).

Sources: IBTA vol 1 annex A10; field meaning in opensm `osm_subnet.c`; sender logic in Linux `hfi1` `rc.c`.
Parameter sets in `catalog/congestion/ib_cc.csv`; all are of QDR age, no public set for NDR is known.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from models.solvers.credits import Floats, MarkingRule

TIMER_UNIT_S = 1.024e-6
LINK_SLOWDOWN = 0.218  # constant of the LLNL table generator


@dataclass(frozen=True)
class CongestionControl:
    """One parameter set; `threshold` 0 = off, 1 = loose .. 15 = aggressive."""

    name: str
    label: str
    table_divisor: float
    table_shift: int
    cct_entries: int
    increase: int
    limit: int
    minimum: int
    timer_units: int
    threshold: int
    marking_rate: int
    packet_size_credits: int
    victim_mask: bool
    confidence: str
    source: str

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 15:
            raise ValueError(f"threshold: {self.threshold} is not in 0..15")
        if not 0 <= self.minimum <= self.limit < self.cct_entries:
            raise ValueError(f"need 0 <= minimum <= limit < entries, got {self.minimum}, {self.limit}")

    @property
    def timer_s(self) -> float:
        """Time after which the index falls by one."""
        return TIMER_UNIT_S * self.timer_units


@cache
def congestion_control_sets() -> dict[str, CongestionControl]:
    """The shipped parameter sets by name."""
    text = resources.files("models.catalog").joinpath("congestion/ib_cc.csv").read_text("utf-8")
    sets = {}
    for row in csv.DictReader(text.splitlines()):
        sets[row["name"]] = CongestionControl(
            name=row["name"],
            label=row["label"],
            table_divisor=float(row["table_divisor"]),
            table_shift=int(row["table_shift"]),
            cct_entries=int(row["cct_entries"]),
            increase=int(row["increase"]),
            limit=int(row["limit"]),
            minimum=int(row["minimum"]),
            timer_units=int(row["timer_units"]),
            threshold=int(row["threshold"]),
            marking_rate=int(row["marking_rate"]),
            packet_size_credits=int(row["packet_size_credits"]),
            victim_mask=row["victim_mask"] == "1",
            confidence=row["confidence"],
            source=row["source"],
        )
    return sets


def delay_packets(control: CongestionControl) -> Floats:
    """Wait after a packet, in packet times, by index: floor(7 i^2 / divisor^2 / 0.218) / 2^shift.

    >>> rate = 1 / (1 + delay_packets(congestion_control_sets()["simula_qdr"]))
    >>> [round(float(rate[i]), 3) for i in (0, 32, 64, 96, 127)]
    [1.0, 0.8, 0.421, 0.235, 0.148]
    """
    index = np.arange(control.cct_entries)
    multiplier = np.floor(7.0 * index**2 / control.table_divisor**2 / LINK_SLOWDOWN)
    delays: Floats = multiplier / 2.0**control.table_shift
    return delays


def threshold_bytes(control: CongestionControl, buffer_bytes: float) -> float:
    """Output backlog above which packets are marked: (16 - threshold) / 16 of the lane's buffer.

    *Assumption*: the standard only says that the 15 steps are spread evenly from loose to aggressive.
    """
    return buffer_bytes * (16 - control.threshold) / 16.0


def marking_rule(control: CongestionControl | None, buffer_bytes: float) -> MarkingRule | None:
    """What the credit solver needs; None when the set is off."""
    if control is None or control.threshold == 0:
        return None
    return MarkingRule(
        threshold_bytes=threshold_bytes(control, buffer_bytes),
        probability=1.0 / (1.0 + control.marking_rate),
        delay_packets=delay_packets(control),
        increase=control.increase,
        limit=control.limit,
        minimum=control.minimum,
        timer_s=control.timer_s,
        mark_victims=control.victim_mask,
    )


@dataclass(frozen=True)
class Equilibrium:
    """Where the fluid form settles, when it does."""

    index: float
    rate_fraction: float  # of the line rate, per flow
    notices_per_s: float  # per flow
    marking_probability: float  # share of a flow's packets that must be marked
    settles: bool  # False: the table's end is not slow enough, or marking cannot supply the notices


def equilibrium(
    control: CongestionControl, flows: int, rate_bytes_per_s: float, packet_bytes: float
) -> Equilibrium:
    """Fluid equilibrium of `flows` equal senders into one port.

    d k / dt = Inc l m - 1 / timer = 0 with packet rate l = C / (N P): each flow needs 1 / (timer Inc)
    notices a second, whatever its rate; k* solves C / (1 + cct(k)) = C / N by linear interpolation of the
    table. *Assumptions* Continuous index, feedback delay short against the timer.
    """
    delays = delay_packets(control)[: control.limit + 1]
    wanted = flows - 1.0
    notices = 1.0 / (control.timer_s * control.increase)
    packets_per_s = rate_bytes_per_s / flows / packet_bytes
    marking = notices / packets_per_s
    reachable = wanted <= delays[-1]
    rising = np.maximum.accumulate(delays + np.arange(len(delays)) * 1e-12)
    index = float(np.interp(wanted, rising, np.arange(len(delays)))) if reachable else float(control.limit)
    fraction = 1.0 / (1.0 + (wanted if reachable else float(delays[-1])))
    possible = marking <= 1.0 / (1.0 + control.marking_rate)
    return Equilibrium(max(index, control.minimum), fraction, notices, marking, bool(reachable and possible))
