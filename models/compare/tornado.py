"""One input at a time from low to high: how far it moves the lead, and whether it turns the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from models.compare.axes import Point
from models.compare.case import (
    Case,
    by_method_only,
    case_at,
    lead,
    ranking,
    scores,
    with_figures_at,
    with_group_at,
    with_times_at,
)
from models.compare.draws import COMMON_MODEL_ERROR
from models.compare.sweep_points import Variations
from models.compare.tornado_inputs import Input
from models.compare.value import TimeBand, mid_time_s
from models.compare.value_of_information import input_words

WITHIN_CATALOGUE = "catalogue low and high of every part, moved together"


@dataclass(frozen=True)
class TornadoRow:
    """One bar: the lead of `first` over `second` (work per dollar, fraction) with the input at either end."""

    input: str
    kind: str  # price | model | workload | economics | model error
    candidate: str
    low_setting: str
    mid_setting: str
    high_setting: str
    unit: str
    first: str
    second: str
    lead_low: float
    lead_mid: float
    lead_high: float
    swing: float
    best_low: str
    best_high: str
    flips: bool
    variance_share_fraction: float | None  # of the drawn spread; blank for inputs that are not drawn
    information_value_fraction: float | None  # expected gain of knowing it, of the best work per dollar
    source: str


def tornado(
    variations: Variations,
    base: Case,
    keyed: Sequence[Input],
    shares: Mapping[str, float],
    information: Mapping[str, float],
    pair: tuple[str, str],
) -> list[TornadoRow]:
    """Rows of every input for the lead of the first of `pair` over the second, widest swing first.

    `variations` knows the keys of `keyed` and works in closed form; both methods' times move by the ratio it gives.
    Prices move by vendor, as they are drawn; an end that cannot be built or is not allowed leaves the answer where
    it is.
    """
    order = ranking(scores(base))
    first, second = pair

    def row(
        name: str, kind: str, settings: tuple[object, object, object], unit: str, low: Case, high: Case,
        source: str, candidate: str = "", drawn: str = "",
    ) -> TornadoRow:  # fmt: skip
        found_low, found_mid, found_high = scores(low), scores(base), scores(high)
        leads = [lead(found, first, second) for found in (found_low, found_mid, found_high)]
        best_low, best_high = ranking(found_low)[0], ranking(found_high)[0]
        texts = [_setting(value) for value in settings]
        return TornadoRow(
            name, kind, candidate, texts[0], texts[1], texts[2], unit, first, second, leads[0], leads[1], leads[2],
            max(leads) - min(leads), best_low, best_high, {best_low, best_high} != {order[0]},
            shares.get(drawn) if drawn else None, information.get(drawn) if drawn else None, source,
        )  # fmt: skip

    closed_form = case_at(variations, {})
    rows = [_price_row(base, group, row) for group in _groups(base)]
    for item in keyed:
        ends = [_moved(variations, base, closed_form, {item.key: value}) for value in (item.low, item.high)]
        settings = (item.low, item.mid, item.high)
        rows.append(
            row(item.name, item.kind, settings, item.unit, ends[0], ends[1], item.source, item.candidate)
        )
    rows += _error_rows(base, row)
    return sorted(rows, key=lambda r: (-r.swing, r.input))


def _moved(variations: Variations, base: Case, closed_form: Case, point: Point) -> Case:
    """`base` with its times moved as the closed form moves from the scenario to the point, and the point's costs."""
    there = case_at(variations, point, closed_form)

    def moved(band: TimeBand, before: TimeBand, after: TimeBand) -> TimeBand:
        was = mid_time_s(before)
        ratio = mid_time_s(after) / was if was > 0 else 1.0
        ends = {m: (v * ratio, lo * ratio, hi * ratio) for m, (v, lo, hi) in band.by_method.items()}
        return replace(band, by_method=ends)

    times = {
        name: [moved(*three) for three in zip(bands, closed_form.times[name], there.times[name], strict=True)]
        for name, bands in base.times.items()
    }
    return Case(times, there.costs)


def _groups(base: Case) -> list[str]:
    return sorted(
        {
            line.group
            for lines in base.costs.values()
            for line in lines
            if line.low_usd < line.mid_usd or line.mid_usd < line.high_usd
        }
    )


def _price_row(base: Case, group: str, row: Callable[..., TornadoRow]) -> TornadoRow:
    low, mid, high = (
        max(sum(getattr(line, end) for line in lines if line.group == group) for lines in base.costs.values())
        for end in ("low_usd", "mid_usd", "high_usd")
    )
    return row(
        input_words(f"price {group}"), "price", (round(low), round(mid), round(high)), "USD per year",
        with_group_at(base, group, "low"), with_group_at(base, group, "high"), WITHIN_CATALOGUE,
        drawn=f"price {group}",
    )  # fmt: skip


def _error_rows(base: Case, row: Callable[..., TornadoRow]) -> list[TornadoRow]:
    """Errors of the models themselves: each candidate's own, the common one, and the choice of method."""
    source = "validation: error of the kind, fabric and size"
    settings = ("5 %", "mid", "95 %")

    def ends(candidates: Sequence[str], share: float) -> tuple[Case, Case]:
        return with_times_at(base, candidates, "low", share), with_times_at(base, candidates, "high", share)

    rows = []
    for name in base.candidates:
        drawn = f"model error, {name}"
        low, high = ends([name], 1.0 - COMMON_MODEL_ERROR)
        words = f"{input_words(drawn)}, its own part"
        rows.append(row(words, "model error", settings, "quantile", low, high, source, name, drawn))
    for name, bands in base.times.items():
        if any(band.own_minus_s or band.own_plus_s for band in bands):
            drawn = f"figures, {name}"
            low, high = with_figures_at(base, name, "low"), with_figures_at(base, name, "high")
            source_words = "bands of the technology's own figures, one at a time, added as squares"
            rows.append(
                row(
                    input_words(drawn),
                    "model error",
                    settings,
                    "quantile",
                    low,
                    high,
                    source_words,
                    name,
                    drawn,
                )
            )
    low, high = ends(base.candidates, COMMON_MODEL_ERROR)
    drawn = "model error, common"
    rows.append(row(input_words(drawn), "model error", settings, "quantile", low, high, source, "", drawn))
    methods = list(next(iter(base.times.values()))[0].by_method)
    if len(methods) > 1:
        rows.append(
            row(
                input_words("method"), "model error", (methods[0], "mean", methods[1]), "method",
                by_method_only(base, methods[0]), by_method_only(base, methods[1]),
                "difference of the two methods", drawn="method",
            )
        )  # fmt: skip
    return rows


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
