"""Why the victim starves on one fabric and not on the other: per candidate what its incast run shows, in words."""

from __future__ import annotations

from dataclasses import dataclass

from models.compare.fabrics import incast_queue_limits
from models.compare.incast_table import IncastTables
from models.compare.performance import Setup, setup
from models.compare.verdict import percent
from models.scenario.schema import Scenario
from models.solvers.incast_outcome import QueueLimits
from models.topology.incast_wiring import incast_bound_s, incast_wiring, spreads_packets
from models.units import size_text
from models.workload.phase import burst_of
from models.workload.phases import phases

FEW = 0.005  # shares below are nothing
SHORT_STARTS = 5.0  # a burst shorter than so many path latencies is over before the victim is at speed
SHORT = "The burst is over before the victim is at full speed: its share says little here."


@dataclass(frozen=True)
class Story:
    """What happened on one candidate; `victim_fraction` nan without a victim."""

    candidate: str
    victim_fraction: float
    stopped: bool  # whether links stood still
    text: str


def incast_story(scenario: Scenario, workload: str, tables: IncastTables) -> tuple[Story, ...]:
    """One story a candidate, from the packets that were solved: what had to wait, where, and who stood still."""
    item = scenario.workloads[workload]
    assert item.kind == "incast"
    phase = phases(item, scenario, workload).phases[0]
    found = []
    for name in scenario.candidates:
        on = setup(scenario, name)
        rows = tables.figures[(tables.figures.candidate == name) & (tables.figures.method == "fluid")]
        if rows.empty:
            continue
        figures = dict(zip(rows.metric, rows.value, strict=True))
        limits = incast_queue_limits(phase, on)
        stopped, what = _what(on, figures)
        text = f"{_waits(figures['queue_peak'], limits)} {what}"
        if item.victim:
            bound_s = incast_bound_s(burst_of(phase), on.link)
            short = bound_s < SHORT_STARTS * (
                incast_wiring(on.network, on.link).path_latency_s + on.link.host_pair_latency_s
            )
            text += " " + (SHORT if short else _victim(on, stopped, figures))
        found.append(Story(name, figures.get("victim_share", float("nan")), stopped, text))
    return tuple(found)


def _waits(peak_bytes: float, limits: QueueLimits) -> str:
    """How much waited at the hot port, against the memory that holds it."""
    many = limits.buffer_words.startswith("input buffers")
    room = f"the {limits.buffer_words} {'hold' if many else 'holds'} {size_text(limits.buffer_bytes)}"
    full = ", all of it used" if peak_bytes > 0.95 * limits.buffer_bytes else ""
    return f"Up to {size_text(peak_bytes)} wait; {room}{full}."


def _what(on: Setup, figures: dict[str, float]) -> tuple[bool, str]:
    """Whether links stood still, and what held the senders."""
    kind = on.technology.flow_control.kind
    held_s, time_s = figures.get("pause_time", 0.0), figures["time"]
    share = min(1.0, held_s / time_s) if time_s > 0 else 0.0
    if kind == "credits":
        if share < FEW:
            return False, "Credits last, nobody has to stop."
        return True, f"No room, no credits: a sender stands still {percent(share)} of the time."
    marked = figures.get("marks", 0.0) > 0
    slowed = "marks ask the senders to slow down" if marked else "nothing asks the senders to slow down"
    if kind == "pfc":
        pauses = figures.get("pauses", 0.0)
        if pauses < 1.0:
            return False, f"No link pauses; {slowed}."
        where = (
            f"a sender stands still {percent(share)} of the time"
            if share >= FEW
            else "mostly between switches"
        )
        return True, f"Links pause {pauses:,.0f} times, {where}; {slowed}."
    drops, timeouts = figures.get("drops", 0.0), figures.get("timeouts", 0.0)
    if drops < 1.0:
        return False, f"Nothing drops; {slowed}." if marked else "Nothing drops."
    return (
        False,
        f"{drops:,.0f} packets drop and {timeouts:,.0f} tails wait for a timeout; no link ever stops.",
    )


def _victim(on: Setup, stopped: bool, figures: dict[str, float]) -> str:
    """Why the victim keeps what it keeps."""
    share = figures.get("victim_share", float("nan"))
    if share != share:
        return ""
    credits = on.technology.flow_control.kind == "credits"
    if stopped and share < 0.5:
        if credits:
            return "The victim's packets stand in the same queues, so it stands still with them."
        return "A pause stops all on the link, the victim too, though its own port is idle."
    if stopped:
        return "The stops are short, so the victim keeps more than half of its rate."
    if share > 0.75:
        spread = " and packets take all paths" if spreads_packets(on.link) and not credits else ""
        return f"Links keep running{spread}, so the victim passes."
    if figures.get("marks", 0.0) > 0:
        return (
            "Links keep running, but the victim shares a path with some of the senders: it waits behind them and is "
            "marked too."
        )
    return "Links keep running, but the victim waits behind senders that share its path."
