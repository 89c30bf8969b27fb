"""Charts of an incast: the picture of who sends where, aligned time series, victims, completion times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.compare.incast_table import QUANTITIES
from models.units import size_text

LEFT_EDGE = 62  # px kept for the y axis, the same on every panel, so that time lines up


def strip(fan_in: int, victim: bool, colour: str = charts.WARN) -> Any:
    """Senders, last switch, hot receiver and victim as a sketch; nothing here is computed."""
    shown = min(fan_in, 10)
    gap = 8.0 / max(1, shown - 1)
    nodes = [{"x": 0.0, "y": 1.0 + gap * i, "kind": "sender", "text": ""} for i in range(shown)]
    nodes += [
        {"x": 4.0, "y": 5.0, "kind": "switch", "text": "spines"},
        {"x": 7.0, "y": 5.0, "kind": "switch", "text": "last leaf"},
        {"x": 10.0, "y": 7.0, "kind": "hot", "text": f"receiver: {fan_in} flows meet here"},
    ]
    lines = [{"x": 0.2, "y": 1.0 + gap * i, "x2": 3.6, "y2": 5.0, "kind": "incast"} for i in range(shown)]
    lines += [
        {"x": 4.4, "y": 5.0, "x2": 6.6, "y2": 5.0, "kind": "incast"},
        {"x": 7.4, "y": 5.2, "x2": 9.8, "y2": 7.0, "kind": "hot"},
    ]
    words = [{"x": 0.5, "y": 9.9, "text": f"{fan_in} senders"}]
    if victim:
        nodes.append({"x": 10.0, "y": 2.6, "kind": "victim", "text": "victim's receiver: an idle port"})
        nodes.append({"x": 0.0, "y": 0.0, "kind": "victim", "text": ""})
        lines.append({"x": 0.2, "y": 0.0, "x2": 3.6, "y2": 4.7, "kind": "victim"})
        lines.append({"x": 4.4, "y": 4.7, "x2": 6.6, "y2": 4.7, "kind": "victim"})
        lines.append({"x": 7.4, "y": 4.7, "x2": 9.8, "y2": 2.6, "kind": "victim"})
        words.append({"x": 0.3, "y": -0.5, "text": "victim's sender shares the links, not the port"})
    kinds = alt.Scale(domain=["sender", "switch", "hot", "victim", "incast"],
                      range=[charts.INK, charts.INK, colour, "#2F6690", charts.INK])  # fmt: skip
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.6, 21]), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-1.0, 10.4]), axis=None)
    paint = alt.Color("kind:N", scale=kinds, legend=None)
    node_table = pd.DataFrame(nodes)
    edges = (
        alt.Chart(pd.DataFrame(lines))
        .mark_rule(strokeWidth=1.6, opacity=0.75)
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
        .mark_text(dy=-16, fontSize=11, color=charts.INK)
        .encode(x=x, y=y, text="text:N")
    )
    label = (
        alt.Chart(pd.DataFrame(words))
        .mark_text(align="left", fontSize=11, color=charts.INK)
        .encode(x=x, y=y, text="text:N")
    )
    return charts.finished(
        edges + dots + text + under + label,
        "Many senders, one port",
        f"Sketch: {fan_in} senders and a victim flow reach the last leaf switch over the spines; the senders' data meet at "
        "one port, the victim goes to another.",
        "Sketch; the victim only shares the way there", height=210,
    )  # fmt: skip


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
    """One quantity over time, all candidates; panels share the time axis and its left edge."""
    words, unit, _ = QUANTITIES[quantity]
    own = series[(series.quantity == quantity) & (series.time_us <= end_us)]
    x = alt.X("time_us:Q", scale=alt.Scale(domain=[0, end_us], nice=False),
              axis=charts.axis("Time from the first byte, us" if last else "", labels=last, ticks=last))  # fmt: skip
    y = alt.Y(
        "value:Q",
        axis=charts.axis(
            unit,
            charts.BYTES if quantity == "queue_bytes" else charts.THOUSANDS,
            tickCount=4,
            minExtent=LEFT_EDGE,
            maxExtent=LEFT_EDGE,
        ),
    )
    lines = (
        alt.Chart(own)
        .mark_line(strokeWidth=1.8, interpolate="step-after" if quantity == "held_fraction" else "linear")
        .encode(x=x, y=y, color=charts.colour(colours),
                tooltip=["candidate:N", alt.Tooltip("time_us:Q", format=".4g"), alt.Tooltip("value:Q", format=".4g")])
    )  # fmt: skip
    layers: list[Any] = [lines]
    if quantity == "queue_bytes" and len(thresholds):
        rule = (
            alt.Chart(thresholds)
            .mark_rule(strokeDash=[4, 3], opacity=0.8)
            .encode(y="value:Q", color=charts.colour(colours))
        )
        text = (
            alt.Chart(thresholds)
            .mark_text(align="right", dx=-4, dy=-6, fontSize=10)
            .encode(x=alt.value("width"), y="value:Q", text="text:N", color=charts.colour(colours))
        )
        layers += [rule, text]
    peaks = own.groupby("candidate").value.max().sort_values(ascending=False)
    names = ", ".join(f"{name} {value:.3g}" for name, value in peaks.items())
    top = (
        f"{words}: highest on {peaks.index[0]}, {_figure(float(peaks.iloc[0]), quantity)}"
        if len(peaks)
        else words
    )
    if quantity == "victim_rate_bytes_per_s":
        low = own.groupby("candidate").value.mean().sort_values()
        top = (
            f"{words}: least on {low.index[0]}, {_figure(float(low.iloc[0]), quantity)} on average"
            if len(low)
            else words
        )
    return charts.finished(
        alt.layer(*layers),
        top,
        f"{words} over time per candidate. Highest: {names}.",
        height=205 if last else 165,
    )


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
    y = alt.Y("candidate:N", sort="x", axis=alt.Axis(title=None, ticks=False, domain=False, labelLimit=170))
    x = alt.X(
        "percent:Q",
        scale=alt.Scale(domain=[0, 112], nice=False),
        axis=charts.axis("Victim's goodput, %"),
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
        height=110 + 36 * len(shown),
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
        f"Last sender done first: {last.candidate.iloc[0]}",
        "Completion times: "
        + "; ".join(f"{r.candidate} {r.completion_us:.4g} us" for r in charts.rows(last)),
        height=250,
    )
