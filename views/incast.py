"""Who suffers, and why?"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from models import charts, charts_incast
from models.compare.incast_table import (
    QUANTITIES,
    IncastTables,
    burst_sentence,
    incast_sentence,
    incast_tables,
    queue_thresholds,
    victim_fractions,
)
from models.units import size_text
from views import answers, editor, inputs, show
from views.frame import Case
from views.kept import kept

FAN_INS = tuple(2**p for p in range(11))
BURSTS = tuple(2**p for p in range(14, 25))
PFC_ALONE = "rocev2_pfc_no_cc_400g"
EXPLAINED = (
    "**How to read it.** All senders start at once, so their data pile up at one switch port (*queue*). "
    "Each fabric keeps the pile from overflowing in its own way: InfiniBand lets nobody send without a *credit*, RoCE tells "
    "links to *pause* and asks senders to slow down, TCP drops and sends again. A pause stops everything on the link, "
    "also the *victim*, whose own receiver is idle. Where senders are slowed early, pauses are short and the victim lives."
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
    with place:
        show.heading(incast_sentence(tables, item.fan_in), question)
    left, right = st.columns([3, 2], gap="medium")
    with right:
        show.chart(
            "incast_sketch", lambda: charts_incast.strip(item.fan_in, item.victim), item.fan_in, item.victim
        )
        victims = victim_fractions(tables)
        if len(victims):
            show.chart("victim", lambda: charts_incast.victim_bars(victims, case.colours), case.key)
        if len(tables.completion):
            show.chart(
                "completion", lambda: charts_incast.completion(tables.completion, case.colours), case.key
            )
    with left:
        _panels(tables, case.colours, case.key)
    st.markdown(EXPLAINED)
    st.caption(burst_sentence(only, name))
    show.table(
        "incast",
        kept(("incast", case.key), lambda: _figures(tables)),
        full=tables.figures,
        caption="Figures by both methods",
        height=360,
    )
    show.csv("incast_series", tables.series, "CSV of the lines")
    with st.expander("Assumptions"):
        for note in tables.notes:
            st.markdown(f"- {show.escaped(note)}")
        show.terms("incast", "victim", "fan-in", "PFC", "ECN", "DCQCN", "credits")


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


def _panels(tables: IncastTables, colours: dict[str, str], key: tuple[str, ...]) -> None:
    series = tables.series
    if series.empty:
        st.info("No time series: the flow solver has no answer here.")
        return
    end = charts_incast.time_end_us(series)
    own = [q for q in QUANTITIES if q in set(series.quantity)]
    lines = queue_thresholds(tables)
    with st.container(horizontal=True, gap="small"):
        for candidate in dict.fromkeys(series.candidate):
            st.markdown(f':color[●]{{foreground="{colours[candidate]}"}} {candidate}')

    def panel(quantity: str) -> Any:
        return charts_incast.panel(series, quantity, colours, end, quantity == own[-1], lines)

    for quantity in own:
        show.chart(f"incast_{quantity}", partial(panel, quantity), key, export=False)
    show.exports("incast_over_time", lambda: charts_incast.stacked([panel(quantity) for quantity in own]))
    later = series.groupby("candidate").time_us.max()
    for candidate, time in later[later > end].items():
        st.caption(f"{candidate} goes on until {charts.number_text(time / 1e3)} ms, beyond this axis.")


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
    return charts.number_text(value) + ("" if unit == "1" else f" {unit}")
