"""The answer in a sentence: who gives most work per dollar, by how much, how sure; or that it cannot be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.compare.draws import Draws, quantiles
from models.compare.value import Value, ValueDraws
from models.units import usd_text

SURE_PROBABILITY = 0.9
LEVEL_FRACTION = 5e-5  # shown as 0.00 %
NO_DIFFERENCE_FRACTION = 0.01  # published like-for-like pairs scatter by more than this


@dataclass(frozen=True)
class Gap:
    """How far `better` is ahead of `other`, as a fraction with its 90 % band (draw by draw, so what both share cancels)."""

    better: str
    other: str
    mid: float
    low: float
    high: float
    probability_ahead: float


@dataclass(frozen=True)
class Verdict:
    """Who wins on value, time and cost; `decided` is False when the evidence does not tell them apart."""

    decided: bool
    winner: str
    runner_up: str
    sentence: str
    time_sentence: str
    cost_sentence: str
    gap: Gap | None


def gap(better: str, other: str, values: Mapping[str, Draws], mids: Mapping[str, float]) -> Gap:
    """Relative lead of one candidate over another."""
    ratio = values[better] / values[other] - 1.0
    low, _, high = quantiles(ratio)
    ahead = float(np.mean(ratio > 0) + 0.5 * np.mean(ratio == 0))
    return Gap(better, other, mids[better] / mids[other] - 1.0, low, high, ahead)


def against_best(ranked: Sequence[Value], drawn: ValueDraws) -> dict[str, Gap | None]:
    """Each candidate's work per dollar against that of the first, draw by draw as in the verdict; None for the first."""
    mids = {value.candidate: value.work_per_dollar for value in ranked}
    first = ranked[0].candidate
    return {name: None if name == first else gap(name, first, drawn.work_per_dollar, mids) for name in mids}


def percent(fraction: float) -> str:
    """A fraction in per cent with the digits that mean something.

    >>> percent(0.0412), percent(-0.0003), percent(0.25), percent(-1e-6)
    ('4.1 %', '-0.03 %', '25 %', '0.00 %')
    """
    size = abs(fraction) * 100
    digits = 0 if size >= 9.95 else 1 if size >= 0.95 else 2
    return f"{fraction * 100:z.{digits}f} %"


def verdict(
    ranked: Sequence[Value],
    drawn: ValueDraws,
    work: str,
    settling: str = "",
    technologies: Mapping[str, str] | None = None,
) -> Verdict:
    """The verdict on candidates ranked by work per dollar; `work` names what is counted ("training", ...).

    The runner-up is the second of the ranking; where the second is surely behind and one after it is not, that one.
    `settling` is the sentence that follows a call too close; `technologies` says of what each candidate is a copy, so
    that where the two best are of one, the lead over the best of another is said too.
    """
    mids = {value.candidate: value.work_per_dollar for value in ranked}
    fastest = max(ranked, key=lambda v: v.relative_work)
    cheapest = min(ranked, key=lambda v: v.yearly_usd)
    time_sentence = _time_sentence(ranked, drawn, fastest)
    cost_sentence = _cost_sentence(ranked, cheapest)
    first = ranked[0]
    if len(ranked) == 1:
        cost_sentence = f"{first.candidate} costs {usd_text(first.yearly_usd)} a year to own."
        text = f"{first.candidate} is the only candidate; nothing to compare it with."
        return Verdict(True, first.candidate, "", text, time_sentence, cost_sentence, None)
    gaps = [gap(first.candidate, other.candidate, drawn.work_per_dollar, mids) for other in ranked[1:]]
    closest = min(gaps, key=lambda g: (g.probability_ahead, g.mid))  # most likely to be better after all
    decided = all(_sure(g) for g in gaps)
    lead = closest if _sure(gaps[0]) and not decided else gaps[0]
    band = f"90 % band {percent(lead.low)} to {percent(lead.high)}"
    if decided:
        text = (
            f"{first.candidate} gives {percent(lead.mid)} more {work} per dollar than {lead.other} "
            f"({band}; best in {percent(first.probability_best)} of draws)."
            + _further(gaps, closest, technologies or {})
        )
    elif max(abs(lead.mid), abs(lead.low), abs(lead.high)) < LEVEL_FRACTION:
        text = f"No difference: {first.candidate} and {lead.other} give the same {work} per dollar."
    elif (
        lead.mid < NO_DIFFERENCE_FRACTION and max(abs(lead.low), abs(lead.high)) < 2 * NO_DIFFERENCE_FRACTION
    ):
        apart = f"within {percent(lead.mid)} of each other" if abs(lead.mid) >= LEVEL_FRACTION else "level"
        text = f"No difference that matters: {first.candidate} and {lead.other} are {apart} ({band})."
    else:
        text = (
            f"Too close to call: {first.candidate} is {percent(lead.mid)} ahead of {lead.other} in {work} per dollar, "
            f"within the uncertainty ({band}; ahead in {percent(lead.probability_ahead)} of draws)."
        )
        if settling:
            text += f" {settling}"
    return Verdict(decided, first.candidate, lead.other, text, time_sentence, cost_sentence, lead)


def _sure(lead: Gap) -> bool:
    return lead.low > 0 and lead.probability_ahead >= SURE_PROBABILITY


def _further(gaps: Sequence[Gap], closest: Gap, technologies: Mapping[str, str]) -> str:
    """The lead over another than the second that a reader asks for; nothing where the second says it all."""
    own = technologies.get(gaps[0].better)
    if own is not None and technologies.get(gaps[0].other) == own:
        other = next((g for g in gaps if technologies[g.other] != own), None)
        what = "the best of another technology"
    else:
        other, what = closest, "the closest in the draws"
    if other is None or other is gaps[0]:
        return ""
    band = f"90 % band {percent(other.low)} to {percent(other.high)}"
    return f" Over {other.other}, {what}, the lead is {percent(other.mid)} ({band})."


def _time_sentence(ranked: Sequence[Value], drawn: ValueDraws, fastest: Value) -> str:
    others = [v for v in ranked if v is not fastest]
    if not others:
        return ""
    mids = {v.candidate: v.relative_work for v in ranked}
    gaps = [gap(fastest.candidate, v.candidate, drawn.relative_work, mids) for v in others]
    if all(g.mid == g.low == g.high == 0 for g in gaps):
        return f"{_listed([fastest.candidate, *(g.other for g in gaps)])} are equally fast."
    level = [g.other for g in gaps if g.low <= 0 or g.mid < 0.005]
    behind = [g for g in gaps if g.other not in level]
    words = []
    if level:
        words.append(
            f"no difference in speed between {_listed([fastest.candidate, *level])} beyond the model's error"
        )
    for g in sorted(behind, key=lambda g: g.mid):
        words.append(f"{fastest.candidate} is {percent(g.mid)} faster than {g.other}")
    text = "; ".join(words)
    return text[:1].upper() + text[1:] + "."


def _cost_sentence(ranked: Sequence[Value], cheapest: Value) -> str:
    others = sorted((v for v in ranked if v is not cheapest), key=lambda v: v.yearly_usd)
    if not others:
        return ""
    level = [cheapest.candidate, *(v.candidate for v in others if v.yearly_usd == cheapest.yearly_usd)]
    words = [
        f"{v.candidate} {percent(v.yearly_usd / cheapest.yearly_usd - 1)}"
        for v in others
        if v.candidate not in level
    ]
    if not words:
        return f"{_listed(level)} cost the same to own."
    verb = "is" if len(level) == 1 else "are"
    return f"{_listed(level)} {verb} cheapest to own; per year the others cost more: {', '.join(words)}."


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
