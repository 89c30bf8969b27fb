"""The run record of the compiled loop: parameters in whole ticks, and how time is cut into windows and buckets."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from models.solvers import queues_state as state
from models.solvers.queues_state import NEVER, TICKS_PER_NS, Extent
from models.solvers.queues_types import FloatArray, Gate, PacketFormat, SenderLaw

TICKS_PER_S = TICKS_PER_NS * 1e9
MAX_BUCKETS_PER_WINDOW = 512
PACKETS_PER_BUCKET = 4.0  # more are put in order faster in smaller buckets
STALL_WINDOWS = 1024  # at least, and more than a round trip
GATES = {"none": state.GATE_NONE, "pfc": state.GATE_PFC, "drop": state.GATE_DROP}


def ticks(time_s: float) -> int:
    """Whole ticks of a time, NEVER where it is beyond all others."""
    return NEVER if time_s * TICKS_PER_S >= NEVER else round(time_s * TICKS_PER_S)


@lru_cache(maxsize=64)
def powers(g: float) -> FloatArray:
    """(1 - g) ** n by repeated multiplication: the same bits on every machine."""
    factors = np.full(state.POWERS, 1.0 - g)
    factors[0] = 1.0
    return np.multiply.accumulate(factors)


@lru_cache(maxsize=256)
def parameters(law: SenderLaw, gate: Gate, packet: PacketFormat) -> Any:
    """The run's record with what neither the network nor the call decides; to be copied."""
    values = {
        "packet_bytes": packet.wire_bytes,
        "payload_bytes": packet.payload_bytes,
        "ack_bytes": packet.ack_bytes,
        "acks_in_data_queue": packet.acks_in_data_queue,
        "rounding_ticks": TICKS_PER_NS if packet.whole_ns else 1,
        "law": state.LAW_DCQCN if law.kind == "dcqcn" else state.LAW_NONE,
        "alpha_steps_per_tick": 1.0 / (law.alpha_timer_s * TICKS_PER_S),
        "cut_ticks": max(1, ticks(law.cut_interval_s)),
        "increase_ticks": max(1, ticks(law.increase_timer_s)),
        "increase_first": law.increase_timer_s > law.cut_interval_s,
        "fast_stages": law.fast_recovery_stages,
        "g": law.g,
        "additive": law.additive_bytes_per_s / TICKS_PER_S,
        "hyper": law.hyper_bytes_per_s / TICKS_PER_S,
        "min_rate": law.min_rate_bytes_per_s / TICKS_PER_S,
        "cnp_interval_ticks": ticks(law.cnp_interval_s),
        "byte_counter": law.byte_counter_bytes,
        "windowed": np.isfinite(law.window_bytes),
        "window_bytes": law.window_bytes,
        "window_follows_rate": law.window_follows_rate,
        "echo_all": np.isfinite(law.window_bytes),
        "gate": GATES[gate.kind],
        "gate_alpha": gate.alpha,
        "reserve_bytes": int(gate.reserve_bytes),
        "xon_offset_bytes": int(gate.xon_offset_bytes),
        "may_lose": gate.kind == "drop" or gate.watchdog_drops,
        "go_back": _goes_back(gate),
        "loss_fraction": gate.loss_fraction,
        "timeout_ticks": ticks(gate.retransmit_timeout_s),
        "next_retry_ticks": NEVER,
        "watchdog_ticks": ticks(gate.watchdog_s),
        "next_watchdog_ticks": ticks(gate.watchdog_s),
        "watchdog_drops": gate.watchdog_drops,
        "stall_bytes": -1,
        "samples_end_ticks": NEVER,
        "next_series_ticks": NEVER,
        "stop_ticks": NEVER,
        "sample_ticks": 1,
        "series_ticks": 1,
    }
    return np.array([tuple(values.get(name, 0) for name in state.RUN.names or ())], dtype=state.RUN)


def _goes_back(gate: Gate) -> bool:
    return gate.recovery == "go_back_n" and (gate.kind == "drop" or gate.watchdog_drops)


def set_windows(run: Any, links: int, extent: Extent, gate: Gate) -> None:
    """Length of a window and its buckets, and how many of each can hold something at once.

    A bucket is a power of two of ticks, at most a packet time, less where many packets arrive in one; a window is a whole
    number of buckets, not above the shortest time in which anything can be felt at the other end of a link.
    """
    lookahead = min(max(extent.pause_ticks, extent.packet_ticks // 2, 1), state.TIME_MASK)
    least = max(lookahead // MAX_BUCKETS_PER_WINDOW + 1, 1)
    wanted = min(extent.packet_ticks, lookahead) / min(max(extent.crowd / PACKETS_PER_BUCKET, 1.0), 8.0)
    shift = max(int(wanted).bit_length() - 1, (least - 1).bit_length(), 0)
    buckets = max(1, lookahead >> shift)
    window = buckets << shift
    loop = extent.loop_ticks + 2 * extent.hop_ticks
    quiet = 2.0 * ticks(gate.watchdog_s) / window if gate.watchdog_s < float("inf") else 0.0
    bucket_mask = _power_of_two((4 * extent.hop_ticks + 3 * window) / (1 << shift) + 4) - 1
    window_mask = _power_of_two(loop / window + 8) - 1
    run["bucket_shift"], run["buckets_per_window"], run["bucket_mask"] = shift, buckets, bucket_mask
    run["window_ticks"], run["windows_per_tick"], run["window_mask"] = window, 1.0 / window, window_mask
    run["bucket_first"] = links
    run["window_bytes_in"] = (window // extent.packet_ticks + 2) * int(run["packet_bytes"])
    run["echo_first"] = links + bucket_mask + 1
    run["gate_first"] = links + bucket_mask + window_mask + 2
    run["stall_windows"] = run["stall_window"] = max(STALL_WINDOWS, window_mask + 1, int(quiet))


def _power_of_two(least: float) -> int:
    return 1 << max(3, int(least).bit_length())
