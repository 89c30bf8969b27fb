"""The same step on real fabrics: estimates with a fabric's sizes equal the plan with its phase times."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import kernel_efficiency, scale_loss_per_doubling
from models.compare.performance import setup
from models.workload.llm_estimates import sizes_cost, step_estimates
from models.workload.llm_kernels import effective_efficiency
from models.workload.llm_shape import shape_of
from models.workload.llm_training import hidden_fractions, layout_of
from models.workload.plan import unit_time
from tests.workload.training_jobs import scenario, training


@pytest.mark.parametrize(
    ("candidate", "package"),
    [("InfiniBand NDR", "infiniband"), ("RoCEv2 400G", "rocev2"), ("Ethernet TCP 400G", "tcp")],
)
def test_estimates_with_a_fabrics_sizes_equal_its_plan(candidate, package):
    at, plan = scenario(), training()
    on = setup(at, candidate)
    analytical = import_module(f"models.{package}.analytical")
    times = {phase.name: analytical.phase_time(phase, on.network, on.link).time_s for phase in plan.phases}
    workload, gpu = at.workloads["training"], gpus()["H100"]
    layouts, shape = layout_of(workload, at), shape_of(workload.model)
    step = step_estimates(
        shape,
        layouts,
        gpu,
        effective_efficiency(shape, layouts, gpu, kernel_efficiency("hopper").efficiency),
        hidden_fractions(workload),
        sizes_cost(lambda phase, sizes: analytical.phase_times_s(phase, sizes, on.network, on.link)),
        scale_loss_per_doubling(),
    )
    assert step.total_s == pytest.approx(np.array([unit_time(plan, times).total_s]), rel=1e-9)
