"""Work per dollar, draws and the verdict."""

from __future__ import annotations

import numpy as np
import pytest

from models.compare.case import Case, scores
from models.compare.draws import DrawSource, correlated, share_best, within_band
from models.compare.value import CostLine, TimeBand, value_draws, values
from models.compare.verdict import verdict

METHOD_TIMES = {"analytical": (1.0, 0.98, 1.02), "fluid": (1.01, 0.99, 1.03)}


def time(workload: str = "training", **by_method: tuple[float, float, float]) -> list[TimeBand]:
    return [TimeBand(workload, 1.0, by_method or METHOD_TIMES)]


def cost(mid: float, spread: float = 0.1, group: str = "NVIDIA") -> list[CostLine]:
    return [CostLine(group, mid * (1 - spread), mid, mid * (1 + spread))]


def answer(times: dict[str, list[TimeBand]], costs: dict[str, list[CostLine]], seed: int = 1):  # type: ignore[no-untyped-def]
    drawn = value_draws(times, costs, seed)
    ranked = values(times, costs, drawn)
    return ranked, drawn, verdict(ranked, drawn, "training")


def test_mid_is_the_median_of_a_lopsided_band() -> None:
    u = np.linspace(0.0005, 0.9995, 1000)
    drawn = within_band(u, 30_000.0, 38_000.0, 150_000.0)
    assert np.median(drawn) == pytest.approx(38_000, rel=1e-3)
    assert drawn.min() >= 30_000 and drawn.max() <= 150_000
    assert np.all(np.diff(drawn) >= 0)


def test_correlated_draws_have_the_correlation_and_stay_uniform() -> None:
    source = DrawSource(["a", "b"], 8192, 3)
    both = correlated(source["a"], source["b"], 0.9)
    assert np.corrcoef(both, source["a"])[0, 1] == pytest.approx(np.sqrt(0.9), abs=0.02)
    assert both.mean() == pytest.approx(0.5, abs=0.01)


def test_same_seed_same_numbers_and_another_seed_others() -> None:
    times, costs = {"a": time(), "b": time()}, {"a": cost(10.0), "b": cost(11.0, group="Arista")}
    first, again = value_draws(times, costs, 5), value_draws(times, costs, 5)
    other = value_draws(times, costs, 6)
    assert np.array_equal(first.work_per_dollar["a"], again.work_per_dollar["a"])
    assert not np.array_equal(first.work_per_dollar["a"], other.work_per_dollar["a"])


def test_without_any_spread_the_ranking_is_certain() -> None:
    times = {"a": time(x=(1.0, 1.0, 1.0)), "b": time(x=(1.1, 1.1, 1.1))}
    costs = {"a": cost(10.0, 0), "b": cost(10.0, 0)}
    ranked, _, told = answer(times, costs)
    assert [value.candidate for value in ranked] == ["a", "b"]
    assert [value.probability_best for value in ranked] == [1.0, 0.0]
    assert told.decided and told.winner == "a"
    assert "10 % more training per dollar than b" in told.sentence


def test_a_price_that_both_pay_does_not_blur_the_answer() -> None:
    times = {"a": time(x=(1.0, 1.0, 1.0)), "b": time(x=(1.0, 1.0, 1.0))}
    shared = {"a": cost(100.0, 0.3), "b": [*cost(100.0, 0.3), *cost(5.0, 0.0, "Arista")]}
    assert answer(times, shared)[2].decided
    apart = {"a": cost(100.0, 0.3, "x"), "b": [*cost(100.0, 0.3, "y"), *cost(5.0, 0.0, "Arista")]}
    told = answer(times, apart)[2]
    assert not told.decided
    assert told.sentence.startswith("Too close to call")


def test_swapping_the_names_swaps_the_verdict() -> None:
    times = {"a": time(x=(1.0, 0.99, 1.01)), "b": time(x=(1.2, 1.19, 1.21))}
    costs = {"a": cost(10.0, 0.02), "b": cost(10.0, 0.02)}
    told = answer(times, costs)[2]
    swapped = answer({"a": times["b"], "b": times["a"]}, {"a": costs["b"], "b": costs["a"]})[2]
    assert (told.winner, swapped.winner) == ("a", "b")
    assert told.gap is not None and swapped.gap is not None
    assert told.gap.mid == pytest.approx(swapped.gap.mid)


def test_equal_candidates_are_not_told_apart() -> None:
    times, costs = {"a": time(), "b": time()}, {"a": cost(10.0), "b": cost(10.0)}
    ranked, _, told = answer(times, costs)
    assert not told.decided
    assert {value.relative for value in ranked} == {1.0}


def test_ties_share_the_probability() -> None:
    one = np.ones(8)
    assert share_best({"a": one, "b": one, "c": one * 0.5}) == {"a": 0.5, "b": 0.5, "c": 0.0}


def two_workloads() -> tuple[dict[str, list[TimeBand]], dict[str, list[CostLine]]]:
    times = {
        name: [TimeBand("x", 3.0, {"analytical": (x, x, x)}), TimeBand("y", 1.0, {"analytical": (y, y, y)})]
        for name, x, y in (("a", 0.3, 0.7), ("b", 0.7, 0.0), ("c", 1.1, 0.9))
    }
    return times, {name: cost(10.0, 0) for name in times}


def test_scores_values_and_draws_count_work_the_same_way() -> None:
    times, costs = two_workloads()
    drawn = value_draws(times, costs, 1, 8)
    found = scores(Case(times, costs))
    for value in values(times, costs, drawn):
        assert found[value.candidate].relative_work == value.relative_work
        assert drawn.relative_work[value.candidate] == pytest.approx(value.relative_work, rel=1e-12)
        assert found[value.candidate].work_per_dollar == value.work_per_dollar


def test_a_workload_that_takes_no_time_is_done_as_fast_as_can_be() -> None:
    times, costs = two_workloads()
    work = {name: score.relative_work for name, score in scores(Case(times, costs)).items()}
    assert work["b"] == pytest.approx(0.75 * 0.3 / 0.7 + 0.25)
    assert work["a"] == pytest.approx(0.75)
    ranked, drawn, _ = answer(times, costs)
    assert all(np.isfinite(value.work_per_dollar) for value in ranked)
    assert drawn.relative_work["b"] == pytest.approx(work["b"])
