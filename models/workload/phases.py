"""Any workload of a scenario as a work plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from models.scenario.schema import Scenario
from models.scenario.workloads import Workload
from models.workload.collectives import bisection_plan, collective_plan, permutation_plan
from models.workload.incast import incast_plan
from models.workload.inference import inference_plan
from models.workload.llm_training import training_plan
from models.workload.plan import WorkPlan
from models.workload.storage import storage_plan

PLANS: dict[str, Callable[[Any, Scenario, str], WorkPlan]] = {
    "llm_training": training_plan,
    "collective": collective_plan,
    "incast": incast_plan,
    "permutation": permutation_plan,
    "bisection": bisection_plan,
    "storage": storage_plan,
    "inference": inference_plan,
}


def phases(workload: Workload, scenario: Scenario, name: str | None = None) -> WorkPlan:
    """The plan of `workload` on the scenario's cluster; `name` defaults to its name in the scenario.

    Raises InputError for a workload that does not fit the cluster.
    """
    if name is None:
        name = next((key for key, item in scenario.workloads.items() if item is workload), workload.kind)
    return PLANS[workload.kind](workload, scenario, name)
