"""What does the answer hang on?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts, charts_sensitivity
from models.compare.flips import flip_sentences, idle_sentence, lead_at, lead_line, setting_text, tie_at
from models.compare.sensitivity import Sensitivity, sensitivity
from views import answers, inputs, show
from views.frame import Case
from views.kept import kept

METHODS = ("analytical",)
STEPS = 4


def found_for(case: Case, name: str, aside: bool = False) -> Sensitivity | None:
    """The sensitivity run of the case, or None after showing how far it is."""
    result: Sensitivity | None = show.result_of(
        answers.key_of(case.scenario, "sensitivity", METHODS),
        "What moves the answer",
        lambda job: sensitivity(case.scenario, methods=METHODS, progress=job.progress),
        steps=STEPS,
        name=name,
        aside=aside,
    )
    return result


def flip_lines(case: Case) -> None:
    """Three sentences on what would flip the answer, and what idle GPUs cost against it."""
    found = found_for(case, "flips", aside=True)
    if found is not None:
        st.markdown(
            "\n".join(
                f"- {show.escaped(show.prose(text))}"
                for text in (*flip_sentences(found), idle_sentence(found))
            )
        )


def page(case: Case, question: str) -> None:
    """Tornado, break-even explorer, break-evens, draws."""
    found = found_for(case, "sensitivity")
    if found is None:
        st.caption(
            "Moving each input to its low and high, drawing prices and model errors, searching break-evens."
        )
        return
    tables = kept(("sensitivity", case.key), found.tables)
    first, second = found.verdict.winner, found.verdict.runner_up
    show.heading(flip_sentences(found)[0], question)
    if not second:
        st.caption("Switch a second candidate on to see what the choice between them hangs on.")
        return
    show.chart(
        "tornado",
        lambda: charts_sensitivity.tornado(tables["tornado"], case.colours, first, second),
        case.key,
    )
    _explorer(found, case.colours, case.key)
    show.table(
        "break_even", _break_even(tables["break_even"], first, second), full=tables["break_even"],
        caption="Where two candidates tie", height=300,
        columns={"Note": st.column_config.TextColumn(width="large"), "Ties at": st.column_config.TextColumn(width=130)},
    )  # fmt: skip
    show.table(
        "tornado", _tornado(tables["tornado"]), full=tables["tornado"], caption="One input at a time", height=300,
        columns={"Source": st.column_config.TextColumn(width="medium")},
    )  # fmt: skip
    with st.expander("Decision figures: odds, regret, shares of variance, value of information"):
        show.table("decision", _figures(tables["decision"]), full=tables["decision"], height=400)
    show.csv("draws", tables["draws"], "CSV of every draw")
    with st.expander("Assumptions"):
        st.markdown(
            f"- {charts.count_text(len(tables['draws']))} rows of seeded, correlated draws: prices of one vendor move together.\n"
            "- The tornado moves one input at a time between the low and high of its source, in closed form.\n"
            "- A break-even is searched in a stated range; “no crossing in range” is an answer."
        )
        show.terms("work per dollar", "band", "ownership cost")


def _explorer(found: Sensitivity, colours: dict[str, str], key: tuple[str, ...]) -> None:
    st.markdown("**Break-even explorer**")
    names = [value.candidate for value in found.values]
    left, right = st.columns([2, 3], gap="medium")
    with left:
        a, b = st.columns(2)
        first = a.selectbox("Candidate", names, **inputs.held("even-first", names[0], names))
        others = [name for name in names if name != first]
        second = b.selectbox("Against", others, **inputs.held("even-second", others[0], others))
        factor = st.slider(
            "Price of its networks, times today's",
            0.25,
            2.5,
            step=0.05,
            **inputs.held("even-factor", 1.0, within=(0.25, 2.5)),
        )
        wasted = st.slider(
            "GPU time it wastes beyond the other, %",
            0.0,
            10.0,
            step=0.1,
            **inputs.held("even-idle", 0.0, within=(0.0, 10.0)),
        )
        idle = wasted / 100
        line = lead_line(found, first, second, idle)
        lead = lead_at(line, factor)
        ahead = first if lead > 0 else second
        st.markdown(f"**{ahead}** gives {charts.percent_text(abs(lead))} more work per dollar then.")
        st.caption(show.prose(idle_sentence(found)))
    with right:
        show.chart(
            "price_line",
            lambda: charts_sensitivity.price_line(line, colours[first], first, second, factor, lead, tie_at(line)),
            key, first, second, factor, idle,
        )  # fmt: skip


def _break_even(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """The two best against each other first."""

    def number(value: float | None, unit: str) -> str:
        if value is None or pd.isna(value):
            return charts.MISSING
        if unit == "fraction":
            return charts.percent_text(value)
        return charts.number_text(value) + ("" if unit == "1" else f" {unit}")

    best = [{a, b} != {first, second} for a, b in zip(table.a, table.b, strict=True)]
    table = table.assign(order=best).sort_values("order", kind="stable")
    rows = list(table.itertuples())
    return pd.DataFrame(
        {
            "Candidate": table.a,
            "Against": table.b,
            "Quantity": table.quantity,
            "Ties at": [
                number(r.value, r.unit) if r.status == "crossing" else "nowhere in range" for r in rows
            ],
            "Now": [number(r.current, r.unit) for r in rows],
            "Note": table.note,
        }
    )


def _figures(table: pd.DataFrame) -> pd.DataFrame:
    """Any long table of figures with readable heads and three digits."""
    shown = table.rename(columns={name: name.replace("_", " ").capitalize() for name in table.columns})
    for name in shown.columns:
        if pd.api.types.is_float_dtype(shown[name]):
            shown[name] = [charts.number_text(v) for v in shown[name]]
    return shown


def _tornado(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Input": table.input,
            **{
                end.capitalize(): [
                    setting_text(s, u) for s, u in zip(table[f"{end}_setting"], table.unit, strict=True)
                ]
                for end in ("low", "mid", "high")
            },
            "Lead at low": [charts.percent_text(v) for v in table.lead_low],
            "Lead at high": [charts.percent_text(v) for v in table.lead_high],
            "Flips": table.flips.map({True: "yes", False: ""}),
            "Source": table.source,
        }
    )
