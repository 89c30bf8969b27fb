"""Charts of sensitivity: the tornado on the lead, and the lead against the price of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.compare.flips import setting_text
from models.compare.verdict import percent

LEAST_SWING = 2e-4


def tornado(table: pd.DataFrame, colours: Mapping[str, str], first: str, second: str, rows: int = 14) -> Any:
    """Lead of the best over the runner-up when one input goes to its low or high; beyond zero the winner flips."""
    shown = table[table.swing >= LEAST_SWING].sort_values("swing", ascending=False).head(rows)
    if shown.empty:
        shown = table.head(rows)
    order = list(shown.input)
    ends = pd.concat(
        [
            pd.DataFrame({"input": shown.input, "end": name, "lead": shown[f"lead_{name}"] * 100, "mid": shown.lead_mid * 100,
                          "setting": [setting_text(a, b) for a, b in zip(shown[f"{name}_setting"], shown.unit, strict=True)],
                          "best": shown[f"best_{name}"]})
            for name in ("low", "high")
        ]
    )  # fmt: skip
    mid = float(shown.lead_mid.iloc[0]) * 100
    low, high = min(0.0, float(ends.lead.min())), max(0.0, float(ends.lead.max()))
    pad = (high - low) * 0.2 or 0.1
    scale = alt.Scale(domain=[low - pad, high + pad], nice=False)
    y = alt.Y(
        "input:N",
        sort=order,
        axis=alt.Axis(title=None, labelLimit=330, ticks=False, domain=False, labelFontSize=11),
    )
    x = alt.X("lead:Q", scale=scale, axis=charts.axis(f"Lead of {first} over {second} in work per dollar, %"))
    bars = (
        alt.Chart(ends)
        .mark_bar(height={"band": 0.62}, opacity=0.85)
        .encode(
            y=y, x=x, x2=alt.X2("mid:Q"), color=charts.colour(colours, "best"),
            tooltip=["input:N", alt.Tooltip("setting:N", title="at"), alt.Tooltip("lead:Q", title="lead, %", format=".3g"),
                     alt.Tooltip("best:N", title="then best")],
        )
    )  # fmt: skip

    def written(side: Any, table: pd.DataFrame) -> Any:
        return (
            alt.Chart(table)
            .mark_text(align=side, dx=4 if side == "left" else -4, fontSize=10, color=charts.INK)
            .encode(y=y, x=alt.X("lead:Q", scale=scale), text="setting:N")
        )

    rules = pd.DataFrame({"x": [0.0, mid], "text": ["tie", f"now {mid:.2g} %"]})
    zero = alt.Chart(rules.head(1)).mark_rule(color=charts.WARN, strokeWidth=1.5).encode(x="x:Q")
    now = alt.Chart(rules.tail(1)).mark_rule(color=charts.INK, strokeDash=[3, 3]).encode(x="x:Q")
    label = (
        alt.Chart(rules)
        .mark_text(align="left", dx=3, baseline="bottom", fontSize=11, color=charts.INK)
        .encode(x="x:Q", y=alt.value(-2), text="text:N")
    )
    flips = list(dict.fromkeys(shown[shown.flips].input))
    finding = (
        f"{len(flips)} input{'s' if len(flips) > 1 else ''} can flip it: {flips[0]}"
        if flips
        else "No single input flips it"
    )
    if len(finding) > 90:
        finding = f"{len(flips)} inputs can flip the answer"
    # an end that moves nothing has no bar, so no words either
    moved = ends[(ends.lead - ends.mid).abs() > 0.003 * (high - low)]
    right, left = moved[moved.lead > moved.mid], moved[moved.lead <= moved.mid]
    return charts.finished(
        alt.layer(bars, zero, now, label, written("left", right), written("right", left)),
        finding,
        f"Tornado: lead of {first} over {second} with one input at a time at its low and high. Largest: {order[0]}.",
        "One input at a time to its low and high; colour: who is best then; left of the red line the order turns",
        height=100 + 23 * len(order),
    )


def price_line(
    line: pd.DataFrame, colour: str, first: str, second: str, factor: float, lead: float, tie: float | None
) -> Any:
    """Lead against the price of the network, with the present choice and the tie marked."""
    shown = line.assign(lead=line.lead_fraction * 100)
    x = alt.X(
        "network_price_factor:Q",
        scale=alt.Scale(nice=False),
        axis=charts.axis(f"Price of {first}'s networks, 1 = now"),
    )
    y = alt.Y("lead:Q", axis=charts.axis(f"Lead over {second}, %"))
    base = alt.Chart(shown).mark_line(color=colour, strokeWidth=2.5).encode(x=x, y=y)
    zero = alt.Chart(pd.DataFrame({"y": [0.0]})).mark_rule(color=charts.WARN).encode(y="y:Q")
    here = pd.DataFrame(
        {"network_price_factor": [factor], "lead": [lead * 100], "text": [f"{percent(lead)} at {factor:.2f}"]}
    )
    point = alt.Chart(here).mark_point(size=140, filled=True, color=colour, opacity=1).encode(x=x, y=y)
    text = (
        alt.Chart(here)
        .mark_text(align="left", dx=10, dy=-10, fontWeight=600, color=colour)
        .encode(x=x, y=y, text="text:N")
    )
    finding = (
        f"They tie at {tie:.2f} times today's network price"
        if tie is not None
        else "No tie in this range of prices"
    )
    return charts.finished(
        base + zero + point + text, finding,
        f"Line of the lead of {first} over {second} against the price of its networks. {finding}.",
        "Closed form at mid prices", height=300,
    )  # fmt: skip
