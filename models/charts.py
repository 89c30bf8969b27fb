"""What all charts share: candidate colours, number texts, axes, export. Altair only; no Streamlit.

One colour per candidate on every page (Okabe-Ito), by fabric family and order in the scenario; method by
stroke (fluid solid, analytical dashed); uncertainty as a band or a whisker. Neutral ink is a grey that reads on
light and dark pages, so one chart serves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Any

import altair as alt
import pandas as pd

from models.catalog.technology import technology
from models.scenario.schema import Scenario

THIN_SPACE = "\u2009"
MISSING = "\u2013"
INK = "#7B8794"
WARN = "#CC3311"
HEIGHT = 330

FAMILY_COLOURS: Mapping[str, tuple[str, ...]] = {
    "ib": ("#0072B2", "#56B4E9"),
    "roce": ("#D55E00", "#E69F00"),
    "spectrum_x": ("#009E73",),
    "tcp": ("#7F7F7F",),
}
FURTHER_COLOURS = ("#CC79A7", "#F0E442", "#8C6BB1", "#A6761D", "#666600", "#B3DE69", "#80B1D3", "#BC80BD")
DASHES = {"fluid": [1, 0], "analytical": [6, 4]}


def candidate_colours(scenario: Scenario) -> dict[str, str]:
    """Colour of each candidate of the whole scenario; switching a candidate off changes no other's colour."""
    left = {family: list(colours) for family, colours in FAMILY_COLOURS.items()}
    further = list(FURTHER_COLOURS)
    colours: dict[str, str] = {}
    for name, candidate in scenario.candidates.items():
        own = left[technology(candidate.technology).fabric]
        colours[name] = own.pop(0) if own else further.pop(0) if further else INK
    return colours


def colour(colours: Mapping[str, str], field: str = "candidate") -> alt.Color:
    """Colour by candidate, without a legend: charts label directly."""
    return alt.Color(f"{field}:N", scale=scale(colours), legend=None)


def scale(colours: Mapping[str, str]) -> alt.Scale:
    """The candidates' colours as a scale."""
    return alt.Scale(domain=list(colours), range=list(colours.values()))


def number_text(value: float | None, digits: int = 3) -> str:
    """Three significant digits, thin-space thousands; a dash for a number that does not exist.

    >>> number_text(1234567).replace(THIN_SPACE, "_"), number_text(0.012345), number_text(float("nan"))
    ('1_230_000', '0.0123', '–')
    """
    if value is None or not isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    text = f"{rounded:,.10f}".rstrip("0").rstrip(".")
    return text.replace(",", THIN_SPACE)


def count_text(value: int) -> str:
    """A whole number, every digit.

    >>> count_text(16384).replace(THIN_SPACE, "_")
    '16_384'
    """
    return f"{value:,d}".replace(",", THIN_SPACE)


def percent_text(fraction: float | None, signed: bool = False) -> str:
    """A fraction in per cent.

    >>> percent_text(0.0412), percent_text(0.0412, signed=True), percent_text(None)
    ('4.1 %', '+4.1 %', '–')
    """
    if fraction is None or not isfinite(fraction):
        return MISSING
    size = abs(fraction) * 100
    digits = 0 if size >= 10 or size == 0 else 1 if size >= 0.95 else 2
    return f"{fraction * 100:{'+' if signed else ''}.{digits}f} %"


def rows(table: pd.DataFrame) -> list[Any]:
    """Rows of a table with their columns as attributes."""
    return list(table.itertuples(index=False))


# Vega expressions for axis labels -------------------------------------------------------------------------

THOUSANDS = f"replace(format(datum.value, ',.12~g'), /,/g, '{THIN_SPACE}')"
BYTES = (
    "datum.value >= 1099511627776 ? format(datum.value / 1099511627776, '.3~g') + ' TiB'"
    " : datum.value >= 1073741824 ? format(datum.value / 1073741824, '.3~g') + ' GiB'"
    " : datum.value >= 1048576 ? format(datum.value / 1048576, '.3~g') + ' MiB'"
    " : datum.value >= 1024 ? format(datum.value / 1024, '.3~g') + ' KiB' : datum.value == 0 ? '0' : datum.value + ' B'"
)
USD = (
    "datum.value == 0 ? '0' : abs(datum.value) >= 1e9 ? format(datum.value / 1e9, '.4~g') + ' B'"
    " : abs(datum.value) >= 1e6 ? format(datum.value / 1e6, '.4~g') + ' M'"
    " : abs(datum.value) >= 1e3 ? format(datum.value / 1e3, '.4~g') + ' k' : format(datum.value, '.3~g')"
)


