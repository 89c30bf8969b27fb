"""TCP over lossy Ethernet, packet by packet: windows, marks, tail drops, fast retransmit and timeouts.

Senders keep a window of packets in flight (ten at the start, slow start, then one more a round trip). A packet that
meets a full queue is lost; the sender learns of it when one sent three later is acknowledged (RFC 9002), or when
nothing comes back for the retransmission timeout (RFC 6298: `rto_s`, or the round trip with four variations where that
is more), which then doubles. With `dctcp` a mark shrinks the window by half the share of marked packets, once a
window of data (RFC 8257; Alizadeh et al., SIGCOMM 2010); with `reno` it halves at a loss and nothing is marked.

*Assumptions*: connections are open; every packet is acknowledged by itself on an idle return path; no tail loss probe;
what is still on its way is never sent again; two queues a path (the link into the receiver's switch and its port),
each alone in its switch under the dynamic threshold alpha (B - q); memory is given back packet by packet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.solvers import tcp_state as state
from models.solvers.tcp_setup import initial_state, refuse_impossible

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
EVENTS_LIMIT = 60_000_000
STATUS = ("finished", "time limit", "event limit")


@dataclass(frozen=True)
class TcpRules:
    """Figures of a run, SI units; `alpha` is the dynamic threshold of the switch memory (inf: a buffer of its own).

    `jitter_s` is the most a sender's host takes to have a packet ready, at random by `seed`. Without it senders stay in
    step and one of them can lose every race for a full buffer; up to one packet time ends that (phase effects: Floyd and
    Jacobson, Internetworking 1992).
    """

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
    jitter_s: float = 0.0
    seed: int = 1


@dataclass(frozen=True, eq=False)
class TcpRun:
    """One run. Arrays [flows], [links] or [samples]; nan = not finished.

    Sent = delivered + lost + queued + in flight, by flow; in flight includes what waits in the sender's host.
    """

    status: str
    end_s: float
    fct_s: Array
    delivered_packets: Counts
    sent_packets: Counts
    timeouts: Counts
    drops: Counts
    marks: int
    queue_mean_bytes: Array
    queue_peak_bytes: Array
    time_s: Array
    queue_bytes: Array
    rate_bytes_per_s: Array  # [samples, 2]: bursts, endless flows
    lost_packets: Counts
    queued_packets: Counts
    in_flight_packets: Counts
    hops: int  # packets that came to a port


def tcp_run(
    packets: Counts,
    first_link: Counts,
    last_link: Counts,
    start_s: Array,
    links: int,
    rules: TcpRules,
    *,
    blocks: int = 1,
    events_limit: int = EVENTS_LIMIT,
    check: bool = False,
) -> TcpRun:
    """Runs all flows to their end; `packets` < 0 is a flow without end, -1 in `first_link` is no such queue.

    With `blocks` > 1 the receiver asks all senders for as many packets again when it has them all: synchronised reads.
    With endless flows only, runs to `stop_s`. `check` balances every packet after every event (slow). Raises
    ValueError for impossible input, ArithmeticError where `check` finds a packet astray.

    >>> rules = TcpRules(1000.0, 8e-6, 8e-6, 2e-5, 0.0, 2e-5, 4e-5, 1.0, 1e6, 1e9, "reno", 10, 500, 0.2, 1.0, 1e-4)
    >>> flow = np.zeros(1, np.int64)
    >>> made = tcp_run(flow + 10, flow - 1, flow, np.zeros(1), 1, rules)
    >>> made.status, round(float(made.fct_s[0]) * 1e6, 3)
    ('finished', 168.0)
    """
    from models.solvers.tcp_kernels import advance

    refuse_impossible(packets, first_link, last_link, links, rules, blocks)
    s = initial_state(packets, first_link, last_link, start_s, links, rules, blocks, events_limit, check)
    advance(s)
    run, flows, ports = s.run, s.flows, s.ports
    if run["status"] == state.UNBALANCED:
        raise ArithmeticError(
            f"TCP solver: packets of flow {run['fault_flow']} do not add up at {run['now']} ps"
        )
    end_s, bin_s = float(run["now"]) / state.TICKS_PER_S, float(run["bin"]) / state.TICKS_PER_S
    used = min(state.BINS, int(run["now"] // run["bin"]) + 1)
    ended = flows["end"] < state.NEVER
    return TcpRun(
        status=STATUS[int(run["status"])],
        end_s=end_s,
        fct_s=np.where(ended, (flows["end"] - flows["start"]) / state.TICKS_PER_S, np.nan),
        delivered_packets=flows["acked"] + flows["received"],
        sent_packets=flows["sent"].copy(),
        timeouts=flows["timeouts"].copy(),
        drops=ports["drops"].copy(),
        marks=int(ports["marks"].sum()),
        queue_mean_bytes=ports["wait"] * rules.packet_bytes / max(1.0, float(run["now"])),
        queue_peak_bytes=ports["peak_packets"] * rules.packet_bytes,
        time_s=(np.arange(used, dtype=np.float64) + 1.0) * bin_s,
        queue_bytes=s.queue_bins[:used].astype(np.float64) * rules.packet_bytes,
        rate_bytes_per_s=s.rate_bins[:used].astype(np.float64) * rules.packet_bytes / bin_s,
        lost_packets=flows["drops"].copy(),
        queued_packets=flows["queued"].copy(),
        in_flight_packets=flows["in_flight"].copy(),
        hops=int(run["hops"]),
    )
