"""Charts of the axis that decides an incast: what each fabric does, the victim, and the tail against burst / buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log10
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.compare.incast_axis import Span, half_rate_buffers, stage_of
from models.units import size_text

LEFT_EDGE = 126  # px kept for the y axis, the same on all three, so that the axes line up
STAGE_OPACITY = {"waits": 0.16, "slowed": 0.45, "stopped": 0.95}
STAGE_WORDS = {"waits": "fits", "slowed": "slowed by marks"}
X_TITLE = "All bursts together / memory that holds them"
IDEAL = 1.005  # a tail below so many times the ideal is the ideal
NARROW = 0.13  # share of the axis below which a stage carries no text


def domain(spans: Sequence[Span], stages: pd.DataFrame) -> tuple[float, float]:
    """Ends of the axis: all points and all thresholds, with room at the sides.

    >>> low, high = domain([Span(0.1, 1.0, 4.0)], pd.DataFrame({"from_buffers": [0.0, 0.02]}))
    >>> low < 0.02 and high > 4.0
    True
    """
    starts = [at for at in stages.from_buffers if at > 0]
    low = min(*(span.first for span in spans), *starts, inf)
    high = max(*(span.last for span in spans), *starts, 0.0)
    return float(low) / 1.5, float(high) * 1.5


def _x(ends: tuple[float, float], last: bool, field: str = "burst_over_buffer") -> alt.X:
    ticks = [10.0**p for p in range(-6, 8) if ends[0] <= 10.0**p <= ends[1]]
    axis = charts.axis(X_TITLE if last else "", labels=last, ticks=last, values=ticks)
    return alt.X(f"{field}:Q", scale=alt.Scale(type="log", domain=list(ends), nice=False), axis=axis)


def _y_axis(title: str, **options: Any) -> alt.Axis:
    return charts.axis(title, minExtent=LEFT_EDGE, maxExtent=LEFT_EDGE, **options)


def strip(
    stages: pd.DataFrame, now: Mapping[str, float], ends: tuple[float, float], colours: Mapping[str, str]
) -> Any:
    """Per candidate where bursts fit, where senders are slowed, where links stop; a ring at the scenario's burst."""
    low, high = ends
    rows = []
    for row in charts.rows(stages):
        start, end = max(row.from_buffers, low), min(row.to_buffers, high)
        if end <= start:
            continue
        wide = (log10(end) - log10(start)) / (log10(high) - log10(low))
        rows.append(
            {
                "candidate": row.candidate, "stage": row.stage, "start": start, "end": end,
                "middle": (start * end) ** 0.5, "opacity": STAGE_OPACITY[row.stage],
                "text": STAGE_WORDS.get(row.stage, row.words) if wide > NARROW else "",
                "says": f"{row.words}, from {size_text(row.from_burst_bytes)} a sender",
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    names = list(dict.fromkeys(stages.candidate))
    edge = {"minExtent": LEFT_EDGE, "maxExtent": LEFT_EDGE}
    labels = alt.Axis(
        title=" ", ticks=False, domain=False, labelLimit=LEFT_EDGE - 8, labelOverlap=False, **edge
    )
    y = alt.Y("candidate:N", sort=names, axis=labels)
    bars = (
        alt.Chart(table)
        .mark_bar(height={"band": 0.72}, stroke=None)
        .encode(
            x=_x(ends, False, "start"),
            x2="end:Q",
            y=y,
            color=charts.colour(colours),
            opacity=alt.Opacity("opacity:Q", scale=None, legend=None),
            tooltip=["candidate:N", "says:N"],
        )
    )
    layers: list[Any] = [bars]
    for stopped in (False, True):
        own = table[(table.stage == "stopped") == stopped]
        if len(own):
            ink = "white" if stopped else charts.INK
            layers.append(
                alt.Chart(own)
                .mark_text(fontSize=11, color=ink)
                .encode(x=_x(ends, False, "middle"), y=y, text="text:N")
            )
    marks = pd.DataFrame({"candidate": list(now), "burst_over_buffer": list(now.values())})
    layers.append(
        alt.Chart(marks)
        .mark_point(size=130, filled=True, fill="white", stroke="black", strokeWidth=2, opacity=1)
        .encode(x=_x(ends, False), y=y)
    )
    at = {name: stage_of(stages, name, value) for name, value in now.items()}
    stopping = [name for name, stage in at.items() if stage == "stopped"]
    finding = "No candidate is past the point where links stop or packets drop"
    if len(stopping) == len(at):
        finding = "Every candidate is past the point where links stop or packets drop"
    elif stopping:
        finding = f"Now past the point where links stop or packets drop: {', '.join(stopping)}"
    return charts.finished(
        alt.layer(*layers),
        finding,
        "What each fabric does as bursts grow: "
        + "; ".join(
            f"{r.candidate} {r.words} from {size_text(r.from_burst_bytes)}" for r in charts.rows(stages)
        ),
        "Ring: the burst of this scenario, each against its own memory",
        height=34 * len(names) + 62,  # the title's share is in it
    )


def victim(
    points: pd.DataFrame, stages: pd.DataFrame, ends: tuple[float, float], colours: Mapping[str, str]
) -> Any:
    """Victim's goodput against burst / buffer: solid solved, dashed closed form, a band over seeds."""
    shown = points.dropna(subset=["victim_fraction"])
    shown = shown.assign(
        value=shown.victim_fraction * 100,
        low=shown.victim_low_fraction * 100,
        high=shown.victim_high_fraction * 100,
    )
    half = half_rate_buffers(points)
    falls = {name: at for name, at in half.items() if at == at}
    finding = "The victim keeps half its rate or more at the largest bursts"
    if falls:
        first = min(falls, key=lambda name: falls[name])
        at = charts.number_text(falls[first], 2)
        finding = f"The victim falls below half its rate for good earliest on {first}, at {at} x its memory"
    return _lines(
        shown, stages, ends, colours, "Victim's goodput, %", alt.Scale(domain=[0, 108], nice=False), finding, 290, False
    )  # fmt: skip


def tail(
    points: pd.DataFrame, stages: pd.DataFrame, ends: tuple[float, float], colours: Mapping[str, str]
) -> Any:
    """99th percentile of completion over an ideal port's time, against burst / buffer."""
    shown = points.assign(value=points.p99_over_ideal)
    scale_s = shown.p99_over_ideal / shown.p99_s
    shown = shown.assign(low=shown.p99_low_s * scale_s, high=shown.p99_high_s * scale_s)
    solved = shown[shown.method == "fluid"]
    worst = (solved if len(solved) else shown).sort_values("value").iloc[-1]
    finding = f"Slowest tail: {worst.candidate}, {charts.number_text(worst.value)} times an ideal port"
    if worst.value < IDEAL:
        finding = "On every candidate the tail ends with the port's last byte"
    shown = shown.assign(
        low=shown.low.where(shown.method == "fluid"), high=shown.high.where(shown.method == "fluid")
    )
    top = max(1.25, float(shown[["value", "high"]].max().max()) * 1.08)
    scale = alt.Scale(
        type="log" if top > 6 else "linear",
        domain=[min(0.85, float(shown[["value", "low"]].min().min())), top],
        nice=False,
    )
    return _lines(shown, stages, ends, colours, "p99 completion / ideal", scale, finding, 250, True)


def _lines(
    shown: pd.DataFrame, stages: pd.DataFrame, ends: tuple[float, float], colours: Mapping[str, str],
    title: str, scale: alt.Scale, finding: str, height: int, last: bool,
) -> Any:  # fmt: skip
    x = _x(ends, last)
    y = alt.Y("value:Q", scale=scale, axis=_y_axis(title, tickCount=5))
    solved = shown[shown.method == "fluid"]
    ink = charts.colour(colours)
    says = [
        "candidate:N", "method:N", alt.Tooltip("burst_bytes:Q", title="burst of one, bytes", format=","),
        alt.Tooltip("burst_over_buffer:Q", title="bursts / memory", format=".3g"),
        alt.Tooltip("value:Q", title=title, format=".3g"),
    ]  # fmt: skip
    stops = stages[(stages.stage == "stopped") & (stages.from_buffers > 0)]
    stops = stops.rename(columns={"from_buffers": "burst_over_buffer"})
    layers: list[Any] = [
        alt.Chart(stops[["candidate", "burst_over_buffer"]])
        .mark_rule(strokeDash=[2, 3], opacity=0.7)
        .encode(x=x, color=ink)
    ]
    if len(solved):
        layers.append(
            alt.Chart(solved)
            .mark_area(opacity=0.2)
            .encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=ink)
        )
    layers.append(
        alt.Chart(shown)
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=x,
            y=y,
            color=ink,
            strokeDash=alt.StrokeDash(
                "method:N",
                scale=alt.Scale(domain=list(charts.DASHES), range=list(charts.DASHES.values())),
                legend=None,
            ),
            tooltip=says,
        )
    )
    layers.append(
        alt.Chart(solved)
        .mark_point(size=28, filled=True, opacity=1)
        .encode(x=x, y=y, color=ink, tooltip=says)
    )
    method = "fluid" if len(solved) else "analytical"
    here = shown[shown.scenario_burst & (shown.method == method)]
    layers.append(
        alt.Chart(here)
        .mark_point(size=170, filled=True, stroke=charts.INK, strokeWidth=3, opacity=1)
        .encode(
            x=x, y=y, fill=alt.Fill("candidate:N", scale=charts.scale(colours), legend=None), tooltip=says
        )
    )
    subtitle = "Solid: packets solved, dashed: closed form, ring: this scenario; dotted: links stop or packets drop from here"
    if not len(solved):
        subtitle = "Closed form only; ring: this scenario; dotted: links stop or packets drop from here"
    texts = "; ".join(f"{r.candidate} {r.value:.3g} now" for r in charts.rows(here))
    return charts.finished(
        alt.layer(*layers),
        finding,
        f"{title} against {X_TITLE.lower()}: {texts or 'no point of the scenario'}.",
        subtitle,
        height=height,
    )
