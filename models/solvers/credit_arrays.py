"""Records and scalars that the compiled credit-flow loop works on (see `credits.py`).

One record array a kind of thing, because reading a field of a record costs nothing while reading an array out
of a tuple costs a reference count. `channel` = one lane of one link; -1 ends a list; times are in ticks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ARRIVE, CREDIT, CROSSBAR, HOST, NOTICE = 0, 1, 2, 3, 4
RUNNING, FINISHED, TIME_LIMIT, STUCK, STEP_LIMIT, POOL_FULL, NOT_CONSERVED = 0, 1, 2, 3, 4, 5, 6


def _record(integers: str, reals: str = "") -> np.dtype[Any]:
    fields = [(name, np.int64) for name in integers.split()] + [(name, np.float64) for name in reals.split()]
    return np.dtype(fields)


# [channel] fixed: wire (its link; wire_free belongs to the link and is kept in that link's record), delays,
# buffer at the far end, sink / host (ends / starts in a host), flows that start here; changing: credit, bytes
# waiting in the switch for this channel, list of input queues that request it, stalls; dirty_list: channels
# to look at in this tick
CHANNEL = _record(
    "wire credit_ticks buffer_bytes sink host tier host_flow_first host_flow_end credit waiting waiting_since "
    "sent sent_window crossbar_free request_head request_tail host_turn host_wake dirty dirty_list",
    "ticks_per_byte crossbar_ticks_per_byte forward_ticks wire_free waiting_integral waiting_peak stall_since "
    "stalled",
)
# [input queue] list of packets; busy = in a request list or in the crossbar
QUEUE = _record("head tail busy request_next")
# [packet] place in the flat route array, flow, wire bytes, list link, mark, first byte sent, last byte in
PACKET = _record("position flow bytes next mark", "sent arrival")
EVENT = _record("next code value")
WHEEL = _record("head tail")
# [flow] host_flows and start_order are lists of flows: by first channel, and by start
FLOW = _record(
    "path_first paths bytes start group start_order host_flows left delivered delivered_window packets_window "
    "path_turn index index_tick notices",
    "latency_window done allowed",
)
# [position] of the flat route array: channel, is it the route's last, input queue after it;
# [path]: first position, delay of a congestion notice back to the sender
WAY = _record("route last queue path_first notice_ticks")


class Rule(NamedTuple):
    """Scalars of a run."""

    payload_bytes: int
    header_bytes: int
    block_bytes: int
    path_choice: int  # 0 first path, 1 spray in turn, 2 shortest queue at the second channel
    cut_through: bool
    warm_tick: int
    stop_tick: int
    drain: bool  # after the stop tick nothing new is sent, the run ends when all is delivered
    stop_when_done: bool
    step_limit: int
    mark_bytes: int  # < 0: no congestion control
    mark_probability: float
    mark_victims: bool
    index_increase: int
    index_limit: int
    index_minimum: int
    index_timer_ticks: float
    check: bool


class Series(NamedTuple):
    """Samples: queues of watched channels, bytes delivered by group, stalled ticks by tier; [sample, ...]."""

    queue: Any
    delivered: Any
    stalled: Any


# places in the counter array
(
    FREE_EVENT,
    PENDING,
    FREE_PACKET,
    DIRTY,
    OPEN_FLOWS,
    INJECTED,
    DELIVERED,
    FLYING,
    STARTED,
    SAMPLES,
    SAMPLE_TICKS,
    STEPS,
    STATUS,
    RANDOM,
    COUNTERS,
) = range(15)
