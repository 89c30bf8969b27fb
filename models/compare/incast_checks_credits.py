"""Checks of an InfiniBand fabric: buffer against the credit round trip, congestion control, a receiver that hangs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from models.catalog.technology import CongestionControl, vl_buffer
from models.compare.fabrics import fabric_link
from models.compare.incast_checks import Check, Checked, State
from models.compare.performance import Setup, workload_time
from models.compare.verdict import percent
from models.infiniband.congestion_control import congestion_control_sets, delay_packets
from models.infiniband.credits import (
    FIXED_LOOP_S,
    HEAD_OF_QUEUE_S,
    credit_round_trip_s,
    link_bandwidth,
    longest_link_m,
)
from models.units import KIB, duration_text, size_text
from models.workload.phase import burst_of

CC_SET = "simula_qdr"
CREDIT_SOURCE = "IBTA vol. 1, 7.9: bandwidth of a lane = buffer / credit round trip"
CC_SOURCE = "DeepEP docs/legacy.md: off in production; set of Gran et al., IPDPS 2010 (QDR age; none is published for NDR)"
HOQ_SOURCE = "opensm osm_base.h: head-of-queue lifetime 0x10 (leaf) and 0x12"


def credit_checks(of: Checked) -> Iterator[Check]:
    """Cable length, congestion control, a receiver that hangs."""
    yield _reach(of)
    yield _control(of)
    low, high = HEAD_OF_QUEUE_S
    yield of.check(
        "pause storms", "fine", f"stuck packets drop after {duration_text(low)} to {duration_text(high)}",
        "If a receiver hangs, senders stop by missing credits; what is stuck is dropped "
        f"after {duration_text(low)} to {duration_text(high)}.",
        "Leave the head-of-queue lifetimes of the subnet manager at their defaults.", HOQ_SOURCE,
    )  # fmt: skip


def _reach(of: Checked) -> Check:
    """Longest cable at full rate: the lane's buffer must cover the credit round trip."""
    rate, longest_m = of.on.link.rate_bytes_per_s, of.longest_cable_m
    figure = vl_buffer(of.on.technology.flow_control)
    mid, low = figure.value * KIB, figure.band[0] * KIB
    trip_s = credit_round_trip_s(longest_m, 0.0, rate, FIXED_LOOP_S)
    reach_m, short_m = longest_link_m(mid, rate), longest_link_m(low, rate)
    share = link_bandwidth(mid, trip_s, rate) / rate
    state: State = "fine" if short_m >= longest_m else "look" if reach_m >= longest_m else "act"
    text = (
        f"A credit is back after {duration_text(trip_s)} on the longest cable, {longest_m:g} m: full rate needs "
        f"{size_text(rate * trip_s)} a lane, {size_text(mid)} are there; the longest cable at full rate is {reach_m:.0f} m"
    )
    if low < mid:
        text += f" ({short_m:.0f} m if a port holds only {size_text(low)})"
    if share < 1.0:
        text += f"; this one carries {percent(share)} of the line rate"
    return of.check(
        "credit round trip", state, f"full rate up to {reach_m:.0f} m, longest cable {longest_m:g} m", text + ".",
        "Nothing to do." if state == "fine" else "Ask for the buffer a port gives each lane, or use long-haul ports.",
        CREDIT_SOURCE,
    )  # fmt: skip


def _control(of: Checked) -> Check:
    """Congestion control off by default, and what switching it on does to this incast."""
    given = of.on.technology.congestion_control
    if given.kind == "ib_cc":
        name = given.parameter_set or CC_SET
        advice = "Compare with off: a set of another speed can cost more than it saves."
        return of.check(
            "congestion control", "look", f"on ({name})", f"On, with the set {name}.", advice, CC_SOURCE
        )
    off = "Off, as shipped: senders that share a lane with an incast stand still with it"
    advice = f"Ask the vendor for a set for this speed; the only public ones are of QDR age ({CC_SET})."
    if not of.solved:
        return of.check("congestion control", "look", "off, as shipped", off + ".", advice, CC_SOURCE)
    before, after = _figures(of, of.on), _figures(of, _switched_on(of.on))
    gain = (
        f"switched on ({CC_SET}), the last burst ends after {duration_text(after['fct_max'])} "
        f"instead of {duration_text(before['fct_max'])}"
    )
    if "victim_share" in before:
        gain += f" and the victim keeps {percent(after['victim_share'])} instead of {percent(before['victim_share'])}"
    fan_in = burst_of(of.phase).fan_in
    slowest = 1.0 / (1.0 + float(delay_packets(congestion_control_sets()[CC_SET]).max()))
    if slowest * fan_in > 1.0:
        gain += f": this table slows a sender to {percent(slowest)} at most, {fan_in} senders need {percent(1.0 / fan_in)}"
    short = (
        f"off; on: last burst {duration_text(after['fct_max'])} instead of {duration_text(before['fct_max'])}"
    )
    if "victim_share" in before:
        short = (
            f"off; on: victim {percent(after['victim_share'])} instead of {percent(before['victim_share'])}"
        )
    return of.check("congestion control", "look", short, f"{off}; {gain}.", advice, CC_SOURCE)


def _switched_on(on: Setup) -> Setup:
    control = CongestionControl(
        kind="ib_cc", parameter_set=CC_SET, source=congestion_control_sets()[CC_SET].source
    )
    technology = on.technology.model_copy(update={"congestion_control": control})
    return replace(on, technology=technology, link=fabric_link(technology))


def _figures(of: Checked, on: Setup) -> dict[str, float]:
    times = workload_time(of.scenario, on, of.workload, "fluid").times
    return {m.name: m.value for time in times.values() for m in time.metrics}
