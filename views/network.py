"""Where does it collide?"""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from models import charts, charts_network, charts_network_tiers
from models.compare.link_load import PATTERNS, ROUTING_WORDS, LinkLoads, link_load, load_sentence
from views import answers, inputs, show
from views.frame import Case

FAILED = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def page(case: Case, question: str) -> None:
    """The tiers with their links by load, flow rates of every candidate and by the other routing, links that failed."""
    scenario = case.scenario
    place = st.container()
    left, middle, right = st.columns([3, 4, 4], gap="medium")
    pattern = str(
        left.segmented_control(
            "Traffic",
            list(PATTERNS),
            help="; ".join(f"{name}: {words}" for name, words in PATTERNS.items()),
            required=True,
            **inputs.held("pattern", "permutation", PATTERNS),
        )
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
        lambda job: link_load(scenario, pattern, progress=job.progress),
        steps=len(scenario.candidates),
        name="links",
    )
    if found is None:
        st.caption("Every flow is routed over every link of every candidate's network.")
        return
    with place:
        show.heading(load_sentence(found.summary), question)
    names = list(found.summary.candidate)
    worst = str(found.summary.sort_values("mean_rate_fraction", kind="stable").candidate.iloc[0])
    name = middle.selectbox("Network drawn", names, **inputs.held("drawn", worst, names))
    wide, narrow = st.columns([3, 2], gap="medium")
    with wide:
        show.chart(
            "network", lambda: diagram(found, name), case.key, pattern, name,
        )  # fmt: skip
    with narrow:
        show.chart(
            "flow_rates", lambda: charts_network.flow_rates(found.flows, case.colours, name), case.key, pattern, name
        )  # fmt: skip
    show.table("link_load", _summary(found.summary), full=found.links, caption="Collisions by candidate",
               about="the load of links by tier")  # fmt: skip
    show.table("tiers", _tiers(found.tiers), full=found.tiers, caption="What is built")
    show.csv("link_pairs", found.cells, "CSV of every pair of switches")
    with st.expander("Every pair of switches, as a heat map"):
        _heat(found, name, (*case.key, pattern))
    with st.expander("Assumptions"):
        st.markdown(
            "- Offered load: what a link would carry if every NIC sent at line rate; above 100 % flows collide.\n"
            "- Routes by each candidate's own mechanism, hash seeded by the scenario; dead links are routed around.\n"
            "- Dotted: the same flows on the same links if the network drawn had the other kind of routing.\n"
            "- Rates are max-min fair: no flow can gain without taking from a slower one."
        )
        show.terms("ECMP", "adaptive routing", "rail", "tier", "oversubscription", "max-min")


def diagram(found: LinkLoads, name: str) -> Any:
    """The tiers of one candidate."""
    tiers = found.tiers[found.tiers.candidate == name]
    ports = dict(zip(tiers.tier, tiers.radix, strict=True))
    leaf = tiers[tiers.tier == "leaf"].iloc[0]
    below = leaf.cables_down / leaf.switches
    hosts = f"{'' if below == int(below) else 'about '}{round(below)} NIC ports below"
    return charts_network_tiers.tier_diagram(
        found.boxes[found.boxes.candidate == name], found.lines[found.lines.candidate == name], ports, hosts, str(leaf.words)
    )  # fmt: skip


def _heat(found: LinkLoads, name: str, key: tuple[str, ...]) -> None:
    own = found.cells[found.cells.candidate == name]
    if own.empty:
        st.info("One switch carries this cluster: there are no links between switches to collide on.")
        return
    tiers = list(dict.fromkeys(own.tier))
    tier = st.segmented_control("Tier", tiers, required=True, **inputs.held("heat-tier", tiers[0], tiers))
    words = str(found.tiers[found.tiers.candidate == name].words.iloc[0])
    show.chart("link_load", lambda: charts_network.heat_map(own, str(tier), words), *key, name, tier)


def _summary(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            "Routing": [ROUTING_WORDS[kind] for kind in table.routing],
            "Mean flow rate": [charts.percent_text(v) for v in table.mean_rate_fraction],
            "Slowest flow": [charts.percent_text(v) for v in table.slowest_rate_fraction],
            "Highest offered load": [charts.percent_text(v) for v in table.highest_offered_load],
            "Links over capacity": [charts.percent_text(v) for v in table.links_over_capacity_fraction],
            "Cables down": table.cables_down,
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
