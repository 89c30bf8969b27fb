"""Charts of collectives over message size: bus bandwidth with published points, and time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.units import duration_text, size_text

NEAR_GROUP = 4.0  # published points of groups up to so many times smaller or larger are drawn in full
DURATION = (
    "datum.value == 0 ? '0' :"
    " datum.value >= 1 ? format(datum.value, '.3~g') + ' s' : datum.value >= 1e-3 ? format(datum.value * 1e3, '.3~g') + ' ms'"
    " : format(datum.value * 1e6, '.3~g') + ' us'"
)


def _size(table: pd.DataFrame, room: float = 1.0) -> alt.X:
    low, high = float(table.message_bytes.min()), float(table.message_bytes.max())
    ticks = charts.powers_of_two([low, high])[::2]
    scale = alt.Scale(type="log", base=2, domain=[low, high * room], nice=False)
    return alt.X("message_bytes:Q", scale=scale, axis=charts.axis("Message size", charts.BYTES, values=ticks))


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(
        bus=table.bus_bandwidth_bytes_per_s / 1e9,
        bus_low=table.bus_low_bytes_per_s / 1e9,
        bus_high=table.bus_high_bytes_per_s / 1e9,
        size=[size_text(v) for v in table.message_bytes],
        time=[duration_text(v) for v in table.time_s],
    )


TIPS = ["candidate:N", "size:N", "time:N", alt.Tooltip("bus:Q", title="bus bandwidth, GB/s", format=".4g"), "algorithm:N",
        alt.Tooltip("binding_limit:N", title="limited by")]  # fmt: skip


def bus_bandwidth(
    table: pd.DataFrame, points: pd.DataFrame, colours: Mapping[str, str], own: pd.DataFrame | None = None
) -> Any:
    """Bus bandwidth against size with bands; published points with a black outline, own log as crosses."""
    shown = _shown(table)
    x, colour = _size(table, 600.0), charts.colour(colours)
    y = alt.Y("bus:Q", axis=charts.axis("Bus bandwidth, GB/s"))
    base = alt.Chart(shown).encode(x=x, color=colour)
    layers: list[Any] = [
        base.mark_area(opacity=0.12).encode(y="bus_low:Q", y2="bus_high:Q"),
        base.mark_line(strokeWidth=2.3, strokeDash=charts.DASHES["analytical"]).encode(y=y),
        base.mark_point(size=60, opacity=0, filled=True).encode(y=y, tooltip=TIPS),
    ]
    ends = shown.loc[shown.groupby("candidate").message_bytes.idxmax()]
    top = float(shown.bus_high.max())
    spread = charts.spread_labels(dict(zip(ends.candidate, ends.bus, strict=True)), 0.0, top, 0.065)
    layers.append(
        alt.Chart(ends.assign(place=[spread[name] for name in ends.candidate]))
        .mark_text(align="left", dx=7, fontSize=12, fontWeight=600)
        .encode(x=x, y="place:Q", text="candidate:N", color=colour)
    )
    if len(points):
        ranks = float(table.ranks.iloc[0])
        known = points.assign(
            bus=points.bus_bandwidth_bytes_per_s / 1e9,
            size=[size_text(v) for v in points.message_bytes],
            near=[bool(g) and 1 / NEAR_GROUP <= float(g) / ranks <= NEAR_GROUP for g in points.gpus],
        )
        tips = [
            "candidate:N",
            "size:N",
            alt.Tooltip("bus:Q", format=".4g"),
            "gpus:N",
            "setting:N",
            "source:N",
        ]
        for hollow in (False, True):
            part = known[known.partly_unknown == hollow]
            if len(part):
                mark = alt.Chart(part).mark_point(size=55, filled=not hollow, stroke="black", strokeWidth=1)
                layers.append(
                    mark.encode(
                        x=x,
                        y=y,
                        fill=colour if not hollow else alt.value("transparent"),
                        tooltip=tips,
                        opacity=alt.condition("datum.near", alt.value(0.95), alt.value(0.45)),
                    )
                )
    if own is not None and len(own):
        drawn = own[own.message_bytes.between(table.message_bytes.min(), table.message_bytes.max())]
        mine = drawn.assign(
            size=[size_text(v) for v in drawn.message_bytes], bus=own.bus_bandwidth_bytes_per_s / 1e9
        )
        layers.append(
            alt.Chart(mine)
            .mark_point(shape="cross", size=70, color=charts.WARN, filled=True)
            .encode(x=x, y=y, tooltip=["size:N", alt.Tooltip("bus:Q", title="your log, GB/s", format=".3g")])
        )
    best = ends.sort_values("bus").iloc[-1]
    words = "; ".join(f"{r.candidate} {r.bus:.3g} GB/s" for r in charts.rows(ends))
    return charts.finished(
        alt.layer(*layers),
        f"{best.candidate} reaches most: {best.bus:.3g} GB/s, by {best.algorithm}",
        f"Bus bandwidth against message size. At {ends['size'].iloc[0]}: {words}.",
        ("Crosses: your log; " if own is not None and len(own) else "Closed form with band; ")
        + f"dots: {len(points)} published measurements, pale at other group sizes",
        height=370,
    )  # fmt: skip


def latency(table: pd.DataFrame, colours: Mapping[str, str]) -> Any:
    """Time against size, both logarithmic, up to 16 MiB where latency rules."""
    shown = _shown(table[table.message_bytes <= 2**24])
    chart = (
        alt.Chart(shown)
        .mark_line(strokeWidth=2, strokeDash=charts.DASHES["analytical"], point=alt.OverlayMarkDef(size=25))
        .encode(
            x=_size(shown),
            y=alt.Y(
                "time_s:Q",
                scale=alt.Scale(type="log", nice=False),
                axis=charts.axis(
                    "Time",
                    DURATION,
                    values=charts.log_ticks(float(shown.time_s.min()), float(shown.time_s.max())),
                ),
            ),
            color=charts.colour(colours),
            tooltip=TIPS,
        )
    )
    first = shown[shown.message_bytes == shown.message_bytes.min()]
    quickest = first.sort_values("time_s").iloc[0]
    return charts.finished(
        chart, f"Small messages: {quickest.candidate} is quickest, {duration_text(float(quickest.time_s))}",
        f"Time against message size up to 16 MiB; {quickest.candidate} is quickest.", "Colours as beside", height=370,
    )  # fmt: skip
