"""Best layout per candidate, through the same call as any workload."""

from __future__ import annotations

import pytest

from models.compare.layout_search import ranked_layouts
from models.compare.performance import setup, workload_time
from models.compare.sweep_points import Variations
from models.scenario.faults import InputError
from models.scenario.load import SHIPPED, load, with_values

FIRST = load(SHIPPED / "llama3-70b-1024-h100.yaml")
SEARCHED = with_values(FIRST, {"workloads.training.search_layout": True})


@pytest.mark.parametrize("candidate", ["InfiniBand NDR", "Ethernet TCP 400G"])
def test_the_searched_layout_is_never_slower_than_the_written_one(candidate):
    on = setup(FIRST, candidate)
    written = workload_time(FIRST, on, "training", "analytical")
    found = workload_time(SEARCHED, on, "training", "analytical")
    assert found.unit.total_s <= written.unit.total_s * (1 + 1e-9)
    ranked = ranked_layouts(SEARCHED, "training", on.network, on.link)
    assert found.unit.total_s == pytest.approx(float(ranked.total_s[0]), rel=1e-9)
    named = {m.name: m.value for m in found.plan.metrics}
    assert named["layout_tp"] == float(ranked.layouts.tp[0])


def test_an_efficiency_of_the_scenario_holds_in_the_search_too():
    fixed = with_values(SEARCHED, {"workloads.training.kernel_efficiency": 0.5})
    on = setup(fixed, "InfiniBand NDR")
    found = workload_time(fixed, on, "training", "analytical")
    ranked = ranked_layouts(fixed, "training", on.network, on.link)
    assert found.unit.total_s == pytest.approx(float(ranked.total_s[0]), rel=1e-9)


def test_a_model_that_fits_nowhere_is_one_clear_fault():
    small = with_values(SEARCHED, {"cluster.gpus": 8, "workloads.training.pp": 1})
    with pytest.raises(InputError, match="no layout fits: the smallest needs"):
        workload_time(small, setup(small, "InfiniBand NDR"), "training", "analytical")


def test_sweeps_and_draws_search_too():
    few = SEARCHED.model_copy(
        update={
            "candidates": {
                name: SEARCHED.candidates[name] for name in ("InfiniBand NDR", "Ethernet TCP 400G")
            },
            "workloads": {"training": SEARCHED.workloads["training"]},
        }
    )
    variations = Variations(few, ["cluster.gpus"], ("analytical",))
    for name in few.candidates:
        at = {"cluster.gpus": 512}
        found = variations.time(at, name, "training", "analytical")
        half = with_values(few, at)
        alone = workload_time(half, setup(half, name), "training", "analytical")
        assert found.unit == alone.unit and found.plan == alone.plan
        assert any(metric.name == "layout_tp" for metric in found.plan.metrics)


def test_an_axis_may_turn_the_search_on():
    variations = Variations(FIRST, ["workloads.training.search_layout"], ("analytical",))
    written, found = (
        variations.time({"workloads.training.search_layout": on}, "InfiniBand NDR", "training", "analytical")
        for on in (False, True)
    )
    assert found.unit.total_s < written.unit.total_s
