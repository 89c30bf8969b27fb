"""Break-evens: put back in, they tie; and no crossing is an answer."""

from itertools import combinations
from math import exp

import pytest

from models.compare.axes import axes, grid
from models.compare.break_even import (
    CROSSING,
    NO_CROSSING,
    network_share,
    with_network_time,
)
from models.compare.case import log_ratio, scores
from models.compare.idle_cost import idle_costs
from models.compare.roots import crossing
from models.compare.sensitivity import sensitivity
from models.compare.sweep_points import Variations
from models.scenario.load import with_value, with_values
from tests.compare.cases import case
from tests.compare.sweeping import small_scenario

SCENARIO = small_scenario(128)
ANALYTICAL = ("analytical",)
A, B = list(SCENARIO.candidates)


@pytest.fixture(scope="module")
def answer():
    return sensitivity(SCENARIO, 256, ANALYTICAL)


def ratio(scenario) -> float:
    """a's work per dollar over b's, worked out from the scenario alone."""
    from models.compare.case import case_at

    return exp(log_ratio(scores(case_at(Variations(scenario, (), ANALYTICAL), {})), A, B))


def row_of(answer, quantity: str):
    return next(r for r in answer.break_even if (r.a, r.b, r.quantity) == (A, B, quantity))


def test_every_pair_has_every_quantity(answer) -> None:
    wanted = {
        "network price ratio", "communication share", "exposed data-parallel share", "electricity price",
        "extra staff hours", "extra idle GPUs", "cluster size",
    }  # fmt: skip
    for a, b in combinations(SCENARIO.candidates, 2):
        assert {r.quantity for r in answer.break_even if (r.a, r.b) == (a, b)} == wanted


def test_what_crosses_ties_within_a_thousandth_when_put_back(answer) -> None:
    found = [r for r in answer.break_even if r.status == CROSSING and r.quantity != "cluster size"]
    assert found
    for row in found:
        assert row.ratio_at_value == pytest.approx(1.0, abs=1e-3)
        assert row.range_low <= row.value <= row.range_high


def test_the_ratio_of_today_is_the_answer_itself(answer) -> None:
    for row in answer.break_even:
        if row.quantity != "cluster size":
            assert row.ratio_now == pytest.approx(
                answer.scores[row.a].work_per_dollar / answer.scores[row.b].work_per_dollar, rel=1e-9
            )


def test_staff_hours_put_back_into_the_scenario_tie(answer) -> None:
    """Not only in the curve: the scenario itself, with the staff of one candidate changed, ties."""
    row = row_of(answer, "extra staff hours")
    assert row.status == CROSSING
    hourly = SCENARIO.economics.staff_usd_per_year / 2080.0
    extra = row.value * hourly
    mids = {n: sum(line.mid_usd for line in answer.costs[n].lines) for n in (A, B)}
    work = {n: answer.scores[n].relative_work for n in (A, B)}
    assert work[A] / (mids[A] + extra) == pytest.approx(work[B] / mids[B], rel=1e-3)


def test_electricity_put_back_into_the_scenario_ties_or_never_does(answer) -> None:
    row = row_of(answer, "electricity price")
    if row.status == CROSSING:
        assert ratio(with_value(SCENARIO, "economics.usd_per_kwh", row.value)) == pytest.approx(1.0, abs=1e-3)
    else:
        signs = {
            ratio(with_value(SCENARIO, "economics.usd_per_kwh", usd)) > 1
            for usd in (0.0, 0.25, 0.5, 0.75, 1.0)
        }
        assert len(signs) == 1


def test_the_electricity_curve_is_the_scenario_s_own(answer) -> None:
    """Interpolated costs equal those of the scenario at a price in between."""
    key = "economics.usd_per_kwh"
    row = row_of(answer, "electricity price")
    assert row.current == SCENARIO.economics.usd_per_kwh
    assert ratio(with_value(SCENARIO, key, row.current)) == pytest.approx(row.ratio_now, rel=1e-9)


def test_a_network_price_ratio_put_back_ties(answer) -> None:
    row = row_of(answer, "network price ratio")
    of = {n: answer.costs[n].network_usd for n in (A, B)}
    assert row.current == pytest.approx(of[A] / of[B])
    mids = {n: sum(line.mid_usd for line in answer.costs[n].lines) for n in (A, B)}
    moved = mids[A] + (row.value / row.current - 1.0) * of[A]
    assert answer.scores[A].relative_work / moved == pytest.approx(
        answer.scores[B].relative_work / mids[B], rel=1e-3
    )


def test_a_communication_share_means_what_it_says() -> None:
    base = case(times=(10.0, 12.0, 12.0))
    fixed = {(name, "training"): 8.0 for name in base.candidates}
    assert network_share(base, fixed, "A") == pytest.approx(0.2)
    twice = with_network_time(base, fixed, 2.0)
    assert network_share(twice, fixed, "A") == pytest.approx(4.0 / 12.0)
    assert network_share(with_network_time(base, fixed, 0.0), fixed, "B") == pytest.approx(0.0)


def test_no_crossing_is_an_answer_and_several_give_the_nearest() -> None:
    assert crossing(lambda x: 1.0 + x * x, -2.0, 2.0) is None
    assert crossing(lambda x: (x - 1.0) * (x + 1.5), -2.0, 2.0, near=0.0) == pytest.approx(1.0)
    assert crossing(lambda x: (x - 1.0) * (x + 1.5), -2.0, 2.0, near=-2.0) == pytest.approx(-1.5)
    assert crossing(lambda x: float("nan"), 0.0, 1.0) is None
    assert crossing(lambda x: x, 0.0, 1.0) == 0.0


def test_rows_without_a_crossing_hold_no_value(answer) -> None:
    for row in answer.break_even:
        assert (row.value is None) == (row.status == NO_CROSSING)
        assert (row.ratio_at_value is None) == (row.status == NO_CROSSING)


def test_swapping_the_pair_mirrors_idle_time() -> None:
    found = scores(case())
    assert log_ratio(found, "A", "B") == pytest.approx(-log_ratio(found, "B", "A"), abs=1e-15)


def test_one_per_cent_of_idle_gpus_is_one_per_cent_of_the_cluster() -> None:
    rows = idle_costs(scores(case()), {"A": 4e6, "B": 3e6, "C": 2.5e6})
    first = next(r for r in rows if r.candidate == "A")
    assert first.one_percent_idle_usd == pytest.approx(160_000.0)
    assert first.network_more_usd == pytest.approx(1.5e6)
    assert first.idle_fraction_that_cancels == pytest.approx(1.5 / 16.0)
    assert next(r for r in rows if r.candidate == "C").idle_fraction_that_cancels == 0.0


def test_a_cluster_size_is_where_the_order_turns(answer) -> None:
    row = row_of(answer, "cluster size")
    if row.status == CROSSING:
        before = with_values(SCENARIO, {"cluster.gpus": int(row.value) // 2})
        after = with_values(SCENARIO, {"cluster.gpus": int(row.value)})
        assert (ratio(before) - 1.0) * (ratio(after) - 1.0) < 0
    assert len(grid(axes(["cluster.gpus=64..65536"]))) == 11
