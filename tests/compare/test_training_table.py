"""Where the time of a step goes: what NVLink takes is not laid at the fabric's door, and all parts add up."""

from __future__ import annotations

import pytest

from models.compare.comparison import compare
from models.compare.training_table import INSIDE, step_parts, step_sentence, step_totals
from models.scenario.load import load


def test_parts_add_up_and_the_node_is_apart_from_the_fabric() -> None:
    scenario = load("scenarios/llama3-70b-1024-h100.yaml")
    answer = compare(scenario, ("analytical",), unscored=False)
    parts = step_parts(answer, "training")
    totals = step_totals(parts).set_index("candidate")
    for item in answer.performance:
        assert totals.total_s[item.setup.name] == pytest.approx(item.unit.total_s)
    inside = parts[parts.part == INSIDE].time_s
    assert inside.max() == pytest.approx(inside.min()) and inside.min() > 1.0  # TP of 8 stays in the node
    assert (totals.exposed_s < 0.5).all()
    assert "NVLink in the node" in step_sentence(parts)
