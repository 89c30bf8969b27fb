"""Arrays and scalars that the compiled credit-flow loop works on (see `credits.py`)."""

from __future__ import annotations

from typing import Any, NamedTuple

ARRIVE, CREDIT, CROSSBAR, HOST, NOTICE = 0, 1, 2, 3, 4
RUNNING, FINISHED, TIME_LIMIT, STUCK, STEP_LIMIT, POOL_FULL, NOT_CONSERVED = 0, 1, 2, 3, 4, 5, 6


class Plan(NamedTuple):
    """What stays fixed in a run. `channel` = one lane of one link; positions index the flat route array."""

    wire: Any  # [channel] link that carries the channel
    ticks_per_byte: Any  # [channel]
    forward_ticks: Any  # [channel] propagation and fall-through
    credit_ticks: Any  # [channel] time a freed buffer needs to become a credit upstream
    buffer_bytes: Any  # [channel] input buffer at the far end
    sink: Any  # [channel] ends in a host
    host: Any  # [channel] starts in a host
    tier: Any  # [channel]
    crossbar_ticks_per_byte: Any  # [channel]
    route: Any  # [position] channel
    last: Any  # [position] is this the route's last channel
    queue: Any  # [position] input queue the packet waits in after this channel (-1 at a sink)
    path_first: Any  # [path] first position
    notice_ticks: Any  # [path] delay of a congestion notice back to the sender
    flow_path_first: Any  # [flow]
    flow_paths: Any  # [flow]
    flow_bytes: Any  # [flow] payload, -1 = endless
    flow_start: Any  # [flow] tick
    flow_group: Any  # [flow]
    start_order: Any  # [flow] flows by start
    host_flow_first: Any  # [channel + 1]
    host_flows: Any  # flows by first channel
    watch: Any  # [watched] channels whose queue is recorded
    delay_factor: Any  # [CCTI] inter-packet delay in packet times


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


class State(NamedTuple):
    """What changes. Packets, queues and events are linked lists in fixed pools; index -1 ends a list."""

    credit: Any
    wire_free: Any
    waiting: Any
    waiting_integral: Any
    waiting_since: Any
    waiting_peak: Any
    sent: Any
    sent_window: Any
    stall_since: Any
    stalled: Any
    crossbar_free: Any
    request_head: Any
    request_tail: Any
    host_turn: Any
    host_wake: Any
    dirty: Any
    dirty_list: Any
    queue_head: Any
    queue_tail: Any
    queue_busy: Any
    request_next: Any
    packet_position: Any
    packet_flow: Any
    packet_bytes: Any
    packet_next: Any
    packet_sent: Any
    packet_mark: Any
    wheel_head: Any
    wheel_tail: Any
    event_next: Any
    event_code: Any
    event_value: Any
    left: Any
    delivered: Any
    delivered_window: Any
    packets_window: Any
    latency_window: Any
    done: Any
    path_turn: Any
    index: Any
    index_tick: Any
    allowed: Any
    notices: Any
    counter: Any  # see the places below
    random: Any
    sample_queue: Any
    sample_delivered: Any
    sample_stalled: Any


# places in State.counter
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
) = range(13)
