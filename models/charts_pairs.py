"""Chart of one flow between two hosts: modelled bandwidth or latency by size, the reader's own log on top."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.charts_collectives import DURATION
from models.units import duration_text, gbit_per_s_from_bytes_per_s, size_text


def pair(
    table: pd.DataFrame, own: pd.DataFrame, colours: Mapping[str, str], kind: str, finding: str, tool: str
) -> Any:
    """Lines of `pair_over_sizes` with their bands, crosses of `pair_rows`; kind: bandwidth | latency."""
    low, high = float(min(table.message_bytes.min(), own.message_bytes.min())), float(own.message_bytes.max())
    shown = table[table.message_bytes <= max(high, 2.0**16)]
    if kind == "bandwidth":
        names = {"mid": "bandwidth", "low": "bandwidth_low", "high": "bandwidth_high"}
        shown = shown.assign(**{n: _gbit_per_s(shown[f"{c}_bytes_per_s"]) for n, c in names.items()})
        mine = own.assign(mid=_gbit_per_s(own.bandwidth_bytes_per_s))
        mine = mine.assign(text=[f"{charts.number_text(v)} Gbit/s" for v in mine.mid])
        y_scale, title, label = alt.Scale(zero=True), "Bandwidth of one flow, Gbit/s", charts.THOUSANDS
    else:
        shown = shown.assign(mid=shown.latency_s, low=shown.latency_low_s, high=shown.latency_high_s)
        mine = own.assign(mid=own.time_s, text=[duration_text(v) for v in own.time_s])
        y_scale, title, label = alt.Scale(type="log", nice=False), "One-way latency", DURATION
    top = float(shown.message_bytes.max())
    ticks = charts.powers_of_two([low, top])[::3]
    x = alt.X(
        "message_bytes:Q", scale=alt.Scale(type="log", base=2, domain=[low, top * 30], nice=False),
        axis=charts.axis("Message size", charts.BYTES, values=ticks),
    )  # fmt: skip
    lowest, highest = float(shown.low.min()), float(max(shown.high.max(), mine.mid.max()))
    ticks_y: dict[str, Any] = (
        {"tickCount": 5} if kind == "bandwidth" else {"values": charts.log_ticks(lowest, highest)}
    )
    y = alt.Y("mid:Q", scale=y_scale, axis=charts.axis(title, label, **ticks_y))
    base = alt.Chart(shown).encode(x=x, color=charts.colour(colours))
    crosses = (
        alt.Chart(mine.assign(size=[size_text(v) for v in mine.message_bytes]))
        .mark_point(shape="cross", size=70, filled=True, color=charts.WARN, opacity=1)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("size:N", title="size"), alt.Tooltip("text:N", title=tool)])
    )
    ends = shown[shown.message_bytes == top]
    span = (float(shown.mid.min()), float(max(shown.high.max(), mine.mid.max())))
    if kind == "bandwidth":
        places = charts.spread_labels(dict(zip(ends.candidate, ends.mid, strict=True)), 0.0, span[1], 0.075)
    else:  # the axis is logarithmic: so are the gaps between names
        from math import exp, log

        logs = {r.candidate: log(r.mid) for r in charts.rows(ends)}
        spread = charts.spread_labels(logs, log(span[0]), log(span[1]), 0.075)
        places = {name: exp(value) for name, value in spread.items()}
    labels = (
        alt.Chart(ends.assign(place=[places[name] for name in ends.candidate]))
        .mark_text(align="left", dx=7, fontSize=12, fontWeight=600)
        .encode(x=x, y=alt.Y("place:Q", scale=y_scale), text="candidate:N", color=charts.colour(colours))
    )
    band = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    line = base.mark_line(strokeWidth=2.2, strokeDash=charts.DASHES["analytical"]).encode(y=y)
    return charts.finished(
        alt.layer(band, line, crosses, labels),
        finding,
        f"{title} against message size, one line a candidate with its band, {len(mine)} crosses of the reader's {tool} log. "
        f"{finding}.",
        f"Closed form with band; crosses: your {tool} log",
        height=350,
    )


def _gbit_per_s(rates_bytes_per_s: pd.Series[float]) -> list[float]:
    return [gbit_per_s_from_bytes_per_s(float(rate)) for rate in rates_bytes_per_s]
