"""Which one, and how sure?"""

from __future__ import annotations

from math import isfinite
from typing import Any

import pandas as pd
import streamlit as st

from models import charts, charts_decision
from models.compare import standing
from models.compare.comparison import Comparison
from models.compare.verdict import gap, percent
from models.units import duration_text, size_text, usd_text
from views import answers, show
from views.frame import Case
from views.kept import kept

LEVEL_TIME_FRACTION = 0.005  # times nearer than this are told as no difference, as the verdict does


def page(case: Case, question: str) -> None:
    """The answer in a sentence, time against cost, how sure, the table, what flips it, risk."""
    answer = answers.comparison(case.scenario)
    show.heading(answer.verdict.sentence, f"{question} {asked(case)}")
    answers.method_note(case.scenario, answer)
    key = (case.key, answer.methods)
    table = kept(("candidates", key), lambda: standing.candidate_table(answer))
    if len(table) > 1:
        _pictures(answer, table, case, key)
    else:
        st.info(
            "Switch a second candidate on, at the left, to see what the choice between them costs and hangs on."
        )
    st.markdown(f"**Why.** {answer.verdict.time_sentence} {answer.verdict.cost_sentence}".replace("$", "\\$"))
    show.table("candidates", candidate_text(table), full=table)
    if len(table) > 1:
        flips(case)
    with st.expander("Risk facts: stated beside the score, never blended into it"):
        facts = show.result_of(
            answers.key_of(case.scenario, "risks"),
            "Risk facts",
            lambda job: standing.risk_facts(answer),
            name="risks",
            aside=True,
        )
        if facts is not None:
            show.table(
                "risk_facts", _headed(facts), {"Fact": st.column_config.TextColumn(width="large")}, full=facts
            )
    warnings(answer)
    with st.expander("All figures by both methods"):
        show.table("comparison", _comparison_text(answer.comparison), full=answer.comparison, height=420)
    assumptions(answer)


def _pictures(answer: Comparison, table: pd.DataFrame, case: Case, key: tuple[object, ...]) -> None:
    """Time against cost, and how sure the order is."""
    left, right = st.columns([3, 2], gap="medium")
    of = standing.pace(answer)
    unit = f", {of.unit}" if of.unit else ""
    with left:
        show.chart(
            "time_against_cost",
            lambda: charts_decision.time_against_cost(
                standing.cloud(answer), standing.mids(answer), case.colours, of.title + unit, finding(answer)
            ),
            key,
        )
    with right:
        winner = answer.verdict.winner
        show.chart("against_best", lambda: charts_decision.against_best(table, case.colours, winner), key)


def asked(case: Case) -> str:
    """The scenario's own question, and what was changed since it was asked."""
    changes = [
        f"{key} {charts.count_text(value) if type(value) is int else value}"
        for key, value in case.ask.changes
    ]
    if case.ask.nic_gbit_per_s:
        changes.insert(0, f"NICs of {case.ask.nic_gbit_per_s} Gbit/s")
    if not changes:
        return case.scenario.question
    shown = ", ".join(changes[:2]) + (f" and {len(changes) - 2} more" if len(changes) > 2 else "")
    return f"{case.scenario.question} Changed since: {shown}."


def finding(answer: Comparison) -> str:
    """What time and cost say apart."""
    fastest = max(answer.values, key=lambda v: v.relative_work).candidate
    cheapest = min(answer.values, key=lambda v: v.yearly_usd).candidate
    if fastest == cheapest:
        return f"{fastest} is both fastest and cheapest to own"
    apart = gap(
        fastest, cheapest, answer.drawn.relative_work, {v.candidate: v.relative_work for v in answer.values}
    )
    if apart.low <= 0 or apart.mid < LEVEL_TIME_FRACTION:
        return f"{cheapest} is cheapest to own and level with the fastest"
    return f"{fastest} is fastest, {cheapest} cheapest to own"


def candidate_text(table: pd.DataFrame) -> pd.DataFrame:
    """The table as a reader wants it."""
    unit = table.time_unit.iloc[0]
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            f"{table.candidate.iloc[0]} leads by": [
                charts.MISSING if r.Index == 0 else _lead(r) for r in table.itertuples()
            ],
            "Best in": [charts.percent_text(v) for v in table.probability_best_fraction],
            "Cost a year": [usd_text(v) for v in table.yearly_cost_usd],
            "Capital": [usd_text(v) for v in table.capital_usd],
            "Network share": [charts.percent_text(v) for v in table.network_share_of_capital_fraction],
            f"Time, {unit}": [charts.number_text(v) for v in table.time],
        }
    )


