"""What a training step sends: one record per kind of communication, for one layout or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.catalog.llms import LlmShape
from models.workload.llm_compute import stage_parameters
from models.workload.llm_layout import Counts, Layouts, stage_layers
from models.workload.llm_shape import moe_layers
from models.workload.phase import Operation

Window = Literal["pipeline", "backward_end", "forward_start", "gather", "scatter"]
Dimension = Literal["tp", "pp", "dp", "ep", "cp"]
ACTIVATION_BYTES = 2.0
FP8_DISPATCH_BYTES = 1.0 + 4.0 / 128.0  # one FP32 scale per 128 values, DeepSeek-V3 section 3.3


@dataclass(frozen=True)
class Traffic:
    """One kind of communication of a step; arrays of shape (n,), one entry per layout.

    `message_bytes` is the nccl-tests size of one execution, `count` executions per step one after another on
    a GPU of the fullest stage. `window` names the compute it may hide behind (see llm_step.py).
    """

    name: str
    operation: Operation
    dimension: Dimension
    window: Window
    message_bytes: NDArray[np.float64]
    count: NDArray[np.float64]
    size: Counts
    stride: Counts
    dtype: str = "bf16"
    tokens_per_rank: NDArray[np.float64] | None = None
    bytes_per_element: float = ACTIVATION_BYTES


def step_traffic(shape: LlmShape, layouts: Layouts) -> tuple[Traffic, ...]:
    """All communication of a step; entries a layout does not have carry size 1 or count 0.

    >>> from models.catalog.llms import llms
    >>> from models.workload.llm_layout import counts
    >>> one = counts(1)
    >>> job = Layouts(counts(8), counts(4), counts(32), one, one, one, one, 2048, 8192)
    >>> [(t.name, round(float(t.message_bytes[0]) / 1e6, 1), int(t.count[0])) for t in
    ...  step_traffic(llms()["llama3-70b"], job)][:3]
    [('tp_all_gather', 134.2, 5120), ('tp_reduce_scatter', 134.2, 5120), ('pp_send_recv', 16.8, 128)]
    """
    return (
        *_tensor(shape, layouts),
        _pipeline(shape, layouts),
        _context(shape, layouts),
        *_experts(shape, layouts),
        *_gradients(shape, layouts),
    )


def _tokens(layouts: Layouts) -> NDArray[np.float64]:
    """Tokens of one micro-batch on one context-parallel rank."""
    return layouts.micro_batch * (layouts.sequence / layouts.cp.astype(np.float64))


def _tensor(shape: LlmShape, layouts: Layouts) -> list[Traffic]:
    """Two sums per layer forward, two backward, two more where the forward pass is run again.

    With sequence parallelism each sum is a reduce-scatter and each use an all-gather of the same buffer
    (Korthikanti et al. 2022). MoE layers with ep > 1 keep only the attention block's pair.
    """
    passes = 3.0 if layouts.recompute == "full" else 2.0
    with_experts = moe_layers(shape) / shape.layers
    pairs = 2.0 - np.where(layouts.ep > 1, with_experts, 0.0)
    count = passes * pairs * stage_layers(shape.layers, layouts) * layouts.micro_batches
    message = _tokens(layouts) * shape.hidden * ACTIVATION_BYTES
    one = np.ones_like(layouts.tp)
    names: tuple[tuple[str, Operation], ...] = (("tp_all_reduce", "all_reduce"),)
    if layouts.sequence_parallel:
        names = (("tp_all_gather", "all_gather"), ("tp_reduce_scatter", "reduce_scatter"))
    return [
        Traffic(name, operation, "tp", "pipeline", message, count, layouts.tp, one)
        for name, operation in names
    ]


def _pipeline(shape: LlmShape, layouts: Layouts) -> Traffic:
    """Activations forward, their gradients backward, once per micro-batch and virtual stage."""
    scattered = layouts.tp if layouts.sequence_parallel else 1
    message = _tokens(layouts) * shape.hidden * ACTIVATION_BYTES / scattered
    count = 2.0 * layouts.micro_batches * layouts.virtual_stages
    return Traffic(
        "pp_send_recv", "send_recv", "pp", "pipeline", message, count, layouts.pp, layouts.stage_stride
    )


def _context(shape: LlmShape, layouts: Layouts) -> Traffic:
    """Ring attention: c - 1 steps of a rank's keys and values, once forward, twice backward, per layer."""
    kv_layer_bytes = shape.kv_bytes_per_token_bf16 / shape.layers / np.minimum(layouts.tp, shape.kv_heads)
    passes = 4.0 if layouts.recompute == "full" else 3.0
    count = passes * stage_layers(shape.layers, layouts) * layouts.micro_batches * (layouts.cp - 1)
    return Traffic(
        "cp_ring",
        "send_recv",
        "cp",
        "pipeline",
        _tokens(layouts) * kv_layer_bytes,
        count,
        layouts.cp,
        layouts.replica_stride,
    )


