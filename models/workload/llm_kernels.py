"""Share of the peak a layout's kernels reach: arithmetic efficiency of the stack, memory traffic, handling of experts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.catalog.gpus import GpuModel
from models.catalog.kernel_efficiency import KernelEfficiency, kernel_efficiency
from models.catalog.llms import LlmShape
from models.workload.llm_compute import compute_time_s, multiplied_share
from models.workload.llm_layout import Layouts, stage_layers
from models.workload.llm_memory import layer_activation_bytes_per_token
from models.workload.llm_shape import moe_layers

ELEMENTWISE_PASSES = 4.0  # stored activations written and read, their gradients too
EXPERT_LAYER_S, EXPERT_LAYER_BAND_S = 0.0025, (0.0, 0.007)
"""Time a layer of routed experts adds per micro-batch, both passes: router, permutation, counts handed to the host,
launches of small products. Fitted on the mixture-of-experts rows of training_steps.csv, whose sources give 0 (CUDA
graphs) to 7 ms, two of them more."""


def layout_kernels(
    shape: LlmShape, layouts: Layouts, gpu: GpuModel, given: float | None = None, stack: str | None = None
) -> KernelEfficiency:
    """Efficiency of the first of `layouts` with memory traffic included; `given` (a scenario's) is taken as it is."""
    row = kernel_efficiency(gpu.generation, stack)
    if given is not None:
        return replace(
            row, efficiency=given, low=given, high=given, source="set in the scenario", confidence="scenario"
        )
    best_s, worst_s = EXPERT_LAYER_BAND_S
    mid, low, high = (
        float(effective_efficiency(shape, layouts, gpu, e, expert_s)[0])
        for e, expert_s in ((row.efficiency, EXPERT_LAYER_S), (row.low, worst_s), (row.high, best_s))
    )
    return replace(row, efficiency=mid, low=low, high=high)


def effective_efficiency(
    shape: LlmShape,
    layouts: Layouts,
    gpu: GpuModel,
    arithmetic_efficiency: float,
    expert_layer_s: float = EXPERT_LAYER_S,
) -> NDArray[np.float64]:
    """Counted operations over peak while a GPU computes, shape (n,): 1 / (share / e + T_overhead / T_peak).

    share: multiplied operations of those counted (llm_compute.multiplied_share).
    """
    at_peak_s = compute_time_s(shape, layouts, gpu.peak_bf16_flops, 1.0)
    overhead_s = overhead_time_s(shape, layouts, gpu, expert_layer_s)
    multiplied = multiplied_share(shape, layouts)
    return 1.0 / (multiplied / arithmetic_efficiency + overhead_s / at_peak_s)


def overhead_time_s(
    shape: LlmShape, layouts: Layouts, gpu: GpuModel, expert_layer_s: float = EXPERT_LAYER_S
) -> NDArray[np.float64]:
    """Time of a step's kernels besides arithmetic: memory traffic and the handling of experts, s, shape (n,)."""
    with_experts = stage_layers(shape.layers, layouts) * moe_layers(shape) / shape.layers
    return memory_time_s(shape, layouts, gpu) + expert_layer_s * with_experts * layouts.micro_batches


def memory_time_s(shape: LlmShape, layouts: Layouts, gpu: GpuModel) -> NDArray[np.float64]:
    """Time a step's kernels spend on GPU memory traffic, s, shape (n,).

    Operands and results of the three products per matrix (forward, input gradient, weight gradient), 2 B each:
    3 x 2 (M N + N K + M K); other kernels move the stored activations and their gradients. Small micro-batches
    and narrow TP shards do few operations per byte, which is why they are slower.
    *Assumptions*: not overlapped with arithmetic; every operand read from memory once per product.
    """
    tokens = layouts.micro_batch * (layouts.sequence / layouts.cp.astype(np.float64))
    tp = layouts.tp.astype(np.float64)
    h, heads = float(shape.hidden), float(shape.heads * shape.head_dim)
    merged = 2.0 if shape.gated_ffn else 1.0  # gate and up projection are one product

    def product(
        columns: NDArray[np.float64], rows: NDArray[np.float64], copies: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Elements of a product of `rows` tokens, h and `columns`, in `copies` separate matrices."""
        return rows * h + rows * columns + copies * h * columns

    one = np.ones_like(tp)
    kv = 2.0 * shape.kv_heads * shape.head_dim
    attention = product((heads + kv) / tp, tokens, one) + product(heads / tp, tokens, one)
    ffn = product(merged * shape.ffn / tp, tokens, one) + product(shape.ffn / tp, tokens, one)
    share = moe_layers(shape) / shape.layers
    if share:
        here = shape.experts / layouts.ep.astype(np.float64)
        visits, width = tokens * shape.active_experts / tp, shape.expert_ffn * one
        moe = product(merged * width, visits, here) + product(width, visits, here)
        if shape.shared_experts:
            wide = shape.shared_experts * width / tp
            moe = moe + product(merged * wide, tokens, one) + product(wide, tokens, one)
        ffn = ffn * (1.0 - share) + share * moe
    passes = 4.0 if layouts.recompute == "full" else 3.0
    moved = passes * 2.0 * (attention + ffn)
    moved += ELEMENTWISE_PASSES * layer_activation_bytes_per_token(shape, "none") * tokens / tp
    return (
        stage_layers(shape.layers, layouts) * layouts.micro_batches * moved / gpu.memory_bandwidth_bytes_per_s
    )
