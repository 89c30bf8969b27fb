"""Every shipped scenario is a question that gets an answer."""

import math

import pytest

from models.compare.comparison import compare
from models.compare.fabrics import METHODS
from models.scenario.load import SHIPPED, load

FILES = sorted(SHIPPED.glob("*.yaml"))
NAMES = [file.stem for file in FILES]


def test_at_least_thirteen_questions_are_shipped() -> None:
    assert len(FILES) >= 13
    questions = [load(file).question for file in FILES]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_the_file_says_what_it_answers(file) -> None:
    scenario = load(file)
    assert scenario.name == file.stem
    assert scenario.question.endswith("?")
    if file.stem != "llama3-70b-1024-h100":
        assert file.read_text().startswith("# ")
    assert any(item.weight > 0 for item in scenario.workloads.values())
    assert len(scenario.candidates) > 1


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_the_scenario_runs(file) -> None:
    scenario = load(file)
    answer = compare(scenario, METHODS)
    assert {value.candidate for value in answer.values} == set(scenario.candidates)
    assert sum(value.probability_best for value in answer.values) == pytest.approx(1.0)
    assert answer.verdict.sentence
    table = answer.comparison
    for name in scenario.candidates:
        for workload in scenario.workloads:
            for method in METHODS:
                rows = table[
                    (table.candidate == name) & (table.workload == workload) & (table.method == method)
                ]
                assert len(rows), (name, workload, method)
    numbers = table.value.astype(float)
    assert numbers.map(math.isfinite).all()
    assert (table.low <= table.value * (1 + 1e-9) + 1e-12).all()
    assert (table.value <= table.high * (1 + 1e-9) + 1e-12).all()
    assert not [cost.errors for cost in answer.costs.values() if cost.errors]
