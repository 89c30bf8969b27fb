"""Charts of the network: heat map of every pair of switches, distribution of flow rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.compare.link_load import ROUTING_WORDS

LABEL_SHARE = 13.0  # of the axis of flow rates, per name
LOAD_SCALE = alt.Scale(
    domain=[0, 0.5, 1.0, 1.001, 1.75, 2.5], range=["#C9D5DE", "#A9BCCB", "#3F7CB0", "#E69F00", "#D55E00", "#B0122B"], clamp=True
)  # fmt: skip


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
        f"{charts.percent_text(over)} of the {lower}-{upper} pairs have a cable offered too much, up to {top * 100:.0f} %"
        if over
        else f"No {lower}-{upper} link is offered more than it carries"
    )
    return charts.finished(
        chart,
        finding,
        f"Heat map of offered load between {lower} and {upper} switches. {finding}.",
        words,
        height=300,
    )


def flow_rates(flows: pd.DataFrame, colours: Mapping[str, str], name: str) -> Any:
    """Share of flows at or below a rate, per candidate; for `name` also by the other kind of routing, dotted."""
    shown = flows.assign(rate=flows.rate_fraction * 100, share=flows.share_of_flows * 100)
    shown = shown[~shown.what_if | (shown.candidate == name)]
    shown = shown.assign(
        line=shown.candidate + shown.what_if.astype(str),
        words=[ROUTING_WORDS[r] + (", if it were" if w else "") for r, w in zip(shown.routing, shown.what_if, strict=True)],
    )  # fmt: skip
    count = int(shown.line.nunique())
    x = alt.X(
        "rate:Q",
        scale=alt.Scale(domain=[0, 104], nice=False),
        axis=charts.axis("Rate of a flow, % of line rate", values=[0, 25, 50, 75, 100]),
    )
    top = 104 + LABEL_SHARE * count  # names above the curves, not on them
    y = alt.Y(
        "share:Q",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=charts.axis("Flows at or below, %", values=[0, 25, 50, 75, 100], labelOverlap=False),
    )
    tips = ["candidate:N", alt.Tooltip("words:N", title="routing"), alt.Tooltip("rate:Q", title="rate, %", format=".3g"),
            alt.Tooltip("share:Q", title="flows, %", format=".3g")]  # fmt: skip

    def lines(part: pd.DataFrame, **stroke: Any) -> Any:
        return (
            alt.Chart(part)
            .mark_line(interpolate="step-after", **stroke)
            .encode(x=x, y=y, color=charts.colour(colours), detail="line:N", order="share:Q", tooltip=tips)
        )

    real, other = shown[~shown.what_if], shown[shown.what_if]
    layers = [lines(real, strokeWidth=2.3), lines(other, strokeWidth=1.8, strokeDash=[2, 3])]
    named = shown.groupby("line", sort=False).agg(
        candidate=("candidate", "first"), routing=("routing", "first"), what_if=("what_if", "first"),
        mean=("mean_rate_fraction", "first"), least=("rate", "min"),
    ).sort_values(["what_if", "mean"])  # fmt: skip
    marks = pd.DataFrame(
        [
            {
                "candidate": r.candidate, "rate": 2.0, "share": 100.0 + LABEL_SHARE * (count - i - 0.4),
                "text": f"{r.candidate}{' if' if r.what_if else ','} {ROUTING_WORDS[r.routing]}: mean {r.mean * 100:.0f} %",
            }
            for i, r in enumerate(charts.rows(named))
        ]
    )  # fmt: skip
    layers.append(
        alt.Chart(marks)
        .mark_text(align="left", fontSize=11, fontWeight=600, limit=330)
        .encode(x=x, y=y, text="text:N", color=charts.colour(colours))
    )
    now = named[~named.what_if].loc[lambda t: t.candidate == name].iloc[0]
    then = named[named.what_if].iloc[0]
    other_words = ROUTING_WORDS[then.routing][:1].upper() + ROUTING_WORDS[then.routing][1:]
    points = (then["mean"] - now["mean"]) * 100
    finding = (
        f"{other_words} would {'add' if points > 0 else 'cost'} {abs(points):.0f} points of mean rate"
        if abs(points) >= 0.5
        else f"{other_words} would change nothing here"
    )
    return charts.finished(
        alt.layer(*layers),
        finding,
        "Distribution of flow rates. " + "; ".join(marks.text),
        f"Dotted: {name} by the other routing",
        height=310,
    )
