"""Who suffers, and why?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from models import charts, charts_incast
from models.compare.incast_story import Story, incast_story
from models.compare.incast_table import (
    QUANTITIES,
    IncastTables,
    incast_sentence,
    incast_tables,
    queue_thresholds,
    victim_fractions,
)
from models.scenario.schema import Scenario
from models.units import size_text
from views import answers, editor, inputs, show
from views.frame import Case
from views.incast_axis import axis_section
from views.incast_checks import checks_section
from views.kept import kept

FAN_INS = tuple(2**p for p in range(11))
BURSTS = tuple(2**p for p in range(14, 25))
PFC_ALONE = "rocev2_pfc_no_cc_400g"
EXPLAINED = (
    "**In one minute.** All senders start at once, but one port carries only one link's worth: the rest waits in the last "
    "switch **(1)**. When the memory there is full, the links into it must stop **(2)**: InfiniBand gives no more *credits*, "
    "RoCE sends *pauses*; TCP drops instead. A stopped link stops all who use it, also the *victim* **(3)**, whose own "
    "receiver is idle. A fabric saves the victim by holding more, or by slowing the senders before it is full (*ECN* marks)."
)
OTHERS = EXPLAINED.replace(
    "also the *victim* **(3)**, whose own receiver is idle. A fabric saves the victim",
    "also those who send elsewhere. A fabric saves them",
)


@dataclass(frozen=True)
class Shown:
    """What the page says of the tables, worked out once: walking the samples takes longer than the rest of it."""

    sentence: str
    stories: tuple[Story, ...]
    victims: pd.DataFrame
    quantities: tuple[str, ...]
    candidates: tuple[str, ...]
    end_us: float
    thresholds: pd.DataFrame
    beyond: tuple[tuple[str, float], ...]  # candidates that go on after the axis, ms


def shown_of(only: Scenario, name: str, fan_in: int, tables: IncastTables) -> Shown:
    """The page's words and what its charts are cut to."""
    series = tables.series
    ends = series.groupby("candidate", sort=False).time_us.max()
    end_us = charts_incast.time_end_us(series) if len(series) else 0.0
    there = set(series.quantity.unique())
    return Shown(
        sentence=incast_sentence(tables, fan_in),
        stories=incast_story(only, name, tables),
        victims=victim_fractions(tables),
        quantities=tuple(q for q in QUANTITIES if q in there),
        candidates=tuple(ends.index),
        end_us=end_us,
        thresholds=queue_thresholds(tables),
        beyond=tuple((str(n), float(t) / 1e3) for n, t in ends[ends > end_us].items()),
    )


def page(case: Case, question: str) -> None:
    """Sketch, aligned time series, victim, completion times, figures."""
    scenario = case.scenario
    names = [name for name, item in scenario.workloads.items() if item.kind == "incast"]
    if not names:
        show.heading("This scenario has no incast workload.", question)
        st.info("Add one to see who suffers when many senders answer one receiver; it is shown, not scored.")
        st.button("Add an incast of 32 senders", type="primary", key="add-incast", on_click=_add_incast)
        return
    name = names[0]
    item = scenario.workloads[name]
    assert item.kind == "incast"
    place = st.container()
    _controls(name, item.fan_in, item.burst_bytes, item.victim, scenario.cluster.gpus)
    only = scenario.model_copy(update={"workloads": {name: item}})
    tables: IncastTables | None = show.result_of(
        answers.key_of(only, "incast"),
        "Stepping packets through the queues",
        lambda job: incast_tables(only, name, progress=job.progress),
        steps=2 * len(scenario.candidates),
        name="incast",
    )
    if tables is None:
        return
    said: Shown = kept(("incast-shown", case.key), lambda: shown_of(only, name, item.fan_in, tables))
    with place:
        show.heading(said.sentence, question)
    _explanation(item.fan_in, item.victim, said, case.colours)
    st.subheader("What happens, microsecond by microsecond", anchor=False)
    with st.container(horizontal=True, gap="small"):
        for candidate in said.candidates:
            st.markdown(f':color[●]{{foreground="{case.colours[candidate]}"}} {show.escaped(candidate)}')
    left, right = st.columns([3, 2], gap="medium")
    with right:
        if len(said.victims):
            show.chart("victim", lambda: charts_incast.victim_bars(said.victims, case.colours), case.key)
        if len(tables.completion):
            show.chart(
                "completion", lambda: charts_incast.completion(tables.completion, case.colours), case.key
            )
    with left:
        _panels(tables.series, said, case.colours, case.key)
    axis_section(only, name, case.colours)
    checks_section(only, case.colours)
    show.table(
        "incast",
        kept(("incast", case.key), lambda: _figures(tables)),
        {
            "Band": st.column_config.TextColumn(width="medium"),
            "Source": st.column_config.TextColumn(width="large"),
        },
        full=tables.figures,
        caption="Figures by both methods",
        height=360,
    )
    show.csv("incast_series", tables.series, "CSV of the lines")
    with st.expander("Assumptions"):
        for note in tables.notes:
            st.markdown(f"- {show.escaped(note)}")
        show.terms("incast", "victim", "fan-in", "PFC", "ECN", "DCQCN", "credits")


