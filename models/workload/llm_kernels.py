"""Share of the peak a layout's kernels reach: arithmetic efficiency of the stack, and memory traffic of the shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.catalog.gpus import GpuModel
from models.catalog.kernel_efficiency import KernelEfficiency, kernel_efficiency
from models.catalog.llms import LlmShape
from models.workload.llm_compute import compute_time_s
from models.workload.llm_layout import Layouts, stage_layers
from models.workload.llm_memory import layer_activation_bytes_per_token
from models.workload.llm_shape import moe_layers

ELEMENTWISE_PASSES = 4.0  # stored activations written and read, their gradients too


def layout_kernels(
    shape: LlmShape, layouts: Layouts, gpu: GpuModel, given: float | None = None, stack: str | None = None
) -> KernelEfficiency:
    """Efficiency of the first of `layouts` with memory traffic included; `given` (a scenario's) is taken as it is."""
    row = kernel_efficiency(gpu.generation, stack)
    if given is not None:
        return replace(
            row, efficiency=given, low=given, high=given, source="set in the scenario", confidence="scenario"
        )
    mid, low, high = (
        float(effective_efficiency(shape, layouts, gpu, e)[0]) for e in (row.efficiency, row.low, row.high)
    )
    return replace(row, efficiency=mid, low=low, high=high)


def effective_efficiency(
    shape: LlmShape, layouts: Layouts, gpu: GpuModel, arithmetic_efficiency: float
) -> NDArray[np.float64]:
    """Executed operations over peak while a GPU computes, shape (n,): 1 / (1 / e + T_memory / T_peak)."""
    at_peak_s = compute_time_s(shape, layouts, gpu.peak_bf16_flops, 1.0)
    return 1.0 / (1.0 / arithmetic_efficiency + memory_time_s(shape, layouts, gpu) / at_peak_s)


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
