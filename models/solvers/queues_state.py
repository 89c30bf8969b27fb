"""Layout of the compiled solver's state: one record per link, switch, route step, flow and sender.

Times are nanoseconds as float64, sizes whole bytes as int64. Records keep what is touched together in one
cache line. `LISTS` are chunked first-in first-out lists over one shared pool: link queues, then buckets of
packets in flight, then windows of echoes, then windows of pause messages.
"""

from __future__ import annotations

import numpy as np

CHUNK_SHIFT = 4
CHUNK = 1 << CHUNK_SHIFT

# Flags of a packet entry: slot << 32 | marked | last packet of its flow | choice | in-bucket time in 1/16 ns.
MARKED = 1 << 31
LAST = 1 << 30
CHOICE = 1 << 29  # the slot is the step just done; which of several follows is decided on arrival
DEAD = 1 << 28  # behind a gap: the receiver refuses it (go-back-N)
EPOCH_SHIFT, EPOCH_MASK = 24, 15 << 24  # how often its sender had gone back, modulo 16
CARRIED = MARKED | LAST | DEAD | EPOCH_MASK
TIME_MASK = (1 << 24) - 1
TICKS_PER_NS = 16.0

RUNNING, FINISHED, STEP_BOUND, POOL_FULL, UNBALANCED, SAMPLES_FULL, STALLED = range(7)

GATE_NONE, GATE_PFC, GATE_DROP = 0, 1, 2
LAW_NONE, LAW_DCQCN = 0, 1


def _record(**fields: str) -> np.dtype[np.void]:
    return np.dtype(list(fields.items()), align=True)


# Field order: what the inner loop touches together comes first and together.
LINK = _record(
    free_ns="f8",  # the next packet may start at this time
    stop_ns="f8",  # paused from this time on; inf when open
    queue_bytes="i8",
    kmin="f8",
    propagation_ns="f8",
    packet_ns="f8",
    ns_per_byte="f8",
    sent_bytes="i8",
    ingress_bytes="i8",  # held for this link by the switch it leads into
    headroom_bytes="i8",
    peak_bytes="i8",
    xoff_sent="i4",
    to_switch="i4",  # -1 for a host
    from_switch="i4",
    active="i4",
    nic="i4",  # sender number of a host link, -1 otherwise
    pauses="i4",
    kmax="f8",
    pmax="f8",
    line="f8",  # bytes per ns
    ack_ns="f8",
    pause_delay_ns="f8",
    pause_ns="f8",
    drops="i8",
    tripped="i4",  # the watchdog found it paused too long
    watchdogs="i4",
)
SWITCH = _record(shared_bytes="i8", used_bytes="i8", budget_bytes="f8")
SLOT = _record(
    link="i4",
    ingress="i4",
    flow="i4",
    next="i4",  # the only next step; -1 at the receiver, -2 where there is a choice
    packet_ns="f8",
    bytes="i4",
    ack="i4",
    children="i4",
    first_child="i4",
)
FLOW = _record(
    next_ns="f8",
    gap_ns="f8",
    cut_ns="f8",  # next armed cut tick, inf when none
    increase_ns="f8",
    left="i8",  # packets not yet sent
    sent="i8",
    root="i4",  # slot of the sender's link
    nic="i4",
    last_bytes="i4",
    marks="i4",
    delivered="i8",
    packets="i8",
    rate="f8",  # bytes per ns
    target="f8",
    alpha="f8",
    first_echo_ns="f8",
    ticks="i8",  # alpha ticks applied
    stage="i4",
    byte_stage="i4",
    echo_for_alpha="i4",
    echo_for_cut="i4",
    acked="i8",
    cuts="i8",
    reverse_ns="f8",
    ack_first="i4",
    ack_count="i4",
    ack_root="i4",
    group="i4",
    counted_bytes="i8",
    cnp_next_ns="f8",
    waiting="i4",  # flows that must end first
    lost="i4",
    dependent_first="i4",
    dependent_count="i4",
    start_ns="f8",
    shortest_ns="f8",  # last packet alone on its route
    last_sent_ns="f8",
    end_ns="f8",
    epoch="i4",  # how often the sender went back
    awaited_epoch="i4",  # of the receiver
    gap_slot="i4",  # foremost loss of this epoch, -1 when none
    refused="i4",
)
NIC = _record(link="i8", first="i8", active="i8", turn="i8")
LISTS = _record(head="i8", tail="i8", count="i8")
RUN = _record(
    window="i8",
    next_bucket="i8",
    windows_limit="i8",
    status="i8",
    random="u8",
    window_ns="f8",
    bucket_ns="f8",
    buckets_per_ns="f8",
    windows_per_ns="f8",
    buckets_per_window="i8",
    bucket_mask="i8",
    window_mask="i8",
    bucket_first="i8",
    echo_first="i8",
    gate_first="i8",
    free_chunk="i8",
    fresh_chunk="i8",
    chunk_limit="i8",
    stop_ns="f8",
    packet_bytes="i8",
    payload_bytes="i8",
    ack_bytes="i8",
    whole_ns="i8",
    law="i8",
    alpha_ticks_per_ns="f8",
    cut_ns="f8",
    cuts_per_ns="f8",
    increase_ns="f8",
    fast_stages="i8",
    g="f8",
    additive="f8",
    hyper="f8",
    min_rate="f8",
    cnp_interval_ns="f8",
    byte_counter="f8",
    window_bytes="f8",
    window_follows_rate="i8",
    echo_all="i8",
    gate="i8",
    gate_alpha="f8",
    reserve="i8",
    xon_offset="i8",
    adaptive="i8",
    acks_in_data_queue="i8",
    flows_open="i8",
    ports_active="i8",
    sample_ns="f8",
    next_sample_ns="f8",
    samples="i8",
    samples_limit="i8",
    series_ns="f8",
    next_series_ns="f8",
    series_rows="i8",
    series_limit="i8",
    checkpoints="i8",
    check="i8",
    unbalanced_window="i8",
    acks="i8",  # acknowledgements queued or in flight with the data
    hosts_paused="i8",
    switches_paused="i8",
    may_lose="i8",
    go_back="i8",
    loss_fraction="f8",
    timeout_ns="f8",
    watchdog_ns="f8",
    next_watchdog_ns="f8",
    watchdog_drops="i8",
    stall_windows="i8",  # without a byte sent anywhere: stalled
    stall_window="i8",
    stall_bytes="i8",
)
