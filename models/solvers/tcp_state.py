"""Layout of the compiled TCP solver's state: one record per flow and port; and its events as two numbers.

Times are whole picoseconds: a byte takes a whole number at every usual line rate, so two ways to the same instant give
the same number. Records keep what is touched together in one cache line.

An event is its time and a code: kind | transmission | flow | hop | marked. Codes order what happens at one instant:
arrivals, then acknowledgements, then timers; of two alike the packet whose sender has sent less, then the lower flow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

TICKS_PER_S = 1_000_000_000_000
NEVER = 1 << 62

ARRIVE, HEAR, START, EXPIRE = range(4)
MARKED = 1
SECOND_HOP = 2  # at the receiver's port, after the link into its switch
FLOW_SHIFT, FLOW_BITS = 2, 22
SENT_SHIFT, SENT_BITS = FLOW_SHIFT + FLOW_BITS, 36
KIND_SHIFT = SENT_SHIFT + SENT_BITS
FLOW_MASK, SENT_MASK = (1 << FLOW_BITS) - 1, (1 << SENT_BITS) - 1

FINISHED, TIME_LIMIT, EVENT_LIMIT, UNBALANCED = range(4)
REORDER_PACKETS = 3  # RFC 9002 (6.1.1): lost when one sent so many later is acknowledged
SMALLEST_WINDOW = 2.0  # RFC 5681 (4), RFC 9002 (7.2), Linux DCTCP; a timeout goes below
LONGEST_TIMEOUT_TICKS = 60 * TICKS_PER_S  # RFC 6298 (2.5)
BINS = 2048  # of the series
SPARE_SENT = 8  # transmissions a sender may know of beyond its window


def _record(**fields: str) -> np.dtype[np.void]:
    return np.dtype(list(fields.items()), align=True)


FLOW = _record(
    packets="i8",  # to deliver so far; < 0: without end
    block="i8",  # more of them a block
    first_port="i4",  # -1: none
    last_port="i4",
    line_free="i8",
    window="f8",
    threshold="f8",
    flying="i8",  # transmissions neither acknowledged nor known to be lost
    sent="i8",  # transmissions so far: number of the next
    fresh="i8",  # packets sent at least once
    again="i8",  # packets to be sent again
    acked="i8",
    settled="i8",  # every earlier transmission is acknowledged or known to be lost
    unheard_drops="i8",  # transmissions lost and not known to be
    recovery_from="i8",  # the window grows, and marks cut it, only by later transmissions
    loss_from="i8",  # loss cuts it only by later transmissions
    deadline="i8",  # of the retransmission timer, NEVER when off
    timer="i8",  # earliest timer event in the heap that counts
    timeout="i8",
    backoff="i8",
    timed="i8",  # transmission whose round trip is measured, -1 when none
    timed_at="i8",
    smoothed="f8",
    variation="f8",
    alpha="f8",
    window_end="i8",
    heard="i8",
    heard_marked="i8",
    start="i8",
    end="i8",  # of its block, NEVER until all of it is acknowledged
    drops="i8",
    timeouts="i8",
    queued="i8",  # by the last census: in a port,
    in_flight="i8",  # on a link or in the sender's host,
    received="i8",  # at the receiver with the acknowledgement on its way
)
PORT = _record(
    free="i8",  # all that is queued has left at this time
    room_packets="i8",  # the port drops what comes when it holds so many
    mark_packets="i8",  # and marks what comes when it holds more than that
    drops="i8",
    marks="i8",
    peak_packets="i8",
    wait="f8",  # packets x ticks waited before the wire
    counted="i8",  # packets by the last census
)
RUN = _record(
    wire="i8",
    send_gap="i8",
    jitter="i8",
    seed="u8",
    to_first="i8",
    between="i8",
    to_host="i8",
    back="i8",
    rto="i8",
    stop="i8",
    dctcp="i8",
    gain="f8",
    window_limit="f8",
    first_window="f8",
    events_limit="i8",
    check="i8",
    now="i8",
    status="i8",
    events="i8",
    hops="i8",  # packets that came to a port
    open_flows="i8",  # with an end and not at it
    blocks="i8",  # to come
    bin="i8",
    watch="i8",  # port of the queue series
    filled="i8",  # bins of the queue series written so far
    fault_flow="i8",
)


class State(NamedTuple):
    """Everything the compiled loop reads and writes; `run` is one record."""

    run: Any
    flows: NDArray[Any]
    ports: NDArray[Any]
    dropped: NDArray[np.uint8]  # [flow, transmission modulo a power of two]
    queue_bins: NDArray[np.int64]  # packets
    rate_bins: NDArray[np.int64]  # [bin, 2] packets: bursts, endless flows
