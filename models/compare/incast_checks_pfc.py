"""Checks of a RoCE fabric with PFC: what acts first, whether the loop is stable, headroom, a receiver that hangs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from models.catalog.parts import parts
from models.compare.incast_checks import Check, Checked, State
from models.compare.performance import workload_time
from models.compare.verdict import percent
from models.rocev2.dcqcn import DcqcnFluid, StabilityAdvice, dcqcn_fluid, stability_advice
from models.rocev2.dcqcn_comfort import comfortable_flows
from models.rocev2.incast import hot_ports
from models.rocev2.incast_laws import ADMITTED_SENDERS, control_set, laws
from models.rocev2.pause_storm import pause_storm
from models.rocev2.pfc import (
    SWITCH_WATCHDOG_S,
    SharedBuffer,
    ecn_before_pfc,
    port_marks_before_pausing,
    steady_threshold_bytes,
)
from models.rocev2.pfc_headroom import (
    ASICS,
    PEER_QUANTA,
    Headroom,
    buffer_left_bytes,
    headroom,
    longest_lossless_cable_m,
)
from models.topology.incast_wiring import incast_wiring
from models.topology.network import switch_radices
from models.units import duration_text, gbit_per_s_from_bytes_per_s, size_text
from models.workload.phase import burst_of

LOSSLESS_PRIORITIES = 1  # one class for RDMA; a second would double the headroom
CABLE_CLASS_M = 40.0  # SONiC default cable class, where a technology states none
FLOWS_LOOKED_AT = 64
SPECTRUM_ASICS = {"SN4": "spectrum-3", "SN5": "spectrum-4", "SN6": "spectrum-6"}
ECN_SOURCE = "Zhu et al., SIGCOMM 2015, section 4; HPCC ns-3 switch-mmu.cc"
STABILITY_SOURCE = "Zhu et al., ECN or Delay, CoNEXT 2016: phase margin of the linearised loop"
HEADROOM_SOURCE = "SONiC buffer_headroom_mellanox.lua; IEEE 802.3 31B.3.7"
STORM_SOURCE = "Guo et al., SIGCOMM 2016; SONiC PFC watchdog, detection 100 to 400 ms"


def pfc_checks(of: Checked) -> Iterator[Check]:
    """ECN before PFC, stability, headroom and cable, pause storm."""
    law, _, _ = laws(of.on.link)
    if law.kind == "dcqcn":
        yield _order(of)
        yield _stability(of)
    elif of.on.technology.congestion_control.kind == "receiver_driven":
        yield of.check(
            "congestion control", "look",
            f"Nothing marks: the collective library lets {ADMITTED_SENDERS} bursts in at a time, PFC holds the rest.",
            "Ask whether storage and other traffic goes through that library too: what does not is held by PFC alone.",
            of.on.technology.congestion_control.source,
        )  # fmt: skip
    else:
        yield of.check(
            "congestion control", "act",
            "Nothing slows the senders: an incast beyond the pause threshold pauses links, and whoever shares them.",
            "Switch ECN and DCQCN on, or keep many-to-one traffic off this fabric.",
            of.on.technology.congestion_control.source,
        )  # fmt: skip
    yield from _headroom(of)
    yield _storm(of)


def switch_ports(of: Checked) -> int:
    """Ports of the leaf switch at the NIC's rate."""
    chosen = of.on.candidate.parts
    part, above = parts()[chosen["switch"]], parts().get(chosen.get("spine_switch", ""))
    rate = gbit_per_s_from_bytes_per_s(of.on.link.rate_bytes_per_s)
    return switch_radices(of.on.network.topology, rate, part, above)[0]


def _sized(of: Checked, cable_m: float, worst_case_cells: bool = False) -> Headroom | None:
    """Headroom of a port for a cable; None at a speed whose response time is not published."""
    rate = round(gbit_per_s_from_bytes_per_s(of.on.link.rate_bytes_per_s))
    if rate not in PEER_QUANTA:
        return None
    packet = of.on.link.wire_packet_bytes
    return headroom(
        rate, cable_m, ASICS[_asic(of)], lossless_mtu_bytes=packet, worst_case_cells=worst_case_cells
    )


def _asic(of: Checked) -> str:
    model = parts()[of.on.candidate.parts["switch"]].model
    return next((asic for start, asic in SPECTRUM_ASICS.items() if model.startswith(start)), "spectrum-4")


