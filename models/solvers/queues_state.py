"""Layout of the compiled solver's state: one record per link, switch, route step, flow and sender.

Times are whole ticks of 1/64 ns and sizes whole bytes, both int64: the same bits on every machine. Records keep
what is touched together in one cache line. `lists` are chunked first-in first-out lists over one shared pool:
link queues, then what does not fit the buckets of packets in flight, then windows of echoes, then of pause messages.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK_SHIFT = 4
CHUNK = 1 << CHUNK_SHIFT

# Flags of a packet entry: slot << 32 | marked | last packet of its flow | choice | ... | ticks since its bucket began.
MARKED = 1 << 31
LAST = 1 << 30
CHOICE = 1 << 29  # the slot is the step just done; which of several follows is decided on arrival
DEAD = 1 << 28  # behind a gap: the receiver refuses it (go-back-N)
EPOCH_SHIFT, EPOCH_MASK = 24, 15 << 24  # how often its sender had gone back, modulo 16
CARRIED = MARKED | LAST | DEAD | EPOCH_MASK
TIME_BITS = 24
TIME_MASK = (1 << TIME_BITS) - 1
TICKS_PER_NS = 64
NEVER = 1 << 62  # ticks

RUNNING, FINISHED, STEP_BOUND, POOL_FULL, UNBALANCED, SAMPLES_FULL, STALLED = range(7)

GATE_NONE, GATE_PFC, GATE_DROP = 0, 1, 2
LAW_NONE, LAW_DCQCN = 0, 1
BUCKET_SHIFT = 5
BUCKET = 1 << BUCKET_SHIFT  # packets; more of one bucket are kept in a list
LARGEST_SORT = 1024  # packets of one bucket put in order of time at once
POWERS = 1024  # of 1 - g, in a table


LINE_BYTES = 64  # of the processor's cache


def _record(**fields: str) -> np.dtype[np.void]:
    """A record that fills whole cache lines if it is more than half of one."""
    plain = np.dtype(list(fields.items()), align=True)
    spare = -plain.itemsize % LINE_BYTES if plain.itemsize > LINE_BYTES // 2 else 0
    return np.dtype([*fields.items(), *((f"spare{k}", "i8") for k in range(spare // 8))], align=True)


def cleared(count: int, record: np.dtype[np.void]) -> NDArray[Any]:
    """`count` records of zeros that begin at a cache line."""
    room = np.zeros(count * record.itemsize + LINE_BYTES, dtype=np.uint8)
    begin = -room.__array_interface__["data"][0] % LINE_BYTES
    return np.ndarray((count,), record, room, begin)


# Field order: what the inner loop touches together comes first and together.
LINK = _record(
    free_ticks="i8",  # the next packet may start at this time
    stop_ticks="i8",  # paused from this time on; NEVER when open
    queue_bytes="i8",
    kmin_bytes="i8",
    sent_bytes="i8",
    peak_bytes="i8",
    patience_ticks="i8",  # a shorter wait for the port needs no place in its queue
    active="i4",
    nic="i4",  # sender number of a host link, -1 otherwise
    longest_wait_ticks="i8",  # of packets that took no place in the queue
    next_sample_ticks="i8",  # NEVER where the queue is not watched
    ack_ticks="i8",
    ingress_bytes="i8",  # held for this link by the switch it leads into
    headroom_bytes="i8",
    xoff_sent="i4",
    to_switch="i4",  # -1 for a host
    pause_delay_ticks="i8",
    told_ticks="i8",  # when the latest pause or resume message is heard
    from_switch="i4",
    pauses="i4",
    kmax_bytes="i8",
    pmax="f8",
    line="f8",  # bytes per tick
    ticks_per_byte="f8",
    packet_ticks="i8",
    propagation_ticks="i8",
    pause_ticks="i8",
    tripped="i4",  # the watchdog found it paused too long
    watchdogs="i4",
    watch="i8",  # row of its samples
    samples="i8",
)
SWITCH = _record(shared_bytes="i8", used_bytes="i8", budget_bytes="i8", links_in="i8", asked="i8", calm="i8")
SLOT = _record(
    link="i4",
    ingress="i4",
    flow="i4",
    bytes="i4",
    packet_ticks="i8",
    hop_ticks="i8",  # packet time and propagation
    next_entry="i8",  # packet entry for what follows; -1 at the receiver
    ack="i4",
    children="i4",
    first_child="i4",
)
FLOW = _record(
    next_ticks="i8",
    gap_ticks="i8",
    cut_ticks="i8",  # next armed cut tick, NEVER when none
    increase_ticks="i8",
    left="i8",  # packets not yet sent
    sent="i8",
    root="i4",  # slot of the sender's link
    nic="i4",
    last_bytes="i4",
    marks="i4",
    delivered="i8",
    packets="i8",
    rate="f8",  # bytes per tick
    target="f8",
    alpha="f8",
    first_echo_ticks="i8",
    alpha_steps="i8",  # steps of the alpha timer applied
    stage="i4",
    byte_stage="i4",
    echo_for_alpha="i4",
    acked="i8",
    cuts="i8",
    reverse_ticks="i8",
    ack_first="i4",
    ack_count="i4",
    ack_root="i4",
    group="i4",
    counted_bytes="i8",
    cnp_next_ticks="i8",
    waiting="i4",  # flows that must end first
    lost="i4",
    dependent_first="i4",
    dependent_count="i4",
    start_ticks="i8",
    shortest_ticks="i8",  # last packet alone on its route
    last_sent_ticks="i8",
    end_ticks="i8",  # NEVER until it ends
    epoch="i4",  # how often the sender went back
    awaited_epoch="i4",  # of the receiver
    gap_slot="i4",  # foremost loss of this epoch, -1 when none
    refused="i4",
    retry_ticks="i8",  # when the sender goes back for want of news; NEVER when it waits for none
    retry_epoch="i8",
)
NIC = _record(link="i8", first="i8", active="i8", turn="i8")
LISTS = _record(head="i8", tail="i8")
RUN = _record(
    window="i8",
    next_bucket="i8",
    end_ticks="i8",  # of the window
    free_chunk="i8",
    fresh_chunk="i8",
    chunk_limit="i8",
    status="i8",
    random="u8",
    bucket_first="i8",
    bucket_shift="i8",  # a bucket is 2**shift ticks
    bucket_mask="i8",
    window_ticks="i8",
    windows_per_tick="f8",
    window_mask="i8",
    echo_first="i8",
    gate_first="i8",
    gate="i8",
    gate_alpha="f8",
    reserve_bytes="i8",
    xon_offset_bytes="i8",
    window_bytes_in="i8",  # the most that reaches a switch by one link in a window
    law="i8",
    alpha_steps_per_tick="f8",
    cut_ticks="i8",
    increase_ticks="i8",
    increase_first="i8",  # of two timers due at one instant
    fast_stages="i8",
    g="f8",
    additive="f8",
    hyper="f8",
    min_rate="f8",
    cnp_interval_ticks="i8",
    byte_counter="f8",
    windowed="i8",
    window_bytes="f8",
    window_follows_rate="i8",
    echo_all="i8",
    packet_bytes="i8",
    payload_bytes="i8",
    ack_bytes="i8",
    rounding_ticks="i8",  # packet times are rounded to this
    adaptive="i8",
    acks_in_data_queue="i8",
    may_lose="i8",
    go_back="i8",
    buckets_per_window="i8",
    stop_ticks="i8",
    windows_limit="i8",
    flows_open="i8",
    ports_active="i8",
    sample_ticks="i8",
    samples_end_ticks="i8",  # the room for samples lasts till then
    series_ticks="i8",
    next_series_ticks="i8",
    series_rows="i8",
    series_limit="i8",
    checkpoints="i8",
    check="i8",
    acks="i8",  # acknowledgements queued or in flight with the data
    loss_fraction="f8",
    timeout_ticks="i8",
    next_retry_ticks="i8",
    watchdog_ticks="i8",
    next_watchdog_ticks="i8",
    watchdog_drops="i8",
    stall_windows="i8",  # without a byte sent anywhere: stalled
    stall_window="i8",
    stall_bytes="i8",
)


class State(NamedTuple):
    """Everything the compiled loop reads and writes; `run` is one record."""

    run: Any
    links: NDArray[Any]
    switches: NDArray[Any]
    slots: NDArray[Any]
    children: NDArray[np.int64]
    flows: NDArray[Any]
    nics: NDArray[Any]
    nic_flows: NDArray[np.int64]
    due: NDArray[np.int64]
    turn: NDArray[np.int64]
    ack_links: NDArray[np.int64]
    dependents: NDArray[np.int64]
    powers: NDArray[np.float64]
    bucket_count: NDArray[np.int64]
    buckets: NDArray[np.int64]
    lists: NDArray[Any]
    pool: NDArray[np.int64]
    following: NDArray[np.int64]
    active: NDArray[np.int64]
    watch: NDArray[np.int64]
    samples: NDArray[np.float32]
    series: NDArray[np.float64]
    checkpoint_ticks: NDArray[np.int64]
    checkpoint_packets: NDArray[np.int64]


class Extent(NamedTuple):
    """What the length of a window and the room for packets follow from, over the links in use."""

    packet_ticks: int  # shortest
    pause_ticks: int  # shortest delay of a pause message
    hop_ticks: int  # longest
    loop_ticks: int  # longest, of the last packet out and its acknowledgement back
    wires: float  # packets on all wires
    to_send: float  # packets
    crowd: float  # packets that reach switches in one packet time when all busy receivers are fed at line rate, roughly


# what a run writes and the next seed needs fresh; the rest is only read, or scratch room
WRITTEN = (
    "run", "links", "switches", "flows", "nics", "nic_flows", "due", "turn", "bucket_count", "lists", "samples", "series",
    "checkpoint_packets",
)  # fmt: skip
