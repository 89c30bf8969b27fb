"""Two fabrics bought as one plan: one for the training pod, another for everything else.

Fits where a scenario scores both training and other work. GPUs are split by weight, each part is priced with its own
networks, and the plan's work is that of its parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from models.compare.case import Case, case_at, scores
from models.compare.fabrics import Method
from models.compare.sweep_points import PartFailed, Variations, swept
from models.scenario.faults import InputError
from models.scenario.schema import Scenario
from models.workload.phases import phases

TRIED = 256
POD_KINDS = frozenset({"llm_training"})


@dataclass(frozen=True)
class Plan:
    """One way to buy: `pod` for training, `rest` for the other work; equal names are a single fabric."""

    pod: str
    rest: str
    pod_gpus: int
    rest_gpus: int
    relative_work: float  # of the fastest plan
    yearly_usd: float
    relative: float  # work per dollar, of the best plan

    @property
    def name(self) -> str:
        """As a reader would say it."""
        return self.pod if self.pod == self.rest else f"{self.pod} for training, {self.rest} for the rest"


def dual_track_fits(scenario: Scenario) -> bool:
    """Whether the scenario scores training and other work, on more than one candidate and node."""
    kinds = {item.kind in POD_KINDS for item in scenario.workloads.values() if item.weight > 0}
    return kinds == {True, False} and len(scenario.candidates) > 1 and scenario.cluster.nodes > 1


def dual_track(scenario: Scenario, methods: Sequence[Method], prices: str | None = None) -> list[Plan]:
    """Every pair of candidates as a plan, best work per dollar first; empty where the question does not fit.

    The pod is the share of the training weight, rounded to what the training layout divides. *Assumptions*: two fabrics
    share nothing but the building, each part has its own storage and management networks; a single fabric is
    priced as one cluster; a workload with its own number of GPUs keeps that number.
    """
    if not dual_track_fits(scenario):
        return []
    pod_gpus = _pod_gpus(scenario)
    rest_gpus = scenario.cluster.gpus - pod_gpus
    if pod_gpus <= 0 or rest_gpus <= 0:
        return []
    try:
        pod = _part(scenario, True, pod_gpus, methods, prices)
        rest = _part(scenario, False, rest_gpus, methods, prices)
        variations = Variations(scenario, (), methods, prices)
        whole = {
            name: sum(line.mid_usd for line in variations.cost({}, name).lines)
            for name in scenario.candidates
        }
    except (InputError, PartFailed):
        return []
    pod_weight = sum(w.weight for w in scenario.workloads.values() if w.kind in POD_KINDS)
    share = pod_weight / sum(w.weight for w in scenario.workloads.values())
    found = []
    for a, b in product(scenario.candidates, repeat=2):
        work = share * pod[a][0] + (1.0 - share) * rest[b][0]
        found.append((a, b, work, whole[a] if a == b else pod[a][1] + rest[b][1]))
    best = max(work / usd for _, _, work, usd in found)
    fastest = max(work for _, _, work, _ in found)
    plans = [Plan(a, b, pod_gpus, rest_gpus, w / fastest, usd, w / usd / best) for a, b, w, usd in found]
    return sorted(plans, key=lambda plan: (-plan.relative, plan.name))


def _part(
    scenario: Scenario, training: bool, gpus: int, methods: Sequence[Method], prices: str | None
) -> dict[str, tuple[float, float]]:
    """(relative work, yearly USD) of every candidate on one part of the cluster."""
    kept = {n: w for n, w in scenario.workloads.items() if (w.kind in POD_KINDS) == training and w.weight > 0}
    part = swept(scenario.model_copy(update={"workloads": kept}), {"cluster.gpus": gpus})
    case: Case = case_at(Variations(part, (), methods, prices), {})
    return {name: (score.relative_work, score.yearly_usd) for name, score in scores(case).items()}


def _pod_gpus(scenario: Scenario) -> int:
    """GPUs of the pod: nearest to its share of the weights at which every training layout builds; 0 = none."""
    weights = [(w.weight, w.kind in POD_KINDS) for w in scenario.workloads.values()]
    share = sum(weight for weight, training in weights if training) / sum(weight for weight, _ in weights)
    whole, grain = scenario.cluster.gpus, scenario.cluster.gpus_per_node
    wanted = share * whole
    for gpus in sorted(range(grain, whole, grain), key=lambda g: (abs(g - wanted), g))[:TRIED]:
        try:
            part = swept(scenario, {"cluster.gpus": gpus})
            for name, workload in part.workloads.items():
                if workload.kind in POD_KINDS and workload.weight > 0:
                    phases(workload, part, name)
        except InputError:
            continue
        return gpus
    return 0