def _buffer(of: Checked) -> tuple[SharedBuffer | None, float]:
    """(memory as one lossless class may use it, headroom a port); None where the headroom leaves nothing."""
    flow = of.on.technology.flow_control
    cable_m = CABLE_CLASS_M if flow.headroom_cable_m is None else flow.headroom_cable_m.value
    each = _sized(of, max(cable_m, 0.0))
    kept = 0.0 if each is None else each.size_bytes
    alpha = 0.125 if flow.dynamic_threshold is None else flow.dynamic_threshold.value
    try:
        return SharedBuffer(flow.switch_buffer_mb.value * 1e6, switch_ports(of), kept, alpha), kept
    except ValueError:
        return None, kept


def _order(of: Checked) -> Check:
    """Does marking begin before pausing: in this incast, and in the worst case of the DCQCN paper?"""
    buffer, kept = _buffer(of)
    figures = control_set(of.on.link)
    if buffer is None:
        return of.check(
            "ECN before PFC", "act", "The headroom of all ports takes the whole buffer: nothing is left to share.",
            "Fewer lossless classes, shorter cables or a switch with more memory.", HEADROOM_SOURCE,
        )  # fmt: skip
    ports = hot_ports(burst_of(of.phase), of.on.network, of.on.link)
    first = port_marks_before_pausing(buffer, ports, figures.kmin_bytes)
    pauses = ports * (buffer.reserve_bytes + steady_threshold_bytes(buffer, ports))
    rule = ecn_before_pfc(
        buffer.buffer_bytes, buffer.ports, kept, buffer.alpha * LOSSLESS_PRIORITIES, figures.kmin_bytes, LOSSLESS_PRIORITIES
    )  # fmt: skip
    text = (
        f"Marks begin at {size_text(figures.kmin_bytes)}, links pause at {size_text(pauses)} "
        f"({ports} links into the hot switch, headroom kept): {'ECN' if first else 'PFC'} acts first"
    )
    if not first:
        return of.check(
            "ECN before PFC", "act", f"{text}.",
            f"Lower Kmin below {size_text(pauses)} or raise the dynamic threshold.", ECN_SOURCE,
        )  # fmt: skip
    if rule.holds:
        return of.check(
            "ECN before PFC", "fine", f"{text}; also in the worst case, which wants Kmin under {size_text(rule.ecn_limit_bytes)}.",
            "Keep both thresholds in one change when either is tuned.", ECN_SOURCE,
        )  # fmt: skip
    return of.check(
        "ECN before PFC", "look",
        f"{text} here. The worst case (one sender into every port at once) wants Kmin under {size_text(rule.ecn_limit_bytes)}.",
        "Ask for the ECN profile of the switch; a lower Kmin marks earlier and costs some rate.", ECN_SOURCE,
    )  # fmt: skip


@lru_cache(maxsize=64)
def _advice(fluid: DcqcnFluid, delay_s: float, largest: int) -> StabilityAdvice:
    return stability_advice(fluid, delay_s, largest)


def loop_delay_s(of: Checked) -> float:
    """Feedback delay: from a mark at the hot port to the receiver, back to the sender, and its packets to the port."""
    link = of.on.link
    path_s = incast_wiring(of.on.network, link).path_latency_s
    return 2.0 * path_s + link.host_pair_latency_s + link.wire_packet_bytes / link.rate_bytes_per_s


def _stability(of: Checked) -> Check:
    """Stability of the DCQCN loop where the equations may be trusted, and that they may not where they may not."""
    link = of.on.link
    figures = control_set(link)
    fluid = dcqcn_fluid(figures, link.rate_bytes_per_s, link.wire_packet_bytes)
    fan_in = burst_of(of.phase).fan_in
    most = min(comfortable_flows(fluid), max(FLOWS_LOOKED_AT, fan_in), 4 * FLOWS_LOOKED_AT)
    delay_s = float(f"{loop_delay_s(of):.2g}")
    if most < 2:
        shortest_s = min(fluid.alpha_s, fluid.cut_s)
        return of.check(
            "DCQCN stability", "look",
            f"Not decided by the equations: timers of {duration_text(shortest_s)} ({figures.id}) are outside what "
            f"they were checked for{_solved_words(of)}.",
            "Ask the vendor for the timers and thresholds it was tested with, and for how many senders.",
            STABILITY_SOURCE,
        )  # fmt: skip
    advice = _advice(fluid, delay_s, min(most, FLOWS_LOOKED_AT))
    state: State = "look" if advice.unstable or advice.above_ramp_from is not None else "fine"
    if any(low <= fan_in <= high for low, high in advice.unstable):
        state = "act"
    beyond = f"; beyond N = {most} the equations say nothing" if most < FLOWS_LOOKED_AT else ""
    return of.check(
        "DCQCN stability", state, f"{advice.text[:1].upper()}{advice.text[1:]}{beyond}.",
        "Nothing to do." if state == "fine"
        else "A flatter ramp (wider Kmin to Kmax, smaller Pmax) or a smaller rate step steadies it.",
        STABILITY_SOURCE,
    )  # fmt: skip