def axis(title: str, label: str = THOUSANDS, **options: Any) -> alt.Axis:
    """An axis with quantity and unit in its title, light grid, labels that do not collide."""
    settings: dict[str, Any] = {"labelOverlap": True, "gridOpacity": 0.35, "titleFontWeight": "normal"}
    return alt.Axis(title=title, labelExpr=label, **(settings | options))


def powers_of_two(values: Iterable[float]) -> list[int]:
    """Ticks at the powers of two that span `values`.

    >>> powers_of_two([100, 1000])
    [64, 128, 256, 512, 1024]
    """
    known = [v for v in values if v > 0]
    if not known:
        return []
    first, last = int(min(known)).bit_length() - 1, max(1, int(max(known))).bit_length()
    ticks = [2**p for p in range(max(0, first), last + 1)]
    return [t for t in ticks if t <= max(known) * 1.5]


def nice_ticks(low: float, high: float, count: int = 6) -> list[float]:
    """About `count` round ticks (steps of 1, 2 or 5 times a power of ten) inside a range.

    >>> nice_ticks(15.3, 17.2), nice_ticks(3.0, 3.0)
    ([15.5, 16.0, 16.5, 17.0], [])
    """
    if not high > low:
        return []
    rough = (high - low) / count
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough)
    first = ceil(low / step)
    return [round(i * step, 12) for i in range(first, floor(high / step) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten within a range; the powers alone where there are many, even steps where it is narrow.

    >>> log_ticks(3.0, 300.0), log_ticks(2.21, 2.39)
    ([5.0, 10.0, 20.0, 50.0, 100.0, 200.0], [2.25, 2.3, 2.35])
    """
    ticks = [float(f"{m}e{p}") for p in range(-9, 12) for m in (1, 2, 5) if low <= float(f"{m}e{p}") <= high]
    if len(ticks) < 2:
        return nice_ticks(low, high, 4)
    return ticks if len(ticks) <= 7 else [t for t in ticks if f"{t:e}".startswith("1")]


def spread_labels(
    values: Mapping[str, float], low: float, high: float, gap_fraction: float = 0.07
) -> dict[str, float]:
    """Heights for labels near `values` that keep a gap of `gap_fraction` of the axis between them.

    >>> spread_labels({"a": 1.0, "b": 1.0}, 0.0, 2.0, 0.1)
    {'a': 0.9, 'b': 1.1}
    """
    gap = (high - low) * gap_fraction
    order = sorted(values, key=lambda name: (values[name], name))
    place = {name: values[name] for name in order}
    for _ in range(100):
        moved = False
        for below, above in pairwise(order):
            short = gap - (place[above] - place[below])
            if short > 1e-9 * max(gap, 1e-300):
                place[below] -= short / 2
                place[above] += short / 2
                moved = True
        if not moved:
            break
    return {name: round(place[name], 12) for name in values}


def title(finding: str, subtitle: str = "") -> alt.TitleParams:
    """Chart title: the finding, below it what is drawn."""
    extra: dict[str, Any] = {"subtitle": subtitle, "subtitleColor": INK} if subtitle else {}
    return alt.TitleParams(finding, anchor="start", fontSize=14, fontWeight=600, **extra)


def finished(
    chart: Any, finding: str, alternative: str, subtitle: str = "", height: int | None = HEIGHT
) -> Any:
    """The chart with title and text alternative; width is the page's."""
    settings: dict[str, Any] = {"title": title(finding, subtitle), "description": alternative}
    if height is not None:
        settings["height"] = height
    return chart.properties(**settings)


# Export ---------------------------------------------------------------------------------------------------

EXPORT_WIDTH = 900


def can_export() -> bool:
    """Whether images can be written (extra `export`)."""
    return find_spec("vl_convert") is not None


def _sized(chart: Any) -> dict[str, Any]:
    """A chart, or its mapping with rows as tables, ready to be drawn on white."""
    spec: dict[str, Any] = dict(chart) if isinstance(chart, Mapping) else chart.to_dict()
    spec["datasets"] = {
        name: rows.to_dict("records") if isinstance(rows, pd.DataFrame) else rows
        for name, rows in spec.get("datasets", {}).items()
    }
    if not any(key in spec for key in ("hconcat", "vconcat", "concat", "facet", "spec")):
        spec["width"] = EXPORT_WIDTH
    spec["background"] = "white"
    spec["padding"] = 12
    return spec


def png(chart: Any) -> bytes:
    """The chart as PNG, at twice the screen's density."""
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(_sized(chart), scale=2))


def svg(chart: Any) -> str:
    """The chart as SVG."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(_sized(chart)))
