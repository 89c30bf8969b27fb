"""The decision as one long table: values, probabilities, regrets, shares, idle cost, Pareto set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from models.compare.case import Score
from models.compare.idle_cost import IdleCost
from models.compare.pareto import pareto_set
from models.compare.value import Value, ValueDraws
from models.compare.value_of_information import expected_regret
from models.compare.verdict import Verdict
from models.compare.workload_verdicts import WorkloadVerdict

PER_DOLLAR = "work per year / M USD per year"


@dataclass(frozen=True)
class DecisionRow:
    """One figure behind the decision; `input` is set where the figure is about one uncertain input."""

    scenario: str
    candidate: str
    metric: str
    input: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    note: str


def decision_rows(
    scenario: str,
    verdict: Verdict,
    ranked: Sequence[Value],
    drawn: ValueDraws,
    found: Mapping[str, Score],
    idle: Sequence[IdleCost],
    shares: Mapping[str, float],
    information: Mapping[str, float],
    alone: Sequence[WorkloadVerdict],
) -> list[DecisionRow]:
    """Rows of decision.csv, the verdict first."""

    def row(
        candidate: str, metric: str, value: float | None, unit: str, low: float | None = None,
        high: float | None = None, note: str = "", about: str = "",
    ) -> DecisionRow:  # fmt: skip
        return DecisionRow(scenario, candidate, metric, about, value, unit, low, high, note)

    lead = verdict.gap
    rows = [
        row(verdict.winner, "verdict", 1.0 if verdict.decided else 0.0, "1 = decided", note=verdict.sentence),
        row("", "verdict_time", None, "", note=verdict.time_sentence),
        row("", "verdict_cost", None, "", note=verdict.cost_sentence),
    ]
    if lead is not None:
        note = f"{lead.better} over {lead.other}, work per dollar, 90 % band"
        rows.append(row(lead.better, "lead", lead.mid, "fraction", lead.low, lead.high, note))
    for item in alone:
        said, ahead = item.verdict, item.verdict.gap
        rows.append(
            row(
                said.winner, "workload_lead", ahead.mid if ahead else None, "fraction",
                ahead.low if ahead else None, ahead.high if ahead else None, said.sentence, item.workload,
            )
        )  # fmt: skip
        note = said.time_sentence or "nothing to compare with"
        rows.append(
            row(item.fastest, "workload_speed_lead", item.lead, "fraction", note=note, about=item.workload)
        )
    regret = expected_regret(drawn.work_per_dollar)
    best = max(float(values.mean()) for values in drawn.work_per_dollar.values())
    efficient = pareto_set(found)
    by_name = {item.candidate: item for item in idle}
    for rank, value in enumerate(ranked, 1):
        name, cost = value.candidate, by_name[value.candidate]
        rows += [
            row(name, "rank", float(rank), "1"),
            row(name, "work_per_dollar", value.work_per_dollar, PER_DOLLAR, value.low, value.high),
            row(name, "relative_work_per_dollar", value.relative, "1"),
            row(name, "relative_work", value.relative_work, "1"),
            row(name, "ownership_per_year", value.yearly_usd, "USD/year", value.yearly_low_usd, value.yearly_high_usd),
            row(name, "probability_best", value.probability_best, "fraction"),
            row(
                name, "expected_regret", regret[name] / best, "fraction",
                note="expected loss of work per dollar against the best of every draw",
            ),
            row(name, "expected_regret_usd", regret[name] / best * value.yearly_usd, "USD/year"),
            row(name, "on_pareto_set", float(name in efficient), "1 = yes", note="no other is as fast and as cheap"),
            row(name, "network_cost", cost.network_usd, "USD/year"),
            row(
                name, "one_percent_idle", cost.one_percent_idle_usd, "USD/year",
                note="what 1 % of idle GPUs costs on this cluster",
            ),
            row(
                name, "idle_fraction_that_cancels", cost.idle_fraction_that_cancels, "fraction",
                note="idle GPU time that costs as much as this network costs more than the cheapest",
            ),
        ]  # fmt: skip
    for name, share in sorted(shares.items(), key=lambda pair: (-pair[1], pair[0])):
        rows.append(row("", "variance_share", share, "fraction", note="first order, of the lead", about=name))
    for name, gain in sorted(information.items(), key=lambda pair: (-pair[1], pair[0])):
        note = "expected gain of knowing it before choosing, of the best work per dollar"
        rows.append(row("", "information_value", gain / best, "fraction", note=note, about=name))
    return rows
