"""Checks of ECN and DCQCN: does marking come before pausing, and does the loop settle?"""

from __future__ import annotations

from functools import lru_cache

from models.compare.incast_checks import Check, Checked, State
from models.compare.incast_headroom import HEADROOM_SOURCE, LOSSLESS_PRIORITIES, shared_buffer
from models.compare.performance import workload_time
from models.rocev2.dcqcn import DcqcnFluid, StabilityAdvice, dcqcn_fluid, stability_advice
from models.rocev2.dcqcn_comfort import comfortable_flows
from models.rocev2.incast import hot_ports
from models.rocev2.incast_laws import control_set
from models.rocev2.pfc import ecn_before_pfc, port_marks_before_pausing, steady_threshold_bytes
from models.topology.incast_wiring import incast_wiring
from models.units import duration_text, size_text
from models.workload.phase import burst_of

FLOWS_LOOKED_AT = 64
ECN_SOURCE = "Zhu et al., SIGCOMM 2015, section 4; HPCC ns-3 switch-mmu.cc"
STABILITY_SOURCE = "Zhu et al., ECN or Delay, CoNEXT 2016: phase margin of the linearised loop"


def ecn_order(of: Checked) -> Check:
    """Does marking begin before pausing: in this incast, and in the worst case of the DCQCN paper?"""
    topic = "ECN before PFC"
    buffer, kept = shared_buffer(of)
    if buffer is None:
        return of.check(
            topic, "act", "headroom takes the whole buffer",
            "The headroom of all ports takes the whole buffer: nothing is left to share.",
            "Fewer lossless classes, shorter cables or a switch with more memory.", HEADROOM_SOURCE,
        )  # fmt: skip
    kmin = control_set(of.on.link).kmin_bytes
    ports = hot_ports(burst_of(of.phase), of.on.network, of.on.link)
    first = port_marks_before_pausing(buffer, ports, kmin)
    pauses = size_text(ports * (buffer.reserve_bytes + steady_threshold_bytes(buffer, ports)))
    beta = buffer.alpha * LOSSLESS_PRIORITIES
    rule = ecn_before_pfc(buffer.buffer_bytes, buffer.ports, kept, beta, kmin, LOSSLESS_PRIORITIES)
    limit = size_text(rule.ecn_limit_bytes)
    short = f"Kmin {size_text(kmin)}, pause at {pauses}; worst case wants Kmin < {limit}"
    text = (
        f"Marks begin at {size_text(kmin)}, links pause at {pauses} ({ports} links into the hot switch, headroom kept): "
        f"{'ECN' if first else 'PFC'} acts first"
    )
    if not first:
        advice = f"Lower Kmin below {pauses} or raise the dynamic threshold."
        return of.check(topic, "act", short, f"{text}.", advice, ECN_SOURCE)
    if rule.holds:
        text += f"; also in the worst case, which wants Kmin under {limit}."
        return of.check(
            topic, "fine", short, text, "Keep both thresholds in one change when either is tuned.", ECN_SOURCE
        )
    text += f" here. The worst case (one sender into every port at once) wants Kmin under {limit}."
    advice = "Ask for the ECN profile of the switch; a lower Kmin marks earlier and costs some rate."
    return of.check(topic, "look", short, text, advice, ECN_SOURCE)


@lru_cache(maxsize=64)
def _advice(fluid: DcqcnFluid, delay_s: float, largest: int) -> StabilityAdvice:
    return stability_advice(fluid, delay_s, largest)


def loop_delay_s(of: Checked) -> float:
    """Feedback delay: from a mark at the hot port to the receiver, back to the sender, and its packets to the port."""
    link = of.on.link
    path_s = incast_wiring(of.on.network, link).path_latency_s
    return 2.0 * path_s + link.host_pair_latency_s + link.wire_packet_bytes / link.rate_bytes_per_s


def stability(of: Checked) -> Check:
    """Stability of the DCQCN loop where the equations may be trusted; where not, that they say nothing."""
    link, topic = of.on.link, "DCQCN stability"
    figures = control_set(link)
    fluid = dcqcn_fluid(figures, link.rate_bytes_per_s, link.wire_packet_bytes)
    fan_in = burst_of(of.phase).fan_in
    most = comfortable_flows(fluid)
    if most < 2:
        timers = duration_text(min(fluid.alpha_s, fluid.cut_s))
        slow = _solved_slowdown(of)
        short = f"not decided: {timers} timers" + (f"; packets take {slow:.3g} x the bound" if slow else "")
        text = f"Not decided by the equations: timers of {timers} ({figures.id}) are outside what they were checked for"
        if slow:
            text += f"; solved packet by packet, this incast takes {slow:.3g} times its bound"
        advice = "Ask the vendor for the timers and thresholds it was tested with, and for how many senders."
        return of.check(topic, "look", short, f"{text}.", advice, STABILITY_SOURCE)
    largest = min(most, FLOWS_LOOKED_AT)
    found = _advice(fluid, float(f"{loop_delay_s(of):.2g}"), largest)
    state: State = "look" if found.unstable or found.above_ramp_from is not None else "fine"
    if any(low <= fan_in <= high for low, high in found.unstable):
        state = "act"
    text = found.text[:1].upper() + found.text[1:]
    if most < FLOWS_LOOKED_AT:
        text += f"; beyond N = {most} the equations say nothing"
    advice = "A flatter ramp (wider Kmin to Kmax, smaller Pmax) or a smaller rate step steadies it."
    advice = "Nothing to do." if state == "fine" else advice
    return of.check(topic, state, _ranges(found, largest), f"{text}.", advice, STABILITY_SOURCE)


def _ranges(advice: StabilityAdvice, largest: int) -> str:
    where = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in advice.unstable)
    return f"unstable for {where} senders" if where else f"stable up to {largest} senders"


def _solved_slowdown(of: Checked) -> float | None:
    """Last completion over the serialisation bound, packet by packet; None where it is not asked."""
    if not of.solved:
        return None
    times = workload_time(of.scenario, of.on, of.workload, "fluid").times
    return next(m.value for time in times.values() for m in time.metrics if m.name == "slowdown")
