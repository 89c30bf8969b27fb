"""What the verdict says where candidates are twins, level, or alone."""

import pytest

from models.compare.value import CostLine, TimeBand, value_draws, values
from models.compare.verdict import Verdict, percent, verdict


def said(
    times_s: dict[str, float],
    usd: dict[str, float],
    spread: float = 0.0,
    technologies: dict[str, str] | None = None,
    cost_spread: dict[str, float] | None = None,
) -> Verdict:
    times = {
        name: [TimeBand("w", 1.0, {"analytical": (s, s * (1 - spread), s * (1 + spread))})]
        for name, s in times_s.items()
    }
    wide = dict.fromkeys(usd, 0.0) | (cost_spread or {})
    costs = {
        name: [CostLine(f"V {name}", value * (1 - wide[name]), value, value * (1 + wide[name]))]
        for name, value in usd.items()
    }
    drawn = value_draws(times, costs, 1)
    return verdict(values(times, costs, drawn), drawn, "training", technologies=technologies)


def test_twins_are_said_to_be_equal_not_to_differ_by_nothing() -> None:
    twins = said({"A": 10.0, "B": 10.0}, {"A": 1e6, "B": 1e6})
    assert twins.sentence == "No difference: A and B give the same training per dollar."
    assert twins.time_sentence == "A and B are equally fast."
    assert twins.cost_sentence == "A and B cost the same to own."
    assert not twins.decided


def test_level_ones_have_their_band_and_no_zero_per_cent() -> None:
    level = said({"A": 10.0, "B": 10.0}, {"A": 1e6, "B": 1e6}, spread=0.004)
    assert level.sentence.startswith("No difference that matters: A and B are level (90 % band -")
    assert "0.00 %" not in level.sentence and "0.00 %" not in level.cost_sentence


def test_the_cheapest_are_named_together_where_several_cost_the_same() -> None:
    three = said({"A": 10.0, "B": 10.0, "C": 10.0}, {"A": 1e6, "B": 1e6, "C": 1.1e6})
    assert three.cost_sentence == "A and B are cheapest to own; per year the others cost more: C 10 %."


def test_one_alone_costs_something_and_is_compared_with_nothing() -> None:
    alone = said({"A": 10.0}, {"A": 2e6})
    assert alone.sentence == "A is the only candidate; nothing to compare it with."
    assert (alone.time_sentence, alone.cost_sentence) == ("", "A costs 2 M USD a year to own.")


def test_no_minus_before_a_zero() -> None:
    assert percent(-4e-5) == "0.00 %" and percent(-6e-5) == "-0.01 %"


def test_the_runner_up_is_the_second_of_the_table_and_the_best_of_another_technology_is_said_too() -> None:
    even, usd = dict.fromkeys("ABC", 10.0), {"A": 1.0e6, "B": 1.025e6, "C": 1.05e6}
    found = said(even, usd, technologies={"A": "roce", "B": "roce", "C": "ib"}, cost_spread={"C": 0.02})
    assert found.decided and found.runner_up == "B"
    assert found.sentence.startswith(
        "A gives 2.5 % more training per dollar than B (90 % band 2.5 % to 2.5 %; "
    )
    assert " Over C, the best of another technology, the lead is 5.0 % (90 % band 3." in found.sentence
    three = said(even, usd, technologies={"A": "roce", "B": "ib", "C": "tcp"})
    assert three.sentence.endswith("of draws).") and "Over" not in three.sentence


def test_one_after_the_second_that_may_be_better_after_all_keeps_the_call_open() -> None:
    even, usd = dict.fromkeys("ABC", 10.0), {"A": 1.0e6, "B": 1.02e6, "C": 1.03e6}
    found = said(even, usd, cost_spread={"C": 0.2})
    assert not found.decided and found.runner_up == "C"
    assert found.sentence.startswith("Too close to call: A is 3.0 % ahead of C")


def test_the_csv_holds_the_band_the_verdict_speaks_of() -> None:
    from models.compare.comparison import compare
    from models.compare.verdict import against_best
    from models.scenario.load import load

    answer = compare(load("scenarios/llama3-70b-1024-h100.yaml"), ("analytical",), unscored=False)
    table = answer.comparison[answer.comparison.metric == "work_per_dollar_relative"].set_index("candidate")
    for name, lead in against_best(answer.values, answer.drawn).items():
        found = (float(table.low[name]), float(table.high[name]))
        assert found == pytest.approx((1.0, 1.0) if lead is None else (1.0 + lead.low, 1.0 + lead.high))
