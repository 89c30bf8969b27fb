"""From how many GPUs on does the answer change?"""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from models import charts, charts_cluster_size
from models.compare.cluster_size import cluster_size_table, size_sentence, sizes_around, turns
from models.units import duration_text, usd_text
from views import answers, show
from views.frame import Case
from views.kept import kept

BATCHES = {"fixed": "the batch stays as it is", "per_gpu": "the batch grows with the cluster"}


def page(case: Case, question: str) -> None:
    """Work per dollar over cluster sizes, what explains it, the table with its gaps."""
    scenario = case.scenario
    sizes = sizes_around(scenario)
    table: pd.DataFrame | None = show.result_of(
        answers.key_of(scenario, "sizes", tuple(sizes)),
        "Cluster sizes",
        lambda job: cluster_size_table(scenario, sizes, progress=job.progress),
        steps=len(sizes),
        name="sizes",
    )
    if table is None:
        st.caption(f"Working out {len(sizes)} cluster sizes for {len(scenario.candidates)} candidates.")
        return
    if len(scenario.candidates) > 1:
        show.heading(size_sentence(table), question)
        show.chart(
            "cluster_size",
            lambda: charts_cluster_size.work_per_dollar(
                table, case.colours, turns(table), scenario.cluster.gpus
            ),
            case.key,
        )
    else:
        show.heading(_alone(table), question)
        st.info("Switch a second candidate on, at the left, to see from how many GPUs on the answer changes.")
    columns = [c for c in charts_cluster_size.SMALL if table[c].notna().any()]
    training = any(item.weight > 0 and item.kind == "llm_training" for item in scenario.workloads.values())
    for place, column in zip(st.columns(len(columns)), columns, strict=True):
        with place:
            word = "Step time" if training else "Time"
            made = partial(charts_cluster_size.small, table, column, case.colours, word)
            show.chart(f"size_{column}", made, case.key)
    missing = table[table.status != "ok"]
    if len(missing):
        count = int(missing.gpus.nunique())
        with st.expander(
            f"{count} size{'s' if count > 1 else ''} at which some candidates cannot be built: why"
        ):
            for (reason,), group in missing.groupby(["reason"]):
                at = ", ".join(charts.count_text(int(size)) for size in sorted(group.gpus.unique()))
                st.markdown(
                    f"- {', '.join(group.candidate.unique())} at {at} GPUs: {show.escaped(str(reason))}"
                )
    show.table(
        "cluster_size",
        kept(("sizes", case.key), lambda: shown(table)),
        full=table,
        caption="Every size and candidate",
    )
    if table[table.status == "ok"].scaling_efficiency_fraction.isna().any():
        st.caption(
            f"{charts.MISSING} under scaling efficiency: it is told where one training run is what counts."
        )
    with st.expander("Assumptions"):
        kinds = {item.batch_scaling for item in scenario.workloads.values() if item.kind == "llm_training"}
        batch = "; ".join(BATCHES[kind] for kind in sorted(kinds))
        st.markdown(
            f"- Only `cluster.gpus` changes; everything else is the scenario's. {batch[:1].upper() + batch[1:]}.\n"
            "- Closed form; prices and model error vary as on the Decision page.\n"
            "- A tier more means more switches, transceivers and hops; sizes are steps, so order turns between two sizes."
        )
        show.terms("work per dollar", "tier", "band", "analytical")


def _alone(table: pd.DataFrame) -> str:
    """What one candidate costs over the sizes it can be built at."""
    built = table[table.status == "ok"].sort_values("gpus")
    if built.empty:
        return f"{table.candidate.iloc[0]} cannot be built at any of these sizes."
    first, last = built.iloc[0], built.iloc[-1]
    return (
        f"{first.candidate} costs {usd_text(float(first.yearly_usd_per_gpu))} per GPU and year at {int(first.gpus):,} GPUs, "
        f"{usd_text(float(last.yearly_usd_per_gpu))} at {int(last.gpus):,}."
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table as a reader wants it."""

    def text(column: str, form: object) -> list[str]:
        return [charts.MISSING if pd.isna(v) else form(v) for v in table[column]]  # type: ignore[operator]

    return pd.DataFrame(
        {
            "GPUs": [charts.count_text(int(size)) for size in table.gpus],
            "Candidate": table.candidate,
            "Work per dollar, of best": text("relative_work_per_dollar", charts.percent_text),
            "Time": text("unit_time_s", duration_text),
            "Cost per GPU and year": text("yearly_usd_per_gpu", usd_text),
            "Scaling efficiency": text("scaling_efficiency_fraction", charts.percent_text),
            "Tiers": text("tiers", lambda v: f"{v:.0f}"),
            "Switches": text("switches", lambda v: charts.count_text(int(v))),
            "Reason": table.reason,
        }
    )
