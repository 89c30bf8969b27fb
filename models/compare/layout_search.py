"""The best layout of a training workload on one candidate: a slower network deserves its own."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import kernel_efficiency, scale_loss_per_doubling
from models.compare.fabrics import PACKAGES
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.scenario.workloads import LlmTraining, Workload
from models.topology.link import Link
from models.topology.network import Network
from models.workload.llm_checks import domain_gpus
from models.workload.llm_estimates import sizes_cost
from models.workload.llm_layout import counts
from models.workload.llm_search import NoLayout, RankedLayouts, best_layouts, layout_grid
from models.workload.llm_shape import shape_of
from models.workload.llm_training import hidden_fractions, layout_of, training_plan
from models.workload.phase import Metric
from models.workload.plan import WorkPlan


def ranked_layouts(
    scenario: Scenario, workload: str, network: Network, link: Link, keep: int = 10
) -> RankedLayouts:
    """Layouts of a training workload that fit, fastest first, by the candidate's closed-form phase times.

    TP, PP, DP, virtual stages and micro-batch are free; CP, EP, ZeRO, recomputation and batch are the scenario's.
    Raises InputError when nothing fits.
    """
    asked = _training(scenario, workload)
    shape, gpu = shape_of(asked.model), gpus()[scenario.cluster.gpu]
    analytical = import_module(PACKAGES[link.technology.fabric] + ".analytical")
    like = replace(layout_of(asked, scenario), dp=counts(1))
    grid = layout_grid(shape, like, scenario.cluster.gpus, domain_gpus(scenario))
    given = asked.kernel_efficiency
    try:
        return best_layouts(
            shape,
            grid,
            gpu,
            kernel_efficiency(gpu.generation).efficiency if given is None else given,
            hidden_fractions(asked),
            sizes_cost(lambda phase, sizes: analytical.phase_times_s(phase, sizes, network, link)),
            scale_loss_per_doubling(),
            keep,
            with_memory_traffic=given is None,
        )
    except NoLayout as error:
        raise InputError(
            [Fault(scenario.name, f"workloads.{workload}.search_layout", "", str(error))]
        ) from error


def searches(workload: Workload) -> bool:
    """Whether each candidate finds its own layout for the workload."""
    return workload.kind == "llm_training" and workload.search_layout


def best_layout_plan(scenario: Scenario, workload: str, network: Network, link: Link) -> WorkPlan:
    """The plan of a training workload with the best layout of the candidate; the layout is among its metrics."""
    asked, found = _training(scenario, workload), ranked_layouts(scenario, workload, network, link, keep=1)
    best = found.layouts
    chosen = {
        "tp": int(best.tp[0]),
        "pp": int(best.pp[0]),
        "virtual_stages": int(best.virtual_stages[0]),
        "micro_batch": int(best.micro_batch[0]),
    }
    plan = training_plan(asked.model_copy(update={**chosen, "dp": "auto"}), scenario, workload)
    source = f"layout search: best of {found.fitting} that fit, {found.considered} considered"
    said = ", ".join(f"{key} {value}" for key, value in chosen.items())
    return replace(
        plan,
        metrics=plan.metrics
        + tuple(Metric(f"layout_{k}", float(v), "count", source=source) for k, v in chosen.items()),
        notes=(*plan.notes, f"{source}: {said}"),
    )


def _training(scenario: Scenario, workload: str) -> LlmTraining:
    asked = scenario.workloads[workload]
    if not isinstance(asked, LlmTraining):
        raise InputError(
            [Fault(scenario.name, f"workloads.{workload}", asked.kind, "only training has layouts")]
        )
    return asked
