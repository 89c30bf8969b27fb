"""From links, flows and rules to the arrays of the credit-flow kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.solvers import credit_arrays as arrays
from models.solvers.credits import CreditFlows, CreditLinks, CreditRules, Floats

BLOCK_BYTES = 64  # InfiniBand credit unit (IBTA vol 1, 7.9); also the tick on the fastest link
SAMPLES = 1024
NEVER = 2**62
Records = npt.NDArray[Any]


@dataclass(frozen=True)
class Setup:
    """Kernel arguments (see `credit_arrays`) and what is needed to read them back."""

    channels: Records
    queues: Records
    packets: Records
    events: Records
    wheel: Records
    flows: Records
    ways: Records
    watch: npt.NDArray[np.int64]
    delays: Floats
    series: arrays.Series
    counter: npt.NDArray[np.int64]
    rule: arrays.Rule
    tick_s: float
    lanes: int


def setup(links: CreditLinks, flows: CreditFlows, rules: CreditRules) -> Setup:
    """Kernel arguments; raises ValueError for what cannot run."""
    lane = np.zeros(len(flows.paths), np.int64) if flows.lane is None else flows.lane
    lanes = int(lane.max(initial=0)) + 1
    if rules.stop_s is None and (flows.payload_bytes < 0).all():
        raise ValueError("endless flows need stop_s")
    full = rules.packet_payload_bytes + rules.header_bytes
    buffers = np.floor(links.buffer_bytes / BLOCK_BYTES).astype(np.int64) * BLOCK_BYTES
    if (buffers < full).any():
        bad = int(np.argmin(buffers))
        raise ValueError(
            f"link {bad}: buffer of {links.buffer_bytes[bad]:g} B is below one packet of {full} B"
        )
    tick_s = BLOCK_BYTES / float(links.rate_bytes_per_s.max())
    rule = _rule(rules, tick_s)
    channels = _channels(links, rules, buffers, lanes, tick_s)
    ways, first_way, first_channel = _ways(links, flows, rules, lane, lanes, tick_s)
    inner = ways["last"] == 0
    used = np.unique(ways["route"])
    channels["host"][first_channel] = 1
    channels["sink"][ways["route"][ways["last"] == 1]] = 1
    flow_records = _flows(flows, rule, first_way, first_channel, tick_s)
    ordered = first_channel[flow_records["host_flows"]]
    channels["host_flow_first"] = np.searchsorted(ordered, np.arange(len(channels)))
    channels["host_flow_end"] = np.searchsorted(ordered, np.arange(len(channels)), side="right")
    delays = np.zeros(1) if rules.marking is None else np.asarray(rules.marking.delay_packets, np.float64)
    watch = _watch(flows, rules, len(links.tier))

    # a packet holds credit of exactly one channel; only the last packet of a flow may be short
    packets = int((channels["buffer_bytes"][used] // full + 1).sum()) + len(flow_records) + 8
    events = 3 * packets + 3 * len(channels) + len(ways) + len(flow_records) + 64
    longest_notice = int(ways["notice_ticks"].max(initial=1))
    packet_ticks = full * channels["ticks_per_byte"]
    if rule.mark_bytes >= 0:
        events += int(longest_notice / packet_ticks.min() * channels["sink"].sum()) + len(flow_records)
    backlog = channels["buffer_bytes"] * channels["ticks_per_byte"]
    horizon = float((backlog + channels["forward_ticks"] + channels["credit_ticks"]).max())
    horizon += float(packet_ticks.max()) * (4.0 + float(delays.max())) + longest_notice
    counter = np.zeros(arrays.COUNTERS, np.int64)
    counter[arrays.OPEN_FLOWS] = int((flows.payload_bytes >= 0).sum())
    interval_s = rules.sample_s or _sample_s(links, flows, rules)
    counter[arrays.SAMPLE_TICKS] = max(1, round(interval_s / tick_s))
    counter[arrays.RANDOM] = rules.seed << 32
    groups, tiers = int(flows.group.max(initial=0)) + 1, int(links.tier.max(initial=0)) + 1
    queue_count = int(ways["queue"][inner].max(initial=0)) + 1
    return Setup(
        channels=channels,
        queues=_lists(arrays.QUEUE, queue_count, "head", "tail", "request_next"),
        packets=_pool(arrays.PACKET, packets),
        events=_pool(arrays.EVENT, events),
        wheel=_lists(arrays.WHEEL, 1 << (int(horizon) + 8).bit_length(), "head", "tail"),
        flows=flow_records,
        ways=ways,
        watch=np.array([w * lanes for w in watch], np.int64),
        delays=delays,
        series=arrays.Series(
            np.zeros((SAMPLES, len(watch))), np.zeros((SAMPLES, groups)), np.zeros((SAMPLES, tiers))
        ),
        counter=counter,
        rule=rule,
        tick_s=tick_s,
        lanes=lanes,
    )


def _lists(kind: np.dtype[Any], count: int, *empty: str) -> Records:
    records: Records = np.zeros(count, kind)
    for name in empty:
        records[name] = -1
    return records


def _pool(kind: np.dtype[Any], count: int) -> Records:
    records: Records = np.zeros(count, kind)
    records["next"] = np.arange(1, count + 1)
    records["next"][-1] = -1
    return records


def _channels(
    links: CreditLinks, rules: CreditRules, buffers: npt.NDArray[np.int64], lanes: int, tick_s: float
) -> Records:
    ticks_per_byte = links.rate_bytes_per_s.max() / links.rate_bytes_per_s / BLOCK_BYTES
    channels = _lists(
        arrays.CHANNEL,
        len(links.tier) * lanes,
        "request_head",
        "request_tail",
        "host_wake",
        "stall_since",
    )
    for name, values in (
        ("wire", np.arange(len(links.tier))),
        ("credit_ticks", np.maximum(1, np.rint(links.credit_s / tick_s))),
        ("buffer_bytes", buffers),
        ("credit", buffers),
        ("tier", links.tier),
        ("ticks_per_byte", ticks_per_byte),
        ("crossbar_ticks_per_byte", ticks_per_byte / rules.crossbar_speedup),
        ("forward_ticks", links.forward_s / tick_s),
    ):
        channels[name] = np.repeat(values, lanes)
    return channels


def _ways(
    links: CreditLinks,
    flows: CreditFlows,
    rules: CreditRules,
    lane: npt.NDArray[np.int64],
    lanes: int,
    tick_s: float,
) -> tuple[Records, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Flat routes and paths; first path and first channel of every flow."""
    route: list[tuple[int, int, int]] = []
    path: list[tuple[int, int]] = []
    queues: dict[tuple[int, int], int] = {}
    first_way = np.zeros(len(flows.paths), np.int64)
    first_channel = np.zeros(len(flows.paths), np.int64)
    credit_s = links.credit_s.tolist()
    for f, alternatives in enumerate(flows.paths):
        first_way[f] = len(path)
        own = int(lane[f])
        first_channel[f] = alternatives[0][0] * lanes + own
        for links_of_path in alternatives:
            notice_s = sum(credit_s[link] for link in links_of_path)
            path.append((len(route), int(notice_s / tick_s) + 1))
            channel = [link * lanes + own for link in links_of_path]
            for here, onward in zip(channel, [*channel[1:], -1], strict=True):
                if onward < 0:
                    route.append((here, 1, -1))
                else:
                    key = (here, onward if rules.queueing == "per_output" else -1)
                    route.append((here, 0, queues.setdefault(key, len(queues))))
    ways: Records = np.zeros(max(len(route), len(path)), arrays.WAY)
    ways["last"] = -1
    table = np.array(route, np.int64)
    for column, name in enumerate(("route", "last", "queue")):
        ways[name][: len(route)] = table[:, column]
    paths = np.array(path, np.int64)
    ways["path_first"][: len(path)] = paths[:, 0]
    ways["notice_ticks"][: len(path)] = paths[:, 1]
    return ways, first_way, first_channel


