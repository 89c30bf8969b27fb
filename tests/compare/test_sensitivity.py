"""Probabilities, shares, regret, value of information, tornado: what must hold whatever the numbers are."""

import numpy as np
import pytest

from models.compare.case import Case, by_method_only, lead, ranking, scores, with_group_at, with_times_at
from models.compare.comparison import scored_work
from models.compare.draws import DrawSource
from models.compare.pareto import pareto_set
from models.compare.sensitivity import Sensitivity, draws_table, influence, sensitivity
from models.compare.shares import drawn_inputs, first_order_shares
from models.compare.value import draw_names, value_draws, values
from models.compare.value_of_information import (
    action_words,
    expected_regret,
    information_values,
    input_words,
    settled_verdict,
    settling_sentence,
    turning_inputs,
)
from models.compare.verdict import verdict
from models.scenario.load import SHIPPED, load, with_value
from tests.compare.cases import case
from tests.compare.sweeping import small_scenario


def drawn_of(given, seed: int = 1, draws: int = 4096):
    source = DrawSource(draw_names(given.times, given.costs), draws, seed)
    drawn = value_draws(given.times, given.costs, seed, draws, source)
    return values(given.times, given.costs, drawn), drawn, drawn_inputs(source)


def test_without_spread_probabilities_are_0_or_1_and_equal_the_plain_ranking() -> None:
    ranked, drawn, _ = drawn_of(case(spread=0.0))
    assert [v.probability_best for v in ranked] == [1.0, 0.0, 0.0]
    assert [v.candidate for v in ranked] == ranking(scores(case()))
    regret = expected_regret(drawn.work_per_dollar)
    assert regret[ranked[0].candidate] == pytest.approx(0.0, abs=1e-15)
    assert verdict(ranked, drawn, "work").decided


def test_equal_candidates_without_spread_share_the_probability() -> None:
    ranked, _, _ = drawn_of(case(times=(10.0, 10.0, 11.0), millions=(15.0, 15.0, 15.0)))
    assert [v.probability_best for v in ranked] == [0.5, 0.5, 0.0]


def swapped(spread: float):
    """What is A's becomes B's and the other way round: figures, vendors and all."""
    given, names = case(spread=spread), {"A": "B", "B": "A", "C": "C"}
    return Case(
        {names[name]: bands for name, bands in given.times.items()},
        {names[name]: lines for name, lines in given.costs.items()},
    )


def test_swapping_names_swaps_the_answer_and_nothing_else() -> None:
    there, drawn, _ = drawn_of(case(spread=0.05))
    back, drawn_back, _ = drawn_of(swapped(0.05))
    names = {"A": "B", "B": "A", "C": "C"}
    assert [names[v.candidate] for v in there] == [v.candidate for v in back]
    for ours, theirs in zip(there, back, strict=True):
        assert ours.work_per_dollar == pytest.approx(theirs.work_per_dollar, rel=1e-12)
        assert ours.probability_best == theirs.probability_best
        assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)
    first, second = verdict(there, drawn, "work"), verdict(back, drawn_back, "work")
    assert (names[first.winner], names[first.runner_up], first.decided) == (
        second.winner, second.runner_up, second.decided,
    )  # fmt: skip


def test_swapping_names_swaps_the_verdict_exactly_without_spread() -> None:
    there, drawn, _ = drawn_of(case())
    back, drawn_back, _ = drawn_of(case(times=(10.2, 10.0, 11.0), millions=(15.5, 16.0, 15.0)))
    first, second = verdict(there, drawn, "work"), verdict(back, drawn_back, "work")
    names = {"A": "B", "B": "A", "C": "C"}
    assert (names[first.winner], names[first.runner_up]) == (second.winner, second.runner_up)
    assert first.gap.mid == pytest.approx(second.gap.mid, rel=1e-12)


def test_same_seed_same_draws_another_seed_others() -> None:
    one, two, other = (drawn_of(case(spread=0.1), seed)[1] for seed in (3, 3, 4))
    assert np.array_equal(one.work_per_dollar["A"], two.work_per_dollar["A"])
    assert not np.array_equal(one.work_per_dollar["A"], other.work_per_dollar["A"])
    table = draws_table(one)
    assert list(table) == ["draw", "candidate", "yearly_usd", "relative_work", "work_per_dollar"]
    assert len(table) == 3 * 4096 and table.draw.is_monotonic_increasing


