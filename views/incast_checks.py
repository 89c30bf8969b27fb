"""The part of the Incast page that says what to check before buying or tuning."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models.compare.costs import candidate_costs
from models.compare.incast_checks import STATE_WORDS, Check, checks_sentence, incast_checks
from models.compare.performance import setup
from models.compare.reservations import link_checks
from models.export import frame_of
from models.scenario.schema import Scenario
from views import answers, show
from views.work import Job

ICONS = {
    "fine": ":green[:material/check_circle:]",
    "look": ":orange[:material/visibility:]",
    "act": ":red[:material/error:]",
}


def checks_section(only: Scenario, colours: dict[str, str]) -> None:
    """Sentence and list, candidate by candidate, two in a row; CSV of all of it."""
    st.subheader("What to check before you buy or tune", anchor=False)
    found: list[Check] | None = show.result_of(
        answers.key_of(only, "incast-checks"),
        "Checking each fabric",
        lambda job: _solved(only, job),
        steps=len(only.candidates),
        name="incast-checks",
        aside=True,
    )
    if found is None:
        return
    st.markdown(show.escaped(checks_sentence(found)))
    rows = ["| | Candidate | What | Found |", "|---|---|---|---|"]
    for check in found:
        name = f':color[●]{{foreground="{colours[check.candidate]}"}} {show.escaped(check.candidate)}'
        rows.append(
            f"| {ICONS[check.state]} | {name} | {show.escaped(check.topic)} | {show.escaped(check.short)} |"
        )
    st.markdown("\n".join(rows))
    with st.expander("In full: findings, what to do, sources"):
        st.markdown("\n".join(_line(check) for check in found))
    table: pd.DataFrame = frame_of(found, Check)
    show.csv("incast_checks", table, "CSV of the checks")


def _solved(only: Scenario, job: Job) -> list[Check]:
    setups = [setup(only, name) for name in only.candidates]
    unlinked = link_checks(candidate_costs(only, setups))
    return [*unlinked, *incast_checks(only, setups, solved=True, progress=job.progress)]


def _line(check: Check) -> str:
    what = f"**{show.escaped(check.candidate)}, {show.escaped(check.topic)}** ({STATE_WORDS[check.state]})"
    advice = "" if check.state == "fine" else f" *{show.escaped(check.advice)}*"
    return f"- {what}: {show.escaped(check.finding)}{advice} ({show.escaped(check.source)})"
