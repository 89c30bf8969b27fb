"""Why should I believe it?"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from models import charts, charts_evidence
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
from views import inputs, show
from views.frame import Case
from views.kept import kept

FABRICS = {"ib": "InfiniBand", "roce": "RoCE", "spectrum_x": "Spectrum-X", "tcp": "TCP", "nvlink": "NVLink"}
METRICS = {
    "busbw": "bus bandwidth",
    "bw": "bandwidth",
    "fct_mean": "mean completion",
    "fct_max": "last completion",
}


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
    body = st.container()
    packet = _packet()
    rows = [*rows, *packet]
    table = kept(("evidence rows", len(packet)), lambda: row_table(rows))
    with body:
        show.heading(evidence_sentence(table), question)
        _chart(table, list(dict.fromkeys(table[table.usable].kind)))
        errors = kept(("evidence errors", len(packet)), lambda: error_table(rows))
        shown = kept(("evidence errors shown", len(packet)), lambda: _errors(errors))
        show.table(
            "errors", shown, full=errors, height=330, caption="Error by kind, fabric, hardware and size"
        )
    _curves()
    _held_out()
    worst = misses(table)
    show.table(
        "misses", _misses(worst), full=table, caption="Largest misses", about="every row",
        columns={"Why it misses": st.column_config.TextColumn(width="large"), "Source": st.column_config.TextColumn(width="large")},
    )  # fmt: skip
    unusable = table[~table.usable]
    with st.expander(f"{len(unusable)} rows not compared, and why"):
        why = unusable[["id", "kind", "fabric", "reason", "source"]]
        show.table("not_compared", why.rename(columns=str.capitalize), full=why, height=400)
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
            _held_out_text(table),
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


def _chart(table: pd.DataFrame, kinds: list[str]) -> None:
    chosen = st.pills(
        "Kinds", kinds, selection_mode="multi", format_func=_kind,
        label_visibility="collapsed", **inputs.held("evidence-kinds", kinds, kinds),
    )  # fmt: skip
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


def _kind(name: str) -> str:
    return charts_evidence.KINDS.get(name, name)


def _errors(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Kind": [_kind(kind) for kind in table.kind],
            "Operation": table.operation.str.replace("_", "-"),
            "Fabric": [FABRICS.get(name, name) for name in table.fabric],
            "Hardware": table.hardware,
            "Figure": [METRICS.get(name, name) for name in table.metric],
            "Size or set": table.band,
            "Rows": table.rows,
            "Sources": table.sources,
            "Median error": [f"{charts.number_text(v)} %" for v in table.median_abs_pct_error],
            "90 % below": [f"{charts.number_text(v)} %" for v in table.p90_abs_pct_error],
        }
    )


def _held_out_text(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Group": table.group,
            "Rows": table.rows,
            "Median error": [f"{charts.number_text(v)} %" for v in table.median_abs_pct_error],
            "90 % below": [f"{charts.number_text(v)} %" for v in table.p90_abs_pct_error],
        }
    )


def _misses(table: pd.DataFrame) -> pd.DataFrame:
    rows = charts.rows(table)
    return pd.DataFrame(
        {
            "Id": table.id,
            "What": [_what(r) for r in rows],
            "Measured": [f"{charts.number_text(r.value)} {r.unit}" for r in rows],
            "Predicted": [f"{charts.number_text(r.prediction)} {r.unit}" for r in rows],
            "Error": [charts.percent_text(r.error_pct / 100, signed=True) for r in rows],
            "Why it misses": [miss_reason(r) for r in rows],
            "Source": table.source,
        }
    )  # fmt: skip


def _what(row: Any) -> str:
    words = (_kind(row.kind), row.operation.replace("_", "-"), FABRICS.get(row.fabric, row.fabric))
    return ", ".join(word for word in words if word)


def miss_reason(row: Any) -> str:
    """What is known of a miss: whether the stated band holds it, and what makes such a row hard."""
    held = row.low is not None and row.high is not None and row.low <= row.value <= row.high
    parts = ["inside the stated band" if held else "outside the stated band"]
    if row.hardware == "new":
        parts.append("hardware that no row behind the constants has")
    if row.band == "< 16 MiB":
        parts.append("small message: latency of host and library differs by site")
    if row.fabric == "nvlink":
        parts.append("inside a node: no network in it")
    return "; ".join(parts)