def test_shares_of_a_sum_are_those_of_its_variances() -> None:
    """Y = 3 a + 2 b + c of uniform inputs: shares 9, 4 and 1 of 14."""
    source = DrawSource(["a", "b", "c", "idle"], 4096, 5)
    inputs = drawn_inputs(source)
    shares = first_order_shares(3 * inputs["a"] + 2 * inputs["b"] + inputs["c"], inputs)
    assert [shares[n] for n in ("a", "b", "c", "idle")] == pytest.approx(
        [9 / 14, 4 / 14, 1 / 14, 0.0], abs=0.02
    )


def test_shares_of_a_pure_interaction_are_zero() -> None:
    inputs = drawn_inputs(DrawSource(["a", "b"], 4096, 5))
    shares = first_order_shares((inputs["a"] - 0.5) * (inputs["b"] - 0.5), inputs)
    assert max(shares.values()) < 0.03
    assert first_order_shares(np.full(4096, 3.0), inputs) == {"a": 0.0, "b": 0.0}


def test_information_is_worth_what_it_lets_one_choose() -> None:
    """Two options, X and 1/2, X uniform: knowing X gains E[max(X, 1/2)] - 1/2 = 1/8, the idle input nothing."""
    inputs = drawn_inputs(DrawSource(["x", "idle"], 8192, 2))
    gains = information_values({"go": inputs["x"], "stay": np.full(8192, 0.5)}, inputs)
    assert gains["x"] == pytest.approx(0.125, abs=0.01)
    assert gains["idle"] < 0.005


def test_regret_is_the_expected_loss_against_the_best() -> None:
    regret = expected_regret({"a": np.array([3.0, 1.0]), "b": np.array([1.0, 2.0])})
    assert regret == {"a": 0.5, "b": 1.0}


def test_a_close_call_names_what_narrows_it_most_and_what_to_do() -> None:
    given = case(spread=0.05)
    ranked, drawn, inputs = drawn_of(given)
    first, second = ranked[0].candidate, ranked[1].candidate
    shares, _ = influence((first, second), drawn, inputs)
    top = max(shares, key=lambda n: shares[n])
    words = settling_sentence(drawn.work_per_dollar, first, second, inputs, {})
    assert f"knowing {input_words(top)} would narrow the band most" in words and action_words(top) in words
    turning = turning_inputs(given.times, given.costs, first, second)
    said = settled_verdict(ranked, drawn, "work", inputs, given.times, given.costs).sentence
    assert said.endswith(settling_sentence(drawn.work_per_dollar, first, second, inputs, turning))
    _, still, inputs = drawn_of(case())
    assert settling_sentence(still.work_per_dollar, "A", "B", inputs, {}) == ""


def test_what_the_sentence_says_turns_the_lead_turns_it_in_the_tornado() -> None:
    scenario = load(SHIPPED / "llama3-70b-1024-h100.yaml")
    found = sensitivity(scenario, 1024, ("analytical",))
    first, second = found.verdict.winner, found.verdict.runner_up
    turning = turning_inputs(found.case.times, found.case.costs, first, second)
    bars = {row.input.removesuffix(", its own part"): row for row in found.tornado}
    drawn = {name: bars[input_words(name)] for name in turning}
    assert drawn and all(row.flips for row in drawn.values())
    for name, row in drawn.items():
        assert turning[name] == pytest.approx(sorted((row.lead_low, row.lead_high)), abs=1e-3)
    staying = [
        row
        for words, row in bars.items()
        if words in {input_words(n) for n in found_names(found)} and not row.flips
    ]
    assert staying and not {row.input for row in staying} & {input_words(name) for name in turning}
    top = next(iter(turning))
    assert f"Within its band, {input_words(top)} alone would turn it" in found.verdict.sentence
    assert "would settle it" not in found.verdict.sentence


def found_names(found: Sensitivity) -> list[str]:
    return draw_names(found.case.times, found.case.costs)


def test_the_pareto_set_holds_the_fastest_and_the_cheapest() -> None:
    found = scores(
        case(times=(10.0, 10.2, 11.0, 11.5), millions=(16.0, 15.5, 15.0, 15.2), names=("A", "B", "C", "D"))
    )
    assert pareto_set(found) == ["C", "B", "A"]


