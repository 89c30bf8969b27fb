"""What is in it?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models.compare.assumptions import assumption_table
from views import answers, inputs, show
from views.ask import base_scenario
from views.frame import Case
from views.kept import kept

SHOWN = ("all", "changed", "weak")


def page(case: Case, question: str) -> None:
    """Every parameter with value, unit, source and confidence; search, filter, changed ones marked."""
    answer = answers.quick_comparison(case.scenario)
    shipped = base_scenario(case.ask.name, case.ask.text)
    key = ("assumptions", case.key, shipped.model_dump_json())
    table = kept(key, lambda: assumption_table(answer, shipped))
    changed = int(table.changed.sum())
    weak = int(table.confidence.isin(["from memory", "assumption", "vendor claim"]).sum())
    show.heading(
        f"{len(table)} parameters, {changed} changed here; {weak} rest on memory, vendor claims or assumption.",
        question,
    )
    _search(table)


def _search(table: pd.DataFrame) -> None:
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    words = left.text_input(
        "Search", placeholder="latency, price, sw_qm9700 ...", **inputs.held("assumption-search", "")
    )
    options = list(dict.fromkeys(table.group))
    groups = middle.multiselect(
        "Group", options, placeholder="all", **inputs.held("assumption-groups", [], options)
    )
    only = right.segmented_control(
        "Show", SHOWN, required=True, **inputs.held("assumption-only", "all", SHOWN)
    )
    found = table
    for word in words.split():
        hit = found.apply(lambda row, word=word: word.lower() in " ".join(map(str, row)).lower(), axis=1)
        found = found[hit] if len(found) else found
    if groups:
        found = found[found.group.isin(groups)]
    if only == "changed":
        found = found[found.changed]
    if only == "weak":
        found = found[found.confidence.isin(["from memory", "assumption", "vendor claim"])]
    if found.empty:
        st.info("Nothing matches. Clear the search or the filters.")
        return
    shown = pd.DataFrame(
        {
            "Group": found.group, "Parameter": found.parameter, "Value": found.value, "Unit": found.unit,
            "Low": found.low, "High": found.high, "Confidence": found.confidence,
            "Changed": found.changed.map({True: "changed", False: ""}), "Source": found.source,
        }
    )  # fmt: skip
    show.table(
        "assumptions", shown, full=table, height=560, caption=f"{len(found)} of {len(table)}", about="all of them",
        columns={
            "Group": st.column_config.TextColumn(width=110), "Parameter": st.column_config.TextColumn(width=215),
            "Value": st.column_config.TextColumn(width=120), "Unit": st.column_config.TextColumn(width=62),
            "Low": st.column_config.TextColumn(width=58), "High": st.column_config.TextColumn(width=58),
            "Confidence": st.column_config.TextColumn(width=105), "Changed": st.column_config.TextColumn(width=70),
            "Source": st.column_config.TextColumn(width=420),
        },
    )  # fmt: skip
