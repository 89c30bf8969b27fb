"""Checks of a RoCE fabric with PFC: what acts first, whether the loop is stable, headroom, a receiver that hangs."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from models.compare.incast_checks import Check, Checked, State
from models.compare.incast_checks_dcqcn import ecn_order, stability
from models.compare.incast_headroom import (
    HEADROOM_SOURCE,
    LOSSLESS_PRIORITIES,
    asic_words,
    port_headroom,
    sized_cable_m,
    switch_asic,
    switch_ports,
)
from models.compare.verdict import percent
from models.rocev2.incast_laws import ADMITTED_SENDERS, laws
from models.rocev2.pause_storm import pause_storm
from models.rocev2.pfc import SWITCH_WATCHDOG_S
from models.rocev2.pfc_headroom import buffer_left_bytes, longest_lossless_cable_m
from models.units import duration_text, gbit_per_s_from_bytes_per_s, size_text

STORM_SOURCE = "Guo et al., SIGCOMM 2016; SONiC PFC watchdog, detection 100 to 400 ms"
TIER_WORDS = {"host": "hosts", "leaf": "leaves", "spine": "spines", "core": "cores"}


def pfc_checks(of: Checked) -> Iterator[Check]:
    """ECN before PFC, stability, headroom and cable, pause storm."""
    law, _, _ = laws(of.on.link)
    if law.kind == "dcqcn":
        yield ecn_order(of)
        yield stability(of)
    elif of.on.technology.congestion_control.kind == "receiver_driven":
        yield of.check(
            "congestion control", "look", f"none; {ADMITTED_SENDERS} bursts admitted at a time, PFC for the rest",
            f"Nothing marks: the collective library lets {ADMITTED_SENDERS} bursts in at a time, PFC holds the rest.",
            "Ask whether storage and other traffic goes through that library too: what does not is held by PFC alone.",
            of.on.technology.congestion_control.source,
        )  # fmt: skip
    else:
        yield of.check(
            "congestion control", "act", "none: PFC alone holds the senders",
            "Nothing slows the senders: an incast beyond the pause threshold pauses links, and whoever shares them.",
            "Switch ECN and DCQCN on, or keep many-to-one traffic off this fabric.",
            of.on.technology.congestion_control.source,
        )  # fmt: skip
    yield _headroom(of)
    yield _storm(of)


def _headroom(of: Checked) -> Check:
    """Headroom for the longest cable against the memory, and the longest cable that stays lossless."""
    topic, longest_m, sized_m = "PFC headroom", of.longest_cable_m, sized_cable_m(of)
    need, kept, worst = (
        port_headroom(of, longest_m), port_headroom(of, sized_m), port_headroom(of, longest_m, worst_case_cells=True)
    )  # fmt: skip
    rate = round(gbit_per_s_from_bytes_per_s(of.on.link.rate_bytes_per_s))
    if need is None or kept is None or worst is None:
        text = f"Not computed: no published response time at {rate} Gbit/s."
        advice = "Ask the vendor for the headroom of a port at the longest cable."
        return of.check(topic, "look", f"not known at {rate} Gbit/s", text, advice, HEADROOM_SOURCE)
    buffer_bytes, ports = of.on.technology.flow_control.switch_buffer_mb.value * 1e6, switch_ports(of)
    share = 1.0 - buffer_left_bytes(buffer_bytes, ports, LOSSLESS_PRIORITIES, need) / buffer_bytes
    packet = of.on.link.wire_packet_bytes
    reach_m = longest_lossless_cable_m(rate, kept.xoff_bytes, switch_asic(of), lossless_mtu_bytes=packet)
    fits = reach_m >= longest_m
    # a profile sized for shorter cables is a setting to change; memory that does not suffice is a part to change
    state: State = "act" if share >= 1.0 else "fine" if fits and share < 0.5 else "look"
    short = f"{percent(share)} of the buffer for {longest_m:g} m; lossless up to {reach_m:.0f} m as sized"
    text = (
        f"The longest cable, {longest_m:g} m, needs {size_text(need.xoff_bytes)} a port and class "
        f"({size_text(worst.xoff_bytes)} if all packets were 64 B): {percent(share)} of {size_text(buffer_bytes)} on "
        f"{ports} ports. Sized for {sized_m:g} m, it is lossless up to {reach_m:.0f} m"
    )
    text += ("." if fits else ": packets are lost beyond.") + asic_words(of)
    advice = "A second lossless class doubles it; check before adding one."
    if not fits:
        advice = "Set the cable length of the switch's buffer profile to the longest cable."
    return of.check(topic, state, short, text, advice, HEADROOM_SOURCE)


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
    short = f"one hung NIC stops the tree; watchdog {low * 1e3:g} to {high * 1e3:g} ms"
    if not of.solved:
        text = f"A NIC that hangs pauses the tree above it. {bound}"
        return of.check("pause storms", state, short, text, advice, STORM_SOURCE)
    found = pause_storm(of.phase, of.on.network, of.on.link)
    tiers = ", ".join(TIER_WORDS[tier] for tier in found.tiers) or "no tier"
    victim = ""
    if found.victim_fraction is not None:
        kept = percent(found.victim_fraction) if found.victim_fraction > 0.005 else "nothing"
        victim = f" and the victim keeps {kept}"
    text = (
        f"If the receiver hangs, links of these pause: {tiers}; the first switch link "
        f"{_after(found.switches_after_s)}, the first sender {_after(found.hosts_after_s)}; in the end "
        f"{percent(found.hosts_fraction)} of the senders stand still{victim}. {bound}"
    )
    reached = (
        "no sender" if found.hosts_after_s == inf else f"senders after {duration_text(found.hosts_after_s)}"
    )
    short = f"one hung NIC stops {reached}; watchdog {low * 1e3:g} to {high * 1e3:g} ms"
    return of.check("pause storms", state, short, text, advice, STORM_SOURCE)


def _after(time_s: float) -> str:
    return "never" if time_s == inf else f"after {duration_text(time_s)}"
