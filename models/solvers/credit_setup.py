"""From links, flows and rules to the arrays of the credit-flow kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.solvers import credit_arrays as arrays
from models.solvers.credits import CreditFlows, CreditLinks, CreditRules

BLOCK_BYTES = 64  # InfiniBand credit unit (IBTA vol 1, 7.9); also the tick on the fastest link
SAMPLES = 1024
NEVER = 2**62


@dataclass(frozen=True)
class Setup:
    """Kernel arguments and what is needed to read them back."""

    plan: arrays.Plan
    rule: arrays.Rule
    state: arrays.State
    tick_s: float
    lanes: int
    watch: tuple[int, ...]


def setup(links: CreditLinks, flows: CreditFlows, rules: CreditRules) -> Setup:
    """Kernel arguments; raises ValueError for what cannot run."""
    count = len(links.rate_bytes_per_s)
    lane = np.zeros(len(flows.paths), np.int64) if flows.lane is None else flows.lane
    lanes = int(lane.max(initial=0)) + 1
    if rules.stop_s is None and (flows.payload_bytes < 0).all():
        raise ValueError("endless flows need stop_s")
    full = rules.packet_payload_bytes + rules.header_bytes
    blocks = np.floor(links.buffer_bytes / BLOCK_BYTES).astype(np.int64) * BLOCK_BYTES
    if (blocks < full).any():
        bad = int(np.argmin(blocks))
        raise ValueError(
            f"link {bad}: buffer of {links.buffer_bytes[bad]:g} B is below one packet of {full} B"
        )
    tick_s = BLOCK_BYTES / float(links.rate_bytes_per_s.max())
    plan = _plan(links, flows, rules, lane, lanes, blocks, tick_s)
    rule = _rule(rules, tick_s)
    state = _state(plan, rule, links, flows, rules, tick_s)
    return Setup(
        plan, rule, state, tick_s, lanes, tuple(int(w) // lanes for w in plan.watch) if count else ()
    )


def _plan(
    links: CreditLinks,
    flows: CreditFlows,
    rules: CreditRules,
    lane: np.ndarray,
    lanes: int,
    blocks: np.ndarray,
    tick_s: float,
) -> arrays.Plan:
    count = len(links.rate_bytes_per_s)
    channels = count * lanes
    sink, host = np.zeros(channels, np.bool_), np.zeros(channels, np.bool_)
    route: list[int] = []
    last: list[bool] = []
    queue: list[int] = []
    path_first: list[int] = []
    notice: list[int] = []
    flow_path_first = np.zeros(len(flows.paths), np.int64)
    queues: dict[tuple[int, int], int] = {}
    first_channel = np.zeros(len(flows.paths), np.int64)
    for f, paths in enumerate(flows.paths):
        flow_path_first[f] = len(path_first)
        for path in paths:
            path_first.append(len(route))
            channel = [link * lanes + int(lane[f]) for link in path]
            host[channel[0]] = sink[channel[-1]] = True
            first_channel[f] = channel[0]
            notice.append(int(sum(links.credit_s[link] for link in path) / tick_s) + 1)
            for hop, c in enumerate(channel):
                onward = channel[hop + 1] if hop + 1 < len(channel) else -1
                route.append(c)
                last.append(onward < 0)
                key = (c, onward if rules.queueing == "per_output" else -1)
                queue.append(-1 if onward < 0 else queues.setdefault(key, len(queues)))
    order = np.argsort(first_channel, kind="stable")
    ticks_per_byte = np.repeat(links.rate_bytes_per_s.max() / links.rate_bytes_per_s / BLOCK_BYTES, lanes)
    start = np.maximum(0, np.rint(flows.start_s / tick_s)).astype(np.int64)
    watch = rules.watch
    if watch is None:
        uses = np.bincount([path[-1] for paths in flows.paths for path in paths[:1]], minlength=count)
        watch = tuple(int(w) for w in np.argsort(-uses, kind="stable")[:8] if uses[w] > 1)
    marking = rules.marking
    return arrays.Plan(
        wire=np.repeat(np.arange(count), lanes),
        ticks_per_byte=ticks_per_byte,
        forward_ticks=np.repeat(links.forward_s / tick_s, lanes),
        credit_ticks=np.maximum(1, np.rint(np.repeat(links.credit_s / tick_s, lanes))).astype(np.int64),
        buffer_bytes=np.repeat(blocks, lanes),
        sink=sink,
        host=host,
        tier=np.repeat(links.tier.astype(np.int64), lanes),
        crossbar_ticks_per_byte=ticks_per_byte / rules.crossbar_speedup,
        route=np.array(route, np.int64),
        last=np.array(last, np.bool_),
        queue=np.array(queue, np.int64),
        path_first=np.array(path_first, np.int64),
        notice_ticks=np.array(notice, np.int64),
        flow_path_first=flow_path_first,
        flow_paths=np.array([len(paths) for paths in flows.paths], np.int64),
        flow_bytes=flows.payload_bytes.astype(np.int64),
        flow_start=start,
        flow_group=flows.group.astype(np.int64),
        start_order=np.argsort(start, kind="stable"),
        host_flow_first=np.searchsorted(first_channel[order], np.arange(channels + 1)).astype(np.int64),
        host_flows=order,
        watch=np.array([w * lanes for w in watch], np.int64),
        delay_factor=np.zeros(1) if marking is None else np.asarray(marking.delay_packets, np.float64),
    )


def _rule(rules: CreditRules, tick_s: float) -> arrays.Rule:
    marking = rules.marking
    return arrays.Rule(
        payload_bytes=rules.packet_payload_bytes,
        header_bytes=rules.header_bytes,
        block_bytes=BLOCK_BYTES,
        path_choice={"first": 0, "spray": 1, "adaptive": 2}[rules.path_choice],
        cut_through=rules.cut_through,
        warm_tick=round(rules.warmup_s / tick_s),
        stop_tick=NEVER if rules.stop_s is None else round(rules.stop_s / tick_s),
        drain=rules.drain and rules.stop_s is not None,
        stop_when_done=rules.stop_s is None,
        step_limit=rules.step_limit,
        mark_bytes=-1 if marking is None else int(marking.threshold_bytes),
        mark_probability=1.0 if marking is None else float(marking.probability),
        mark_victims=marking is not None and marking.mark_victims,
        index_increase=1 if marking is None else marking.increase,
        index_limit=0 if marking is None else min(marking.limit, len(marking.delay_packets) - 1),
        index_minimum=0 if marking is None else marking.minimum,
        index_timer_ticks=1.0 if marking is None else marking.timer_s / tick_s,
        check=rules.check_conservation,
    )


def _state(
    plan: arrays.Plan,
    rule: arrays.Rule,
    links: CreditLinks,
    flows: CreditFlows,
    rules: CreditRules,
    tick_s: float,
) -> arrays.State:
    channels, flow_count = len(plan.wire), len(flows.paths)
    full = rule.payload_bytes + rule.header_bytes
    # a packet holds credit of exactly one channel; only the last packet of a flow may be short
    used = np.zeros(channels, np.bool_)
    used[plan.route] = True
    packets = int((plan.buffer_bytes[used] // full + 1).sum()) + flow_count + 8
    notices = int(
        (plan.notice_ticks.max(initial=1) * plan.sink.sum()) / max(1.0, plan.ticks_per_byte.min() * full)
    )
    events = 3 * packets + 3 * channels + len(plan.route) + flow_count + 64
    events += notices + flow_count if rule.mark_bytes >= 0 else 0
    longest = (plan.buffer_bytes + 3 * full) * plan.ticks_per_byte + plan.forward_ticks + plan.credit_ticks
    horizon = float(longest.max(initial=1)) + float(plan.notice_ticks.max(initial=1))
    horizon = max(
        horizon, full * float(plan.ticks_per_byte.max(initial=1)) * (2 + float(plan.delay_factor.max()))
    )
    slots = 1 << (int(horizon) + 8).bit_length()
    queues = int(plan.queue.max(initial=0)) + 1
    groups, tiers = int(plan.flow_group.max(initial=0)) + 1, int(plan.tier.max(initial=0)) + 1
    counter = np.zeros(13, np.int64)
    counter[arrays.OPEN_FLOWS] = int((plan.flow_bytes >= 0).sum())
    counter[arrays.SAMPLE_TICKS] = max(1, round((rules.sample_s or _sample_s(links, flows, rules)) / tick_s))
    packet_next = np.arange(1, packets + 1)
    packet_next[-1] = -1
    event_next = np.arange(1, events + 1)
    event_next[-1] = -1

    def ints(size: int, fill: int = 0) -> np.ndarray:
        return np.full(size, fill, np.int64)

    def none(size: int) -> np.ndarray:
        return ints(size, -1)

    return arrays.State(
        credit=plan.buffer_bytes.copy(),
        wire_free=np.zeros(len(links.rate_bytes_per_s)),
        waiting=ints(channels),
        waiting_integral=np.zeros(channels),
        waiting_since=ints(channels),
        waiting_peak=np.zeros(channels),
        sent=ints(channels),
        sent_window=ints(channels),
        stall_since=np.full(channels, -1.0),
        stalled=np.zeros(channels),
        crossbar_free=ints(channels),
        request_head=none(channels),
        request_tail=none(channels),
        host_turn=ints(channels),
        host_wake=none(channels),
        dirty=np.zeros(channels, np.bool_),
        dirty_list=ints(channels),
        queue_head=none(queues),
        queue_tail=none(queues),
        queue_busy=np.zeros(queues, np.bool_),
        request_next=none(queues),
        packet_position=ints(packets),
        packet_flow=ints(packets),
        packet_bytes=ints(packets),
        packet_next=packet_next,
        packet_sent=np.zeros((packets, 2)),
        packet_mark=np.zeros(packets, np.bool_),
        wheel_head=none(slots),
        wheel_tail=none(slots),
        event_next=event_next,
        event_code=ints(events),
        event_value=ints(events),
        left=plan.flow_bytes.copy(),
        delivered=ints(flow_count),
        delivered_window=ints(flow_count),
        packets_window=ints(flow_count),
        latency_window=np.zeros(flow_count),
        done=none(flow_count).astype(np.float64),
        path_turn=ints(flow_count),
        index=ints(flow_count, rule.index_minimum),
        index_tick=ints(flow_count),
        allowed=np.zeros(flow_count),
        notices=ints(flow_count),
        counter=counter,
        random=np.array([rules.seed * 0x9E3779B97F4A7C15 + 1 & (2**64 - 1)], np.uint64),
        sample_queue=np.zeros((SAMPLES, len(plan.watch))),
        sample_delivered=np.zeros((SAMPLES, groups)),
        sample_stalled=np.zeros((SAMPLES, tiers)),
    )


def _sample_s(links: CreditLinks, flows: CreditFlows, rules: CreditRules) -> float:
    """First sampling interval: the serialisation bound in 512 parts; the kernel thins out when more is needed."""
    if rules.stop_s is not None:
        return rules.stop_s / 512
    load = np.zeros(len(links.rate_bytes_per_s))
    for paths, size in zip(flows.paths, flows.payload_bytes, strict=True):
        load[list(paths[0])] += max(0, int(size))
    longest = float((load / links.rate_bytes_per_s).max(initial=0.0)) + float(flows.start_s.max(initial=0.0))
    return max(longest, 1e-6) / 512
