"""Plain-text tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from models.compare.comparison import Comparison
from models.compare.incast_checks import Check, checks_sentence
from models.compare.verdict import Gap, against_best, percent
from models.compare.victims import victims_sentences
from models.units import duration_text, size_text, usd_text

SHOWN = (
    "step_time",
    "execution_time",
    "burst_time",
    "request_time",
    "transfer_time",
    "exposed_tp",
    "exposed_pp",
    "exposed_dp",
    "exposed_ep",
    "exposed_cp",
    "mfu",
    "time_to_train",
    "bus_bandwidth",
    "mean_throughput",
    "slowest_throughput",
    "fct_mean",
    "fct_p99",
    "queue_peak",
    "pause_time",
    "victim_goodput",
)

COLUMNS = (
    "work per dollar: useful work over yearly cost, the best = 1; 90 % band: of its ratio to the best, draw by draw "
    "(above 1 it would win); best in: share of draws in which it gives most"
)
REGRET = (
    "regret: expected loss of choosing it against the best of each draw; idle that cancels: idle GPU time that "
    "costs as much as its network costs more than the cheapest"
)
EXPOSED = (
    "exposed_*: time of a step in which GPUs wait for that parallelism's traffic, NVLink's included (tensor, pipeline, "
    "data, expert, context) and compute nothing; - : not known"
)


def columns_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with aligned columns; the first column is text, the others are set right.

    >>> print(columns_text(["a", "b"], [["x", "1.5"], ["long", "22"]]))
    a       b
    x     1.5
    long   22
    """
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = []
    for row in table:
        cells = [
            row[0].ljust(widths[0]),
            *[cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)],
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def figure_text(value: float, unit: str) -> str:
    """A figure with three significant digits in the unit a reader expects."""
    if value != value:
        return "-"
    if unit == "s":
        return duration_text(value)
    if unit == "bytes/s":
        return f"{value / 1e9:.3g} GB/s"
    if unit == "bytes":
        return size_text(value)
    if unit.startswith("USD") and "GPU" not in unit and "kWh" not in unit:
        return usd_text(value) + unit[3:]
    if unit in ("", "1"):
        return f"{value:.3g}"
    if unit == "fraction":
        return percent(value)
    return f"{value:.3g} {unit}"


def comparison_text(result: Comparison) -> str:
    """The verdict, the candidates, and each workload by both methods."""
    scenario = result.scenario
    said = result.verdict
    lines = [scenario.question, ""]
    lines += [text for text in (said.sentence, said.time_sentence, said.cost_sentence) if text]
    lines += victims_sentences(scenario, result.performance)
    lines += ["", *_candidates(result), ""]
    for workload, table in result.comparison[result.comparison.workload != ""].groupby(
        "workload", sort=False
    ):
        lines += [str(workload), _workload_text(table), ""]
    if result.comparison.metric.str.startswith("exposed_").any():
        lines += [EXPOSED, ""]
    for cost in result.costs.values():
        lines.append(f"{cost.candidate}: {cost.network_words}")
    return "\n".join(lines).rstrip() + "\n"


def _candidates(result: Comparison) -> list[str]:
    """What each candidate is worth; a candidate alone only costs, there is nothing to rank it against."""
    alone = len(result.values) == 1
    ranks = [] if alone else ["work per dollar", "90 % band", "best in"]
    against = against_best(result.values, result.drawn)
    rows = []
    for value in result.values:
        cost = result.costs[value.candidate]
        ranked = [
            f"{value.relative:.3f}",
            band_text(against[value.candidate], " .. "),
            percent(value.probability_best),
        ]
        usd = [
            usd_text(value.yearly_usd),
            usd_text(cost.capital_usd[1]),
            percent(cost.network_share_fraction),
        ]
        rows.append([value.candidate, *([] if alone else ranked), *usd])
    text = columns_text(["candidate", *ranks, "USD per year", "capital", "network share"], rows)
    share = "network share: the network's part of the cluster's capital"
    return [text, "", share if alone else f"{COLUMNS}; {share}"]


def checks_text(checks: Sequence[Check]) -> str:
    """What to check of the networks before buying or tuning; what has to be acted on in full."""
    lines = [f"To check: {checks_sentence(checks)} Every check with its source: --format json."]
    lines += [f"  {c.candidate}, {c.topic}: {c.finding} {c.advice}" for c in checks if c.state == "act"]
    return "\n".join(lines)


def band_text(against: Gap | None, between: str) -> str:
    """The 90 % band of a candidate's work per dollar over the best's, as numbers; "-" for the best itself."""
    return "-" if against is None else f"{1 + against.low:.3f}{between}{1 + against.high:.3f}"


def _workload_text(table: pd.DataFrame) -> str:
    there = list(dict.fromkeys(table.metric))
    metrics = [name for name in SHOWN if name in there] or there[:7]
    header = ["  candidate", "method", *metrics]
    rows = []
    for (candidate, method), group in table.groupby(["candidate", "method"], sort=False):
        figures = {
            metric: figure_text(value, unit)
            for metric, value, unit in zip(group.metric, group.value, group.unit, strict=True)
        }
        rows.append([f"  {candidate}", str(method), *[figures.get(metric, "-") for metric in metrics]])
    return columns_text(header, rows)


def bill_text(tables: Mapping[str, pd.DataFrame]) -> str:
    """Bill of materials by network and category; capital and what is paid over the years summed apart."""
    bill, owned = tables["bill_of_materials"], tables["ownership"]
    lines = []
    for candidate, group in bill.groupby("candidate", sort=False):
        lines.append(str(candidate))
        places = group.network + " " + group.tier + " " + group.description
        rows = [
            [f"  {place}"[:72], f"{count:g}", f"{spare:g}" if spare else "", _cost(cost)]
            for place, count, spare, cost in zip(
                places, group.quantity_total, group.quantity_spares, group.extended_mid_usd, strict=True
            )
        ]
        rows += _bill_sums(group, owned[owned.candidate == candidate])
        lines.append(columns_text(["  line", "quantity", "of it spare", "USD"], rows))
        lines.append("")
    return "\n".join(lines)


def _bill_sums(bill: pd.DataFrame, owned: pd.DataFrame) -> list[list[str]]:
    """Capital as `compare` has it, support and licences over all years, and both."""
    usd = pd.to_numeric(bill.extended_mid_usd, errors="coerce")
    capital = float(owned[owned.category == "capital"].mid_usd.iloc[0])
    years = pd.to_numeric(owned.year, errors="coerce").max()
    both = float(usd.sum())
    least = ", lower bound" if usd.isna().any() else ""
    sums = [
        (f"capital{least}", capital),
        (f"support and licences over {years:g} years", both - capital),
        (f"capital, support and licences{least}; power, space and staff are not in it", both),
    ]
    return [[f"  {words}", "", "", _cost(value)] for words, value in sums]


def _cost(cost: object) -> str:
    return f"{cost:,.0f}" if isinstance(cost, int | float) else str(cost)
