"""Collectives, permutations and bisections of a scenario as work plans of one phase."""

from __future__ import annotations

from models.catalog.gpus import gpus
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.scenario.workloads import Bisection, Collective, Permutation
from models.workload.phase import Expert, Phase, RankGroups
from models.workload.plan import Job, WorkPlan

BYTES_PER_ELEMENT = {"fp32": 4.0, "int32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0}


def collective_plan(workload: Collective, scenario: Scenario, name: str) -> WorkPlan:
    """One execution of a collective over the first `ranks` GPUs.

    MoE: message_bytes is what one rank sends in total, tokens = message / (top_k hidden bytes).
    Raises InputError when the ranks do not exist or do not fill nodes.
    """
    total = scenario.cluster.gpus
    ranks = total if workload.ranks == "all" else workload.ranks
    key = f"workloads.{name}.ranks"
    least = 1 if ranks == total == 1 else 2
    if not least <= ranks <= total:
        raise InputError(
            [Fault(scenario.name, key, str(ranks), f"allowed {least} .. {total}, the cluster's GPUs")]
        )
    per_node = scenario.cluster.gpus_per_node
    if ranks > per_node and ranks % per_node:
        below = ranks - ranks % per_node
        nearest = f"{below} or {below + per_node}"
        raise InputError(
            [
                Fault(
                    scenario.name,
                    key,
                    str(ranks),
                    f"more than a node but not whole nodes; nearest allowed: {nearest}",
                )
            ]
        )
    expert = None
    if workload.operation in {"moe_dispatch", "moe_combine"}:
        element = BYTES_PER_ELEMENT[workload.dtype]
        tokens = max(1, round(workload.message_bytes / (workload.top_k * workload.hidden * element)))
        expert = Expert(tokens, workload.top_k, workload.hidden, 0, element, workload.low_latency)
    phase = Phase(
        name=workload.operation,
        operation=workload.operation,
        message_bytes=float(workload.message_bytes),
        groups=RankGroups(ranks),
        algorithm=workload.algorithm,
        dtype=workload.dtype,
        expert=expert,
    )
    return _single(name, workload.kind, "execution", phase, scenario)


def permutation_plan(workload: Permutation, scenario: Scenario, name: str) -> WorkPlan:
    """Every GPU sends one message to the same GPU of another node, all at once."""
    phase = Phase(
        "permutation",
        "permutation",
        float(workload.message_bytes),
        RankGroups(scenario.cluster.gpus),
        pattern=workload.pattern,
    )
    return _single(name, workload.kind, "execution", phase, scenario)


def bisection_plan(workload: Bisection, scenario: Scenario, name: str) -> WorkPlan:
    """Each half of the cluster sends to the other half, one message per GPU."""
    phase = Phase("bisection", "bisection", float(workload.message_bytes), RankGroups(scenario.cluster.gpus))
    return _single(name, workload.kind, "execution", phase, scenario)


def _single(name: str, kind: str, unit: str, phase: Phase, scenario: Scenario) -> WorkPlan:
    peak = gpus()[scenario.cluster.gpu].peak_bf16_flops
    return WorkPlan(
        name, kind, unit, 0.0, (phase,), Job(scenario.cluster.gpus, 1.0, "executions", peak_flops=peak)
    )
