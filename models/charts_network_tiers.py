"""The network as a picture: tiers as rows of boxes, links between them by the load offered to them."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

import altair as alt
import pandas as pd

from models import charts

# blue up to full, orange to red beyond: a link offered more than it carries is where flows collide. Blue against orange
# is told apart with any colour vision, and the lines grow thicker as well
LOAD_CLASSES: tuple[tuple[float, str, str, float], ...] = (
    # up to, name, colour, width
    (0.5, "to 50 %", "#B4C4D1", 0.7),
    (1.0 + 1e-9, "to 100 %", "#5B94C4", 0.9),
    (1.5, "to 150 %", "#E69F00", 1.6),
    (2.0 + 1e-9, "to 200 %", "#D55E00", 2.2),
    (inf, "above", "#B0122B", 2.8),
)
DOWN = "down"
MARGIN = 0.22  # of the row's width, for the names of the rows
BOX_NUMBERS_MAX = 16  # beyond, numbers do not fit into the boxes
TIER_ORDER = ("leaf", "spine", "core", "group")
PLURAL = {"leaf": "leaves", "spine": "spines", "core": "cores", "group": "groups"}


def tier_diagram(
    boxes: pd.DataFrame, lines: pd.DataFrame, radix: Mapping[str, int], hosts: str, words: str
) -> Any:
    """The network of one candidate: a row of boxes a tier, lines between them coloured by the load offered to them.

    `boxes` and `lines` of `tier_picture`; radix: ports of a switch by tier; hosts: what hangs below the leaves.
    """
    tiers = [tier for tier in TIER_ORDER if tier in set(boxes.tier)]
    level = {tier: float(i) for i, tier in enumerate(tiers)}
    at = boxes.set_index("switch").place
    width = 0.72 / boxes.groupby("tier").switch.transform("size").clip(lower=10)
    shown_boxes = boxes.assign(
        low=boxes.place - width / 2, high=boxes.place + width / 2,
        bottom=boxes.tier.map(level) - 0.085, top=boxes.tier.map(level) + 0.085,
    )  # fmt: skip
    drawn = lines.assign(
        x=lines.lower.map(at), x2=lines.upper.map(at),
        y=lines.lower_tier.map(level) + 0.085, y2=lines.upper_tier.map(level) - 0.085,
        load=[_load_class(r) for r in charts.rows(lines)],
        up=[charts.percent_text(v) for v in lines.load_up_fraction],
        back=[charts.percent_text(v) for v in lines.load_down_fraction],
    ).sort_values("load_fraction", kind="stable")  # fmt: skip
    x_scale = alt.Scale(domain=[-MARGIN, 1.0], nice=False)
    y_scale = alt.Scale(domain=[-0.26, len(tiers) - 1.0 + 0.26], nice=False)
    x = alt.X("x:Q", scale=x_scale, axis=None)
    y = alt.Y("y:Q", scale=y_scale, axis=None)
    layers: list[Any] = []
    if len(drawn):
        layers.append(_links(drawn, x, y))
    hottest = _hottest(drawn)
    collides = hottest is not None and hottest.load_fraction > 1.0 + 1e-9
    ends = {hottest.lower, hottest.upper} if collides else set()
    box = (
        alt.Chart(shown_boxes.assign(hot=shown_boxes.switch.isin(ends)))
        .mark_rect(cornerRadius=2)
        .encode(
            x=alt.X("low:Q", scale=x_scale, axis=None), x2="high:Q",
            y=alt.Y("bottom:Q", scale=y_scale, axis=None), y2="top:Q",
            color=alt.condition("datum.hot", alt.value(charts.WARN), alt.value("#5D6B7A")),
            tooltip=[alt.Tooltip("switch:N", title="switch")],
        )
    )  # fmt: skip
    if collides:
        layers.append(
            alt.Chart(drawn.tail(1))
            .mark_rule(color=charts.WARN, strokeWidth=3.5)
            .encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
        )
    layers.append(box)
    if int(boxes.groupby("tier").size().max()) <= BOX_NUMBERS_MAX:
        layers.append(
            alt.Chart(boxes.assign(y=boxes.tier.map(level)))
            .mark_text(fontSize=10, color="#FFFFFF", fontWeight=600)
            .encode(x=alt.X("place:Q", scale=x_scale, axis=None), y=y, text="number:N")
        )
    layers += _row_names(boxes, tiers, level, radix, hosts, x_scale, y_scale)
    if collides:
        layers.append(_hot_label(hottest, at, level, x_scale, y_scale))
    over = drawn[drawn.load_fraction > 1.0 + 1e-9]
    if hottest is None:
        finding = "One switch carries this cluster: no link between switches to collide on"
    elif collides:
        load = charts.percent_text(hottest.load_fraction)
        finding = f"Hottest link: {hottest.lower} to {hottest.upper} is offered {load} of what it carries"
    else:
        finding = f"No link is offered more than it carries; the fullest is offered {charts.percent_text(hottest.load_fraction)}"
    part = "; ".join(
        f"{len(own)} of {charts.count_text(int(own.of_tier.iloc[0]))} {PLURAL[tier]}"
        for tier in tiers
        if len(own := boxes[boxes.tier == tier]) < int(own.of_tier.iloc[0])
    )
    cut = f"Drawn around the fullest link: {part}" if part else words[:1].upper() + words[1:]
    return charts.finished(
        alt.layer(*layers),
        finding,
        f"Diagram of the network: {', '.join(PLURAL[tier] for tier in tiers)} as boxes, links coloured by offered load. "
        f"{finding}. {len(over)} of {len(drawn)} lines drawn are offered more than they carry.",
        cut,
        height=310 if len(tiers) > 1 else 170,
    )


def _load_class(line: Any) -> str:
    if line.cables_down == line.cables:
        return DOWN
    return next(name for limit, name, *_ in LOAD_CLASSES if line.load_fraction <= limit)


def _links(drawn: pd.DataFrame, x: alt.X, y: alt.Y) -> Any:
    names = [name for _, name, *_ in LOAD_CLASSES if (drawn.load == name).any()]
    by_name = {name: (colour, width) for _, name, colour, width in LOAD_CLASSES}
    by_name[DOWN] = (charts.INK, 1.5)
    if (drawn.load == DOWN).any():
        names.append(DOWN)
    return (
        alt.Chart(drawn)
        .mark_rule(opacity=0.85)
        .encode(
            x=x, y=y, x2="x2:Q", y2="y2:Q",
            color=alt.Color(
                "load:N", sort=names, scale=alt.Scale(domain=names, range=[by_name[n][0] for n in names]),
                legend=alt.Legend(title="offered load, hottest cable", orient="bottom", symbolType="stroke", symbolStrokeWidth=4,
                                  titleOrient="left", titleFontWeight="normal", columns=len(names), columnPadding=8),
            ),
            strokeWidth=alt.StrokeWidth("load:N", legend=None, scale=alt.Scale(domain=names, range=[by_name[n][1] for n in names])),
            strokeDash=alt.condition(f"datum.load == '{DOWN}'", alt.value([3, 3]), alt.value([1, 0])),
            tooltip=[
                alt.Tooltip("lower:N", title="from"), alt.Tooltip("upper:N", title="to"),
                alt.Tooltip("up:N", title="offered upwards"), alt.Tooltip("back:N", title="offered downwards"),
                alt.Tooltip("cables:Q", title="cables"), alt.Tooltip("cables_down:Q", title="of them down"),
            ],
        )
    )  # fmt: skip


def _hottest(drawn: pd.DataFrame) -> Any:
    return charts.rows(drawn.tail(1))[0] if len(drawn) else None


def _row_names(
    boxes: pd.DataFrame,
    tiers: list[str],
    level: Mapping[str, float],
    radix: Mapping[str, int],
    hosts: str,
    x_scale: alt.Scale,
    y_scale: alt.Scale,
) -> list[Any]:
    """Left of each row: how many, with how many ports, and what hangs below the leaves."""
    layers: list[Any] = []
    for tier in tiers:
        count = int(boxes[boxes.tier == tier].of_tier.iloc[0])
        lines = [f"{charts.count_text(count)} {tier if count == 1 else PLURAL[tier]}"]
        lines += [f"{radix[tier]} ports each"] if tier in radix else []
        lines += [hosts] if tier == "leaf" else []
        for i, text in enumerate(lines):
            mark = pd.DataFrame({"x": [-MARGIN], "y": [level[tier]], "text": [text]})
            layers.append(
                alt.Chart(mark)
                .mark_text(
                    align="left", fontSize=12 if i == 0 else 11, fontWeight=600 if i == 0 else 400,
                    color=charts.INK, dy=15 * (i - (len(lines) - 1) / 2),
                )
                .encode(x=alt.X("x:Q", scale=x_scale, axis=None), y=alt.Y("y:Q", scale=y_scale, axis=None), text="text:N")
            )  # fmt: skip
    return layers


def _hot_label(
    hottest: Any, at: Any, level: Mapping[str, float], x_scale: alt.Scale, y_scale: alt.Scale
) -> Any:
    """The hottest link by name, at its free end: above the top row, or below the leaves."""
    below = hottest.lower_tier == "leaf" and level[hottest.upper_tier] < max(level.values())
    end = hottest.lower if below else hottest.upper
    place = float(at[end])
    side = "right" if place > 0.5 else "left"
    mark = pd.DataFrame(
        {
            "x": [place],
            "y": [-0.19 if below else level[hottest.upper_tier] + 0.17],
            "text": [f"{hottest.lower} \u2013 {hottest.upper}: {charts.percent_text(hottest.load_fraction)}"],
        }
    )
    return (
        alt.Chart(mark)
        .mark_text(align=side, fontSize=12, fontWeight=700, color=charts.WARN)
        .encode(
            x=alt.X("x:Q", scale=x_scale, axis=None), y=alt.Y("y:Q", scale=y_scale, axis=None), text="text:N"
        )
    )
