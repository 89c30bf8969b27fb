"""Charts of the network: heat map of link loads by switch, distribution of flow rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts

# grey to blue up to full, orange to red beyond: a link offered more than it carries is where flows collide
LOAD_SCALE = alt.Scale(
    domain=[0, 1.0, 1.001, 2.5], range=["#E3E8EC", "#2F6690", "#E69F00", "#A1220B"], clamp=True
)


def heat_map(cells: pd.DataFrame, tier: str, words: str) -> Any:
    """Offered load of every pair of switches of a tier, one square a pair."""
    shown = cells[cells.tier == tier].assign(percent=lambda t: t.load_max_fraction * 100)
    lower, upper = tier.split("-")

    def order(column: str) -> list[str]:
        found = shown[column].drop_duplicates()
        return sorted(found, key=lambda n: int("".join(c for c in n.split("-")[0] if c.isdigit()) or 0))

    def named(column: str, title: str) -> dict[str, Any]:
        names = order(column)
        step = max(1, len(names) // 12)
        return {
            "sort": names,
            "axis": alt.Axis(title=title, values=names[::step], labelFontSize=10, labelAngle=0),
        }

    chart = (
        alt.Chart(shown)
        .mark_rect()
        .encode(
            x=alt.X("switch_a:N", **named("switch_a", f"{lower} switches")),
            y=alt.Y("switch_b:N", **named("switch_b", f"{upper} switches")),
            color=alt.Color("load_max_fraction:Q", scale=LOAD_SCALE, legend=alt.Legend(
                title="offered load", orient="right", format=".0%", gradientLength=140, values=[0, 0.5, 1, 1.5, 2, 2.5])),
            tooltip=["switch_a:N", "switch_b:N", "links:Q", alt.Tooltip("percent:Q", title="highest offered load, %", format=".3g"),
                     alt.Tooltip("load_fraction:Q", title="mean", format=".3g")],
        )
    )  # fmt: skip
    over = float((shown.load_max_fraction > 1.0 + 1e-9).mean()) if len(shown) else 0.0
    top = float(shown.load_max_fraction.max()) if len(shown) else 0.0
    finding = (
        f"{charts.percent_text(over)} of the {lower}-{upper} pairs are offered more than they carry, up to {top * 100:.0f} %"
        if over
        else f"No {lower}-{upper} link is offered more than it carries"
    )
    return charts.finished(
        chart,
        finding,
        f"Heat map of offered load between {lower} and {upper} switches. {finding}.",
        words,
        height=330,
    )


def flow_rates(flows: pd.DataFrame, colours: Mapping[str, str]) -> Any:
    """Share of flows at or below a rate, per candidate."""
    shown = flows.assign(rate=flows.rate_fraction * 100, share=flows.share_of_flows * 100)
    x = alt.X(
        "rate:Q",
        scale=alt.Scale(domain=[0, 103], nice=False),
        axis=charts.axis("Rate of a flow, % of line rate"),
    )
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 100]), axis=charts.axis("Flows at or below, %"))
    lines = (
        alt.Chart(shown)
        .mark_line(strokeWidth=2.3, interpolate="step-after")
        .encode(x=x, y=y, color=charts.colour(colours), order="share:Q",
                tooltip=["candidate:N", alt.Tooltip("rate:Q", format=".3g"), alt.Tooltip("share:Q", format=".3g")])
    )  # fmt: skip
    names = list(dict.fromkeys(shown.candidate))
    mean = {n: float(shown[shown.candidate == n].rate.mean()) for n in names}
    least = {n: float(shown[shown.candidate == n].rate.min()) for n in names}
    words = {n: f"{n}: mean {mean[n]:.0f} %, slowest {least[n]:.0f} %" for n in names}
    places = {n: 92 - 9 * i for i, n in enumerate(sorted(names, key=lambda n: mean[n]))}
    marks = pd.DataFrame([{"candidate": n, "text": words[n], "share": places[n], "rate": 2} for n in names])
    labels = (
        alt.Chart(marks)
        .mark_text(align="left", fontSize=12, fontWeight=600)
        .encode(x=x, y=y, text="text:N", color=charts.colour(colours))
    )
    slow = shown.loc[shown.groupby("candidate").rate.idxmin()].sort_values("rate").iloc[0]
    return charts.finished(
        lines + labels,
        f"Slowest flow on {slow.candidate}: {slow.rate:.0f} %",
        "Distribution of flow rates. " + "; ".join(words.values()),
        "Max-min fair rates on the solved routes",
        height=330,
    )