def _explanation(fan_in: int, victim: bool, said: Shown, colours: dict[str, str]) -> None:
    """The sketch beside what happened on each candidate, in words with their numbers."""
    left, right = st.columns([2, 3], gap="medium")
    with left:
        show.chart("incast_sketch", lambda: charts_incast.strip(fan_in, victim), fan_in, victim, export=False)
        st.markdown(EXPLAINED if victim else OTHERS)
    with right:
        for story in said.stories:
            keeps = f" · victim keeps {charts.percent_text(story.victim_fraction)}" if victim else ""
            st.markdown(
                f':color[●]{{foreground="{colours[story.candidate]}"}} **{show.escaped(story.candidate)}{keeps}.** '
                f"{show.escaped(story.text)}"
            )


def _add_incast() -> None:
    wanted = {"kind": "incast", "weight": 0, "fan_in": 32, "burst_bytes": 2**20}
    now = inputs.ask()
    for key, value in wanted.items():
        now = now.changed(f"workloads.incast.{key}", value)
    inputs.set_ask(now)


def _controls(name: str, fan_in: int, burst_bytes: int, victim: bool, gpus: int) -> None:
    key = f"workloads.{name}"
    a, b, c, d = st.columns([3, 3, 1, 2], vertical_alignment="bottom")
    options = sorted({n for n in FAN_INS if n < gpus} | {fan_in})
    inputs.control("fan-in", fan_in)
    a.select_slider("Senders (fan-in)", options, **inputs.change_of("fan-in", f"{key}.fan_in", int))
    inputs.control("burst", burst_bytes)
    b.select_slider(
        "Burst of each", sorted({*BURSTS, burst_bytes}), format_func=size_text,
        **inputs.change_of("burst", f"{key}.burst_bytes", int),
    )  # fmt: skip
    inputs.control("victim", victim)
    c.toggle("Victim", **inputs.change_of("victim", f"{key}.victim", bool))
    d.button(
        "Add RoCE with PFC alone", on_click=editor.add_technology, args=(PFC_ALONE,), width="stretch", key="add-pfc-alone",
        help="A copy of the RoCE candidate whose senders are never asked to slow down.",
    )  # fmt: skip


def _panels(series: pd.DataFrame, said: Shown, colours: dict[str, str], key: tuple[str, ...]) -> None:
    own = said.quantities
    if not own:
        st.info("No time series: the flow solver has no answer here.")
        return

    def panel(quantity: str) -> Any:
        return charts_incast.panel(
            series, quantity, colours, said.end_us, quantity == own[-1], said.thresholds
        )

    for quantity in own:
        show.chart(f"incast_{quantity}", partial(panel, quantity), key, export=False)
    show.exports("incast_over_time", lambda: charts_incast.stacked([panel(quantity) for quantity in own]))
    for candidate, ends_ms in said.beyond:
        st.caption(f"{candidate} goes on until {charts.number_text(ends_ms)} ms, beyond this axis.")


def _figures(tables: IncastTables) -> pd.DataFrame:
    found = tables.figures
    return pd.DataFrame(
        {
            "Candidate": found.candidate,
            "Method": found.method,
            "Figure": found.metric.str.replace("_", " "),
            "Value": [_text(v, u) for v, u in zip(found.value, found.unit, strict=True)],
            "Band": [
                "" if low == high else f"{_text(low, u)} to {_text(high, u)}"
                for low, high, u in zip(found.low, found.high, found.unit, strict=True)
            ],
            "Source": found.source,
        }
    )


def _text(value: float, unit: str) -> str:
    if pd.isna(value):
        return charts.MISSING
    if unit == "s":
        return f"{value * 1e3:.3g} ms" if abs(value) >= 1e-3 else f"{value * 1e6:.3g} us"
    if unit == "bytes":
        return size_text(value)
    if unit == "fraction":
        return charts.percent_text(value)
    if unit == "bytes/s":
        return f"{charts.number_text(value * 8e-9)} Gbit/s"
    return charts.number_text(value) + ("" if unit == "1" else f" {unit}")