def _experts(shape: LlmShape, layouts: Layouts) -> list[Traffic]:
    """Per MoE layer and micro-batch: dispatch and combine forward, both again backward."""
    stage_moe = stage_layers(shape.layers, layouts) * moe_layers(shape) / shape.layers
    count = 2.0 * stage_moe * layouts.micro_batches
    again = stage_moe * layouts.micro_batches if layouts.recompute == "full" else 0.0
    tokens = _tokens(layouts) / layouts.tp
    dispatch_bytes = FP8_DISPATCH_BYTES if layouts.weight_bytes == 1.0 else ACTIVATION_BYTES
    per_byte = tokens * shape.active_experts * shape.hidden
    names: tuple[tuple[str, Operation, float], ...] = (
        ("ep_dispatch", "moe_dispatch", dispatch_bytes),
        ("ep_combine", "moe_combine", ACTIVATION_BYTES),
    )
    return [
        Traffic(
            name,
            operation,
            "ep",
            "pipeline",
            per_byte * element,
            count + again,
            layouts.ep,
            layouts.expert_stride,
            tokens_per_rank=tokens,
            bytes_per_element=element,
        )
        for name, operation, element in names
    ]


def _gradients(shape: LlmShape, layouts: Layouts) -> list[Traffic]:
    """Gradient sums and weight gathers of the data-parallel ranks, dense parameters and experts apart."""
    dense, experts = stage_parameters(shape, layouts)
    traffic = _reduced(layouts, shape, "dp", dense, layouts.replicas, layouts.replica_stride)
    if shape.experts:
        stride = layouts.expert_stride * layouts.ep
        # with ep = 1 TP cuts the experts, so their replicas are the dense ones
        size = np.where(layouts.ep == 1, layouts.replicas, layouts.expert_replicas)
        stride = np.where(layouts.ep == 1, layouts.replica_stride, stride)
        traffic += _reduced(layouts, shape, "dp_experts", experts, size, stride)
    return traffic


def _reduced(
    layouts: Layouts,
    shape: LlmShape,
    name: str,
    parameters: NDArray[np.float64],
    size: Counts,
    stride: Counts,
) -> list[Traffic]:
    """ZeRO 0: all-reduce; 1, 2: reduce-scatter and all-gather once a step; 3: per layer and micro-batch.

    With gradient accumulation the sums of ZeRO 0-2 still run once per step. ZeRO 3 gathers weights for the
    forward and again for the backward pass of every micro-batch and reduces gradients as often (FSDP with
    resharding). Source: Rajbhandari et al. 2020 (ZeRO), section 7.
    """
    gradients, weights = parameters * layouts.gradient_bytes, parameters * layouts.weight_bytes
    dtype = "fp32" if layouts.gradient_bytes == 4.0 else "bf16"
    once = np.ones_like(parameters)

    def record(operation: Operation, window: Window, message: NDArray[np.float64], count: NDArray[np.float64],
               kind: str) -> Traffic:  # fmt: skip
        return Traffic(f"{name}_{operation}", operation, "dp", window, message, count, size, stride, kind)

    if layouts.zero == 0:
        return [record("all_reduce", "backward_end", gradients, once, dtype)]
    if layouts.zero < 3:
        return [
            record("reduce_scatter", "backward_end", gradients, once, dtype),
            record("all_gather", "forward_start", weights, once, "bf16"),
        ]
    layers = stage_layers(shape.layers, layouts)
    passes = layers * layouts.micro_batches
    return [
        record("reduce_scatter", "scatter", gradients / layers, passes, dtype),
        record("all_gather", "gather", weights / layers, 2.0 * passes, "bf16"),
    ]
