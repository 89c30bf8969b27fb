"""From the public inputs of the queue solver to the state of its compiled loop."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.solvers import queues_state as state
from models.solvers.queues_parameters import parameters, powers, set_windows, ticks
from models.solvers.queues_routes import RouteSteps, flattened, route_steps
from models.solvers.queues_state import State
from models.solvers.queues_types import (
    FlowSet,
    Gate,
    IntArray,
    Marking,
    PacketFormat,
    QueueNetwork,
    Recording,
    SenderLaw,
)

FIRST_SAMPLES = 4096
SERIES_ROWS = 100_000
LARGEST_BURST_PACKETS = 1 << 20
NONE = np.zeros(0, dtype=np.int64)
NO_GROUP = np.zeros(1, dtype=np.int64)


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
) -> State:
    """State of one run before its first window. Raises ValueError where inputs contradict each other."""
    from models.solvers.queues_totals_kernels import extent

    if not flows.paths:
        raise ValueError("no flows")
    if gate.recovery == "go_back_n" and any(len(alternatives) > 1 for alternatives in flows.paths):
        raise ValueError("go_back_n needs one route a flow: packets over several routes overtake each other")
    steps = route_steps(network, flows)
    waiting, dependents, dependent_count = _waits(flows)
    run = parameters(law, gate, packet).copy()[0]
    run["windows_limit"], run["check"], run["adaptive"] = windows_limit, check, choice == "least_queued"
    if stop_s is not None:
        run["stop_ticks"] = ticks(stop_s)
    links, switches = _links(run, network, gate, marking)
    ack_route, ack_length = (
        flattened(flows.ack_paths) if flows.ack_paths else (steps.route, steps.route_length)
    )
    slots, out, nics, nic_flows, due = _flows(
        run, flows, packet, steps, links, waiting, ack_route, ack_length
    )
    if flows.after:
        out["dependent_count"] = dependent_count
        out["dependent_first"] = np.cumsum(dependent_count) - dependent_count
    if flows.ack_paths:
        out["ack_count"] = ack_length
        out["ack_first"] = np.cumsum(ack_length) - ack_length
        if packet.acks_in_data_queue:
            slots = _ack_slots(ack_route, ack_length, slots, out, links, packet)
    whole = extent(links, out, steps.link, steps.route, steps.route_length)
    set_windows(run, len(links), whole, gate)

    lists_count = int(run["gate_first"] + run["window_mask"] + 1)
    lists = np.zeros(lists_count, dtype=state.LISTS)
    lists["head"] = lists["tail"] = np.arange(lists_count) << state.CHUNK_SHIFT
    fits = float(network.buffer_bytes.sum()) / packet.wire_bytes
    bound = int(min(whole.to_send, fits if gate.kind != "none" else LARGEST_BURST_PACKETS) + whole.wires) + 64
    chunks = lists_count + 2 * len(links) + pool_factor * bound // 8
    run["fresh_chunk"], run["free_chunk"], run["chunk_limit"] = lists_count, -1, chunks + 64
    bucket_count = int(run["bucket_mask"]) + 1
    horizon = min(int(run["stop_ticks"]), windows_limit * int(run["window_ticks"]))
    for name, ids in (("watch_links", recording.watch_links), ("stuck_links", gate.stuck_links)):
        if ids and not 0 <= min(ids) <= max(ids) < len(links):
            raise ValueError(f"{name}: {ids} names a link the network of {len(links)} does not have")
    watch = np.array(recording.watch_links, dtype=np.int64)
    samples = 0
    if recording.watch_links:
        first, step = ticks(recording.sample_from_s + recording.sample_s), max(1, ticks(recording.sample_s))
        samples = min(FIRST_SAMPLES, horizon // step + 8)
        run["sample_ticks"], run["samples_end_ticks"] = step, first + samples * step
        for row, link in enumerate(recording.watch_links):
            links[link]["watch"], links[link]["next_sample_ticks"] = row, first
            links[link]["patience_ticks"] = 0  # its samples show what waits
    if recording.series_s > 0:
        run["series_ticks"] = run["next_series_ticks"] = max(1, ticks(recording.series_s))
        run["series_limit"] = min(SERIES_ROWS, horizon // int(run["series_ticks"]) + 2)
    groups = 1 if flows.group is None else int(flows.group.max()) + 1
    return State(
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
        ack_links=ack_route,
        dependents=dependents,
        powers=powers(law.g),
        bucket_count=np.zeros(bucket_count, dtype=np.int64),
        buckets=np.empty((bucket_count << state.BUCKET_SHIFT) + state.LARGEST_SORT, dtype=np.int64),
        lists=lists,
        pool=np.empty((chunks + 65) << state.CHUNK_SHIFT, dtype=np.int64),
        following=np.empty(chunks + 65, dtype=np.int64),
        active=np.zeros(len(links), dtype=np.int64),
        watch=watch,
        samples=np.zeros((max(1, len(watch)), samples), dtype=np.float32),
        series=np.zeros((int(run["series_limit"]), 3 + 2 * groups + len(watch))),
        checkpoint_ticks=np.array([ticks(time_s) for time_s in recording.checkpoints_s], dtype=np.int64),
        checkpoint_packets=np.zeros((len(recording.checkpoints_s), len(out)), dtype=np.int64),
    )


def _waits(flows: FlowSet) -> tuple[IntArray, IntArray, IntArray]:
    """How many flows each flow waits for, the flows each one releases, one after the other, and how many those are."""
    if not flows.after:
        return NONE, np.zeros(1, dtype=np.int64), NONE
    released: list[list[int]] = [[] for _ in flows.paths]
    for number, before in enumerate(flows.after):
        for earlier in before:
            if not np.isfinite(flows.bytes[earlier]):
                raise ValueError(f"flow {number} waits for flow {earlier}, which never ends")
            released[earlier].append(number)
    _check_order(flows.after, released)
    waiting = np.fromiter(map(len, flows.after), dtype=np.int64, count=len(flows.after))
    counts = np.fromiter(map(len, released), dtype=np.int64, count=len(released))
    return waiting, np.array([*chain.from_iterable(released), 0], dtype=np.int64), counts


def _mixed_seed(seed: int) -> int:
    """splitmix64 of the seed (Steele et al. 2014); never 0."""
    z = (seed + 0x9E3779B97F4A7C15) & (2**64 - 1)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
    return (z ^ (z >> 31)) or 1


def _check_order(after: tuple[tuple[int, ...], ...], released: list[list[int]]) -> None:
    """ValueError where flows wait for each other in a circle."""
    waits = [len(before) for before in after]
    ready = [number for number, count in enumerate(waits) if count == 0]
    for number in ready:  # grows as flows are released
        for later in released[number]:
            waits[later] -= 1
            if waits[later] == 0:
                ready.append(later)
    if len(ready) < len(after):
        stuck = next(number for number, count in enumerate(waits) if count > 0)
        raise ValueError(f"flow {stuck} and others wait for each other in a circle")


def _links(
    run: Any, network: QueueNetwork, gate: Gate, marking: Marking
) -> tuple[NDArray[Any], NDArray[Any]]:
    from models.solvers.queues_layout_kernels import lay_links

    for name in ("kmin_bytes", "kmax_bytes", "pmax"):
        if np.size(getattr(marking, name)) not in (1, network.links):
            raise ValueError(
                f"Marking.{name}: {np.size(getattr(marking, name))} values for {network.links} links"
            )
    links = state.cleared(network.links, state.LINK)
    switches = np.zeros(max(1, int(np.count_nonzero(network.tier))), dtype=state.SWITCH)
    full = lay_links(
        run, links, switches, np.empty(len(network.tier), dtype=np.int64), network.from_node, network.to_node,
        network.rate_bytes_per_s, network.propagation_s, network.tier, network.buffer_bytes,
        np.array(marking.kmin_bytes, dtype=float, ndmin=1), np.array(marking.kmax_bytes, dtype=float, ndmin=1),
        np.array(marking.pmax, dtype=float, ndmin=1),
        -1.0 if gate.headroom_bytes is None else float(gate.headroom_bytes), gate.headroom_multiple,
        gate.pause_frame_bytes,
    )  # fmt: skip
    if full >= 0:
        raise ValueError(
            f"switch {full}: headroom and reserve of its ports exceed its {network.buffer_bytes[full]:.0f} B"
        )
    if gate.stuck_links and max(gate.stuck_links) < len(links):
        stuck = np.array(gate.stuck_links, dtype=np.int64)
        links["stop_ticks"][stuck], links["pauses"][stuck] = 0, 1
    return links, switches


def _flows(
    run: Any,
    flows: FlowSet,
    packet: PacketFormat,
    steps: RouteSteps,
    links: NDArray[Any],
    waiting: IntArray,
    ack_route: IntArray,
    ack_length: IntArray,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], IntArray, IntArray]:
    """Records of route steps, flows and senders; the flows of each sender; and when each sender is first due."""
    from models.solvers.queues_layout_kernels import lay_flows

    count = len(flows.paths)
    slots = state.cleared(len(steps.link), state.SLOT)
    out = state.cleared(count, state.FLOW)
    nics = np.zeros(count, dtype=state.NIC)
    nic_flows, due = np.zeros(count + 1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    senders = lay_flows(
        run, links, slots, out, nics, nic_flows, due, steps.link, steps.ingress, steps.flow, steps.children,
        steps.first_child, steps.child, steps.root, steps.route, steps.route_length, ack_route, ack_length,
        flows.bytes, flows.start_s, NO_GROUP if flows.group is None else flows.group, waiting, packet.header_bytes,
    )  # fmt: skip
    run["flows_open"] = count
    return slots, out, nics[:senders], nic_flows, due[:senders]


def _ack_slots(
    route: IntArray,
    lengths: IntArray,
    slots: NDArray[Any],
    out: NDArray[Any],
    links: NDArray[Any],
    packet: PacketFormat,
) -> NDArray[Any]:
    """Route steps with those of acknowledgements that queue with the data behind them."""
    extra = state.cleared(len(route), state.SLOT)
    ends = np.cumsum(lengths) - 1
    extra["link"] = route
    extra["ingress"][1:] = route[:-1]
    extra["ingress"][ends - lengths + 1] = -1
    extra["flow"] = np.repeat(np.arange(len(lengths)), lengths)
    extra["next_entry"] = (len(slots) + np.arange(1, len(route) + 1)) << 32
    extra["next_entry"][ends] = -1
    extra["bytes"] = packet.ack_bytes
    extra["packet_ticks"] = links["ack_ticks"][route]
    extra["hop_ticks"] = extra["packet_ticks"] + links["propagation_ticks"][route]
    extra["ack"] = 1
    out["ack_root"] = len(slots) + ends - lengths + 1
    return np.concatenate([slots, extra])


def seeded(template: State, seed: int, again: bool) -> State:
    """A state for one seed: the template itself, or where it is needed again one of its own; what a run only
    reads, and its scratch room, is shared."""
    own = (
        template._replace(**{name: getattr(template, name).copy() for name in state.WRITTEN})
        if again
        else template
    )
    own.run["random"] = _mixed_seed(seed)
    return own


def with_more_samples(ready: State) -> State:
    """The same state, stopped between two windows, with four times the room for samples."""
    room = ready.samples.shape[1]
    wider = np.zeros((ready.samples.shape[0], 4 * room), dtype=np.float32)
    wider[:, :room] = ready.samples
    ready.run["samples_end_ticks"] += 3 * room * ready.run["sample_ticks"]
    ready.run["status"] = state.RUNNING
    return ready._replace(samples=wider)
