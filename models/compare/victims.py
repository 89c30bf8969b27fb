"""What the score of an incast leaves out: what is left of the victim that shares the fabric with the burst."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from models.compare.metrics import workload_rows
from models.compare.performance import WorkloadTime
from models.scenario.schema import Scenario

APART = 2.0  # goodputs further apart than this are said beside the verdict
METRIC = "victim_goodput"


def victims_sentences(scenario: Scenario, performance: Sequence[WorkloadTime]) -> list[str]:
    """One sentence a scored incast whose victims fare more than twice as well on one candidate as on another.

    The score counts the time of the burst alone. Goodput is the mean of the methods that were asked.
    """
    weighted = [name for name, item in scenario.workloads.items() if item.weight > 0]
    found = []
    for workload in weighted or list(scenario.workloads):
        if scenario.workloads[workload].kind != "incast":
            continue
        kept: dict[str, list[float]] = {}
        for item in performance:
            if item.workload == workload:
                figures = [row.value for row in workload_rows(scenario, item) if row.metric == METRIC]
                kept.setdefault(item.setup.name, []).extend(figures)
        goodput = {name: float(np.mean(values)) for name, values in kept.items() if values}
        if len(goodput) > 1 and max(goodput.values()) > APART * min(goodput.values()):
            found.append(f"{workload}: victims keep {_listed(goodput)}; this is not scored.")
    return found


def _listed(goodput: dict[str, float]) -> str:
    order = sorted(goodput, key=lambda name: -goodput[name])
    return ", ".join(f"{goodput[name] / 1e9:.3g} GB/s on {name}" for name in order)
