"""Chart of evidence: predicted against measured, both logarithmic, with the 10 % and 25 % wedges."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from models import charts

KINDS = {
    "collective": "collectives", "p2p_bw": "point-to-point bandwidth", "p2p_lat": "point-to-point latency",
    "training_step": "training steps", "storage": "storage", "bom": "bills of material", "incast": "incasts", "victim": "victims",
    "permutation": "permutations", "credit": "credits", "collective_packet": "collectives, packet by packet",
    "steady": "steady state", "join": "joining flows",
}  # fmt: skip
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
        kind=used.kind.map(lambda kind: KINDS.get(kind, kind)),
        ratio=used.prediction / used.value,
        what=used.kind + ", " + used.metric + ", " + used.unit,
    )
    low, high = (
        float(min(used.value.min(), used.prediction.min())),
        float(max(used.value.max(), used.prediction.max())),
    )
    grid = np.geomspace(low * 0.8, high * 1.25, 40)
    wedges = pd.DataFrame({"value": grid, **{f"e{e}": grid * (1 + e / 100) for e in (-25, -10, 10, 25)}})
    scale = alt.Scale(type="log", domain=[low * 0.8, high * 1.25], nice=False)
    sign = charts.THOUSANDS
    decades = [10.0**p for p in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)]
    x = alt.X("value:Q", scale=scale, axis=charts.axis("Measured, each in its unit", sign, values=decades))
    y = alt.Y("e25:Q", scale=scale, axis=charts.axis("Predicted", sign, values=decades))
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
                legend=alt.Legend(orient="bottom", title=None, columns=3),
            ),
            tooltip=["id:N", "what:N", alt.Tooltip("value:Q", format=".4g"), alt.Tooltip("prediction:Q", format=".4g"),
                     alt.Tooltip("error_pct:Q", format=".3g"), "source:N"],
        )
    )  # fmt: skip
    inside = float((used.error_pct.abs() <= 10).mean()) * 100
    return charts.finished(
        wide + near + dots,
        f"{inside:.0f} % of {len(used)} figures, bills of material among them, within 10 % of the published",
        f"Predicted against measured for {len(used)} reference figures, log-log, with 10 and 25 per cent wedges.",
        "Dark wedge 10 %, light wedge 25 %; hover a dot for set-up and source",
        height=400,
    )


def errors_by_kind(table: pd.DataFrame) -> Any:
    """Signed error of every usable row, one strip a kind."""
    used = table[table.usable & table.error_pct.notna() & (table.bound == "")]
    used = used.assign(kind=used.kind.map(lambda kind: KINDS.get(kind, kind)))
    kinds = list(used.groupby("kind").size().sort_values(ascending=False).index)
    y = alt.Y(
        "kind:N",
        sort=kinds,
        axis=alt.Axis(title=None, ticks=False, domain=False, labelFontSize=11, labelLimit=150),
    )
    reach = max(30.0, float(used.error_pct.abs().quantile(0.995)) * 1.1)
    x = alt.X(
        "error_pct:Q",
        scale=alt.Scale(domain=[-reach, reach], clamp=True),
        axis=charts.axis("Error, %: predicted less measured"),
    )
    band = pd.DataFrame({"low": [-25.0, -10.0], "high": [25.0, 10.0]})
    wedge = alt.Chart(band).mark_rect(color=charts.INK, opacity=0.13).encode(x=alt.X("low:Q"), x2="high:Q")
    ticks = (
        alt.Chart(used)
        .mark_tick(thickness=2, height=18, opacity=0.55)
        .encode(
            y=y,
            x=x,
            color=alt.Color(
                "kind:N",
                legend=None,
                scale=alt.Scale(
                    domain=kinds, range=[KIND_COLOURS[i % len(KIND_COLOURS)] for i in range(len(kinds))]
                ),
            ),
            tooltip=["id:N", alt.Tooltip("error_pct:Q", format=".3g"), "operation:N", "fabric:N", "source:N"],
        )
    )
    worst = used.loc[used.error_pct.abs().sort_values().index[-1:]]
    name = str(worst.id.iloc[0]) if len(worst) else ""
    size = float(worst.error_pct.iloc[0]) if len(worst) else 0.0
    return charts.finished(
        wedge + ticks,
        f"Half of all errors below {used.error_pct.abs().median():.2g} %; largest miss {size:+.0f} %",
        f"Signed error of {len(used)} figures by kind, with 10 and 25 per cent bands.",
        f"One tick a figure; bands 10 % and 25 %; the largest: {name}",
        height=400,
    )


def queue_curves(curves: pd.DataFrame, case: str) -> Any:
    """One incast: the packet simulator's queue in black under ours."""
    own = curves[curves.case == case]
    theirs, ours = own[own.who == "packet simulator"], own[own.who == "this model"]
    x = alt.X("time_us:Q", axis=charts.axis("Time, us"))
    y = alt.Y("queue_kb:Q", axis=charts.axis("Queue, kB", charts.THOUSANDS))
    under = alt.Chart(theirs).mark_line(strokeWidth=4, opacity=0.35, color=charts.INK).encode(x=x, y=y)
    above = alt.Chart(ours).mark_line(strokeWidth=1.6, color="#D55E00").encode(x=x, y=y)
    peak = 100 * (ours.queue_kb.max() / theirs.queue_kb.max() - 1.0)
    finding = (
        "Same peak queue"
        if abs(peak) < 0.5
        else f"Peak queue {abs(peak):.1f} % {'above' if peak > 0 else 'below'}"
    )
    return charts.finished(
        alt.layer(under, above),
        finding,
        f"Queue of {case}: packet simulator and this model. {finding}.",
        case.replace("_", " "),
        190,
    )
