"""Chart of evidence: predicted against measured, both logarithmic, with the 10 % and 25 % wedges."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from models import charts

KIND_COLOURS = [
    "#4C6A92",
    "#B5654A",
    "#5B8C5A",
    "#8A6BA1",
    "#C2A83E",
    "#5F9EA0",
    "#A05195",
    "#7A7A7A",
    "#3B3B58",
    "#D98C4A",
]


def predicted_against_measured(table: pd.DataFrame) -> Any:
    """One dot a usable row, relative to its own kind's unit; the diagonal is a perfect prediction."""
    used = table[
        table.usable
        & table.prediction.notna()
        & (table.value > 0)
        & (table.prediction > 0)
        & (table.bound == "")
    ]
    used = used.assign(
        ratio=used.prediction / used.value, what=used.kind + ", " + used.metric + ", " + used.unit
    )
    low, high = (
        float(min(used.value.min(), used.prediction.min())),
        float(max(used.value.max(), used.prediction.max())),
    )
    grid = np.geomspace(low * 0.8, high * 1.25, 40)
    wedges = pd.DataFrame({"value": grid, **{f"e{e}": grid * (1 + e / 100) for e in (-25, -10, 10, 25)}})
    scale = alt.Scale(type="log", domain=[low * 0.8, high * 1.25], nice=False)
    sign = "format(datum.value, '~g')"
    x = alt.X("value:Q", scale=scale, axis=charts.axis("Measured, each in its unit", sign, tickCount=8))
    y = alt.Y("e25:Q", scale=scale, axis=charts.axis("Predicted", sign, tickCount=8))
    wide = alt.Chart(wedges).mark_area(color=charts.INK, opacity=0.12).encode(x=x, y=y, y2="e-25:Q")
    near = (
        alt.Chart(wedges)
        .mark_area(color=charts.INK, opacity=0.18)
        .encode(x=x, y=alt.Y("e10:Q", scale=scale), y2="e-10:Q")
    )
    kinds = list(used.groupby("kind").size().sort_values(ascending=False).index)
    dots = (
        alt.Chart(used)
        .mark_circle(size=38, opacity=0.75)
        .encode(
            x=x,
            y=alt.Y("prediction:Q", scale=scale),
            color=alt.Color(
                "kind:N",
                scale=alt.Scale(domain=kinds, range=[KIND_COLOURS[i % len(KIND_COLOURS)] for i in range(len(kinds))]),
                legend=alt.Legend(orient="right", title="kind"),
            ),
            tooltip=["id:N", "what:N", alt.Tooltip("value:Q", format=".4g"), alt.Tooltip("prediction:Q", format=".4g"),
                     alt.Tooltip("error_pct:Q", format=".3g"), "source:N"],
        )
    )  # fmt: skip
    inside = float((used.error_pct.abs() <= 10).mean()) * 100
    return charts.finished(
        wide + near + dots,
        f"{inside:.0f} % of {len(used)} figures within 10 % of what was measured",
        f"Predicted against measured for {len(used)} reference figures, log-log, with 10 and 25 per cent wedges.",
        "Dark wedge 10 %, light wedge 25 %; hover a dot for set-up and source",
        height=460,
    )
