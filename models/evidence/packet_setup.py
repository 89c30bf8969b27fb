"""A row of a packet reference as a run of the queue solver: every figure from its columns, none from names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.solvers.queues_types import Gate, Marking, PacketFormat, SenderLaw
from models.units import bytes_per_s_from_gbit_per_s

HEADER_BYTES = 36  # 2 PPP + 20 IP + 8 UDP + 6 sequence and priority group
ACK_BYTES = 48
PAUSE_FRAME_BYTES = 31  # 2 PPP + 20 IP + 9 of the pause header
DEFAULT_DELAY_NS = 1000.0  # one way, of files that have no such column
CONFIGURATION = (
    "cfg_alpha_timer_us", "cfg_rate_dec_interval_us", "cfg_rp_timer_us", "cfg_fast_recovery_stages", "cfg_g",
    "cfg_r_ai_mbps", "cfg_r_hai_mbps", "cfg_min_rate_mbps", "cfg_kmin_kB", "cfg_kmax_kB", "cfg_pmax", "cfg_buffer_MiB",
    "cfg_pfc_dt_shift", "cfg_headroom_mult", "cfg_window", "cfg_var_window", "cfg_ack_high_prio", "cfg_ecn", "cfg_payload_B",
)  # fmt: skip

Row = Mapping[str, str]


class CannotRerun(ValueError):
    """Why a reference row has no prediction."""


@dataclass(frozen=True)
class PacketSetup:
    """Solver inputs of one row, SI units."""

    rate_bytes_per_s: float
    propagation_s: float
    buffer_bytes: float
    law: SenderLaw
    gate: Gate
    marking: Marking
    packet: PacketFormat

    @property
    def packet_s(self) -> float:
        """Serialisation of a full packet."""
        return self.packet.wire_bytes / self.rate_bytes_per_s


def number(row: Row, column: str) -> float:
    """A column as a number; CannotRerun when it is missing or no number."""
    text = row.get(column)
    if text is None or text == "":
        raise CannotRerun(f"column {column} is missing or empty")
    try:
        return float(text)
    except ValueError as error:
        raise CannotRerun(f"{column} = {text!r} is not a number") from error


def packet_setup(row: Row, hops: int, ports: int) -> PacketSetup:
    """Solver inputs of a row; `hops` links of the path set the base round trip of window mode, `ports` of the largest
    switch whether its headroom fits.

    Where headroom and reserve exceed the buffer, the reference's unsigned threshold wraps to a huge one: it never pauses.

    Raises CannotRerun for configuration columns that are missing or that the solver does not know, and for runs in which
    the reference lost packets (its headroom was below a round trip's bytes), which a lossless gate does not.
    """
    lost = float(row.get("drops") or 0)
    if lost > 0:
        raise CannotRerun(f"drops = {lost:.0f}: the reference lost packets, the solver's pauses lose none")
    unknown = [name for name in row if name and name.startswith("cfg_") and name not in CONFIGURATION]
    if unknown:
        raise CannotRerun(f"unknown parameter {', '.join(sorted(unknown))}")
    rate = bytes_per_s_from_gbit_per_s(number(row, "link_gbps"))
    propagation_s = (number(row, "prop_delay_ns") if "prop_delay_ns" in row else DEFAULT_DELAY_NS) * 1e-9
    payload = int(number(row, "cfg_payload_B"))
    packet = PacketFormat(
        payload_bytes=payload,
        header_bytes=HEADER_BYTES,
        ack_bytes=ACK_BYTES,
        whole_ns=True,
        acks_in_data_queue=number(row, "cfg_ack_high_prio") == 0,
    )
    window = float("inf")
    if number(row, "cfg_window"):
        # base BDP of the HPCC driver in its whole numbers: delays of both ways, the payload's serialisation one way
        delay_ns, payload_ns = round(propagation_s * 1e9), int(payload * 1e9 // rate)
        window = (2 * hops * delay_ns + hops * payload_ns) * round(8 * rate) // 8_000_000_000
    law, marking = _law(row, window)
    gate = Gate(
        "pfc",
        alpha=2.0 ** -number(row, "cfg_pfc_dt_shift"),
        headroom_multiple=number(row, "cfg_headroom_mult"),
        pause_frame_bytes=PAUSE_FRAME_BYTES,
    )
    buffer = number(row, "cfg_buffer_MiB") * 2**20
    if ports * (gate.headroom_multiple * rate * propagation_s + gate.reserve_bytes) > buffer:
        gate = Gate("none")
    return PacketSetup(rate, propagation_s, buffer, law, gate, marking, packet)


def _law(row: Row, window_bytes: float) -> tuple[SenderLaw, Marking]:
    if not number(row, "cfg_ecn"):
        if window_bytes == float("inf"):
            return SenderLaw("none"), Marking()
        raise CannotRerun("a window without ECN is not a sender law of the solver")
    law = SenderLaw(
        "dcqcn",
        alpha_timer_s=number(row, "cfg_alpha_timer_us") * 1e-6,
        cut_interval_s=number(row, "cfg_rate_dec_interval_us") * 1e-6,
        increase_timer_s=number(row, "cfg_rp_timer_us") * 1e-6,
        fast_recovery_stages=int(number(row, "cfg_fast_recovery_stages")),
        g=number(row, "cfg_g"),
        additive_bytes_per_s=number(row, "cfg_r_ai_mbps") * 1e6 / 8,
        hyper_bytes_per_s=number(row, "cfg_r_hai_mbps") * 1e6 / 8,
        min_rate_bytes_per_s=number(row, "cfg_min_rate_mbps") * 1e6 / 8,
        window_bytes=window_bytes,
        window_follows_rate=number(row, "cfg_var_window") != 0,
    )
    marking = Marking(
        number(row, "cfg_kmin_kB") * 1e3, number(row, "cfg_kmax_kB") * 1e3, number(row, "cfg_pmax")
    )
    return law, marking


def configuration_key(row: Row, *columns: str) -> tuple[str, ...]:
    """What makes two rows the same run but for the seed."""
    return tuple(row.get(name, "") for name in (*columns, "n", "link_gbps", "prop_delay_ns", *CONFIGURATION))
