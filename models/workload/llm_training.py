"""One training step of a language model as a work plan: compute, phases, and how they overlap."""

from __future__ import annotations

import numpy as np

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import KernelEfficiency, scale_loss_per_doubling
from models.catalog.llms import LlmShape
from models.scenario.faults import InputError
from models.scenario.schema import Scenario
from models.scenario.workloads import LlmTraining
from models.workload.goodput import checkpoint_bytes, checkpoint_stall_s
from models.workload.llm_checks import data_parallel, layout_faults, layout_warnings, memory_fault
from models.workload.llm_compute import (
    attention_flops_per_token,
    compute_time_s,
    linear_flops_per_token,
    optimizer_time_s,
)
from models.workload.llm_kernels import layout_kernels
from models.workload.llm_layout import Layouts, counts
from models.workload.llm_memory import memory
from models.workload.llm_phases import step_phases
from models.workload.llm_shape import shape_of
from models.workload.llm_step import step_terms
from models.workload.llm_traffic import step_traffic
from models.workload.phase import Metric
from models.workload.plan import Job, WorkPlan
from models.workload.plan_defaults import HIDDEN_FRACTIONS

WEIGHT_BYTES = {"bf16": 2.0, "fp16": 2.0, "fp8": 1.0}
GRADIENT_BYTES = {"fp32": 4.0, "bf16": 2.0}


def training_plan(workload: LlmTraining, scenario: Scenario, name: str) -> WorkPlan:
    """The plan of one step. Raises InputError with every fault of the layout, memory included.

    `global_batch_sequences` counts for the cluster of the scenario file; `batch_scaling` only says what a sweep
    over cluster.gpus does with it (see batch_at).
    """
    shape = shape_of(workload.model)
    faults = layout_faults(workload, shape, scenario, name)
    if faults:
        raise InputError(faults)
    layouts = layout_of(workload, scenario)
    need = memory(shape, layouts)
    too_large = memory_fault(workload, need, scenario, name)
    if too_large is not None:
        raise InputError([too_large])
    gpu = gpus()[scenario.cluster.gpu]
    kernels = layout_kernels(shape, layouts, gpu, workload.kernel_efficiency)
    compute = {
        e: float(compute_time_s(shape, layouts, gpu.peak_bf16_flops, e)[0])
        for e in (kernels.efficiency, kernels.low, kernels.high)
    }
    stall_s = checkpoint_stall_s(shape.params, scenario.cluster.gpus, gpu.pcie_generation)
    interval = workload.checkpoint_interval_steps
    traffic = step_traffic(shape, layouts)
    terms = step_terms(
        traffic,
        layouts,
        hidden_fractions(workload),
        optimizer_time_s(shape, layouts, gpu),
        np.array([stall_s / interval if interval else 0.0]),
        scale_loss_per_doubling(),
    )
    tokens = float(workload.global_batch_sequences) * workload.sequence
    return WorkPlan(
        name=name,
        kind=workload.kind,
        unit="step",
        compute_s=compute[kernels.efficiency],
        compute_low_s=compute[kernels.high],
        compute_high_s=compute[kernels.low],
        phases=step_phases(traffic, layouts, shape, hidden_fractions(workload)),
        step=terms,
        job=Job(
            gpus=scenario.cluster.gpus,
            work_per_unit=tokens,
            work_unit="tokens",
            work_total=workload.tokens_total,
            model_flops_per_unit=tokens * linear_flops_per_token(shape),
            attention_flops_per_unit=tokens * attention_flops_per_token(shape, workload.sequence),
            peak_flops=gpu.peak_bf16_flops,
            checkpoint_bytes=checkpoint_bytes(shape.params),
            checkpoint_stall_s=stall_s,
            nics=scenario.cluster.nodes * scenario.cluster.nics_per_node,
            efficiency_source=f"{kernels.source} ({kernels.confidence})",
        ),
        metrics=(
            Metric("memory_per_gpu", float(need.total[0]), "bytes", source="memory of the fullest stage"),
            Metric("data_parallel", float(layouts.dp[0]), "replicas", source="layout"),
            Metric("micro_batches", float(layouts.micro_batches[0]), "per step", source="layout"),
        ),
        warnings=layout_warnings(layouts, shape, scenario, name),
        notes=_notes(shape, layouts),
    )


def layout_of(workload: LlmTraining, scenario: Scenario) -> Layouts:
    """The workload's layout as arrays of shape (1,)."""
    return Layouts(
        tp=counts(workload.tp),
        pp=counts(workload.pp),
        dp=counts(data_parallel(workload, scenario.cluster.gpus)),
        cp=counts(workload.cp),
        ep=counts(workload.ep),
        virtual_stages=counts(workload.virtual_stages),
        micro_batch=counts(workload.micro_batch),
        batch_sequences=workload.global_batch_sequences,
        sequence=workload.sequence,
        zero=workload.zero,
        sequence_parallel=workload.sequence_parallel,
        recompute=workload.recompute,
        weight_bytes=WEIGHT_BYTES[workload.weight_dtype],
        gradient_bytes=GRADIENT_BYTES[workload.gradient_dtype],
        rank_order=scenario.placement.rank_order,
    )


def workload_kernels(workload: LlmTraining, scenario: Scenario) -> KernelEfficiency:
    """Kernel efficiency of a training workload with its band, as its plan uses it."""
    gpu = gpus()[scenario.cluster.gpu]
    return layout_kernels(
        shape_of(workload.model), layout_of(workload, scenario), gpu, workload.kernel_efficiency
    )


def batch_at(workload: LlmTraining, gpus_in_file: int, gpus_swept: int) -> int:
    """Sequences per step when a sweep changes the cluster from the file's GPUs to another number.

    fixed: unchanged (strong scaling). per_gpu: in proportion to the GPUs, in whole multiples of micro_batch x the
    replicas `dp: auto` gives (weak scaling).

    >>> job = LlmTraining(kind="llm_training", model="llama3-70b", tp=8, pp=4, global_batch_sequences=2048,
    ...                   sequence=8192, tokens_total=1e12, batch_scaling="per_gpu")
    >>> batch_at(job, 1024, 256), batch_at(job.model_copy(update={"batch_scaling": "fixed"}), 1024, 256)
    (512, 2048)
    """
    batch = workload.global_batch_sequences
    if workload.batch_scaling == "fixed":
        return batch
    grain = max(1, data_parallel(workload, gpus_swept)) * workload.micro_batch
    return max(grain, round(batch * gpus_swept / gpus_in_file / grain) * grain)


def hidden_fractions(workload: LlmTraining) -> dict[str, float]:
    """Share of each dimension's communication that may hide: the defaults, or what the scenario sets."""
    given = workload.overlap.model_dump()
    return {key: default if given[key] is None else given[key] for key, default in HIDDEN_FRACTIONS.items()}


def _notes(shape: LlmShape, layouts: Layouts) -> tuple[str, ...]:
    stages = int(layouts.pp[0] * layouts.virtual_stages[0])
    notes = []
    if shape.layers % stages:
        notes.append(
            f"{shape.layers} layers on {stages} stages: stages are uneven, the longest "
            f"({-(-shape.layers // stages)} layers) decides"
        )
    if int(layouts.tp[0]) > shape.kv_heads:
        notes.append(
            f"tp {int(layouts.tp[0])} exceeds {shape.kv_heads} key-value heads: each is kept more than once"
        )
    return tuple(notes)