def _flows(
    flows: CreditFlows,
    rule: arrays.Rule,
    first_way: npt.NDArray[np.int64],
    first_channel: npt.NDArray[np.int64],
    tick_s: float,
) -> Records:
    records: Records = np.zeros(len(flows.paths), arrays.FLOW)
    start = np.maximum(0, np.rint(flows.start_s / tick_s)).astype(np.int64)
    for name, values in (
        ("path_first", first_way),
        ("paths", [len(alternatives) for alternatives in flows.paths]),
        ("bytes", flows.payload_bytes),
        ("left", flows.payload_bytes),
        ("start", start),
        ("group", flows.group),
        ("start_order", np.argsort(start, kind="stable")),
        ("host_flows", np.argsort(first_channel, kind="stable")),
        ("index", rule.index_minimum),
        ("done", -1.0),
    ):
        records[name] = values
    return records


def _watch(flows: CreditFlows, rules: CreditRules, count: int) -> tuple[int, ...]:
    if rules.watch is not None:
        return rules.watch
    uses = np.bincount([alternatives[0][-1] for alternatives in flows.paths], minlength=count)
    return tuple(int(w) for w in np.argsort(-uses, kind="stable")[:8] if uses[w] > 1)


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


def _sample_s(links: CreditLinks, flows: CreditFlows, rules: CreditRules) -> float:
    """First sampling interval: the serialisation bound in 512 parts (thinned out when more is needed)."""
    if rules.stop_s is not None:
        return rules.stop_s / 512
    load = np.zeros(len(links.rate_bytes_per_s))
    for alternatives, size in zip(flows.paths, flows.payload_bytes, strict=True):
        load[list(alternatives[0])] += max(0, int(size))
    longest = float((load / links.rate_bytes_per_s).max(initial=0.0)) + float(flows.start_s.max(initial=0.0))
    return max(longest, 1e-6) / 512
