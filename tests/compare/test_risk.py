"""Risk facts, and two fabrics as one plan."""

import pytest

from models.compare.costs import candidate_costs
from models.compare.dual_track import dual_track, dual_track_fits
from models.compare.performance import setup
from models.compare.risk import dependency_cycle_of, risks
from models.scenario.load import SHIPPED, load, with_values
from tests.compare.sweeping import small_scenario

SMALL = small_scenario()
ANALYTICAL = ("analytical",)


@pytest.fixture(scope="module")
def facts():
    setups = [setup(SMALL, name) for name in SMALL.candidates]
    return risks(SMALL, setups, candidate_costs(SMALL, setups))


def test_every_candidate_has_a_fact_on_every_topic(facts) -> None:
    for name in SMALL.candidates:
        topics = {row.topic for row in facts if row.candidate == name}
        assert {"vendors", "lead time", "deadlock", "pause storms", "loss", "skills"} <= topics
    assert all(row.source for row in facts)
    assert [row for row in facts if row.topic == "subnet" and row.candidate == "InfiniBand NDR"]


def test_up_down_routes_of_a_tree_have_no_cycle() -> None:
    for kind in ("rail_optimized", "fat_tree", "rail_only"):
        on = setup(with_values(SMALL, {"topology.kind": kind, "cluster.gpus": 1024}), "RoCEv2 400G")
        cycle, checked = dependency_cycle_of(on, seed=1)
        assert cycle == () and checked > 1000


def test_a_fabric_that_drops_cannot_deadlock() -> None:
    scenario = load(SHIPPED / "llama3-70b-1024-h100.yaml")
    on = setup(scenario, "Ethernet TCP 400G")
    found = {row.topic: row.value for row in risks(scenario, [on], {})}
    assert "cannot deadlock" in found["deadlock"]


def mixed():
    scenario = load(SHIPPED / "converged-storage-1024.yaml")
    kept = {name: item for name, item in scenario.workloads.items() if item.kind != "incast"}
    return scenario.model_copy(update={"workloads": kept})


def test_two_fabrics_fit_only_where_work_is_mixed() -> None:
    assert dual_track_fits(mixed())
    assert not dual_track_fits(SMALL)
    assert dual_track(SMALL, ANALYTICAL) == []


def test_every_pair_is_priced_as_one_plan() -> None:
    scenario = mixed()
    plans = dual_track(scenario, ANALYTICAL)
    assert len(plans) == len(scenario.candidates) ** 2
    assert {plan.pod_gpus + plan.rest_gpus for plan in plans} == {1024}
    assert plans[0].relative == 1.0 and [p.relative for p in plans] == sorted(
        (p.relative for p in plans), reverse=True
    )
    cost = candidate_costs(scenario, [setup(scenario, "RoCEv2 400G")])["RoCEv2 400G"]
    one = next(p for p in plans if p.pod == p.rest == "RoCEv2 400G")
    assert one.yearly_usd == pytest.approx(cost.yearly_usd[1], rel=1e-9)
    two = next(p for p in plans if (p.pod, p.rest) == ("InfiniBand NDR", "RoCEv2 400G"))
    swapped = next(p for p in plans if (p.pod, p.rest) == ("RoCEv2 400G", "InfiniBand NDR"))
    assert two.name == "InfiniBand NDR for training, RoCEv2 400G for the rest"
    assert two.yearly_usd != one.yearly_usd and two.name != swapped.name
