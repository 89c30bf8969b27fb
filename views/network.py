"""Where does it collide?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts, charts_network
from models.compare.link_load import PATTERNS, LinkLoads, link_load, load_sentence
from views import answers, inputs, show
from views.frame import Case

FAILED = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def page(case: Case, question: str) -> None:
    """Heat map of link loads, flow rates of every candidate, tiers and counts, links that failed."""
    scenario = case.scenario
    place = st.container()
    left, right = st.columns(2)
    pattern = left.segmented_control(
        "Traffic",
        list(PATTERNS),
        default="permutation",
        help="; ".join(f"{name}: {words}" for name, words in PATTERNS.items()),
        key="pattern",
        required=True,
    )
    failed = scenario.failures.leaf_links_fraction
    inputs.control("failed", failed)
    right.select_slider(
        "Leaf-spine links that are down", FAILED if failed in FAILED else sorted({*FAILED, failed}),
        format_func=charts.percent_text, **inputs.change_of("failed", "failures.leaf_links_fraction", float),
    )  # fmt: skip
    found: LinkLoads | None = show.result_of(
        answers.key_of(scenario, "links", pattern),
        "Routing every flow",
        lambda job: link_load(scenario, str(pattern), progress=job.progress),
        steps=len(scenario.candidates),
        name="links",
    )
    if found is None:
        return
    with place:
        show.heading(load_sentence(found.summary), question)
    wide, narrow = st.columns([3, 2], gap="medium")
    with wide:
        _heat(found, (*case.key, str(pattern)))
    with narrow:
        show.chart(
            "flow_rates", lambda: charts_network.flow_rates(found.flows, case.colours), case.key, pattern
        )
    show.table(
        "link_load",
        _summary(found.summary),
        full=found.links,
        caption="Collisions by candidate (the CSV holds the load of links by tier)",
    )
    show.table("tiers", _tiers(found.tiers), full=found.tiers, caption="What is built")
    with st.expander("Assumptions"):
        st.markdown(
            "- Offered load: what a link would carry if every NIC sent at line rate; above 100 % flows collide.\n"
            "- Routes by each candidate's own mechanism, hash seeded by the scenario; dead links are routed around."
        )
        show.terms("ECMP", "adaptive routing", "rail", "tier", "oversubscription")


@st.fragment
def _heat(found: LinkLoads, key: tuple[str, ...]) -> None:
    cells = found.cells
    if cells.empty:
        st.info("One switch carries this cluster: there are no links between switches to collide on.")
        return
    left, right = st.columns(2)
    names = list(dict.fromkeys(cells.candidate))
    worst = str(found.summary.sort_values("mean_rate_fraction").candidate.iloc[0])
    name = left.selectbox(
        "Candidate", names, index=names.index(worst) if worst in names else 0, key="heat-candidate"
    )
    own = cells[cells.candidate == name]
    tier = right.selectbox("Tier", list(dict.fromkeys(own.tier)), key="heat-tier")
    words = str(found.tiers[found.tiers.candidate == name].words.iloc[0])
    show.chart("link_load", lambda: charts_network.heat_map(own, tier, words), *key, name, tier)


def _summary(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            "Routing": table.routing,
            "Mean flow rate": [charts.percent_text(v) for v in table.mean_rate_fraction],
            "Slowest flow": [charts.percent_text(v) for v in table.slowest_rate_fraction],
            "Highest offered load": [charts.percent_text(v) for v in table.highest_offered_load],
            "Links over capacity": [charts.percent_text(v) for v in table.links_over_capacity_fraction],
            "Links down": table.links_down,
        }
    )


def _tiers(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            "Tier": table.tier,
            "Switches": [charts.count_text(int(v)) for v in table.switches],
            "Ports each": table.radix,
            "Cables below": [charts.count_text(int(v)) for v in table.cables_down],
            "Ports unused": [charts.count_text(int(v)) for v in table.ports_unused],
            "Oversubscription as built": [f"{v:.3g} : 1" for v in table.oversubscription],
        }
    )
