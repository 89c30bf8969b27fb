"""Charts over cluster size: work per dollar against the best, and three small ones that explain it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from models import charts
from models.charts_collectives import DURATION
from models.compare.cluster_size import Turn


def _gpus(table: pd.DataFrame, title: str = "GPUs", every: int = 1) -> alt.X:
    ticks = charts.powers_of_two(table.gpus)[::every]
    top = float(table.gpus.max())
    scale = alt.Scale(
        type="log", base=2, domain=[float(table.gpus.min()), top * 2.4 if every == 1 else top], nice=False
    )
    return alt.X("gpus:Q", scale=scale, axis=charts.axis(title, values=ticks, labelOverlap="greedy"))


def work_per_dollar(table: pd.DataFrame, colours: Mapping[str, str], turns: Sequence[Turn], now: int) -> Any:
    """Work per dollar relative to the best at each size, bands, tier steps, crossovers and gaps."""
    shown = table.assign(
        mid=table.relative_work_per_dollar * 100, low_pc=table.low * 100, high_pc=table.high * 100
    )
    known = shown[shown.status == "ok"]
    x, colour = _gpus(table), charts.colour(colours)
    bottom, top = max(0.0, float(known.low_pc.min())), max(101.0, float(known.high_pc.max()))
    pad = (top - bottom) * 0.06
    y_scale = alt.Scale(domain=[bottom - pad, top + 5 * pad], nice=False)
    y = alt.Y("mid:Q", scale=y_scale, axis=charts.axis("Work per dollar, best at this size = 100 %"))
    # a run of sizes without a gap is one line: lines do not bridge what cannot be built
    order = {size: i for i, size in enumerate(sorted(table.gpus.unique()))}
    place = known.gpus.map(order)
    part = (
        (place - place.groupby(known.candidate).shift(1).fillna(place - 1) > 1)
        .groupby(known.candidate)
        .cumsum()
    )
    known = known.assign(part=part.astype(str) + known.candidate)
    base = alt.Chart(known).encode(x=x, color=colour, detail="part:N")
    band = base.mark_area(opacity=0.13).encode(y=alt.Y("low_pc:Q", scale=y_scale), y2="high_pc:Q")
    line = base.mark_line(strokeWidth=2.5, strokeDash=charts.DASHES["analytical"]).encode(y=y)
    dots = base.mark_circle(size=55, opacity=1).encode(
        y=y,
        tooltip=["candidate:N", alt.Tooltip("gpus:Q", format=","), alt.Tooltip("mid:Q", title="% of best", format=".4g"),
                 alt.Tooltip("low_pc:Q", title="low", format=".4g"), alt.Tooltip("high_pc:Q", title="high", format=".4g"),
                 "tiers:Q", "switches:Q"],
    )  # fmt: skip
    ends = known.loc[known.groupby("candidate").gpus.idxmax()]
    spread = charts.spread_labels(
        dict(zip(ends.candidate, ends.mid, strict=True)), bottom - pad, top + 3 * pad, 0.065
    )
    labels = (
        alt.Chart(ends.assign(place=[spread[name] for name in ends.candidate]))
        .mark_text(align="left", dx=9, fontSize=12, fontWeight=600)
        .encode(x=x, y=alt.Y("place:Q", scale=y_scale), text="candidate:N", color=colour)
    )
    layers: list[Any] = [band, line, dots, labels]
    here = pd.DataFrame({"gpus": [now], "text": ["this scenario"]})
    layers.append(alt.Chart(here).mark_rule(color=charts.INK, strokeDash=[2, 2]).encode(x=x))
    layers.append(
        alt.Chart(here)
        .mark_text(align="left", dx=4, dy=6, color=charts.INK, fontSize=11, baseline="top")
        .encode(x=x, y=alt.value(0), text="text:N")
    )
    middle = (float(table.gpus.min()) * float(table.gpus.max())) ** 0.5
    for i, turn in enumerate(turns):
        at = (turn.gpus_before * turn.gpus) ** 0.5
        mark = pd.DataFrame({"gpus": [at], "text": [turn.text]})
        ink = charts.WARN if turn.kind == "best" else charts.INK
        right = at > middle
        layers.append(alt.Chart(mark).mark_rule(color=ink, opacity=0.6).encode(x=x))
        layers.append(
            alt.Chart(mark)
            .mark_text(
                align="right" if right else "left",
                dx=-4 if right else 4,
                color=ink,
                fontSize=11,
                baseline="top",
            )
            .encode(x=x, y=alt.value(16 + 15 * (i % 3)), text="text:N")
        )
    gaps = shown[shown.status != "ok"].drop_duplicates(["gpus", "candidate"])
    if len(gaps):
        layers.append(
            alt.Chart(gaps)
            .mark_text(text="×", fontSize=16, fontWeight=700, baseline="bottom")
            .encode(x=x, y=alt.value("height"), color=colour, tooltip=["candidate:N", "gpus:Q", "reason:N"])
        )
    finding = next((t.text + f" between {t.gpus_before:,} and {t.gpus:,} GPUs" for t in turns if t.kind == "best"),
                   "The best candidate is the same at every size")  # fmt: skip
    words_now = "; ".join(f"{r.candidate} {r.mid:.1f} % at {r.gpus:,} GPUs" for r in charts.rows(ends))
    return charts.finished(
        alt.layer(*layers),
        finding,
        f"Lines of work per dollar relative to the best against GPUs with 90 % bands. {words_now}.",
        "90 % band against the best, draw by draw; closed form; × cannot be built (reason on hover)",
        height=360,
    )


SMALL = {
    "unit_time_s": ("Step time", "time"),
    "yearly_usd_per_gpu": ("Cost per GPU", "USD a year"),
    "scaling_efficiency_fraction": ("Scaling", "of smallest size"),
    "network_usd_per_gpu": ("Network per GPU", "USD a year"),
}


def small(table: pd.DataFrame, column: str, colours: Mapping[str, str], time_title: str = "Step time") -> Any:
    """One of the small charts over the same sizes."""
    title, unit = SMALL[column]
    title = time_title if column == "unit_time_s" else title
    known = table[(table.status == "ok") & table[column].notna()]
    money = column.endswith("usd_per_gpu")
    if column == "unit_time_s":
        scale = alt.Scale(type="log", nice=False)
        axis = charts.axis(
            unit, DURATION, values=charts.log_ticks(float(known[column].min()), float(known[column].max()))
        )
    else:
        scale = alt.Scale(zero=False)
        label = charts.USD if money else "format(datum.value, '.0%')"
        axis = charts.axis(unit, label, tickCount=4)
    chart = (
        alt.Chart(known)
        .mark_line(point=alt.OverlayMarkDef(size=22), strokeWidth=1.8)
        .encode(
            x=_gpus(table, every=2),
            y=alt.Y(f"{column}:Q", scale=scale, axis=axis),
            color=charts.colour(colours),
            tooltip=[
                "candidate:N",
                alt.Tooltip("gpus:Q", title="GPUs", format=","),
                alt.Tooltip(f"{column}:Q", title=title, format=".3g"),
            ],
        )
    )
    found = f"{title}: {_small_finding(known, column)}"
    drawn = charts.finished(
        chart, found, f"{title}, {unit}, against GPUs, one line a candidate. {found}.", height=215
    )
    return drawn.properties(title=alt.TitleParams(found, anchor="start", fontSize=12, fontWeight=600))


def _small_finding(known: pd.DataFrame, column: str) -> str:
    """What the lines say at the largest size that more than one candidate reaches, in few words."""
    counts = known.groupby("gpus").candidate.nunique()
    most = counts[counts == counts.max()]
    size = int(most.index.max())
    here = known[known.gpus == size].set_index("candidate")[column]
    low, high = float(here.min()), float(here.max())
    if column == "scaling_efficiency_fraction":
        span = f"{low * 100:.0f} to {high * 100:.0f} %" if high - low > 0.005 else f"{high * 100:.0f} %"
        return f"{span} at {charts.count_text(size)}"
    if column == "unit_time_s":
        return (
            "level"
            if high < low * 1.0005
            else f"{charts.percent_text(high / low - 1)} apart at {charts.count_text(size)}"
        )
    if len(here) > 1 and high > low * 1.0005:
        return (
            f"{here.idxmin()} least"
            if column == "yearly_usd_per_gpu"
            else f"{charts.percent_text(high / low - 1)} apart"
        )
    return "level"