def _solved_words(of: Checked) -> str:
    """What the packet-grain solver says instead; nothing where it is not asked."""
    if not of.solved:
        return ""
    times = workload_time(of.scenario, of.on, of.workload, "fluid").times
    found = {m.name: m.value for time in times.values() for m in time.metrics}
    return f"; solved packet by packet, this incast takes {found['slowdown']:.3g} times its bound"


def _headroom(of: Checked) -> Iterator[Check]:
    """Headroom for the longest cable against the memory, and the longest cable that stays lossless."""
    flow, longest_m = of.on.technology.flow_control, of.longest_cable_m
    sized_m = CABLE_CLASS_M if flow.headroom_cable_m is None else flow.headroom_cable_m.value
    need, kept, worst = _sized(of, longest_m), _sized(of, sized_m), _sized(of, longest_m, True)
    rate = round(gbit_per_s_from_bytes_per_s(of.on.link.rate_bytes_per_s))
    if need is None or kept is None or worst is None:
        yield of.check(
            "PFC headroom", "look", f"Not computed: no published response time at {rate} Gbit/s.",
            "Ask the vendor for the headroom of a port at the longest cable.", HEADROOM_SOURCE,
        )  # fmt: skip
        return
    buffer_bytes, ports = flow.switch_buffer_mb.value * 1e6, switch_ports(of)
    share = 1.0 - buffer_left_bytes(buffer_bytes, ports, LOSSLESS_PRIORITIES, need) / buffer_bytes
    reach_m = longest_lossless_cable_m(
        rate, kept.xoff_bytes, ASICS[_asic(of)], lossless_mtu_bytes=of.on.link.wire_packet_bytes
    )
    fits = reach_m >= longest_m
    # a profile sized for shorter cables is a setting to change; memory that does not suffice is a part to change
    state: State = "act" if share >= 1.0 else "fine" if fits and share < 0.5 else "look"
    text = (
        f"The longest cable, {longest_m:g} m, needs {size_text(need.xoff_bytes)} a port and class "
        f"({size_text(worst.xoff_bytes)} if all packets were 64 B): {percent(share)} of {size_text(buffer_bytes)} on {ports} ports"
    )
    yield of.check(
        "PFC headroom", state,
        f"{text}. Sized for {sized_m:g} m, it is lossless up to {reach_m:.0f} m" + ("." if fits else ": packets are lost beyond."),
        "Set the cable length of the switch's buffer profile to the longest cable." if not fits
        else "A second lossless class doubles it; check before adding one.",
        HEADROOM_SOURCE,
    )  # fmt: skip


def _storm(of: Checked) -> Check:
    """A receiver that hangs: which tiers it pauses, how fast, and what a watchdog leaves of it."""
    low, high = SWITCH_WATCHDOG_S
    timeout_s = of.on.technology.loss_recovery.timeout_ms.value * 1e-3
    survives = timeout_s > high
    bound = (
        f"A watchdog ends it after {low * 1e3:g} to {high * 1e3:g} ms, "
        f"{'before' if survives else 'after'} the transport's timeout of {duration_text(timeout_s)}; without one it lasts "
        "until somebody steps in."
    )
    advice = "Switch the PFC watchdog on at every switch and NIC, and test it by hanging one receiver."
    state: State = "look" if survives else "act"
    if not of.solved:
        text = f"A NIC that hangs pauses the tree above it. {bound}"
        return of.check("pause storms", state, text, advice, STORM_SOURCE)
    found = pause_storm(of.phase, of.on.network, of.on.link)
    tiers = ", ".join(_TIER_WORDS[tier] for tier in found.tiers) or "no tier"
    victim = ""
    if found.victim_fraction is not None:
        kept = percent(found.victim_fraction) if found.victim_fraction > 0.005 else "nothing"
        victim = f" and the victim keeps {kept}"
    text = (
        f"If the receiver hangs, links of these pause: {tiers}; the first switch link after "
        f"{duration_text(found.switches_after_s)}, the first sender after {duration_text(found.hosts_after_s)}; in the end "
        f"{percent(found.hosts_fraction)} of the senders stand still{victim}. {bound}"
    )
    return of.check("pause storms", state, text, advice, STORM_SOURCE)


_TIER_WORDS = {"spine": "spines", "leaf": "leaves", "host": "hosts", "core": "cores"}
