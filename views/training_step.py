"""Where does the time go?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts, charts_training
from models.compare.training_table import step_parts, step_sentence, step_totals
from models.units import duration_text, size_text
from views import answers, inputs, show
from views.frame import Case

SCOPES = ("Without compute", "Whole step")


def page(case: Case, question: str) -> None:
    """Stacked time of a step per candidate, the phases behind it."""
    answer = answers.comparison(case.scenario)
    names = [
        name for name, item in case.scenario.workloads.items() if item.kind in ("llm_training", "inference")
    ]
    if not names:
        show.heading("This scenario has no training or inference workload.", question)
        st.info(
            "Choose a scenario with one on the left, or add a workload of kind llm_training in the editor."
        )
        return
    place = st.container()
    name = names[0]
    if len(names) > 1:
        name = st.selectbox("Workload", names, **inputs.held("step-workload", names[0], names))
    parts = step_parts(answer, name)
    with place:
        show.heading(step_sentence(parts), question)
    answers.method_note(case.scenario, answer)
    _stack(parts, (*case.key, name, *answer.methods))
    phases = answer.phases[answer.phases.workload == name]
    show.table("phases", _phases(phases), full=phases, caption="Every communication of a step", height=380)
    show.table("step_totals", _totals(step_totals(parts)), full=step_totals(parts), caption="Totals")
    with st.expander("Assumptions and layout"):
        item = case.scenario.workloads[name]
        if item.kind == "llm_training":
            layout = f"TP {item.tp}, PP {item.pp}, DP {item.dp}, CP {item.cp}, EP {item.ep}, micro-batch {item.micro_batch}"
            st.markdown(
                f"- Layout: {layout}, ZeRO-{item.zero}, recompute {item.recompute}, "
                f"{charts.count_text(item.global_batch_sequences)} sequences a step."
            )
        plan = next(w.plan for w in answer.performance if w.workload == name)
        for note in (*plan.notes, *plan.warnings):
            st.markdown(f"- {show.escaped(note)}")
        show.terms("exposed", "bubble", "TP", "PP", "DP", "EP", "CP", "analytical", "fluid")


def _stack(parts: pd.DataFrame, key: tuple[str, ...]) -> None:
    whole = st.segmented_control(
        "Shown",
        SCOPES,
        label_visibility="collapsed",
        required=True,
        **inputs.held("step-scope", SCOPES[0], SCOPES),
    )
    totals = step_totals(parts).groupby("candidate", sort=False)["total_s"].mean().sort_values()
    spread = float(totals.iloc[-1] / totals.iloc[0] - 1)
    finding = (
        f"The slowest step is {charts.percent_text(spread)} longer than the fastest ({totals.index[0]})"
        if len(totals) > 1
        else f"A step takes {duration_text(float(totals.iloc[0]))}"
    )
    show.chart(
        "training_step",
        lambda: charts_training.stacked(parts, list(totals.index), finding, whole == SCOPES[1]),
        *key, whole,
    )  # fmt: skip


def _phases(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            "Method": table.method,
            "Phase": [_phase_text(name) for name in table.phase],
            "Ranks": [charts.count_text(int(v)) for v in table.ranks],
            "Message": [size_text(v) for v in table.message_bytes],
            "Times x one": [
                f"{charts.number_text(n)} x {duration_text(t)}"
                for n, t in zip(table["count"], table.time_s, strict=True)
            ],
            "Exposed": [duration_text(v) if v else "0 s" for v in table.exposed_s],
            "Bus bandwidth": [
                f"{charts.number_text(v / 1e9)} GB/s" if v else charts.MISSING
                for v in table.bus_bandwidth_bytes_per_s
            ],
            "Algorithm": table.algorithm,
            "Limit": table.binding_limit,
        }
    )


def _phase_text(name: str) -> str:
    """A phase in words: its dimension in capitals.

    >>> _phase_text("dp_reduce_scatter")
    'DP reduce-scatter'
    """
    first, _, rest = name.partition("_")
    return f"{first.upper()} {rest.replace('_', '-')}" if rest and len(first) == 2 else name.replace("_", " ")


def _totals(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            "Method": table.method,
            "Step": [duration_text(v) for v in table.total_s],
            "Exposed communication": [duration_text(v) for v in table.exposed_s],
            "Share": [charts.percent_text(v) for v in table.exposed_fraction],
        }
    )
