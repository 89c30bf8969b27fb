"""One scenario answered: performance by both methods, cost, work per dollar, verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from models.compare.costs import UNLINKED, CandidateCost, candidate_costs, cost_rows
from models.compare.draws import DRAWS_DEFAULT, DrawSource
from models.compare.fabrics import METHODS, Method
from models.compare.figure_spread import figure_spread
from models.compare.incast_checks import Check, checks_of
from models.compare.method_gap import method_gaps
from models.compare.metrics import common_phases, phase_rows, time_band, workload_rows
from models.compare.performance import WorkloadTime, setup, workload_time
from models.compare.reservations import link_checks, reserved_verdict
from models.compare.result import ComparisonRow, PhaseRow
from models.compare.shares import drawn_inputs
from models.compare.value import TimeBand, Value, ValueDraws, draw_names, value_draws, values
from models.compare.value_of_information import settled_verdict
from models.compare.verdict import Verdict, against_best
from models.export import frame_of
from models.scenario.plausible import doubts
from models.scenario.schema import Scenario

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Comparison:
    """Everything the answer rests on."""

    scenario: Scenario
    methods: tuple[Method, ...]
    performance: tuple[WorkloadTime, ...]
    costs: Mapping[str, CandidateCost]
    comparison: pd.DataFrame  # columns of ComparisonRow
    phases: pd.DataFrame  # columns of PhaseRow
    bill: pd.DataFrame  # columns of the bill of materials
    ownership: pd.DataFrame
    values: tuple[Value, ...]  # best first
    drawn: ValueDraws
    verdict: Verdict
    warnings: tuple[str, ...]

    def checks(self) -> list[Check]:
        """What to check before buying: parts that do not link first, then each fabric's own checks."""
        return [*link_checks(self.costs), *checks_of(self.scenario, self.performance)]

    def tables(self) -> dict[str, pd.DataFrame]:
        """The result files by name."""
        return {
            "comparison": self.comparison,
            "phases": self.phases,
            "bill_of_materials": self.bill,
            "ownership": self.ownership,
        }


def compare(
    scenario: Scenario,
    methods: Sequence[Method] = METHODS,
    prices: str | None = None,
    progress: Progress = lambda text: None,
    unscored: bool = True,
) -> Comparison:
    """The scenario's candidates compared by `methods`; `prices` is a CSV of quotes that win over the catalogue.

    Without `unscored` workloads of weight 0 are left out: they do not change the answer, and a burst by closed formulas
    needs compiled code that the first page of a visit should not wait for.

    Raises InputError for anything the scenario asks that cannot be built, routed or run.
    """
    setups = [setup(scenario, name) for name in scenario.candidates]
    progress("bills of material")
    costs = candidate_costs(scenario, setups, prices)
    scored = {name: item.weight for name, item in scenario.workloads.items() if item.weight > 0}
    if not scored:  # nothing is scored: all count alike
        scored = dict.fromkeys(scenario.workloads, 1.0)
    performance: list[WorkloadTime] = []
    for on in setups:
        for workload in scenario.workloads if unscored else scored:
            for method in methods:
                progress(f"{on.name}: {workload}, {method}")
                performance.append(workload_time(scenario, on, workload, method))
    bands = time_bands(performance, [on.name for on in setups], scored)
    lines = {name: cost.lines for name, cost in costs.items()}
    source = DrawSource(draw_names(bands, lines), DRAWS_DEFAULT, scenario.seed)
    drawn = value_draws(bands, lines, scenario.seed, source=source)
    ranked = values(bands, lines, drawn)
    rows: list[ComparisonRow] = []
    for item in performance:
        rows.extend(workload_rows(scenario, item))
    rows.extend(cost_rows(scenario, costs, ranked, against_best(ranked, drawn)))
    phase_table: list[PhaseRow] = [row for item in performance for row in phase_rows(scenario, item)]
    answer = Comparison(
        scenario=scenario,
        methods=tuple(methods),
        performance=tuple(performance),
        costs=costs,
        comparison=frame_of(rows, ComparisonRow),
        phases=frame_of(phase_table, PhaseRow),
        bill=pd.concat([cost.bill for cost in costs.values()], ignore_index=True),
        ownership=pd.concat([cost.ownership for cost in costs.values()], ignore_index=True),
        values=tuple(ranked),
        drawn=drawn,
        verdict=settled_verdict(
            ranked,
            drawn,
            scored_work(scenario, scored),
            drawn_inputs(source),
            bands,
            lines,
            {name: item.technology for name, item in scenario.candidates.items()},
        ),
        warnings=warnings_of(scenario, costs, performance),
    )
    return replace(answer, verdict=reserved_verdict(answer.verdict, costs))


def warnings_of(
    scenario: Scenario, costs: Mapping[str, CandidateCost], performance: Sequence[WorkloadTime]
) -> tuple[str, ...]:
    """What a reader of the answer must know, each once: what cannot be bought as written comes first."""
    said = [text for cost in costs.values() for text in cost.warnings]
    said.sort(key=lambda text: UNLINKED not in text)
    if not any(item.weight > 0 for item in scenario.workloads.values()):
        said.insert(
            0, "no workload has a weight above 0: nothing is to be scored, so all workloads count alike"
        )
    said += doubts(scenario)
    said += [text for item in performance for text in item.plan.warnings]
    return tuple(dict.fromkeys([*said, *method_gaps(performance)]))


def time_bands(
    performance: Sequence[WorkloadTime],
    candidates: Sequence[str],
    scored: Mapping[str, float],
    figures: bool = True,
) -> dict[str, list[TimeBand]]:
    """Time bands of the scored workloads (name -> weight) of every candidate.

    Without `figures` what a technology's own figures leave open is left out: a dozen evaluations a candidate that
    mid values do not need.
    """
    bands: dict[str, list[TimeBand]] = {name: [] for name in candidates}
    for workload, weight in scored.items():
        items = [item for item in performance if item.workload == workload]
        common = common_phases(items) if len(candidates) > 1 else frozenset()
        for name in candidates:
            own = [item for item in items if item.setup.name == name]
            bands[name].append(
                time_band(workload, weight, own, common, figure_spread(own[0]) if figures else (0.0, 0.0))
            )
    return bands


def scored_work(scenario: Scenario, scored: Iterable[str]) -> str:
    """What a score over the workloads `scored` counts, in a word."""
    kinds = {scenario.workloads[name].kind for name in scored}
    return "training" if kinds == {"llm_training"} else "work"
