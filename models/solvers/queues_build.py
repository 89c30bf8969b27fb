"""From the public inputs of the queue solver to the arrays of its compiled loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.solvers import queues_state as state
from models.solvers.queues_routes import RouteSteps, route_steps
from models.solvers.queues_types import (
    FloatArray,
    FlowSet,
    Gate,
    IntArray,
    Marking,
    PacketFormat,
    QueueNetwork,
    Recording,
    SenderLaw,
)

NS = 1e9
MAX_BUCKETS_PER_WINDOW = 512
STALL_WINDOWS = 1024  # at least, and more than a round trip
FIRST_SAMPLES = 4096
LARGEST_SORT = 1024  # packets of one bucket put in order of time at once
LARGEST_BURST_PACKETS = 1 << 20


WRITTEN = (
    "run", "links", "switches", "flows", "nics", "nic_flows", "due", "turn", "lists", "samples", "series",
    "checkpoint_packets",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Program:
    """Everything the compiled loop reads and writes, in the order of its parameters."""

    run: NDArray[Any]
    links: NDArray[Any]
    switches: NDArray[Any]
    slots: NDArray[Any]
    children: IntArray
    flows: NDArray[Any]
    nics: NDArray[Any]
    nic_flows: IntArray
    due: FloatArray
    turn: IntArray
    ack_links: IntArray
    dependents: IntArray
    lists: NDArray[Any]
    pool: IntArray
    following: IntArray
    active: IntArray
    order: IntArray
    watch: IntArray
    samples: NDArray[np.float32]
    series: FloatArray
    checkpoint_ns: FloatArray
    checkpoint_packets: IntArray

    def arguments(self) -> tuple[Any, ...]:
        """The parameters of `advance_windows`, the first as a record."""
        return (
            self.run[0],
            self.links,
            self.switches,
            self.slots,
            self.children,
            self.flows,
            self.nics,
            self.nic_flows,
            self.due,
            self.turn,
            self.ack_links,
            self.dependents,
            self.lists,
            self.pool,
            self.following,
            self.active,
            self.order,
            self.watch,
            self.samples,
            self.series,
            self.checkpoint_ns,
            self.checkpoint_packets,
        )


def wire_ns(size_bytes: Any, ns_per_byte: Any, whole: bool) -> Any:
    """Time on the wire in ns, rounded to whole ns where asked (half up)."""
    exact = np.asarray(size_bytes * ns_per_byte)
    return np.floor(exact + 0.5) if whole else exact


def _power_of_two(least: float) -> int:
    return 1 << max(3, int(np.ceil(np.log2(max(least, 1.0)))))


def _mixed_seed(seed: int) -> int:
    """splitmix64 of the seed (Steele et al. 2014); never 0."""
    z = (seed + 0x9E3779B97F4A7C15) & (2**64 - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (z ^ (z >> 31)) or 1


def _links(
    network: QueueNetwork, gate: Gate, marking: Marking, packet: PacketFormat, law: SenderLaw
) -> tuple[NDArray[Any], NDArray[Any]]:
    links = np.zeros(network.links, dtype=state.LINK)
    ns_per_byte = NS / network.rate_bytes_per_s
    links["ns_per_byte"] = ns_per_byte
    links["line"] = 1.0 / ns_per_byte
    links["packet_ns"] = wire_ns(packet.wire_bytes, ns_per_byte, packet.whole_ns)
    links["ack_ns"] = wire_ns(packet.ack_bytes, ns_per_byte, packet.whole_ns)
    links["propagation_ns"] = network.propagation_s * NS
    links["pause_delay_ns"] = links["propagation_ns"] + wire_ns(
        gate.pause_frame_bytes, ns_per_byte, packet.whole_ns
    )
    links["stop_ns"] = np.inf
    stuck = np.array(gate.stuck_links, dtype=np.int64)
    links["stop_ns"][stuck], links["pauses"][stuck] = 0.0, 1
    links["kmin"], links["kmax"], links["pmax"] = marking.kmin_bytes, marking.kmax_bytes, marking.pmax
    links["nic"] = -1
    is_switch = network.tier > 0
    number = np.cumsum(is_switch) - 1
    links["from_switch"] = np.where(is_switch[network.from_node], number[network.from_node], -1)
    links["to_switch"] = np.where(is_switch[network.to_node], number[network.to_node], -1)
    switches = np.zeros(max(1, int(is_switch.sum())), dtype=state.SWITCH)
    switches["budget_bytes"][: int(is_switch.sum())] = network.buffer_bytes[is_switch]
    if gate.kind == "pfc":
        headroom = (
            np.floor(gate.headroom_multiple * network.rate_bytes_per_s * network.propagation_s)
            if gate.headroom_bytes is None
            else np.full(network.links, gate.headroom_bytes)
        )
        into = links["to_switch"] >= 0
        switches["budget_bytes"] -= np.bincount(
            links["to_switch"][into], headroom[into] + gate.reserve_bytes, len(switches)
        )
        short = switches["budget_bytes"][: int(is_switch.sum())] <= 0
        if short.any():
            node = int(np.flatnonzero(is_switch)[np.argmax(short)])
            raise ValueError(
                f"switch {node}: headroom and reserve of its ports exceed its {network.buffer_bytes[node]:.0f} B"
            )
    return links, switches


def _reverse_ns(
    network: QueueNetwork, routes: tuple[tuple[int, ...], ...], links: NDArray[Any]
) -> FloatArray:
    lengths = np.fromiter(map(len, routes), dtype=np.int64, count=len(routes))
    flat = np.fromiter(chain.from_iterable(routes), dtype=np.int64)
    hop = links["propagation_ns"][flat] + links["ack_ns"][flat]
    return np.add.reduceat(hop, np.cumsum(lengths) - lengths)


def _flows(
    flows: FlowSet, law: SenderLaw, packet: PacketFormat, steps: RouteSteps, links: NDArray[Any]
) -> Any:
    count = len(flows.paths)
    out = np.zeros(count, dtype=state.FLOW)
    finite = np.isfinite(flows.bytes)
    payload = np.where(finite, np.ceil(flows.bytes), 0).astype(np.int64)
    full = packet.payload_bytes
    packets = np.where(finite, -(-payload // full), np.int64(1) << 60)
    out["packets"] = out["left"] = packets
    out["last_bytes"] = np.where(finite, payload - (packets - 1) * full, full) + packet.header_bytes
    out["root"] = steps.root
    first = steps.link[steps.root]
    line = 1.0 / links["ns_per_byte"][first]
    out["rate"] = out["target"] = line
    out["gap_ns"] = links["packet_ns"][first]
    out["alpha"] = 1.0
    for name in ("cut_ns", "increase_ns", "first_echo_ns"):
        out[name] = np.inf
    out["start_ns"] = flows.start_s * NS
    out["next_ns"] = out["start_ns"]
    out["end_ns"] = np.nan
    out["ack_root"] = out["gap_slot"] = -1
    if flows.group is not None:
        out["group"] = flows.group
    # the last packet alone on its route, store and forward at every hop
    lengths = np.fromiter(map(len, steps.leaf_route), dtype=np.int64, count=count)
    flat = np.fromiter(chain.from_iterable(steps.leaf_route), dtype=np.int64)
    size = np.repeat(out["last_bytes"], lengths)
    hop = links["propagation_ns"][flat] + wire_ns(size, links["ns_per_byte"][flat], packet.whole_ns)
    out["shortest_ns"] = np.add.reduceat(hop, np.cumsum(lengths) - lengths)
    return out


def _waits(flows: FlowSet, out: NDArray[Any]) -> IntArray:
    """Which flows each flow releases; sets the counters of the flow records."""
    if not flows.after:
        return np.zeros(1, dtype=np.int64)
    released: list[list[int]] = [[] for _ in flows.paths]
    for number, before in enumerate(flows.after):
        for earlier in before:
            if not np.isfinite(flows.bytes[earlier]):
                raise ValueError(f"flow {number} waits for flow {earlier}, which never ends")
            released[earlier].append(number)
        if before:
            out["waiting"][number] = len(before)
            out["next_ns"][number] = 0.0
    counts = np.fromiter(map(len, released), dtype=np.int64, count=len(released))
    out["dependent_count"] = counts
    out["dependent_first"] = np.cumsum(counts) - counts
    return np.array([*chain.from_iterable(released), 0], dtype=np.int64)


def _senders(steps: RouteSteps, out: NDArray[Any], links: NDArray[Any]) -> tuple[Any, IntArray, FloatArray]:
    """NICs in order of their link, the flows of each, and when each is first due."""
    first_link = steps.link[steps.root]
    if bool((first_link[1:] > first_link[:-1]).all()) and not out["waiting"].any():
        return _lone_senders(first_link, out, links)
    used, nic_of, counts = np.unique(first_link, return_inverse=True, return_counts=True)
    nics = np.zeros(len(used), dtype=state.NIC)
    nics["link"] = used
    nics["first"] = np.cumsum(counts) - counts
    nics["turn"] = -1
    links["nic"][used] = np.arange(len(used))
    out["nic"] = nic_of
    ready = out["waiting"] == 0
    order = np.argsort(nic_of, kind="stable")
    open_order = order[ready[order]]
    nics["active"] = np.bincount(nic_of[open_order], minlength=len(used))
    place = np.arange(len(open_order)) - np.repeat(np.cumsum(nics["active"]) - nics["active"], nics["active"])
    nic_flows = np.zeros(len(order) + 1, dtype=np.int64)
    nic_flows[nics["first"][nic_of[open_order]] + place] = open_order
    due = np.full(len(used), np.inf)
    np.minimum.at(due, nic_of[ready], out["next_ns"][ready])
    return nics, nic_flows, due


def _lone_senders(
    first_link: IntArray, out: NDArray[Any], links: NDArray[Any]
) -> tuple[Any, IntArray, FloatArray]:
    """`_senders` where every flow has a NIC of its own, in order, and none waits."""
    numbers = np.arange(len(out))
    nics = np.zeros(len(out), dtype=state.NIC)
    nics["link"], nics["first"], nics["active"], nics["turn"] = first_link, numbers, 1, -1
    links["nic"][first_link] = numbers
    out["nic"] = numbers
    return nics, np.append(numbers, 0), out["next_ns"].copy()


def _slots(steps: RouteSteps, links: NDArray[Any], packet: PacketFormat) -> NDArray[Any]:
    slots = np.zeros(len(steps.link), dtype=state.SLOT)
    for name in ("link", "ingress", "flow", "children", "first_child"):
        slots[name] = getattr(steps, name)
    only = steps.child[np.minimum(steps.first_child, len(steps.child) - 1)]
    slots["next"] = np.where(steps.children == 0, -1, np.where(steps.children == 1, only, -2))
    slots["bytes"] = packet.wire_bytes
    slots["packet_ns"] = links["packet_ns"][steps.link]
    return slots


def _ack_slots(
    flows: FlowSet, slots: NDArray[Any], out: NDArray[Any], links: NDArray[Any], packet: PacketFormat
) -> NDArray[Any]:
    """Route steps of acknowledgements that queue with the data."""
    route = flows.ack_paths
    lengths = np.fromiter(map(len, route), dtype=np.int64, count=len(route))
    flat = np.fromiter(chain.from_iterable(route), dtype=np.int64)
    extra = np.zeros(len(flat), dtype=state.SLOT)
    ends = np.cumsum(lengths) - 1
    extra["link"] = flat
    extra["ingress"][1:] = flat[:-1]
    extra["ingress"][ends - lengths + 1] = -1
    extra["flow"] = np.repeat(np.arange(len(route)), lengths)
    extra["next"] = len(slots) + np.arange(1, len(flat) + 1)
    extra["next"][ends] = -1
    extra["bytes"] = packet.ack_bytes
    extra["packet_ns"] = links["ack_ns"][flat]
    extra["ack"] = 1
    out["ack_root"] = len(slots) + ends - lengths + 1
    return np.concatenate([slots, extra])


def program(
    network: QueueNetwork,
    flows: FlowSet,
    law: SenderLaw,
    gate: Gate,
    marking: Marking,
    *,
    packet: PacketFormat,
    stop_s: float | None,
    recording: Recording,
    choice: str,
    windows_limit: int,
    check: bool,
    pool_factor: int,
) -> Program:
    """Arrays for one run. Raises ValueError where inputs contradict each other."""
    if not flows.paths:
        raise ValueError("no flows")
    if gate.recovery == "go_back_n" and any(len(alternatives) > 1 for alternatives in flows.paths):
        raise ValueError("go_back_n needs one route a flow: packets over several routes overtake each other")
    steps = route_steps(network, flows)
    links, switches = _links(network, gate, marking, packet, law)
    out = _flows(flows, law, packet, steps, links)
    dependents = _waits(flows, out)
    nics, nic_flows, due = _senders(steps, out, links)
    slots = _slots(steps, links, packet)
    ack_links = np.zeros(1, dtype=np.int64)
    out["reverse_ns"] = _reverse_ns(network, flows.ack_paths or steps.leaf_route, links)
    if flows.ack_paths:
        lengths = np.fromiter(map(len, flows.ack_paths), dtype=np.int64, count=len(flows.paths))
        ack_links = np.fromiter(chain.from_iterable(flows.ack_paths), dtype=np.int64)
        out["ack_count"] = lengths
        out["ack_first"] = np.cumsum(lengths) - lengths
        if packet.acks_in_data_queue:
            slots = _ack_slots(flows, slots, out, links, packet)
    run = _run_record(network, law, gate, packet, links, out, steps, stop_s, recording)
    run["windows_limit"] = windows_limit
    run["check"] = check
    run["adaptive"] = choice == "least_queued"
    head = run[0]

    lists_count = int(head["gate_first"] + head["window_mask"] + 1)
    lists = np.zeros(lists_count, dtype=state.LISTS)
    lists["head"] = lists["tail"] = np.arange(lists_count) << state.CHUNK_SHIFT
    chunks = (
        lists_count + 2 * network.links + pool_factor * _packets_bound(network, out, gate, packet, links) // 8
    )
    head["fresh_chunk"], head["free_chunk"], head["chunk_limit"] = lists_count, -1, chunks + 64
    watch = np.array(recording.watch_links, dtype=np.int64)
    horizon_ns = min(stop_s * NS if stop_s is not None else np.inf, windows_limit * float(head["window_ns"]))
    head["samples_limit"] = min(FIRST_SAMPLES, int(horizon_ns / head["sample_ns"]) + 8) if len(watch) else 0
    groups = int(out["group"].max()) + 1
    head["series_limit"] = 0
    if recording.series_s > 0:
        head["series_limit"] = min(100_000, int(horizon_ns / (recording.series_s * NS)) + 2)
    return Program(
        run=run,
        links=links,
        switches=switches,
        slots=slots,
        children=steps.child,
        flows=out,
        nics=nics,
        nic_flows=nic_flows,
        due=due,
        turn=np.arange(len(nics), dtype=np.int64),
        ack_links=ack_links,
        dependents=dependents,
        lists=lists,
        pool=np.empty((chunks + 65) << state.CHUNK_SHIFT, dtype=np.int64),
        following=np.empty(chunks + 65, dtype=np.int64),
        active=np.zeros(network.links, dtype=np.int64),
        order=np.empty(LARGEST_SORT, dtype=np.int64),
        watch=watch,
        samples=np.zeros((max(1, len(watch)), int(head["samples_limit"])), dtype=np.float32),
        series=np.zeros((int(head["series_limit"]), 3 + 2 * groups + len(watch))),
        checkpoint_ns=np.array(recording.checkpoints_s, dtype=np.float64) * NS,
        checkpoint_packets=np.zeros((len(recording.checkpoints_s), len(out)), dtype=np.int64),
    )


def _packets_bound(
    network: QueueNetwork, out: NDArray[Any], gate: Gate, packet: PacketFormat, links: NDArray[Any]
) -> int:
    """Packets that can be in the network at once: what is sent, or what fits in buffers and on the wires."""
    sent = float(out["packets"].astype(np.float64).sum())
    fits = (
        float(np.sum(network.buffer_bytes)) / packet.wire_bytes
        if gate.kind != "none"
        else LARGEST_BURST_PACKETS
    )
    wires = float(np.sum(links["propagation_ns"] / links["packet_ns"] + 4))
    return int(min(sent, fits) + wires) + 64


def _run_record(
    network: QueueNetwork,
    law: SenderLaw,
    gate: Gate,
    packet: PacketFormat,
    links: NDArray[Any],
    out: NDArray[Any],
    steps: RouteSteps,
    stop_s: float | None,
    recording: Recording,
) -> NDArray[Any]:
    run = np.zeros(1, dtype=state.RUN)
    used = links[steps.link]
    packet_ns = float(used["packet_ns"].min())
    hop_ns = float((used["propagation_ns"] + used["packet_ns"]).max())
    window = max(float(used["pause_delay_ns"].min()), packet_ns / 2)
    buckets = min(max(round(window / packet_ns), 1), MAX_BUCKETS_PER_WINDOW)
    loop_ns = float(out["reverse_ns"].max() + out["shortest_ns"].max()) + 2 * hop_ns
    go_back = gate.recovery == "go_back_n" and (gate.kind == "drop" or gate.watchdog_drops)
    loop_ns += gate.retransmit_timeout_s * NS if go_back else 0.0
    # a whole number of ticks: whole-ns times then stay exact, and ties are ties
    bucket = max(1.0, np.floor(window / buckets * state.TICKS_PER_NS)) / state.TICKS_PER_NS
    window = bucket * buckets
    head = run[0]
    head["window_ns"], head["bucket_ns"], head["buckets_per_window"] = window, bucket, buckets
    head["windows_per_ns"], head["buckets_per_ns"] = 1.0 / window, 1.0 / bucket
    head["bucket_mask"] = _power_of_two((4 * hop_ns + 3 * window) / bucket + 4) - 1
    head["window_mask"] = _power_of_two(loop_ns / window + 8) - 1
    head["bucket_first"] = network.links
    head["echo_first"] = network.links + head["bucket_mask"] + 1
    head["gate_first"] = head["echo_first"] + head["window_mask"] + 1
    head["stop_ns"] = np.inf if stop_s is None else stop_s * NS
    head["packet_bytes"], head["payload_bytes"] = packet.wire_bytes, packet.payload_bytes
    head["ack_bytes"], head["whole_ns"] = packet.ack_bytes, packet.whole_ns
    head["acks_in_data_queue"] = packet.acks_in_data_queue
    head["law"] = state.LAW_DCQCN if law.kind == "dcqcn" else state.LAW_NONE
    head["alpha_ticks_per_ns"], head["cut_ns"] = 1.0 / (law.alpha_timer_s * NS), law.cut_interval_s * NS
    head["cuts_per_ns"] = 1.0 / (law.cut_interval_s * NS)
    head["increase_ns"], head["fast_stages"] = law.increase_timer_s * NS, law.fast_recovery_stages
    head["g"], head["additive"] = law.g, law.additive_bytes_per_s / NS
    head["hyper"], head["min_rate"] = law.hyper_bytes_per_s / NS, law.min_rate_bytes_per_s / NS
    head["cnp_interval_ns"], head["byte_counter"] = law.cnp_interval_s * NS, law.byte_counter_bytes
    head["window_bytes"], head["window_follows_rate"] = law.window_bytes, law.window_follows_rate
    head["echo_all"] = bool(np.isfinite(law.window_bytes))
    head["gate"] = {"none": state.GATE_NONE, "pfc": state.GATE_PFC, "drop": state.GATE_DROP}[gate.kind]
    head["gate_alpha"], head["reserve"] = gate.alpha, gate.reserve_bytes
    head["xon_offset"] = gate.xon_offset_bytes
    head["may_lose"], head["go_back"] = gate.kind == "drop" or gate.watchdog_drops, go_back
    head["loss_fraction"], head["timeout_ns"] = gate.loss_fraction, gate.retransmit_timeout_s * NS
    head["watchdog_ns"], head["watchdog_drops"] = gate.watchdog_s * NS, gate.watchdog_drops
    head["next_watchdog_ns"] = gate.watchdog_s * NS
    quiet = 2 * gate.watchdog_s * NS / window if np.isfinite(gate.watchdog_s) else 0.0
    head["stall_windows"] = head["stall_window"] = max(
        STALL_WINDOWS, int(head["window_mask"]) + 1, int(quiet)
    )
    head["stall_bytes"] = -1
    head["flows_open"] = len(out)
    head["sample_ns"] = recording.sample_s * NS
    head["next_sample_ns"] = (recording.sample_from_s + recording.sample_s) * NS
    head["series_ns"] = recording.series_s * NS
    head["next_series_ns"] = recording.series_s * NS
    head["unbalanced_window"] = -1
    return run


def seeded(template: Program, seed: int, again: bool) -> Program:
    """A program for one seed: the template itself, or where it is needed again one of its own; what a run only
    reads, and its scratch room, is shared."""
    own = (
        replace(template, **{name: getattr(template, name).copy() for name in WRITTEN}) if again else template
    )
    own.run["random"] = _mixed_seed(seed)
    return own


def with_more_samples(ready: Program) -> Program:
    """The same program, stopped between two windows, with four times the room for samples."""
    head = ready.run[0]
    wider = np.zeros((ready.samples.shape[0], 4 * ready.samples.shape[1]), dtype=np.float32)
    wider[:, : ready.samples.shape[1]] = ready.samples
    head["samples_limit"] = wider.shape[1]
    head["status"] = state.RUNNING
    return replace(ready, samples=wider)