def _lead(row: Any) -> str:
    """Lead of the best over a candidate with its band, on the verdict's own terms: best over other, less one."""
    mid, low, high = (
        1.0 / (1.0 + behind) - 1.0
        for behind in (
            row.against_best_fraction,
            row.against_best_high_fraction,
            row.against_best_low_fraction,
        )
    )
    if low == high:
        return percent(mid)
    return f"{percent(mid)}  ({percent(low)} to {percent(high)})"


def _headed(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(columns={name: name.replace("_", " ").capitalize() for name in table.columns})


def _comparison_text(table: pd.DataFrame) -> pd.DataFrame:
    """Every figure with its band, in the unit a reader expects."""
    figures = {
        name.capitalize(): [figure_text(v, unit) for v, unit in zip(table[name], table.unit, strict=True)]
        for name in ("value", "low", "high")
    }
    return pd.DataFrame(
        {
            "Candidate": table.candidate, "Method": table.method, "Workload": table.workload,
            "Figure": [_figure_name(name) for name in table.metric], **figures, "Source": table.source,
        }
    )  # fmt: skip


def figure_text(value: object, unit: str) -> str:
    """A figure of the comparison with its unit, three digits.

    >>> figure_text(41e9, "bytes"), figure_text(0.395, "fraction"), figure_text(None, "s"), figure_text(945000.0, "tokens/s")
    ('38.2 GiB', '40 %', '\u2013', '945\u2009000 tokens/s')
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return charts.MISSING
    if unit == "bytes":
        return size_text(value)
    if unit == "s":
        return duration_text(value) if value else "0 s"
    if unit == "bytes/s":
        return f"{charts.number_text(value / 1e9)} GB/s"
    if unit == "FLOP/s":
        return f"{charts.number_text(value / 1e12)} TFLOP/s"
    if unit == "fraction":
        return charts.percent_text(value)
    if unit in ("USD", "USD/year"):
        return usd_text(value) + unit.removeprefix("USD")
    if unit == "W":
        return f"{charts.number_text(value / 1e3)} kW"
    return charts.number_text(value) + ("" if unit == "1" else f" {unit}")


def _figure_name(metric: str) -> str:
    capitals = {
        "gpu": "GPU",
        "gpus": "GPUs",
        "mfu": "MFU",
        "tp": "TP",
        "pp": "PP",
        "dp": "DP",
        "ep": "EP",
        "cp": "CP",
        "kv": "KV",
    }
    return " ".join(capitals.get(word, word) for word in metric.split("_"))


def flips(case: Case) -> None:
    """What would flip the answer, in three sentences with numbers."""
    from views.sensitivity import flip_lines

    st.markdown("**What would flip it**")
    flip_lines(case)


def warnings(answer: Comparison) -> None:
    """What the models want the reader to know."""
    if answer.warnings:
        count = len(answer.warnings)
        with st.expander(f"{count} thing{'s' if count > 1 else ''} to know before relying on this"):
            for text in answer.warnings:
                st.markdown(f"- {show.escaped(text)}")


def assumptions(answer: Comparison) -> None:
    """What the answer stands on, in a fold."""
    scenario = answer.scenario
    economics = scenario.economics
    with st.expander("Assumptions"):
        st.markdown(
            f"- Work per dollar divides weighted useful work by the yearly ownership cost of the **whole cluster**.\n"
            f"- {economics.years} years, discount rate {charts.percent_text(economics.discount_rate_fraction)}, "
            f"{economics.usd_per_kwh:g} USD per kWh, PUE {economics.pue:g}.\n"
            f"- Placement {scenario.placement.kind}, rank order {scenario.placement.rank_order}; seed {scenario.seed}.\n"
            f"- Methods: {' and '.join(answer.methods)}; where they differ, the difference is part of the band.\n"
            + "".join(f"- {cost.candidate}: {cost.network_words}\n" for cost in answer.costs.values())
            + "- Every parameter with source and confidence: page Assumptions."
        )
        show.terms("work per dollar", "ownership cost", "band", "analytical", "fluid")
