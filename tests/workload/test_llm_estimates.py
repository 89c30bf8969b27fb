"""Many layouts at once equal one plan at a time; the search finds what trying all of them finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import kernel_efficiency, scale_loss_per_doubling
from models.catalog.llms import llms
from models.scenario.faults import InputError
from models.workload.llm_estimates import phase_cost, sizes_cost, step_estimates
from models.workload.llm_kernels import effective_efficiency
from models.workload.llm_layout import Layouts, counts
from models.workload.llm_search import NoLayout, best_layouts, layout_grid
from models.workload.llm_shape import shape_of
from models.workload.llm_training import hidden_fractions, layout_of
from models.workload.plan import unit_time
from models.workload.plan_defaults import HIDDEN_FRACTIONS
from tests.workload.training_jobs import scenario, toy_time, toy_times, training

H100, ONE = gpus()["H100"], counts(1)
COST = phase_cost(toy_time)
LIKE = Layouts(ONE, ONE, ONE, ONE, ONE, ONE, ONE, batch_sequences=512, sequence=8192)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"zero": 0, "sequence_parallel": False, "cluster__gpu": "B200"},
        {"zero": 3, "pp": 2, "virtual_stages": 4, "recompute": "selective", "cluster__gpu": "B200"},
        {"cp": 4, "sequence": 32768, "global_batch_sequences": 512, "recompute": "full"},
        {"placement__rank_order": "tp-pp-dp", "micro_batch": 2, "cluster__gpu": "H200"},
        {"model": "deepseek-v3", "tp": 2, "pp": 16, "ep": 32, "sequence": 4096, "recompute": "full"},
    ],
)
def test_one_layout_of_many_equals_its_plan(changes):
    at, plan = scenario(**changes), training(**changes)
    workload = at.workloads["training"]
    layouts, shape, gpu = layout_of(workload, at), shape_of(workload.model), gpus()[at.cluster.gpu]
    repeated = layouts.taken(np.zeros(3, dtype=np.int64))
    step = step_estimates(
        shape,
        repeated,
        gpu,
        effective_efficiency(shape, repeated, gpu, kernel_efficiency(gpu.generation).efficiency),
        hidden_fractions(workload),
        COST,
        scale_loss_per_doubling(),
    )
    unit = unit_time(plan, toy_times(plan))
    assert step.total_s == pytest.approx(np.full(3, unit.total_s), rel=1e-9)
    assert float(step.bubble_s[1]) == pytest.approx(unit.bubble_s, rel=1e-9)
    for phase in plan.phases:
        assert float(step.exposed_s[phase.name][2]) == pytest.approx(unit.exposed_s[phase.name], rel=1e-9)


def test_every_layout_of_the_grid_passes_the_checks_of_a_plan():
    at = scenario(global_batch_sequences=512)
    workload = at.workloads["training"]
    grid = layout_grid(shape_of(workload.model), layout_of(workload, at), 1024, 8)
    picked = np.random.default_rng(1).choice(len(grid.tp), 40, replace=False)
    for i in picked:
        changes = {
            "tp": int(grid.tp[i]), "pp": int(grid.pp[i]), "virtual_stages": int(grid.virtual_stages[i]),
            "micro_batch": int(grid.micro_batch[i]), "global_batch_sequences": 512,
        }  # fmt: skip
        try:
            training(**changes)
        except InputError as error:  # memory is checked by the search, not by the grid
            assert all("does not fit" in fault.problem for fault in error.faults)


def test_the_search_returns_the_best_of_all_fitting_layouts():
    shape = llms()["llama3-70b"]
    grid = layout_grid(shape, LIKE, 256, 8)
    found = best_layouts(shape, grid, H100, 0.58, HIDDEN_FRACTIONS, COST, keep=5)
    everything = step_estimates(
        shape, grid, H100, effective_efficiency(shape, grid, H100, 0.58), HIDDEN_FRACTIONS, COST
    )
    assert 0 < found.fitting < found.considered == len(grid.tp)
    assert (found.memory_bytes <= 80e9).all()
    assert (np.diff(found.total_s) >= 0).all()
    assert float(found.total_s[0]) >= float(everything.total_s.min())
    best = found.layouts
    same = (
        (grid.tp == best.tp[0])
        & (grid.pp == best.pp[0])
        & (grid.virtual_stages == best.virtual_stages[0])
        & (grid.micro_batch == best.micro_batch[0])
    )
    assert everything.total_s[same] == pytest.approx(found.total_s[:1], rel=1e-9)


def test_a_slower_network_never_has_a_faster_best_layout():
    shape = llms()["llama3-70b"]
    grid = layout_grid(shape, LIKE, 256, 8)
    best = [
        float(
            best_layouts(
                shape,
                grid,
                H100,
                0.58,
                HIDDEN_FRACTIONS,
                phase_cost(lambda p, r=rate: toy_time(p, r)),
                keep=1,
            ).total_s[0]
        )
        for rate in (96e9, 48e9, 12e9)
    ]
    assert best == sorted(best)


def test_nothing_that_fits_is_an_error_with_the_number():
    shape = llms()["llama3-405b"]
    with pytest.raises(NoLayout, match="GB per GPU, H100 has 80 GB"):
        best_layouts(shape, layout_grid(shape, LIKE, 8, 8), H100, 0.58, HIDDEN_FRACTIONS, COST)


def test_sizes_at_once_equal_one_phase_at_a_time():
    def times_s(phase, message_bytes):
        return np.array([toy_time(replace(phase, message_bytes=size)) for size in message_bytes])

    grid = layout_grid(llms()["llama3-70b"], LIKE, 128, 8)
    by_size, by_phase = (
        step_estimates(llms()["llama3-70b"], grid, H100, 0.5, HIDDEN_FRACTIONS, cost)
        for cost in (sizes_cost(times_s), COST)
    )
    assert by_size.total_s == pytest.approx(by_phase.total_s, rel=1e-12)
