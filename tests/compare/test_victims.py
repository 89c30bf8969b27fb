"""A scored incast whose victims fare very differently is told beside the verdict, and the table's band is the verdict's."""

import pytest

from models.cli_text import comparison_text
from models.compare.comparison import Comparison, compare
from models.compare.verdict import against_best
from models.compare.victims import victims_sentences
from models.scenario.load import with_values
from models.scenario.schema import Scenario
from tests.compare.sweeping import small_scenario


def scored(weight: float) -> Scenario:
    incast = {"kind": "incast", "weight": weight, "fan_in": 64, "burst_bytes": 2**20, "victim": True}
    return with_values(small_scenario(128), {"workloads.burst": incast})


@pytest.fixture(scope="module")
def answer() -> Comparison:
    return compare(scored(1.0), ("analytical",))


def test_victims_that_fare_differently_are_said_with_their_goodput(answer: Comparison) -> None:
    table = answer.comparison[answer.comparison.metric == "victim_goodput"]
    kept = dict(zip(table.candidate, table.value, strict=True))
    assert max(kept.values()) > 2 * min(kept.values())
    (said,) = victims_sentences(answer.scenario, answer.performance)
    assert said.startswith("burst: victims keep ") and said.endswith("; this is not scored.")
    for name, value in kept.items():
        assert f"{value / 1e9:.3g} GB/s on {name}" in said
    assert said in comparison_text(answer).splitlines()


def test_an_incast_that_is_only_shown_says_nothing_of_its_victims(answer: Comparison) -> None:
    assert victims_sentences(scored(0.0), answer.performance) == []


def test_the_band_of_the_table_is_the_ratio_the_verdict_speaks_of(answer: Comparison) -> None:
    lead, against = answer.verdict.gap, against_best(answer.values, answer.drawn)
    assert lead is not None
    behind = against[lead.other]
    assert behind is not None and against[lead.better] is None
    assert 1 + behind.low == pytest.approx(1 / (1 + lead.high), abs=1e-4)
    assert 1 + behind.high == pytest.approx(1 / (1 + lead.low), abs=1e-4)
    assert f"{1 + behind.low:.3f} .. {1 + behind.high:.3f}" in comparison_text(answer)
