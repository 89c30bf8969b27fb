"""Chart of a training step: stacked parts per candidate."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.charts_collectives import DURATION
from models.compare.training_table import NOT_NETWORK, PARTS
from models.units import duration_text

PART_COLOURS = {
    "compute": "#8A97A6", "optimizer": "#B9C2CC", "NVLink in the node": "#A9BFA0", "exposed TP": "#8D5B99", "exposed PP": "#C16A8E",
    "exposed DP": "#D98C4A", "exposed EP": "#B5544D", "exposed CP": "#7A5C3E", "exposed, other": "#A05195",
    "bubble": "#D9C65B", "checkpoint stall": "#5F9EA0", "stragglers": "#6B8E6B",
}  # fmt: skip


def stacked(parts: pd.DataFrame, order: list[str], finding: str, with_compute: bool) -> Any:
    """Time of a step by part, one bar a candidate and method; without compute the differences become visible."""
    shown = parts if with_compute else parts[~parts.part.isin(NOT_NETWORK)]
    shown = shown.assign(
        text=[duration_text(v) for v in shown.time_s], label=shown.candidate + ", " + shown.method
    )
    labels = [
        f"{name}, {method}"
        for name in order
        for method in ("analytical", "fluid")
        if f"{name}, {method}" in set(shown.label)
    ]
    present = [name for name in PARTS if name in set(shown.part)]
    totals = shown.groupby("label", sort=False)["time_s"].sum().reset_index()
    totals["text"] = [duration_text(v) for v in totals.time_s]
    y = alt.Y(
        "label:N",
        sort=labels,
        axis=alt.Axis(
            title=None, ticks=False, domain=False, labelLimit=230, labelFontSize=11, labelOverlap=False
        ),
    )
    top = float(totals.time_s.max())
    x = alt.X(
        "time_s:Q",
        stack="zero",
        scale=alt.Scale(domain=[0, top * 1.09], nice=False),
        axis=charts.axis("Time of a step", DURATION, tickCount=8),
    )
    bars = (
        alt.Chart(shown)
        .mark_bar(height={"band": 0.7})
        .encode(
            y=y,
            x=x,
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=present, range=[PART_COLOURS[p] for p in present]),
                legend=alt.Legend(orient="bottom", title=None, columns=8, symbolType="square"),
            ),
            order=alt.Order("order:Q"),
            tooltip=["candidate:N", "method:N", "part:N", alt.Tooltip("text:N", title="time")],
        )
    )
    text = (
        alt.Chart(totals)
        .mark_text(align="left", dx=5, color=charts.INK, fontSize=11)
        .encode(y=y, x="time_s:Q", text="text:N")
    )
    spoken = "; ".join(f"{r.label} {r.text}" for r in charts.rows(totals))
    what = "All parts of a step" if with_compute else "Parts that a network can change, and the bubble"
    return charts.finished(
        bars + text,
        finding,
        f"Stacked bars of the time of a step. {spoken}.",
        what,
        height=140 + 28 * len(labels),
    )
