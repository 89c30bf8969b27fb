"""Why should I believe it?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts_evidence
from models.compare.evidence_tables import error_table, evidence_sentence, misses, row_table
from models.evidence.validation import validate
from views import show
from views.frame import Case
from views.kept import kept

MISS_COLUMNS = ["id", "kind", "operation", "fabric", "value", "prediction", "unit", "error_pct", "source"]


def page(case: Case, question: str) -> None:
    """Predicted against measured, errors by kind and size, misses with reasons."""
    rows = show.result_of(
        ("validation",),
        "Recomputing every published row",
        lambda job: validate(None, None, None),
        name="validation",
    )
    if rows is None:
        st.caption("Every published figure is predicted again by the models in this copy.")
        return
    table = kept("evidence rows", lambda: row_table(rows))
    show.heading(evidence_sentence(table), question)
    kinds = list(dict.fromkeys(table[table.usable].kind))
    _chart(table, kinds)
    errors = kept("evidence errors", lambda: error_table(rows))
    show.table(
        "errors", errors.round({"median_abs_pct_error": 1, "p90_abs_pct_error": 1}), full=errors, height=360,
        caption="Error by kind, fabric, hardware and size",
    )  # fmt: skip
    worst = misses(table)
    show.table(
        "misses", worst[MISS_COLUMNS].round(2),
        full=table, caption="Largest misses (the CSV holds every row)",
    )  # fmt: skip
    unusable = table[~table.usable]
    with st.expander(f"{len(unusable)} rows not compared, and why"):
        show.table("not_compared", unusable[["id", "kind", "fabric", "reason", "source"]])
    bounds = table[table.bound != ""]
    if len(bounds):
        met = int((bounds.bound == "met").sum())
        st.caption(f"{met} of {len(bounds)} operator thresholds met.")


@st.fragment
def _chart(table: pd.DataFrame, kinds: list[str]) -> None:
    chosen = st.pills("Kinds", kinds, selection_mode="multi", default=kinds, key="evidence-kinds")
    part = table[table.kind.isin(chosen)]
    if part[part.usable & (part.bound == "")].empty:
        st.info("Choose at least one kind with compared rows.")
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show.chart("evidence", lambda: charts_evidence.predicted_against_measured(part), *sorted(chosen))
    with right:
        show.chart("errors_by_kind", lambda: charts_evidence.errors_by_kind(part), *sorted(chosen))
