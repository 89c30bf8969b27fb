"""Why should I believe it?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts_evidence
from models.compare.evidence_tables import (
    error_table,
    evidence_sentence,
    held_out_table,
    misses,
    queue_curve_table,
    quick_rows,
    row_table,
    sampled_packet_rows,
)
from models.evidence.records import ValidationRow
from models.scenario.faults import InputError
from views import show
from views.frame import Case
from views.kept import kept

MISS_COLUMNS = ["id", "kind", "operation", "fabric", "value", "prediction", "unit", "error_pct", "source"]


def page(case: Case, question: str) -> None:
    """Predicted against measured, errors by kind and size, misses with reasons."""
    rows: list[ValidationRow] | None = show.result_of(
        ("evidence",),
        "Predicting every published figure",
        lambda job: quick_rows(job.progress),
        3,
        "validation",
    )
    if rows is None:
        st.caption("Every published figure is predicted again by the models in this copy.")
        return
    place = st.container()
    packet = _packet()
    rows = [*rows, *packet]
    table = kept(("evidence rows", len(packet)), lambda: row_table(rows))
    with place:
        show.heading(evidence_sentence(table), question)
    kinds = list(dict.fromkeys(table[table.usable].kind))
    _chart(table, kinds)
    errors = kept(("evidence errors", len(packet)), lambda: error_table(rows))
    show.table(
        "errors", errors.round({"median_abs_pct_error": 1, "p90_abs_pct_error": 1}), full=errors, height=360,
        caption="Error by kind, fabric, hardware and size",
    )  # fmt: skip
    _curves()
    _held_out()
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


def _packet() -> list[ValidationRow]:
    """Rows of the packet references, once the reader has asked for them."""
    if not st.session_state.get("packet"):
        st.button(
            "Rerun a sample of the packet references", key="run-packet", on_click=_ask_for_packet,
            help="Incasts, victims and permutations of a packet simulator, rerun by the queue solver: a minute or two.",
        )  # fmt: skip
        return []
    try:
        found: list[ValidationRow] | None = show.result_of(
            ("packet",),
            "Packet references",
            lambda job: sampled_packet_rows(job.progress),
            1,
            "packet",
            aside=True,
        )
    except InputError as error:
        st.caption(f"Packet references: {error}")
        return []
    return found or []


def _ask_for_packet() -> None:
    st.session_state["packet"] = True


def _held_out() -> None:
    table: pd.DataFrame | None = show.result_of(
        ("held out",),
        "Predicting each source without it",
        lambda job: held_out_table(job.progress),
        1,
        "held-out",
        aside=True,
    )
    if table is not None:
        show.table(
            "held_out",
            table.round(1),
            full=table,
            caption="Collectives predicted by constants their source had no part in",
        )


def _curves() -> None:
    curves: pd.DataFrame | None = show.result_of(
        ("queue curves",),
        "Three incasts at packet grain",
        lambda job: queue_curve_table(job.progress),
        1,
        "queue-curves",
        aside=True,
    )
    if curves is None:
        return
    st.markdown("**Queues of a packet simulator and of this model**")
    cases = list(dict.fromkeys(curves.case))
    for column, name in zip(st.columns(len(cases), gap="small"), cases, strict=True):
        with column:
            show.chart(
                f"queue_curve_{name}", lambda name=name: charts_evidence.queue_curves(curves, name), name
            )


@st.fragment
def _chart(table: pd.DataFrame, kinds: list[str]) -> None:
    chosen = st.pills("Kinds", kinds, selection_mode="multi", default=kinds, key="evidence-kinds")
    part = table[table.kind.isin(chosen)]
    if part[part.usable & (part.bound == "")].empty:
        st.info("Choose at least one kind with compared rows.")
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        show.chart(
            "evidence", lambda: charts_evidence.predicted_against_measured(part), len(table), *sorted(chosen)
        )
    with right:
        show.chart(
            "errors_by_kind", lambda: charts_evidence.errors_by_kind(part), len(table), *sorted(chosen)
        )
