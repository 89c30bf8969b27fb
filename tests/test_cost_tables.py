"""Cost tables add up to what the models say a candidate costs."""

from __future__ import annotations

import pytest

from models.compare.assumptions import assumption_table
from models.compare.comparison import Comparison, compare
from models.compare.cost_tables import cost_by_category, cost_totals, prices_in_use
from models.compare.standing import candidate_table, cloud, mids
from models.scenario.load import SHIPPED, load, with_value


@pytest.fixture(scope="module")
def answer() -> Comparison:
    return compare(load(SHIPPED / "llama3-70b-1024-h100.yaml"), ("analytical",))


def test_categories_of_the_cluster_sum_to_its_ownership_cost(answer: Comparison) -> None:
    economics = answer.scenario.economics
    r, n = economics.discount_rate_fraction, economics.years
    annuity = (1 - (1 + r) ** -n) / r
    totals = cost_totals(cost_by_category(answer, "cluster")).set_index("candidate")
    for value in answer.values:
        assert totals.mid_usd[value.candidate] / annuity == pytest.approx(value.yearly_usd, rel=1e-6)


def test_capital_categories_of_the_cluster_sum_to_the_capital(answer: Comparison) -> None:
    table = cost_by_category(answer, "cluster")
    running = {"energy", "space", "support", "licences", "staff", "resale"}
    capital = table[~table.category.isin(running)].groupby("candidate").mid_usd.sum()
    for name, cost in answer.costs.items():
        assert capital[name] == pytest.approx(cost.capital_usd[1], abs=0.01)


def test_networks_are_part_of_the_cluster_in_every_category(answer: Comparison) -> None:
    of = [
        cost_by_category(answer, scope).set_index(["candidate", "category"])
        for scope in ("networks", "cluster")
    ]
    both = of[0].join(of[1].add_suffix("_cluster"))
    assert (both.mid_usd <= both.mid_usd_cluster * (1 + 1e-9)).all()


def test_each_part_has_one_price_and_its_source(answer: Comparison) -> None:
    table = prices_in_use(answer)
    assert table.part.is_unique and (table.price_source != "").all()


def test_a_price_set_to_the_one_in_use_changes_nothing(answer: Comparison) -> None:
    """Yearly licences and discounted parts too: what the table shows is what a set price replaces."""
    scenario = with_value(answer.scenario, "economics.network_discount_fraction", 0.2)
    before = compare(scenario, ("analytical",))
    table = prices_in_use(before).set_index("part")
    assert {"li_sonic_ent", "li_ufm", "sw_qm9700", "op_install"} <= set(table.index)
    assert table.unit_price_mid_usd["sw_qm9700"] == 38_000 and table.unit_price_mid_usd["li_ufm"] == 250
    assert "year" in table.description["li_ufm"]
    given = scenario
    for part, price in table.unit_price_mid_usd.items():
        given = with_value(given, f"prices.{part}", float(price))
    after = compare(given, ("analytical",))
    for name, cost in before.costs.items():
        assert after.costs[name].capital_usd[1] == pytest.approx(cost.capital_usd[1], rel=1e-6)
        assert after.costs[name].yearly_usd[1] == pytest.approx(cost.yearly_usd[1], rel=1e-6)


def test_a_dearer_part_lowers_the_work_per_dollar_of_who_buys_it(answer: Comparison) -> None:
    given = with_value(answer.scenario, "prices.sw_qm9700", 500_000.0)
    after = {value.candidate: value for value in compare(given, ("analytical",)).values}
    before = {value.candidate: value for value in answer.values}
    assert after["InfiniBand NDR"].work_per_dollar < 0.9 * before["InfiniBand NDR"].work_per_dollar
    assert after["RoCEv2 400G"].yearly_usd == before["RoCEv2 400G"].yearly_usd
    assert after["InfiniBand NDR"].probability_best < before["InfiniBand NDR"].probability_best


def test_the_best_candidate_is_level_with_itself_and_the_others_behind(answer: Comparison) -> None:
    table = candidate_table(answer)
    assert table.against_best_fraction.iloc[0] == 0
    assert (table.against_best_fraction.iloc[1:] <= 0).all()
    assert table.probability_best_fraction.sum() == pytest.approx(1.0)


def test_the_cloud_keeps_the_mids_in_its_middle(answer: Comparison) -> None:
    drawn = cloud(answer).groupby("candidate")[["yearly_usd", "time"]].median()
    mid = mids(answer).set_index("candidate")
    for name in mid.index:
        assert drawn.yearly_usd[name] == pytest.approx(mid.yearly_usd[name], rel=0.03)
        assert drawn.time[name] == pytest.approx(mid.time[name], rel=0.03)


def test_a_changed_key_is_marked_as_changed(answer: Comparison) -> None:
    scenario = with_value(answer.scenario, "economics.years", 3)
    table = assumption_table(compare(scenario, ("analytical",)), answer.scenario)
    assert set(table[table.changed].parameter) == {"economics.years"}
