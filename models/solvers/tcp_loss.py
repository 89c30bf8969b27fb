"""TCP over lossy Ethernet, packet by packet: windows, marks, tail drops, fast retransmit and timeouts.

Senders keep a window of packets in flight (ten at the start, slow start, then one more a round trip). A packet that
meets a full queue is lost; the sender learns of it when three later packets are acknowledged, or when nothing comes
back for the retransmission timeout, which then doubles. With `dctcp` the window shrinks by the share of marked
packets (Alizadeh et al., SIGCOMM 2010); with `reno` it halves at a loss.

*Assumptions*: every packet is acknowledged on an idle return path; selective acknowledgement; two queues a path (the
link into the receiver's switch and its port), each in a switch with its own dynamic threshold alpha (B - q).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EVENTS_LIMIT = 60_000_000
STATUS = ("finished", "time limit", "event limit")


@dataclass(frozen=True)
class TcpRules:
    """Figures of a run, SI units; `alpha` is the dynamic threshold of the switch memory."""

    packet_bytes: float
    wire_s: float
    send_gap_s: float
    to_first_s: float
    between_s: float
    to_host_s: float
    back_s: float
    alpha: float
    buffer_bytes: float
    ecn_bytes: float
    law: Literal["dctcp", "reno"]
    initial_window_packets: float
    window_limit_packets: float
    rto_s: float
    stop_s: float
    bin_s: float
    gain: float = 1.0 / 16.0


@dataclass(frozen=True, eq=False)
class TcpRun:
    """One run. Arrays [flows], [links] or [samples]; nan = not finished."""

    status: str
    end_s: float
    fct_s: Array
    delivered_packets: NDArray[np.int64]
    sent_packets: NDArray[np.int64]
    timeouts: NDArray[np.int64]
    drops: NDArray[np.int64]
    marks: int
    queue_mean_bytes: Array
    queue_peak_bytes: Array
    time_s: Array
    queue_bytes: Array
    rate_bytes_per_s: Array  # [samples, 2]: bursts, endless flows


def tcp_run(
    packets: NDArray[np.int64],
    first_link: NDArray[np.int64],
    last_link: NDArray[np.int64],
    start_s: Array,
    links: int,
    rules: TcpRules,
) -> TcpRun:
    """Runs all flows to their end; `packets` < 0 is a flow without end, -1 in `first_link` is no such queue."""
    from models.solvers.tcp_kernels import advance

    (
        status, end_s, fct_s, delivered, sent, timeouts, drops, marks, waiting, peak, queue, rate, bin_s, _,
    ) = advance(
        packets, first_link, last_link, start_s, links, rules.packet_bytes, rules.wire_s, rules.send_gap_s,
        rules.to_first_s, rules.between_s, rules.to_host_s, rules.back_s, rules.alpha, rules.buffer_bytes,
        rules.ecn_bytes, rules.law == "dctcp", rules.gain, float(rules.initial_window_packets),
        float(rules.window_limit_packets), rules.rto_s, rules.stop_s, EVENTS_LIMIT, rules.bin_s,
    )  # fmt: skip
    used = min(len(queue), int(end_s / bin_s) + 1)
    return TcpRun(
        status=STATUS[int(status)],
        end_s=float(end_s),
        fct_s=fct_s,
        delivered_packets=delivered,
        sent_packets=sent,
        timeouts=timeouts,
        drops=drops,
        marks=int(marks),
        queue_mean_bytes=waiting / max(float(end_s), 1e-12),
        queue_peak_bytes=peak,
        time_s=(np.arange(used) + 1.0) * bin_s,
        queue_bytes=queue[:used],
        rate_bytes_per_s=rate[:used] / bin_s,
    )
