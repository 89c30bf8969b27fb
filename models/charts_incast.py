"""Charts of an incast: the picture of who sends where, aligned time series, victims, completion times."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log2
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.compare.incast_table import QUANTITIES
from models.units import size_text

VICTIM = "#3D85B8"  # reads on light and dark pages
RIGHT_SHARE = 1.09  # of the time axis: room at the right for the names of thresholds
SMOOTHED = ("rate_bytes_per_s", "victim_rate_bytes_per_s")  # sampled packet by packet: a moving mean is drawn
SMOOTH_SHARE = 1 / 80  # of the samples
LEFT_EDGE = 62  # px kept for the y axis, the same on every panel, so that time lines up


def strip(fan_in: int, victim: bool, colour: str = charts.WARN) -> Any:
    """Senders, last switch, hot receiver and victim as a sketch; nothing here is computed."""
    shown = min(fan_in, 9)
    gap = 7.0 / max(1, shown - 1)
    nodes = [{"x": 0.0, "y": 2.4 + gap * i, "kind": "sender", "text": ""} for i in range(shown)]
    nodes += [
        {"x": 4.4, "y": 5.9, "kind": "switch", "text": "spine"},
        {"x": 9.0, "y": 5.9, "kind": "switch", "text": "last switch"},
        {"x": 13.0, "y": 8.2, "kind": "hot", "text": "the one receiver"},
    ]
    lines = [{"x": 0.3, "y": 2.4 + gap * i, "x2": 4.1, "y2": 5.9, "kind": "incast"} for i in range(shown)]
    lines += [
        {"x": 4.7, "y": 6.0, "x2": 8.7, "y2": 6.0, "kind": "stopped"},
        {"x": 9.3, "y": 6.1, "x2": 12.7, "y2": 8.2, "kind": "hot"},
    ]
    words = [
        {"x": -0.3, "y": 10.4, "text": f"{fan_in} senders at once", "kind": "incast"},
        {"x": 9.0, "y": 9.5, "text": "1 data pile up", "kind": "hot"},
        {"x": 4.6, "y": 7.0, "text": "2 full: link stops", "kind": "hot"},
    ]
    if victim:
        nodes.append({"x": 13.0, "y": 3.4, "kind": "victim", "text": "victim's receiver: idle"})
        nodes.append({"x": 0.0, "y": 0.9, "kind": "victim", "text": ""})
        lines.append({"x": 0.3, "y": 0.9, "x2": 4.1, "y2": 5.6, "kind": "victim"})
        lines.append({"x": 4.7, "y": 5.6, "x2": 8.7, "y2": 5.6, "kind": "victim"})
        lines.append({"x": 9.3, "y": 5.6, "x2": 12.7, "y2": 3.4, "kind": "victim"})
        words.append(
            {"x": -0.3, "y": -0.3, "text": "3 the victim shares that link, not the port", "kind": "victim"}
        )
    kinds = alt.Scale(domain=["sender", "switch", "hot", "victim", "incast", "stopped"],
                      range=[charts.INK, charts.INK, colour, VICTIM, charts.INK, colour])  # fmt: skip
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.6, 20.5]), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.9, 11.0]), axis=None)
    paint = alt.Color("kind:N", scale=kinds, legend=None)
    node_table = pd.DataFrame(nodes)
    edges = (
        alt.Chart(pd.DataFrame(lines))
        .mark_rule(strokeWidth=2, opacity=0.8)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=paint)
    )
    dots = alt.Chart(node_table).mark_square(size=150, opacity=1).encode(x=x, y=y, color=paint)
    text = (
        alt.Chart(node_table[node_table.kind.isin(["hot", "victim"])])
        .mark_text(align="left", dx=12, fontSize=12)
        .encode(x=x, y=y, text="text:N", color=paint)
    )
    under = (
        alt.Chart(node_table[node_table.kind == "switch"])
        .mark_text(dy=18, fontSize=11, color=charts.INK)
        .encode(x=x, y=y, text="text:N")
    )
    label = (
        alt.Chart(pd.DataFrame(words))
        .mark_text(align="left", fontSize=12)
        .encode(x=x, y=y, text="text:N", color=paint)
    )
    return charts.finished(
        edges + dots + text + under + label,
        "Many senders, one port",
        f"Sketch: {fan_in} senders and a victim flow reach the last switch over the same links; the senders' data meet at "
        "one port, the victim goes to another.",
        height=225,
    )


def time_end_us(series: pd.DataFrame) -> float:
    """End of the shared time axis: all of the candidates that end within eight times the quickest."""
    ends = series.groupby("candidate").time_us.max()
    return float(ends[ends <= 8.0 * ends.min()].max()) * 1.02


def panel(
    series: pd.DataFrame,
    quantity: str,
    colours: Mapping[str, str],
    end_us: float,
    last: bool,
    thresholds: pd.DataFrame,
) -> Any:
    """One quantity over time, all candidates; panels share the time axis and its left edge.

    Rates are drawn as a moving mean over 1/80 of the samples: a sample holds whole packets, and may say more than
    the line carries.
    """
    words, unit, _ = QUANTITIES[quantity]
    own = series[(series.quantity == quantity) & (series.time_us <= end_us)]
    if quantity in SMOOTHED:
        own = own.assign(value=own.groupby("candidate").value.transform(_moving_mean))
    queue = quantity == "queue_bytes"
    x = alt.X("time_us:Q", scale=alt.Scale(domain=[0, end_us * RIGHT_SHARE], nice=False),
              axis=charts.axis("Time from the first byte, us" if last else "", labels=last, ticks=last))  # fmt: skip
    top = max([float(own.value.max() if len(own) else 1.0), *thresholds.value] if queue else [0.0])
    ticks: dict[str, Any] = {"values": byte_ticks(top)} if queue else {"tickCount": 4}
    edge = {"minExtent": LEFT_EDGE, "maxExtent": LEFT_EDGE}
    axis = charts.axis(unit, charts.BYTES if queue else charts.THOUSANDS, **edge, **ticks)
    y = alt.Y("value:Q", axis=axis)
    lines = (
        alt.Chart(own)
        .mark_line(strokeWidth=1.8, interpolate="step-after" if quantity == "held_fraction" else "linear")
        .encode(x=x, y=y, color=charts.colour(colours),
                tooltip=["candidate:N", alt.Tooltip("time_us:Q", format=".4g"), alt.Tooltip("value:Q", format=".4g")])
    )  # fmt: skip
    layers: list[Any] = [lines]
    if queue and len(thresholds):
        layers += _threshold_lines(thresholds, axis, top, colours)
    peaks = own.groupby("candidate").value.max().sort_values(ascending=False)
    names = ", ".join(f"{name} {value:.3g}" for name, value in peaks.items())
    finding, subtitle = words, ""
    if quantity in SMOOTHED and len(own):
        low = own.groupby("candidate").value.mean().sort_values()
        finding = f"{words}: least on {low.index[0]}, {_figure(float(low.iloc[0]), quantity)} on average"
    elif len(peaks):
        finding = f"{words}: highest on {peaks.index[0]}, {_figure(float(peaks.iloc[0]), quantity)}"
    if queue and len(thresholds):
        subtitle = "Dashed: " + ", ".join(dict.fromkeys(thresholds.says))
    return charts.finished(
        alt.layer(*layers), finding, f"{words} over time per candidate. Highest: {names}.", subtitle,
        height=250 if queue else 195 if last else 150,
    )  # fmt: skip


def _threshold_lines(
    thresholds: pd.DataFrame, axis: alt.Axis, top: float, colours: Mapping[str, str]
) -> list[Any]:
    """Dashed lines with their names right of the picture, apart from one another."""
    places = charts.spread_labels({str(i): v for i, v in enumerate(thresholds.value)}, 0.0, top, 0.11)
    least = min(places.values())
    shown = thresholds.assign(place=[places[str(i)] - min(0.0, least) for i in range(len(thresholds))])
    ink = charts.colour(colours)
    rule = (
        alt.Chart(shown)
        .mark_rule(strokeDash=[4, 3], opacity=0.8)
        .encode(y=alt.Y("value:Q", axis=axis), color=ink)
    )
    text = (
        alt.Chart(shown)
        .mark_text(align="right", dx=-3, fontSize=11)
        .encode(x=alt.value("width"), y=alt.Y("place:Q", axis=axis), text="text:N", color=ink)
    )
    return [rule, text]


def _moving_mean(values: pd.Series) -> pd.Series:
    return values.rolling(max(1, round(len(values) * SMOOTH_SHARE)), center=True, min_periods=1).mean()


def byte_ticks(top_bytes: float) -> list[float]:
    """Three to six ticks at round binary sizes.

    >>> [t / 2**20 for t in byte_ticks(27.2 * 2**20)]
    [0.0, 8.0, 16.0, 24.0]
    """
    if top_bytes <= 0:
        return [0.0]
    step = 2.0 ** floor(log2(top_bytes / 3.0))
    return [step * i for i in range(int(top_bytes / step) + 1)]


def _figure(value: float, quantity: str) -> str:
    return (
        size_text(value)
        if quantity == "queue_bytes"
        else f"{charts.number_text(value)} {QUANTITIES[quantity][1]}"
    )


def stacked(panels: list[Any]) -> Any:
    """The panels above one another as one chart, for export."""
    return alt.vconcat(*(panel.properties(width=charts.EXPORT_WIDTH) for panel in panels)).resolve_scale(
        color="shared"
    )


def victim_bars(victims: pd.DataFrame, colours: Mapping[str, str]) -> Any:
    """What the victim keeps of an idle link's goodput."""
    shown = victims.assign(percent=victims.value * 100, text=[charts.percent_text(v) for v in victims.value])
    order = list(shown.sort_values("value").candidate)
    y = alt.Y(
        "candidate:N",
        sort=order,
        axis=alt.Axis(title=None, ticks=False, domain=False, labelLimit=170),
    )
    x = alt.X(
        "percent:Q",
        scale=alt.Scale(domain=[0, 112], nice=False),
        axis=charts.axis("Victim's goodput, % of its own with no burst"),
    )
    bars = alt.Chart(shown).mark_bar(height={"band": 0.6}).encode(y=y, x=x, color=charts.colour(colours))
    text = (
        alt.Chart(shown)
        .mark_text(align="left", dx=5, fontSize=12, color=charts.INK)
        .encode(y=y, x=x, text="text:N")
    )
    worst = shown.sort_values("value").iloc[0]
    return charts.finished(
        bars + text,
        f"Victim least on {worst.candidate}: {worst.text}",
        "Victim's goodput: " + "; ".join(f"{r.candidate} {r.text}" for r in charts.rows(shown)),
        height=124 + 36 * len(shown),
    )


def completion(table: pd.DataFrame, colours: Mapping[str, str]) -> Any:
    """Share of senders done by a time."""
    shown = table.assign(share=table.share_of_flows * 100)
    x = alt.X(
        "completion_us:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=charts.axis("Completion time, us", tickCount=5),
    )
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 100]), axis=charts.axis("Senders done, %"))
    lines = alt.Chart(shown).mark_line(strokeWidth=2.2, interpolate="step-after").encode(
        x=x, y=y, color=charts.colour(colours), order="share:Q",
        tooltip=["candidate:N", alt.Tooltip("completion_us:Q", format=".4g"), alt.Tooltip("share:Q", format=".3g")],
    )  # fmt: skip
    last = shown.loc[shown.groupby("candidate").completion_us.idxmax()].sort_values("completion_us")
    return charts.finished(
        lines,
        f"All senders are done first on {last.candidate.iloc[0]}",
        "Completion times: "
        + "; ".join(f"{r.candidate} {r.completion_us:.4g} us" for r in charts.rows(last)),
        height=370,
    )
