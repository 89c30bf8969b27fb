"""Where each candidate stands: the table, the cloud of draws and the risk facts the decision page shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from models.compare.case import Score
from models.compare.comparison import Comparison
from models.compare.pareto import pareto_set
from models.compare.risk import RiskRow, risks
from models.compare.verdict import gap
from models.export import frame_of

CLOUD_POINTS = 260


@dataclass(frozen=True)
class Pace:
    """What a candidate's relative work means in the reader's words: days to train, or time against the fastest."""

    title: str
    unit: str
    fastest: float


def pace(answer: Comparison) -> Pace:
    """Days to train where the one scored workload is a training run, else time relative to the fastest."""
    scored = [name for name, item in answer.scenario.workloads.items() if item.weight > 0]
    if len(scored) == 1 and answer.scenario.workloads[scored[0]].kind == "llm_training":
        table = answer.comparison
        rows = table[(table.workload == scored[0]) & (table.metric == "time_to_train")]
        if len(rows):
            days = rows.groupby("candidate")["value"].mean()
            return Pace("Time to train", "days", float(days.min()))
    return Pace("Time for the same work, fastest = 1", "", 1.0)


def candidate_table(answer: Comparison) -> pd.DataFrame:
    """One row a candidate, best first: work per dollar against the best, odds, cost, time, network."""
    mids = {value.candidate: value.work_per_dollar for value in answer.values}
    first = answer.values[0].candidate
    of = pace(answer)
    fast = max(value.relative_work for value in answer.values)
    rows = []
    for value in answer.values:
        behind = gap(value.candidate, first, answer.drawn.work_per_dollar, mids)
        cost = answer.costs[value.candidate]
        rows.append(
            {
                "candidate": value.candidate,
                "against_best_fraction": behind.mid,
                "against_best_low_fraction": behind.low,
                "against_best_high_fraction": behind.high,
                "probability_best_fraction": value.probability_best,
                "yearly_cost_usd": value.yearly_usd,
                "yearly_cost_low_usd": value.yearly_low_usd,
                "yearly_cost_high_usd": value.yearly_high_usd,
                "time": of.fastest * fast / value.relative_work,
                "time_unit": of.unit or "relative to fastest",
                "capital_usd": cost.capital_usd[1],
                "network_share_of_capital_fraction": cost.network_share_fraction,
                "network": cost.network_words,
            }
        )
    return pd.DataFrame(rows)


def cloud(answer: Comparison, points: int = CLOUD_POINTS) -> pd.DataFrame:
    """Draws of yearly cost and time, with what moves all candidates alike taken out.

    In each draw cost and time are divided by their mean over the candidates and set back on the mean of the mids:
    the price of a GPU or the speed of its kernels decides nothing between networks, and would blur the picture.
    """
    names = [value.candidate for value in answer.values]
    take = slice(0, points)
    cost = np.stack([answer.drawn.yearly_usd[name][take] for name in names])
    time = np.stack([1.0 / answer.drawn.relative_work[name][take] for name in names])
    mid_cost = float(np.mean([value.yearly_usd for value in answer.values]))
    mid_time = float(np.mean([1.0 / value.relative_work for value in answer.values]))
    of = pace(answer)
    fast = max(value.relative_work for value in answer.values)
    cost = cost / cost.mean(axis=0) * mid_cost
    time = time / time.mean(axis=0) * mid_time * fast * of.fastest
    return pd.concat(
        [
            pd.DataFrame({"candidate": name, "draw": range(cost.shape[1]), "yearly_usd": c, "time": t})
            for name, c, t in zip(names, cost, time, strict=True)
        ],
        ignore_index=True,
    )


def mids(answer: Comparison) -> pd.DataFrame:
    """Mid cost and time of each candidate, and whether no other is as fast and as cheap."""
    of = pace(answer)
    fast = max(value.relative_work for value in answer.values)
    found = {value.candidate: Score(value.relative_work, value.yearly_usd) for value in answer.values}
    edge = pareto_set(found)
    return pd.DataFrame(
        [
            {
                "candidate": name,
                "yearly_usd": score.yearly_usd,
                "time": of.fastest * fast / score.relative_work,
                "on_edge": name in edge,
            }
            for name, score in found.items()
        ]
    )


def risk_facts(answer: Comparison) -> pd.DataFrame:
    """Facts beside the score, each with its source; never blended into it."""
    setups = {item.setup.name: item.setup for item in answer.performance}
    return frame_of(risks(answer.scenario, list(setups.values()), answer.costs), RiskRow)
