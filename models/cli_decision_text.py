"""What `fabric-compare sensitivity` prints."""

from __future__ import annotations

from models.cli_text import COLUMNS, REGRET, band_text, columns_text
from models.compare.break_even import CROSSING, BreakEvenRow
from models.compare.flips import setting_text
from models.compare.idle_cost import idle_costs
from models.compare.sensitivity import Sensitivity
from models.compare.value_of_information import expected_regret
from models.compare.verdict import against_best, percent
from models.compare.victims import victims_sentences
from models.units import usd_text

BARS = 12


def sensitivity_text(result: Sensitivity) -> str:
    """The verdict, how sure it is, what moves it most, where it turns."""
    lines = [result.scenario.question, "", result.verdict.sentence]
    lines += [text for text in (result.verdict.time_sentence, result.verdict.cost_sentence) if text]
    lines += victims_sentences(result.scenario, result.performance)
    lines += ["", _candidates_text(result)]
    if len(result.values) > 1:
        lines += ["", f"{COLUMNS}; {REGRET}"]
    if len(result.workloads) > 1 and len(result.values) > 1:
        lines += ["", "each workload by itself"]
        lines += [f"  {item.workload}: {item.verdict.sentence}" for item in result.workloads]
    if len(result.values) > 1:
        first, second = result.tornado[0].first, result.tornado[0].second
        lines += [
            "",
            f"lead of {first} over {second} in work per dollar, one input at a time",
            _bars_text(result),
        ]
        lines += ["", f"where {first} and {second} tie", break_even_text(result.break_even, first, second)]
    return "\n".join(lines)


def break_even_text(rows: tuple[BreakEvenRow, ...], first: str, second: str) -> str:
    """The break-evens of one pair as a table."""
    table = []
    for row in rows:
        if {row.a, row.b} != {first, second}:
            continue
        where = (
            figure_text(row.value, row.unit)
            if row.status == CROSSING and row.value is not None
            else row.status
        )
        span = f"{figure_text(row.range_low, row.unit)} .. {figure_text(row.range_high, row.unit)}"
        table.append(
            [
                row.quantity,
                figure_text(row.current, row.unit),
                where,
                span,
                row.unit if row.unit != "1" else "",
            ]
        )
    return columns_text(
        ["  quantity", "now", "tie at", "searched", "unit"], [[f"  {r[0]}", *r[1:]] for r in table]
    )


def figure_text(value: float, unit: str) -> str:
    """A figure of a break-even with the digits that mean something.

    >>> figure_text(0.0123, "fraction"), figure_text(2048.0, "GPUs"), figure_text(0.97384, "1")
    ('1.2 %', '2,048', '0.974')
    """
    if unit == "fraction":
        return percent(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _candidates_text(result: Sensitivity) -> str:
    regret = expected_regret(result.drawn.work_per_dollar)
    best = max(float(drawn.mean()) for drawn in result.drawn.work_per_dollar.values())
    network = {name: cost.network_usd for name, cost in result.costs.items()}
    idle = {row.candidate: row for row in idle_costs(result.scores, network)}
    against = against_best(result.values, result.drawn)
    alone = len(result.values) == 1  # nothing to rank it against
    rows = [
        [
            value.candidate,
            *([] if alone else [f"{value.relative:.3f}", band_text(against[value.candidate], " .. ")]),
            *([] if alone else [percent(value.probability_best)]),
            *([] if alone else [percent(regret[value.candidate] / best)]),
            usd_text(value.yearly_usd),
            usd_text(idle[value.candidate].network_usd),
            usd_text(idle[value.candidate].one_percent_idle_usd),
            *([] if alone else [percent(idle[value.candidate].idle_fraction_that_cancels)]),
        ]
        for value in result.values
    ]
    header = ["candidate", "USD a year", "network", "1 % idle costs"]
    if not alone:
        header = [
            *header[:1],
            "work per dollar",
            "90 % band",
            "best in",
            "regret",
            *header[1:],
            "idle that cancels",
        ]
    return columns_text(header, rows)


def _bars_text(result: Sensitivity) -> str:
    rows = [
        [
            f"  {row.input[:56]}",
            f"{setting_text(row.low_setting, row.unit)} .. {setting_text(row.high_setting, row.unit)}",
            percent(row.lead_low),
            percent(row.lead_mid),
            percent(row.lead_high),
            "turns" if row.flips else "",
        ]
        for row in result.tornado[:BARS]
    ]
    return columns_text(["  input", "low .. high", "at low", "now", "at high", ""], rows)
