"""From the figures of a TCP run to the records its compiled loop works on."""

from __future__ import annotations

from math import floor, isinf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.solvers import tcp_state as state

if TYPE_CHECKING:
    from models.solvers.tcp_loss import TcpRules

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def room_packets(packet_bytes: float, buffer_bytes: float, alpha: float) -> int:
    """Packets a port may hold: the next must fit beside them, in the buffer and under alpha (B - q).

    Choudhury and Hahne, IEEE/ACM Transactions on Networking 1998.

    >>> room_packets(1000.0, 60e3, 1.0), room_packets(1000.0, 60e3, float("inf")), room_packets(1500.0, 32e3, 8.0)
    (30, 60, 19)
    """
    whole = floor(buffer_bytes / packet_bytes)
    if isinf(alpha):
        return whole
    room = min(whole, floor((alpha * buffer_bytes / packet_bytes + alpha) / (1.0 + alpha)) + 1)
    while room > 0 and room * packet_bytes > alpha * (buffer_bytes - (room - 1) * packet_bytes):
        room -= 1
    return room


def refuse_impossible(
    packets: Counts, first: Counts, last: Counts, links: int, rules: TcpRules, blocks: int
) -> None:
    """ValueError in one line: what, the value, what is allowed."""
    if len(packets) == 0 or len(packets) > state.FLOW_MASK:
        raise ValueError(f"flows: {len(packets)} must be 1 to {state.FLOW_MASK}")
    if (packets == 0).any():
        raise ValueError(
            f"packets: flow {int(np.argmin(np.abs(packets)))} has none; at least 1, or < 0 for no end"
        )
    if blocks < 1:
        raise ValueError(f"blocks: {blocks} must be at least 1")
    if first.max() >= links or last.min() < 0 or last.max() >= links:
        raise ValueError(f"first_link, last_link: must be 0 to {links - 1} (first_link -1 for none)")
    for name in ("packet_bytes", "alpha"):
        if not getattr(rules, name) > 0:
            raise ValueError(f"{name}: {getattr(rules, name)} must be above 0")
    for name in ("wire_s", "send_gap_s", "rto_s", "stop_s", "bin_s"):
        if not _ticks(getattr(rules, name)) > 0:
            raise ValueError(f"{name}: {getattr(rules, name)} must be at least 1e-12")
    for name in ("to_first_s", "between_s", "to_host_s", "back_s"):
        if not 0 <= getattr(rules, name) < np.inf:
            raise ValueError(f"{name}: {getattr(rules, name)} must be at least 0 and finite")
    if not 0 <= rules.jitter_s <= 0.5:
        raise ValueError(f"jitter_s: {rules.jitter_s} must be 0 to 0.5")
    for name in ("initial_window_packets", "window_limit_packets"):
        if not 1 <= getattr(rules, name) < np.inf:
            raise ValueError(f"{name}: {getattr(rules, name)} must be at least 1 and finite")


def _ticks(seconds: float) -> int:
    return min(state.NEVER, round(seconds * state.TICKS_PER_S)) if not isinf(seconds) else state.NEVER


def initial_state(
    packets: Counts,
    first: Counts,
    last: Counts,
    start_s: Array,
    links: int,
    rules: TcpRules,
    blocks: int,
    events: int,
    check: bool,
) -> state.State:
    """Records of a run before its first event, in ticks and packets."""
    dctcp = rules.law == "dctcp"
    flows, ports = np.zeros(len(packets), state.FLOW), np.zeros(links, state.PORT)
    flows["packets"], flows["block"], flows["first_port"], flows["last_port"] = packets, packets, first, last
    flows["start"] = np.rint(start_s * state.TICKS_PER_S)
    flows["line_free"] = flows["start"]
    flows["window"] = min(float(rules.initial_window_packets), float(rules.window_limit_packets))
    flows["threshold"] = np.inf
    flows["alpha"] = 1.0  # Linux dctcp_alpha_on_init
    flows["timed"] = -1
    for name in ("deadline", "timer", "end"):
        flows[name] = state.NEVER
    flows["timeout"] = _ticks(rules.rto_s)
    ports["room_packets"] = room_packets(rules.packet_bytes, rules.buffer_bytes, rules.alpha)
    marked = dctcp and not isinf(rules.ecn_bytes)
    ports["mark_packets"] = floor(rules.ecn_bytes / rules.packet_bytes) if marked else state.NEVER
    run = np.zeros(1, state.RUN)[0]
    for name in (
        "wire",
        "send_gap",
        "jitter",
        "to_first",
        "between",
        "to_host",
        "back",
        "rto",
        "stop",
        "bin",
    ):
        run[name] = _ticks(getattr(rules, f"{name}_s"))
    run["seed"], run["dctcp"], run["gain"], run["window_limit"] = (
        rules.seed,
        dctcp,
        rules.gain,
        rules.window_limit_packets,
    )
    run["first_window"], run["blocks"] = flows["window"][0], blocks - 1
    run["events_limit"], run["check"] = events, check
    run["open_flows"], run["watch"], run["fault_flow"] = int((packets > 0).sum()), int(last[0]), -1
    away = min(rules.window_limit_packets, float(packets.max()) if packets.min() > 0 else np.inf)
    known = 1 << (int(away) + state.SPARE_SENT).bit_length()
    return state.State(
        run=run,
        flows=flows,
        ports=ports,
        dropped=np.zeros((len(packets), known), np.uint8),
        queue_bins=np.zeros(state.BINS, np.int64),
        rate_bins=np.zeros((state.BINS, 2), np.int64),
    )