def test_moving_one_group_or_one_time_moves_only_what_it_is_part_of() -> None:
    base = case(spread=0.1)
    low = scores(with_group_at(base, "vendor A", "low"))
    assert low["A"].yearly_usd < scores(base)["A"].yearly_usd
    assert low["B"].yearly_usd == pytest.approx(scores(base)["B"].yearly_usd)
    quick = scores(with_times_at(base, ["A"], "low", 1.0))
    assert quick["A"].relative_work == 1.0 and quick["B"].relative_work < scores(base)["B"].relative_work
    assert scores(by_method_only(base, "fluid")) == scores(base)


@pytest.fixture(scope="module")
def small():
    return sensitivity(small_scenario(), 1024, ("analytical",))


def test_the_tornado_moves_prices_models_workload_and_economics(small) -> None:
    kinds = {row.kind for row in small.tornado}
    assert kinds == {"price", "model", "workload", "economics", "model error"}
    swings = [row.swing for row in small.tornado]
    assert swings == sorted(swings, reverse=True)
    names = [row.input for row in small.tornado]
    assert len(set(names)) == len(names)
    for wanted in (
        "queue pairs of a connection, RoCEv2 400G",
        "SHARP granted, InfiniBand NDR",
        "overlap of DP traffic, training",
        "PUE",
    ):
        assert wanted in names
    assert all(row.source for row in small.tornado)


def test_a_bar_equals_the_scenario_worked_out_with_that_value(small) -> None:
    """The bar of a technology figure is what the whole answer becomes with the figure set in the scenario."""
    row = next(r for r in small.tornado if r.input == "share of the link NCCL reaches, RoCEv2 400G")
    key = "candidates.RoCEv2 400G.overrides.host.network_efficiency_fraction"
    there = sensitivity(with_value(small_scenario(), key, float(row.low_setting)), 64, ("analytical",))
    assert row.lead_low == pytest.approx(lead(there.scores, row.first, row.second), rel=1e-6)


def test_the_unmoved_lead_is_the_same_in_every_bar(small) -> None:
    mids = {row.lead_mid for row in small.tornado}
    assert len(mids) == 1
    assert mids.pop() == pytest.approx(small.verdict.gap.mid, rel=1e-9)


def test_the_decision_table_has_every_figure_for_every_candidate(small) -> None:
    table = small.tables()["decision"]
    wanted = {
        "rank", "work_per_dollar", "relative_work", "ownership_per_year", "probability_best", "expected_regret",
        "one_percent_idle", "idle_fraction_that_cancels", "on_pareto_set",
    }  # fmt: skip
    for name in small.scenario.candidates:
        assert wanted <= set(table[table.candidate == name].metric)
    best = table[table.metric == "probability_best"].value
    assert best.sum() == pytest.approx(1.0)
    assert {"variance_share", "information_value", "verdict"} <= set(table.metric)
    idle = table[table.metric == "one_percent_idle"].set_index("candidate").value
    yearly = table[table.metric == "ownership_per_year"].set_index("candidate").value
    assert np.allclose(idle, 0.01 * yearly.loc[idle.index])


def test_every_workload_has_a_verdict_of_its_own(small) -> None:
    assert [item.workload for item in small.workloads] == list(small.scenario.workloads)
    scored = next(item for item in small.workloads if item.workload == "training")
    assert scored.verdict.gap.mid == pytest.approx(small.verdict.gap.mid, rel=1e-9)
    shown = next(item for item in small.workloads if item.workload == "allreduce")
    times = {item.setup.name: item.unit.total_s for item in small.performance if item.workload == "allreduce"}
    quick, slow = sorted(times.values())
    assert shown.fastest == min(times, key=lambda name: times[name])
    assert shown.lead == pytest.approx(slow / quick - 1.0, rel=1e-9)
    table = small.tables()["decision"]
    assert set(table[table.metric == "workload_lead"].input) == set(small.scenario.workloads)


def test_what_the_score_counts_is_training_only_where_nothing_else_counts(small) -> None:
    assert scored_work(small.scenario, ["training"]) == "training"
    assert scored_work(small.scenario, ["training", "allreduce"]) == "work"
