"""RoCE bursts in the mean: smooth flows through FIFOs, expected marks, one DCQCN sender a flow, pauses with their delay.

What it answers: when does an incast end, what does the victim get, how deep is the queue, who is paused and when first,
without drawing a single packet. The twin of the packet-grain solver in the analytical method; it takes the same inputs.

In every step dt, link by link from the sources to the receiver:

    served    = min(content, C dt), shared by the flows in proportion to what each has waiting   (FIFO)
    p         = 0 .. Pmax from Kmin to Kmax on the queue left, 1 above
    marks     M_i += p x packets of flow i served; they ride with the packets to the last switch and are heard one loop
              delay later
    sender i  is told of a mark when M_i passes a whole number: the DCQCN state machine (cut, alpha, increase timers)
              then runs as in the NIC; M_i starts at i / N, so that equal flows are not marked at one instant
    pause     a link stops (victim and all) while its ingress use >= reserve + T, T = alpha (B_s - used); heard after
              the round trip of the link

State machine: Zhu et al., SIGCOMM 2015, section 5, in the form of HPCC ns-3 `rdma-hw.cc`; gate: `switch-mmu.cc`. No
parameter of its own but dt and the N first phases. *Assumptions*: one flow a NIC; marks come at their expected
number, so what hangs on a single flow's luck (one increase more or less) is not seen; losses are sent again at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from models.rocev2.expected_marks_routes import equal_flows, fat_links, route_rows
from models.solvers.queues_types import FlowSet, Gate, Marking, PacketFormat, QueueNetwork, SenderLaw

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STEPS, LEAST_STEPS = 16, 4  # in a loop delay and in a cut interval
STEPS_OF_SPAN = 4000  # of the time the bursts take, twice; longer ones take longer steps
GATE_KINDS = {"none": 0, "pfc": 1, "drop": 2}


@dataclass(frozen=True, eq=False)
class MeanRun:
    """What the flows did; arrays [flows] or, where said, [links of the network]. SI units."""

    completion_s: Floats  # last byte leaves the last switch; inf = not ended
    goodput_bytes_per_s: Floats  # wire bytes over the measured time
    marks: Floats
    lost_bytes: Floats
    link_pause_s: Floats  # [links], of a NIC the time it stood still with bytes to send
    queue_mean_bytes: Floats  # [links], a port
    queue_peak_bytes: Floats  # [links], a port
    first_pause_s: float  # inf = none
    duration_s: float


def mean_run(
    network: QueueNetwork,
    flows: FlowSet,
    law: SenderLaw,
    gate: Gate,
    marking: Marking,
    *,
    packet: PacketFormat,
    stop_s: float,
    from_s: float = 0.0,
    spread_phases: bool = True,
    until_bursts_end: bool = True,
) -> MeanRun:
    """Until `stop_s`, or before when every finite flow has ended (`until_bursts_end`); goodput counts from `from_s`.

    Inputs as `solvers.queues.run`; several routes of a flow are shared by its packets evenly. All flows start at 0.
    Raises ValueError for two flows on one NIC and for headrooms that leave no memory.
    """
    from models.rocev2.expected_marks_kernels import SLICES, advance

    nics = [routes[0][0] for routes in flows.paths]
    if len(set(nics)) < len(nics):
        raise ValueError("expected marks: one flow a NIC")
    members, fat = equal_flows(flows), fat_links(network, flows)
    first = [group[0] for group in members]
    rows = route_rows([fat.link_of[list(flows.paths[f][0][1:])] for f in first], fat.ports.size)
    count = np.array([float(len(group)) for group in members])
    wire = np.array([wire_bytes(float(flows.bytes[f]), packet) for f in first])
    line = float(network.rate_bytes_per_s[nics[0]])
    longest_s = max(float(network.propagation_s[list(flows.paths[f][0])].sum()) for f in first)
    loop_s = 2.0 * longest_s + (rows.link_at.shape[1] + 1) * packet.wire_bytes / line
    finite = np.isfinite(wire)
    span_s = min(stop_s, 2.0 * float(wire[finite] @ count[finite]) / line) if finite.any() else stop_s
    coarse_s = min(loop_s / LEAST_STEPS, law.cut_interval_s / LEAST_STEPS)
    step_s = min(coarse_s, max(coarse_s * LEAST_STEPS / STEPS, span_s / STEPS_OF_SPAN))
    shared = _shared_bytes(network, gate)[fat.nodes]
    if gate.kind == "pfc" and (shared <= 0).any():
        raise ValueError("expected marks: headroom and reserve of the ports exceed the memory of a switch")
    round_trip_s = 2.0 * network.propagation_s + packet.wire_bytes / network.rate_bytes_per_s
    figures = np.array(
        [
            law.g, law.alpha_timer_s, law.cut_interval_s, law.increase_timer_s, float(law.fast_recovery_stages),
            law.additive_bytes_per_s, law.hyper_bytes_per_s, law.min_rate_bytes_per_s, line, law.byte_counter_bytes,
        ]
    )  # fmt: skip
    phase = np.arange(len(members)) / len(members) if spread_phases else np.zeros(len(members))
    at = rows.order
    memory = (network.buffer_bytes[fat.nodes] * fat.copies)[fat.switch_of]
    end, got, early, paused, peak, held, marks, lost, pause_s, first_pause_s, duration_s = advance(
        rows.link_at, rows.entry_at, count, wire, phase, _whole(round_trip_s[[nics[f] for f in first]] / step_s),
        fat.summed(network.rate_bytes_per_s)[at], fat.ports[at], fat.switch_of[at],
        np.where(rows.next_link >= 0, fat.switch_of[at][rows.next_link], -1),
        _whole(fat.largest(round_trip_s)[at] / step_s), rows.first, rows.entry_flow, rows.entry_hop,
        2.0 * memory[at] / SLICES, shared, fat.copies, GATE_KINDS[gate.kind], gate.alpha, gate.reserve_bytes,
        fat.thresholds(marking.kmin_bytes)[at], fat.thresholds(marking.kmax_bytes)[at],
        fat.thresholds(marking.pmax)[at], figures, law.kind == "dcqcn", float(packet.wire_bytes),
        max(1, round(loop_s / step_s)), step_s, max(1, round(stop_s / step_s)), from_s, until_bursts_end,
    )  # fmt: skip
    back = np.argsort(at)
    row_of = np.empty(len(nics), dtype=np.int64)
    for row, group in enumerate(members):
        row_of[group] = row
    nic_pause_s = np.zeros(network.links)
    nic_pause_s[nics] = paused[row_of]
    return MeanRun(
        completion_s=end[row_of],
        goodput_bytes_per_s=((got - early) / max(duration_s - int(from_s / step_s) * step_s, step_s))[row_of],
        marks=(marks / count)[row_of],
        lost_bytes=(lost / count)[row_of],
        link_pause_s=nic_pause_s + fat.spread(pause_s[back]),
        queue_mean_bytes=fat.spread(held[back] / fat.ports / max(duration_s, step_s)),
        queue_peak_bytes=fat.spread(peak[back] / fat.ports),
        first_pause_s=float(first_pause_s),
        duration_s=float(duration_s),
    )


def wire_bytes(payload_bytes: float, packet: PacketFormat) -> float:
    """Payload with the header of every packet it takes; inf stays inf."""
    if payload_bytes == inf:
        return inf
    return payload_bytes + ceil(payload_bytes / packet.payload_bytes) * packet.header_bytes


def _shared_bytes(network: QueueNetwork, gate: Gate) -> Floats:
    """Memory of every node that ports share: with PFC what headroom and reserve of its ingress ports leave."""
    if gate.kind != "pfc":
        return network.buffer_bytes
    headroom = gate.headroom_multiple * network.rate_bytes_per_s * network.propagation_s
    if gate.headroom_bytes is not None:
        headroom = np.full(network.links, gate.headroom_bytes)
    kept = np.bincount(network.to_node, weights=headroom + gate.reserve_bytes, minlength=len(network.tier))
    return np.asarray(network.buffer_bytes - kept)


def _whole(values: Floats) -> Ints:
    return np.maximum(1, np.rint(values)).astype(np.int64)
