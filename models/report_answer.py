"""First half of the report: the answer, the candidates, what moves the answer and where it turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.charts import candidate_colours
from models.cli_decision_text import figure_text
from models.cli_text import band_text
from models.cli_text import figure_text as metric_text
from models.compare.break_even import CROSSING
from models.compare.dual_track import Plan
from models.compare.flips import setting_text
from models.compare.idle_cost import idle_costs
from models.compare.metrics import workload_rows
from models.compare.pareto import pareto_set
from models.compare.sensitivity import Sensitivity
from models.compare.value_of_information import expected_regret
from models.compare.verdict import against_best, percent
from models.compare.victims import victims_sentences
from models.report_charts import intervals, scatter, stacked, tornado_bars
from models.report_parts import Chart, Heading, Listed, Part, Table, Text
from models.units import usd_text

BARS = 14
METRICS = ("step_time", "execution_time", "burst_time", "request_time", "transfer_time", "tokens_per_s", "time_to_train",
           "mfu", "bus_bandwidth", "goodput", "victim_goodput", "fct_p99")  # fmt: skip


def answer_parts(result: Sensitivity, plans: Sequence[Plan]) -> Iterator[Part]:
    """The parts in order."""
    yield Text(result.verdict.sentence, strong=True)
    said = [t for t in (result.verdict.time_sentence, result.verdict.cost_sentence) if t]
    said += victims_sentences(result.scenario, result.performance)
    if said:
        yield Listed(said)
    yield from _candidates(result)
    yield from _workloads(result)
    if len(result.values) > 1:
        yield from _tornado(result)
        yield from _break_even(result)
    yield from _idle(result)
    yield from _plans(plans)


def _candidates(result: Sensitivity) -> Iterator[Part]:
    values, colours = result.values, candidate_colours(result.scenario)
    against = against_best(values, result.drawn)
    regret = expected_regret(result.drawn.work_per_dollar)
    most = max(float(drawn.mean()) for drawn in result.drawn.work_per_dollar.values())
    efficient = pareto_set(result.scores)
    yield Heading("Candidates")
    yield Table(
        ["candidate", "work per dollar", "90 % band", "best in", "expected regret", "relative speed", "USD a year",
         "capital", "network share of capital", "on Pareto set"],
        [
            [
                v.candidate, f"{v.relative:.3f}", band_text(against[v.candidate], " to "), percent(v.probability_best),
                percent(regret[v.candidate] / most), f"{v.relative_work:.4f}", usd_text(v.yearly_usd),
                usd_text(result.costs[v.candidate].capital_usd[1]),
                percent(result.costs[v.candidate].network_share_fraction), "yes" if v.candidate in efficient else "no",
            ]
            for v in values
        ],
        right=range(1, 9),
    )  # fmt: skip
    yield Text(
        "Work per dollar is weighted useful work a year, relative to the best candidate, over the yearly ownership cost "
        "of the cluster (servers, four networks, racks, energy, space, support, licences, network staff). "
        "90 % band: of its ratio to the best, draw by draw; best in: share of draws "
        "in which it gives most; expected regret: expected loss of choosing it against the best of each draw."
    )
    rows = [
        (v.candidate, 1 + found.low, v.relative, 1 + found.high) if found else (v.candidate, 1.0, 1.0, 1.0)
        for v, found in ((v, against[v.candidate]) for v in values)
    ]
    yield Chart(
        intervals("Work per dollar, relative to the best", rows, colours, "work per dollar over the best's"),
        "Dot: mid. Line: 90 % of the draws of the ratio to the best, prices and model error together. What both share "
        "cancels: a line that reaches 1 means that it may be as good as the best.",
    )
    points = [(n, s.yearly_usd, s.relative_work) for n, s in result.scores.items()]
    yield Chart(
        scatter("Cost against speed", points, colours, "USD a year", "relative work", efficient),
        f"No candidate is both as fast and as cheap as these: {', '.join(efficient)}.",
    )
    split = [
        (v.candidate, (("networks", result.costs[v.candidate].network_usd),
                       ("rest of the cluster", v.yearly_usd - result.costs[v.candidate].network_usd)))
        for v in values
    ]  # fmt: skip
    yield Chart(
        stacked("Yearly cost of ownership", split, "USD a year"),
        "Networks with their energy, space, support and staff beside everything else of the cluster.",
    )
    yield Listed([f"{name}: {cost.network_words}" for name, cost in result.costs.items()])


def _workloads(result: Sensitivity) -> Iterator[Part]:
    yield Heading("Workloads")
    if len(result.values) > 1:
        yield Text("Each by itself, as if it were the whole question:")
        yield Listed([f"{item.workload}: {item.verdict.sentence}" for item in result.workloads])
        yield Listed(
            [f"{item.workload}, speed alone: {item.verdict.time_sentence}" for item in result.workloads]
        )
    for workload, item in result.scenario.workloads.items():
        shown = [w for w in result.performance if w.workload == workload]
        tables = {(w.setup.name, w.method): workload_rows(result.scenario, w) for w in shown}
        names = list(dict.fromkeys(r.metric for rows in tables.values() for r in rows if r.metric in METRICS))
        weight = f"weight {item.weight:g}" if item.weight > 0 else "shown, not scored"
        yield Text(f"{workload} ({item.kind}, {weight})")
        body = []
        for (candidate, method), rows in tables.items():
            by = {r.metric: r for r in rows}
            body.append(
                [
                    candidate,
                    str(method),
                    *[metric_text(by[n].value, by[n].unit) if n in by else "-" for n in names],
                ]
            )
        yield Table(
            ["candidate", "method", *[n.replace("_", " ") for n in names]],
            body,
            right=range(2, 2 + len(names)),
        )


def _tornado(result: Sensitivity) -> Iterator[Part]:
    bars = result.tornado[:BARS]
    first, second = bars[0].first, bars[0].second
    yield Heading("What moves the answer")
    yield Chart(
        tornado_bars(
            f"Lead of {first} over {second}, one input at a time",
            [
                (
                    r.input,
                    r.lead_low,
                    r.lead_mid,
                    r.lead_high,
                    setting_text(r.low_setting, r.unit),
                    setting_text(r.high_setting, r.unit),
                )
                for r in bars
            ],
            "lead in work per dollar (fraction)",
        ),
        f"The widest is {bars[0].input}: the lead runs from {percent(min(bars[0].lead_low, bars[0].lead_high))} to "
        f"{percent(max(bars[0].lead_low, bars[0].lead_high))}.",
    )
    yield Table(
        ["input", "low", "now", "high", "lead at low", "lead at high", "turns it", "share of spread", "source"],
        [
            [
                r.input, *(setting_text(s, r.unit) for s in (r.low_setting, r.mid_setting, r.high_setting)),
                percent(r.lead_low), percent(r.lead_high),
                "yes" if r.flips else "no",
                "-" if r.variance_share_fraction is None else percent(r.variance_share_fraction), r.source,
            ]
            for r in bars
        ],
        right=(4, 5, 7),
    )  # fmt: skip


def _break_even(result: Sensitivity) -> Iterator[Part]:
    yield Heading("Where the answer turns")
    leader = result.values[0].candidate
    rows = [r for r in result.break_even if leader in (r.a, r.b)]
    yield Table(
        ["pair", "quantity", "now", "tie at", "searched", "unit", "meaning"],
        [
            [
                f"{r.a} / {r.b}", r.quantity, figure_text(r.current, r.unit),
                figure_text(r.value, r.unit) if r.status == CROSSING and r.value is not None else r.status,
                f"{figure_text(r.range_low, r.unit)} to {figure_text(r.range_high, r.unit)}", r.unit, r.note,
            ]
            for r in rows
        ],
        right=(2, 3, 4),
    )  # fmt: skip


def _idle(result: Sensitivity) -> Iterator[Part]:
    yield Heading("One per cent of idle GPUs against the price of the network")
    rows = idle_costs(result.scores, {n: c.network_usd for n, c in result.costs.items()})
    yield Table(
        ["candidate", "1 % idle, USD a year", "network, USD a year", "more than cheapest", "idle time that cancels it"],
        [
            [r.candidate, usd_text(r.one_percent_idle_usd), usd_text(r.network_usd), usd_text(r.network_more_usd),
             percent(r.idle_fraction_that_cancels)]
            for r in rows
        ],
        right=range(1, 5),
    )  # fmt: skip


def _plans(plans: Sequence[Plan]) -> Iterator[Part]:
    if not plans:
        return
    yield Heading("Two fabrics as one plan")
    first = plans[0]
    kind = "one fabric for all" if first.pod == first.rest else "two fabrics"
    yield Text(
        f"Training on {first.pod_gpus:,} GPUs, the other work on {first.rest_gpus:,}: best is {kind}, {first.name}. "
        "Two fabrics share nothing but the building; each part has its own storage and management networks."
    )
    yield Table(
        ["plan", "work per dollar", "relative work", "USD a year"],
        [[p.name, f"{p.relative:.3f}", f"{p.relative_work:.4f}", usd_text(p.yearly_usd)] for p in plans[:6]],
        right=(1, 2, 3),
    )
