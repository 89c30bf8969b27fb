"""Charts of the decision: time against cost, and how far each candidate is behind the best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.units import usd_text


def time_against_cost(
    cloud: pd.DataFrame, mids: pd.DataFrame, colours: Mapping[str, str], time_title: str, finding: str
) -> Any:
    """Cloud of draws per candidate with its mid, and the edge no candidate beats."""
    colour = charts.colour(colours)
    low = min(cloud.time.quantile(0.005), mids.time.min())
    high = max(cloud.time.quantile(0.995), mids.time.max())
    pad = (high - low) * 0.08 or 0.01 * high
    x_low = min(cloud.yearly_usd.quantile(0.005), mids.yearly_usd.min())
    x_high = max(cloud.yearly_usd.quantile(0.995), mids.yearly_usd.max())
    x_pad = (x_high - x_low) * 0.04 or 0.01 * x_high
    y_scale = alt.Scale(domain=[low - pad, high + pad], zero=False, nice=False)
    room = 0.3 * max(1.0, max(len(str(name)) for name in mids.candidate) / 17)
    names_at = x_high + 0.06 * (x_high - x_low or x_high)
    x_scale = alt.Scale(domain=[x_low - x_pad, names_at + room * (names_at - x_low)], zero=False, nice=False)
    x = alt.X(
        "yearly_usd:Q",
        scale=x_scale,
        axis=charts.axis(
            "Ownership cost of the cluster, USD per year",
            charts.USD,
            values=charts.nice_ticks(x_low, x_high, 5),
        ),
    )
    y = alt.Y("time:Q", scale=y_scale, axis=charts.axis(time_title))
    inside = cloud[
        cloud.time.between(low - pad, high + pad) & cloud.yearly_usd.between(x_low - x_pad, x_high + x_pad)
    ]
    draws = alt.Chart(inside).mark_circle(size=14, opacity=0.2).encode(x=x, y=y, color=colour)
    edge = mids[mids.on_edge].sort_values("yearly_usd")
    line = (
        alt.Chart(edge)
        .mark_line(color=charts.INK, strokeDash=[2, 3], strokeWidth=1.5, interpolate="step-after")
        .encode(x=x, y=y)
    )
    shown = mids.assign(cost_text=[usd_text(v) for v in mids.yearly_usd])
    points = (
        alt.Chart(shown)
        .mark_point(size=170, filled=True, stroke="white", strokeWidth=1.5, opacity=1)
        .encode(
            x=x,
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("candidate:N", title="candidate"),
                alt.Tooltip("cost_text:N", title="cost a year"),
                alt.Tooltip("time:Q", title=time_title, format=".3g"),
            ],
        )
    )
    # names stand right of the cloud, where no dot lies under them, each tied to its mid by a thin line
    places = charts.spread_labels(dict(zip(mids.candidate, mids.time, strict=True)), low, high, 0.085)
    named = shown.assign(place=[places[name] for name in shown.candidate], names_at=names_at)
    ties = (
        alt.Chart(named)
        .mark_rule(strokeWidth=0.8, opacity=0.7)
        .encode(x=x, y=y, x2="names_at:Q", y2="place:Q", color=colour)
    )
    labels = (
        alt.Chart(named)
        .mark_text(align="left", dx=4, fontSize=12, fontWeight=600)
        .encode(
            x=alt.X("names_at:Q", scale=x_scale),
            y=alt.Y("place:Q", scale=y_scale),
            text="candidate:N",
            color=colour,
        )
    )
    parts = "; ".join(
        f"{r.candidate} {usd_text(r.yearly_usd)} a year, {r.time:.3g}" for r in charts.rows(mids)
    )
    return charts.finished(
        draws + line + ties + points + labels,
        finding,
        f"Scatter of {time_title.lower()} against ownership cost a year, lower left is better. {parts}.",
        "Dots: draws of prices and model error, less what all share; lower left is better",
        height=340,
    )


def against_best(table: pd.DataFrame, colours: Mapping[str, str], best: str) -> Any:
    """Work per dollar of each candidate against the best, 90 % band, with the probability of being best."""
    shown = table.assign(
        mid=table.against_best_fraction * 100,
        low=table.against_best_low_fraction * 100,
        high=table.against_best_high_fraction * 100,
        odds=[f"best in {charts.percent_text(p)}" for p in table.probability_best_fraction],
    )
    order = list(shown.candidate)
    y = alt.Y(
        "candidate:N",
        sort=order,
        axis=alt.Axis(title=None, labelLimit=150, ticks=False, domain=False, labelFontSize=12),
    )
    low, high = min(0.0, float(shown.low.min())), max(0.0, float(shown.high.max()))
    pad = (high - low) * 0.14 or 1.0
    scale = alt.Scale(domain=[low - pad / 2, high + pad], nice=False)
    x = alt.X("mid:Q", scale=scale, axis=charts.axis("Work per dollar against the best, %"))
    colour = charts.colour(colours)
    zero = alt.Chart(pd.DataFrame({"x": [0.0]})).mark_rule(color=charts.INK).encode(x="x:Q")
    whisker = (
        alt.Chart(shown)
        .mark_bar(height=16, opacity=0.2)
        .encode(y=y, x=alt.X("low:Q"), x2="high:Q", color=colour)
    )
    point = (
        alt.Chart(shown)
        .mark_tick(thickness=3, height=22)
        .encode(
            y=y,
            x=x,
            color=colour,
            tooltip=["candidate:N", alt.Tooltip("mid:Q", format=".3g"), alt.Tooltip("low:Q", format=".3g"),
                     alt.Tooltip("high:Q", format=".3g"), "odds:N"],
        )
    )  # fmt: skip
    near = shown.mid > -0.3 * (
        high - low
    )  # there the middle of the words would stand on the line of the best
    style: dict[str, Any] = {"dy": -20, "fontSize": 11, "color": charts.INK}
    text = alt.layer(
        *(
            alt.Chart(part).mark_text(align=side, dx=shift, **style).encode(y=y, x=x, text="odds:N")
            for part, side, shift in ((shown[near], "right", -5), (shown[~near], "center", 0))
            if len(part)
        )
    )
    words = "; ".join(
        f"{r.candidate} {r.mid:+.1f} % ({r.low:+.1f} to {r.high:+.1f}), {r.odds}" for r in charts.rows(shown)
    )
    return charts.finished(
        zero + whisker + point + text,
        _sureness(shown, best),
        f"Work per dollar of each candidate against {best}, with 90 % bands. {words}.",
        "90 % bands; above: how often it is best",
        height=340,
    )


def _sureness(shown: pd.DataFrame, best: str) -> str:
    """How often the best is best, and who may be best after all."""
    odds = charts.percent_text(float(shown[shown.candidate == best].probability_best_fraction.iloc[0]))
    others = shown[(shown.candidate != best) & (shown.high >= 0)]
    if len(shown) == 1:
        return "One candidate only"
    may = {0: "", 1: "; one other may be"}.get(len(others), f"; {len(others)} others may be")
    return f"Best in {odds} of draws{may}"
