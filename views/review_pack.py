"""Everything of an answer in one zip: report, tables, charts, scenario. Built when it is asked for."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from models import (
    charts,
    charts_cluster_size,
    charts_cost,
    charts_decision,
    charts_network,
    charts_sensitivity,
    charts_training,
)
from models.compare import standing
from models.compare.cluster_size import cluster_size_table, sizes_around, turns
from models.compare.comparison import Comparison
from models.compare.cost_tables import cost_by_category
from models.compare.link_load import LinkLoads, link_load
from models.compare.sensitivity import Sensitivity, sensitivity
from models.compare.training_table import step_parts, step_sentence
from models.export import csv_text
from models.report import report
from models.scenario.faults import InputError
from models.scenario.load import dump
from models.scenario.schema import Scenario
from views import decision
from views.network import diagram


def review_pack(answer: Comparison, colours: Mapping[str, str]) -> bytes:
    """The zip. Charts are PNG where images can be written, else Vega-Lite files that any viewer opens."""
    scenario = answer.scenario
    found = sensitivity(scenario, methods=("analytical",))
    sizes = cluster_size_table(scenario, sizes_around(scenario))
    loads = _loads(scenario)
    tables: dict[str, pd.DataFrame] = {
        **answer.tables(),
        **found.tables(),
        "candidates": standing.candidate_table(answer),
        "risk_facts": standing.risk_facts(answer),
        "cluster_size": sizes,
        "cost_by_category": cost_by_category(answer, "networks").drop(columns="order"),
    }
    if loads is not None:
        tables |= {"collisions": loads.summary, "tiers": loads.tiers}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("scenario.yaml", dump(scenario))
        written = report(scenario, methods=("analytical",))
        pack.writestr("report.html", written.html)
        pack.writestr("report.md", written.markdown)
        for name, table in tables.items():
            pack.writestr(f"tables/{name}.csv", csv_text(table))
        for name, chart in _charts(answer, found, sizes, loads, colours):
            if charts.can_export():
                pack.writestr(f"charts/{name}.png", charts.png(chart))
            else:
                pack.writestr(f"charts/{name}.vl.json", chart.to_json())
    return file.getvalue()


def _loads(scenario: Scenario) -> LinkLoads | None:
    """Where a permutation collides; None where a network is too large or cannot carry it."""
    try:
        return link_load(scenario, "permutation")
    except InputError:
        return None


def _charts(
    answer: Comparison,
    found: Sensitivity,
    sizes: pd.DataFrame,
    loads: LinkLoads | None,
    colours: Mapping[str, str],
) -> Iterator[tuple[str, Any]]:
    of = standing.pace(answer)
    table = standing.candidate_table(answer)
    title = of.title + (f", {of.unit}" if of.unit else "")
    yield (
        "time_against_cost",
        charts_decision.time_against_cost(
            standing.cloud(answer), standing.mids(answer), colours, title, decision.finding(answer)
        ),
    )
    if loads is not None:
        worst = str(loads.summary.sort_values("mean_rate_fraction", kind="stable").candidate.iloc[0])
        yield "network", diagram(loads, worst)
        yield "flow_rates", charts_network.flow_rates(loads.flows, colours, worst)
    yield "against_best", charts_decision.against_best(table, colours, answer.verdict.winner)
    yield (
        "cluster_size",
        charts_cluster_size.work_per_dollar(sizes, colours, turns(sizes), answer.scenario.cluster.gpus),
    )
    costs = cost_by_category(answer, "networks")
    yield (
        "cost_by_category",
        charts_cost.stacked(costs, "Cost of the four networks", "Mid prices, all lows to all highs"),
    )
    if found.verdict.runner_up:
        tornado = found.tables()["tornado"]
        yield (
            "tornado",
            charts_sensitivity.tornado(tornado, colours, found.verdict.winner, found.verdict.runner_up),
        )
    for name, item in answer.scenario.workloads.items():
        if item.kind == "llm_training":
            parts = step_parts(answer, name)
            order = list(dict.fromkeys(parts.candidate))
            yield f"step_{name}", charts_training.stacked(parts, order, step_sentence(parts), True)
