"""How sure the answer is, what moves it and what would turn it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from models.compare.break_even import (
    BreakEvenRow,
    Ground,
    break_evens,
    size_crossings,
)
from models.compare.case import Case, Score, case_at, scores
from models.compare.comparison import scored_work, warnings_of
from models.compare.costs import CandidateCost
from models.compare.decision import DecisionRow, decision_rows
from models.compare.draws import DRAWS_DEFAULT, Draws, DrawSource
from models.compare.fabrics import METHODS, Method
from models.compare.idle_cost import idle_costs
from models.compare.performance import Setup, WorkloadTime
from models.compare.reservations import reserved_verdict
from models.compare.shares import drawn_inputs, first_order_shares
from models.compare.sweep_points import PartFailed, Variations
from models.compare.tornado import TornadoRow, tornado
from models.compare.tornado_inputs import inputs
from models.compare.value import TimeBand, Value, ValueDraws, draw_names, value_draws, values
from models.compare.value_of_information import information_values, settled_verdict
from models.compare.verdict import Verdict
from models.compare.workload_verdicts import WorkloadVerdict, workload_verdicts
from models.export import frame_of
from models.scenario.schema import Scenario
from models.workload.phases import phases
from models.workload.plan import unit_time
from models.workload.plan_metrics import fixed_s

Progress = Callable[[str], None]
POWER_PRICES = (0.02, 0.2)  # two electricity prices; costs are affine between and beyond


@dataclass(frozen=True)
class Sensitivity:
    """The answer with everything that could move it."""

    scenario: Scenario
    case: Case
    scores: Mapping[str, Score]
    costs: Mapping[str, CandidateCost]
    values: tuple[Value, ...]  # best first
    drawn: ValueDraws
    verdict: Verdict
    workloads: tuple[WorkloadVerdict, ...]  # each by itself
    tornado: tuple[TornadoRow, ...]
    break_even: tuple[BreakEvenRow, ...]
    decision: tuple[DecisionRow, ...]
    setups: tuple[Setup, ...]
    performance: tuple[WorkloadTime, ...]  # scored workloads and those only shown
    warnings: tuple[str, ...]

    def tables(self) -> dict[str, pd.DataFrame]:
        """The result files by name."""
        return {
            "tornado": frame_of(self.tornado, TornadoRow),
            "draws": draws_table(self.drawn),
            "decision": frame_of(self.decision, DecisionRow),
            "break_even": frame_of(self.break_even, BreakEvenRow),
        }


def sensitivity(
    scenario: Scenario,
    draws: int = DRAWS_DEFAULT,
    methods: Sequence[Method] = METHODS,
    prices: str | None = None,
    progress: Progress = lambda text: None,
) -> Sensitivity:
    """Tornado, draws, shares, regrets and break-evens of a scenario; the seed is the scenario's.

    Times at the scenario's own values are worked out by `methods`; the ends of the tornado and other cluster sizes
    in closed form. Raises InputError where the scenario itself cannot be answered.
    """
    progress("times and costs")
    variations = Variations(scenario, (), methods, prices)
    case = case_at(variations, {}, figures=True)
    costs = {name: variations.cost({}, name) for name in scenario.candidates}
    progress(f"{draws} draws")
    source = DrawSource(draw_names(case.times, case.costs), draws, scenario.seed)
    drawn = value_draws(case.times, case.costs, scenario.seed, draws, source)
    ranked = values(case.times, case.costs, drawn)
    found = scores(case)
    columns = drawn_inputs(source)
    said = settled_verdict(
        ranked,
        drawn,
        scored_work(scenario, variations.scored({})),
        columns,
        case.times,
        case.costs,
        {name: item.technology for name, item in scenario.candidates.items()},
    )
    said = reserved_verdict(said, costs)
    pair = (said.winner, said.runner_up or said.winner)
    shares, information = influence(pair, drawn, columns)
    progress("tornado")
    keyed = inputs(scenario)
    closed_form = Variations(scenario, [item.key for item in keyed], ("analytical",), prices)
    bars = tornado(closed_form, case, keyed, shares, information, pair)
    progress("break-evens")
    even = break_evens(ground(variations, case, costs, prices))
    sizes = Variations(scenario, ["cluster.gpus"], ("analytical",), prices)
    even += size_crossings(sizes, list(scenario.candidates))
    network = {name: cost.network_usd for name, cost in costs.items()}
    performance = tuple(_shown(variations))
    alone = workload_verdicts(performance, case.costs, scenario.seed, draws)
    rows = decision_rows(
        scenario.name, said, ranked, drawn, found, idle_costs(found, network), shares, information, alone
    )
    setups = tuple(variations.setup({}, name) for name in scenario.candidates)
    return Sensitivity(
        scenario=scenario,
        case=case,
        scores=found,
        costs=costs,
        values=tuple(ranked),
        drawn=drawn,
        verdict=said,
        workloads=tuple(alone),
        tornado=tuple(bars),
        break_even=tuple(even),
        decision=tuple(rows),
        setups=setups,
        performance=performance,
        warnings=warnings_of(scenario, costs, performance),
    )


def influence(
    pair: tuple[str, str], drawn: ValueDraws, columns: Mapping[str, Draws]
) -> tuple[dict[str, float], dict[str, float]]:
    """(variance shares of the pair's ratio, values of information) by input."""
    first, second = pair
    per_dollar = drawn.work_per_dollar
    if first == second:
        return dict.fromkeys(columns, 0.0), dict.fromkeys(columns, 0.0)
    shares = first_order_shares(np.log(per_dollar[first] / per_dollar[second]), columns)
    return shares, information_values(per_dollar, columns)


def draws_table(drawn: ValueDraws) -> pd.DataFrame:
    """`draws.csv`: one row a draw and candidate."""
    tables = [
        pd.DataFrame(
            {
                "draw": np.arange(usd.size),
                "candidate": name,
                "yearly_usd": usd,
                "relative_work": drawn.relative_work[name],
                "work_per_dollar": drawn.work_per_dollar[name],
            }
        )
        for name, usd in drawn.yearly_usd.items()
    ]
    return pd.concat(tables, ignore_index=True).sort_values(["draw"], kind="stable", ignore_index=True)


def ground(
    variations: Variations, case: Case, costs: Mapping[str, CandidateCost], prices: str | None = None
) -> Ground:
    """What break-evens are worked out from."""
    scenario = variations.scenario
    fixed = {
        (name, band.workload): fixed_s(variations.plan({}, band.workload, name))
        for name, bands in case.times.items()
        for band in bands
    }
    key = "economics.usd_per_kwh"
    power = Variations(scenario, [key], ("analytical",), prices)
    powered = {
        usd: replace(case, costs={name: power.cost({key: usd}, name).lines for name in scenario.candidates})
        for usd in POWER_PRICES
    }
    training = [name for name in variations.scored({}) if scenario.workloads[name].kind == "llm_training"]
    exposed = cache(lambda x: _exposed(variations, case, x)) if training else None
    return Ground(scenario, case, costs, fixed, powered, exposed)


def _shown(variations: Variations) -> Iterator[WorkloadTime]:
    """Times of every workload that has one; a workload that is only shown may have none."""
    for name in variations.scenario.candidates:
        for workload in variations.scenario.workloads:
            for method in variations.methods:
                try:
                    yield variations.time({}, name, workload, method)
                except PartFailed:
                    continue


def _exposed(variations: Variations, case: Case, share: float) -> Case:
    """The case with `share` of the data-parallel traffic of every training run exposed."""
    scenario = variations.scenario

    def moved(name: str, band: TimeBand) -> TimeBand:
        workload = scenario.workloads[band.workload]
        if workload.kind != "llm_training":
            return band
        overlap = workload.overlap.model_copy(update={"dp": 1.0 - share})
        plan = phases(workload.model_copy(update={"overlap": overlap}), scenario, band.workload)
        ends = {}
        for method in variations.methods:
            unit = unit_time(plan, variations.time({}, name, band.workload, method).times)
            ends[str(method)] = (unit.total_s, unit.fabric_low_s, unit.fabric_high_s)
        return replace(band, by_method=ends)

    return replace(case, times={n: [moved(n, band) for band in bands] for n, bands in case.times.items()})
