"""A small scenario for sweep tests: quick by both methods."""

from models.scenario.load import load, with_values
from models.scenario.schema import Scenario


def small_scenario(gpus: int = 64) -> Scenario:
    """Two candidates, training and one collective, no incast."""
    scenario = with_values(load("scenarios/llama3-70b-1024-h100.yaml"), {"cluster.gpus": gpus})
    names = list(scenario.candidates)[:2]
    training = scenario.workloads["training"].model_copy(update={"pp": 2, "recompute": "full"})
    return scenario.model_copy(
        update={
            "candidates": {name: scenario.candidates[name] for name in names},
            "workloads": {"training": training, "allreduce": scenario.workloads["allreduce"]},
        }
    )
