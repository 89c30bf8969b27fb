"""What is in it?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models.compare.assumptions import assumption_table
from views import answers, show
from views.ask import base_scenario
from views.frame import Case
from views.kept import kept


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


@st.fragment
def _search(table: pd.DataFrame) -> None:
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    words = left.text_input("Search", key="assumption-search", placeholder="latency, price, sw_qm9700 ...")
    groups = middle.multiselect("Group", list(dict.fromkeys(table.group)), key="assumption-groups")
    only = right.segmented_control(
        "Show", ["all", "changed", "weak"], default="all", key="assumption-only", required=True
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
    shown = found.assign(changed=found.changed.map({True: "changed", False: ""}))
    show.table(
        "assumptions", shown, full=table, height=560, caption=f"{len(found)} of {len(table)}",
        columns={
            "value": st.column_config.TextColumn(width="small"),
            "parameter": st.column_config.TextColumn(width="medium"),
            "source": st.column_config.TextColumn(width="large"),
        },
    )  # fmt: skip
