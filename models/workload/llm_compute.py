"""Arithmetic of a training step and the time it takes on a GPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.catalog.gpus import GpuModel
from models.catalog.llms import LlmShape
from models.workload.llm_layout import Layouts, stage_layers
from models.workload.llm_shape import moe_layers, parameter_counts

OPTIMIZER_BYTES_PER_PARAMETER = (
    30.0  # read gradient, master, two moments (16); write master, moments, weight (14)
)
OPTIMIZER_MEMORY_SHARE = 0.7  # share of memory bandwidth a fused Adam reaches; assumption
FP8_SPEEDUP = 1.6
"""Dense matrix products in FP8 over BF16, quantisation included: the ratio at which published FP8 steps (H100, B200,
GB200, GB300; training_steps.csv) imply the kernel efficiency of BF16 ones; Nemotron-4 15B on GB300 0.929 / 0.629 s."""


def linear_flops_per_token(shape: LlmShape) -> float:
    """Forward and backward arithmetic of the matrices: 6 P_active.

    >>> from models.catalog.llms import llms
    >>> f"{linear_flops_per_token(llms()['llama3-70b']):.3g}"
    '4.23e+11'
    """
    return 6.0 * shape.active_params


def expert_flops_per_token(shape: LlmShape) -> float:
    """Forward and backward arithmetic of the routed experts' matrices, part of 6 P_active."""
    matrices = 3.0 if shape.gated_ffn else 2.0
    return 6.0 * moe_layers(shape) * shape.active_experts * matrices * shape.hidden * shape.expert_ffn


def attention_flops_per_token(shape: LlmShape, sequence: int) -> float:
    """Forward and backward arithmetic of causal attention scores: 6 L h s, h = heads x head size.

    >>> from models.catalog.llms import llms
    >>> f"{attention_flops_per_token(llms()['llama3-70b'], 8192):.3g}"
    '3.22e+10'
    """
    return 6.0 * shape.layers * shape.heads * shape.head_dim * sequence


def model_flops_per_token(shape: LlmShape, sequence: int) -> float:
    """What a step does per token without recomputation: 6 P_active + 6 L h s."""
    return linear_flops_per_token(shape) + attention_flops_per_token(shape, sequence)


def executed_flops_per_token(
    shape: LlmShape, sequence: int, recompute: str, weight_bytes: float = 2.0
) -> float:
    """What the GPUs execute per token, in BF16-equivalent operations.

    Full recomputation runs every forward pass twice (x 4/3), selective recomputation the attention scores
    only. FP8 weights (1 byte) divide the dense matrices' share by FP8_SPEEDUP; experts' small products gain
    nothing (published Qwen3-30B-A3B steps on GB300: 9.02 s in BF16, 9.12 s in FP8).
    """
    experts = expert_flops_per_token(shape)
    dense = linear_flops_per_token(shape) - experts
    linear = dense / (FP8_SPEEDUP if weight_bytes == 1.0 else 1.0) + experts
    attention = attention_flops_per_token(shape, sequence)
    again = {"none": (1.0, 1.0), "selective": (1.0, 4.0 / 3.0), "full": (4.0 / 3.0, 4.0 / 3.0)}[recompute]
    return again[0] * linear + again[1] * attention


def multiplied_share(shape: LlmShape, layouts: Layouts) -> float:
    """Share of the counted operations that are multiplied: an untied input embedding is counted, but looked up.

    >>> from models.catalog.llms import llms
    >>> from models.workload.llm_layout import counts
    >>> one = Layouts(*[counts(1)] * 7, batch_sequences=1, sequence=8192)
    >>> round(multiplied_share(llms()["llama3-8b"], one), 3), multiplied_share(llms()["gpt3-175b"], one)
    (0.942, 1.0)
    """
    if shape.tied_embeddings:
        return 1.0
    faster = FP8_SPEEDUP if layouts.weight_bytes == 1.0 else 1.0
    passes = 4.0 / 3.0 if layouts.recompute == "full" else 1.0
    looked_up = passes * 6.0 * shape.vocabulary * shape.hidden / faster
    counted = executed_flops_per_token(shape, layouts.sequence, layouts.recompute, layouts.weight_bytes)
    return 1.0 - looked_up / counted


def compute_time_s(
    shape: LlmShape, layouts: Layouts, peak_flops: float, efficiency: float | NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute time of a step on the longest pipeline stage, s, shape (n,).

    T = FLOPs / (GPUs peak e) x (longest stage / mean stage). e is the share of the dense BF16 peak the
    kernels reach, idle time, communication and bubble apart.
    *Assumptions*: embedding and head weigh as much as the layers an uneven split leaves out at the ends.
    """
    tokens = float(layouts.batch_sequences) * layouts.sequence
    flops = tokens * executed_flops_per_token(
        shape, layouts.sequence, layouts.recompute, layouts.weight_bytes
    )
    uneven = stage_layers(shape.layers, layouts) * layouts.pp / shape.layers
    return flops / (layouts.gpus * peak_flops * efficiency) * uneven


def stage_parameters(shape: LlmShape, layouts: Layouts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Dense and expert parameters one GPU of the fullest stage holds before ZeRO, shape (n,) each.

    The fullest stage has the most layers and one of the two embedding matrices (both, or the tied one, when
    there is a single stage). Experts are not cut by TP: each lives whole on one rank of its expert group,
    except with ep = 1, where TP cuts experts as it cuts the dense FFN.
    """
    held = parameter_counts(shape)
    share = stage_layers(shape.layers, layouts) / shape.layers
    embeddings = np.where(layouts.pp == 1, held.embeddings, 1)
    dense = (held.dense_layers * share + held.embedding * embeddings) / layouts.tp
    expert_cut = np.where(layouts.ep == 1, layouts.tp, layouts.ep)
    return dense, held.experts * share / expert_cut


def optimizer_time_s(shape: LlmShape, layouts: Layouts, gpu: GpuModel) -> NDArray[np.float64]:
    """Time of the Adam update, bound by GPU memory: 30 B per parameter of the rank's own shard, s."""
    dense, experts = stage_parameters(shape, layouts)
    sharded = layouts.zero >= 1
    own = dense / (layouts.replicas if sharded else 1) + experts / (layouts.expert_replicas if sharded else 1)
    return own * OPTIMIZER_BYTES_PER_PARAMETER / (OPTIMIZER_MEMORY_SHARE * gpu.memory_bandwidth_bytes_per_s)
