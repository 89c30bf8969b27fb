"""Charts of cost: stacked by category with a whisker for the whole, and the difference of two as a waterfall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.compare.cost_tables import ORDER, cost_totals
from models.units import usd_text

# categories are not candidates: a quiet scale of its own, far from the candidates' colours
CATEGORY_COLOURS = {
    "servers": "#44546A", "switches": "#3B6E8F", "NICs": "#5F9EA0", "transceivers": "#8FBC8F", "cables": "#C2B280",
    "racks": "#A0785A", "other hardware": "#B0A8B9", "installation": "#D0C7D8", "energy": "#E2B33C",
    "space": "#C98F5A", "support": "#B56576", "licences": "#8D6A9F", "staff": "#6D7F99", "resale": "#999999",
}  # fmt: skip


def stacked(table: pd.DataFrame, finding: str, subtitle: str) -> Any:
    """Cost over the years by category, one bar a candidate, whisker from all lows to all highs."""
    totals = cost_totals(table)
    order = list(totals.candidate)
    present = [name for name in ORDER if name in set(table.category)]
    shown = table.assign(
        text=[usd_text(v) for v in table.mid_usd],
        band=[f"{usd_text(a)} to {usd_text(b)}" for a, b in zip(table.low_usd, table.high_usd, strict=True)],
    )
    y = alt.Y(
        "candidate:N",
        sort=order,
        axis=alt.Axis(title=None, ticks=False, domain=False, labelFontSize=12, labelLimit=170),
    )
    bars = (
        alt.Chart(shown)
        .mark_bar(height={"band": 0.55})
        .encode(
            y=y,
            x=alt.X(
                "mid_usd:Q", stack="zero", axis=charts.axis("USD over the years, discounted", charts.USD)
            ),
            color=alt.Color(
                "category:N",
                scale=alt.Scale(domain=present, range=[CATEGORY_COLOURS[name] for name in present]),
                legend=alt.Legend(orient="bottom", title=None, columns=5, symbolType="square"),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                "candidate:N",
                "category:N",
                alt.Tooltip("text:N", title="mid"),
                alt.Tooltip("band:N", title="band"),
            ],
        )
    )
    span = alt.Chart(totals).mark_rule(strokeWidth=1.5, color=charts.INK)
    ends = alt.Chart(totals).mark_tick(thickness=1.5, size=10, color=charts.INK)
    whisker = alt.layer(
        span.encode(y=y, x=alt.X("low_usd:Q"), x2="high_usd:Q"),
        ends.encode(y=y, x="low_usd:Q"),
        ends.encode(y=y, x="high_usd:Q"),
    )
    top = float(totals.high_usd.max())
    words = [
        f"{usd_text(r.mid_usd)}  ({usd_text(r.low_usd)} to {usd_text(r.high_usd)})"
        for r in charts.rows(totals)
    ]
    text = (
        alt.Chart(totals.assign(text=words))
        .mark_text(align="left", baseline="bottom", dy=-17, fontSize=11, color=charts.INK)
        .encode(y=y, x=alt.value(2), text="text:N")
    )
    scale = alt.Scale(domain=[min(0.0, float(totals.low_usd.min())), top * 1.07], nice=False)
    bars = bars.encode(
        x=alt.X(
            "mid_usd:Q",
            stack="zero",
            scale=scale,
            axis=charts.axis("USD over the years, discounted", charts.USD),
        )
    )
    spoken = "; ".join(f"{r.candidate} {usd_text(r.mid_usd)}" for r in charts.rows(totals))
    return charts.finished(
        bars + whisker + text, finding, f"Stacked bars of cost by category. {spoken}.", subtitle,
        height=150 + 64 * len(order),
    )  # fmt: skip


def waterfall(table: pd.DataFrame, colours: Mapping[str, str]) -> Any:
    """From one candidate's cost to the other's, category by category."""
    first, second = str(table.step.iloc[0]), str(table.step.iloc[-1])
    total = float(table.end_usd.iloc[-1] - table.end_usd.iloc[0])
    shown = table.assign(
        text=[
            usd_text(r.change_usd).removesuffix(" USD")
            if r.kind == "total"
            else ("+" if r.change_usd > 0 else "") + usd_text(r.change_usd).removesuffix(" USD")
            for r in charts.rows(table)
        ],
        top=table[["start_usd", "end_usd"]].max(axis=1),
        paint=[
            colours.get(str(r.step), charts.INK)
            if r.kind == "total"
            else ("#B5544D" if r.change_usd > 0 else "#4D8B6F")
            for r in charts.rows(table)
        ],
    )
    changes = shown[shown.kind == "change"]
    edges = pd.concat([changes.start_usd, changes.end_usd, shown[shown.kind == "total"].end_usd])
    low, high = float(edges.min()), float(edges.max())
    pad = (high - low) * 0.25 or high * 0.05
    floor = max(0.0, low - pad) if low >= 0 else low - pad
    shown["start_usd"] = shown.start_usd.clip(lower=floor)
    x = alt.X(
        "step:N",
        sort=list(shown.step),
        axis=alt.Axis(title=None, labelAngle=-35, labelLimit=110, labelFontSize=11, labelOverlap=False),
    )
    scale = alt.Scale(domain=[floor, high + pad], nice=False, zero=False)
    y = alt.Y("start_usd:Q", scale=scale, axis=charts.axis("USD over the years", charts.USD))
    bars = (
        alt.Chart(shown)
        .mark_bar(size=26)
        .encode(
            x=x, y=y, y2="end_usd:Q", color=alt.Color("paint:N", scale=None), tooltip=["step:N", "text:N"]
        )
    )
    text = (
        alt.Chart(shown)
        .mark_text(dy=-8, fontSize=11, color=charts.INK)
        .encode(x=x, y=alt.Y("top:Q", scale=scale), text="text:N")
    )
    why = f"Most of it: {changes.step.iloc[0]}; mid prices" if len(changes) else "Mid prices"
    more = "more" if total > 0 else "less"
    cut = "; the axis starts above zero" if floor > 0 else ""
    return charts.finished(
        bars + text,
        f"{second}: {usd_text(abs(total))} {more}",
        f"Waterfall from the cost of {first} to that of {second}: "
        + "; ".join(f"{r.step} {r.text}" for r in charts.rows(shown)),
        f"{why}{cut}",
        height=340,
    )
