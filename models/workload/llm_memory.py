"""Memory a training step needs on the fullest GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.catalog.llms import LlmShape
from models.workload.llm_compute import stage_parameters
from models.workload.llm_layout import Layouts, stage_layers
from models.workload.llm_shape import moe_layers

OPTIMIZER_STATE_BYTES = 12.0  # FP32 master weight and two moments of Adam
RESERVED_BYTES = 4.0e9  # context, communication buffers, workspace, fragmentation; assumption

Bytes = NDArray[np.float64]


@dataclass(frozen=True)
class Memory:
    """Bytes on the fullest GPU, shape (n,) each."""

    weights: Bytes
    gradients: Bytes
    optimizer: Bytes
    activations: Bytes
    reserved: float = RESERVED_BYTES

    @property
    def total(self) -> Bytes:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.reserved


def memory(shape: LlmShape, layouts: Layouts) -> Memory:
    """Memory of a step on the fullest GPU by what holds it.

    ZeRO 1 shards the optimizer over the replicas, 2 also gradients, 3 also weights (one gathered layer stays
    whole). *Assumptions*: ZeRO 2 with gradient accumulation keeps whole gradients, because they are reduced
    once a step; 1F1B keeps min(p, m) micro-batches on the first stage.

    >>> from models.catalog.llms import llms
    >>> from models.workload.llm_layout import counts
    >>> one = counts(1)
    >>> job = Layouts(counts(8), counts(4), counts(32), one, one, one, one, 2048, 8192)
    >>> need = memory(llms()["llama3-70b"], job)
    >>> [round(float(part[0]) / 1e9, 1) for part in (need.weights, need.gradients, need.activations)]
    [4.5, 9.1, 22.5]
    """
    dense, experts = stage_parameters(shape, layouts)

    def held(stage: int, bytes_each: float) -> Bytes:
        whole = dense + experts
        if layouts.zero < stage:
            return whole * bytes_each
        sharded = dense / layouts.replicas + experts / layouts.expert_replicas
        if stage == 2 and layouts.zero == 2:
            sharded = np.where(layouts.micro_batches > 1, whole, sharded)
        if stage == 3:
            sharded = sharded + whole / stage_layers(shape.layers, layouts)
        return sharded * bytes_each

    return Memory(
        weights=held(3, layouts.weight_bytes),
        gradients=held(2, layouts.gradient_bytes),
        optimizer=held(1, OPTIMIZER_STATE_BYTES),
        activations=_activations(shape, layouts),
    )


def layer_activation_bytes_per_token(shape: LlmShape, recompute: str) -> float:
    """Activations one layer keeps for the backward pass, bytes per token before TP divides them.

    Korthikanti et al. 2022 count 34 h for a GPT layer without attention scores (flash attention never stores
    them): norms 4 h, query, key, value and their input, attention output, FFN input and inner activations.
    Selective recomputation drops norm outputs and the activation function's output; full keeps the input only.

    >>> from models.catalog.llms import llms
    >>> layer_activation_bytes_per_token(llms()["gpt3-175b"], "none") / 12288
    34.0
    """
    h, attention, kv = shape.hidden, shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
    if recompute == "full":
        return 2.0 * h
    wide = 6.0 if shape.gated_ffn else 4.0
    if recompute == "selective":
        wide -= 2.0
    masks = 0.0 if shape.gated_ffn else 2.0 * h  # dropout of the GPT generation
    norms = 4.0 * h if recompute == "none" else 0.0
    dense = wide * shape.ffn
    with_experts = moe_layers(shape) / shape.layers
    visited = shape.active_experts + shape.shared_experts
    moe = wide * visited * shape.expert_ffn + 4.0 * h * shape.active_experts  # inner, and tokens out and back
    ffn = dense * (1.0 - with_experts) + moe * with_experts
    return norms + 2.0 * h + 4.0 * attention + 4.0 * kv + 2.0 * h + ffn + masks


def _activations(shape: LlmShape, layouts: Layouts) -> Bytes:
    tokens = layouts.micro_batch * (layouts.sequence / layouts.cp.astype(np.float64))
    layer = layer_activation_bytes_per_token(shape, layouts.recompute)
    tp = layouts.tp.astype(np.float64)
    # without sequence parallelism norms, inputs and masks (10 h of GPT's 34) stay whole on every TP rank
    unsplit = (8.0 if shape.gated_ffn else 10.0) * shape.hidden
    whole = 0.0 if layouts.sequence_parallel else min(unsplit, layer)
    per_layer = tokens * (whole + (layer - whole) / tp)
    layers = stage_layers(shape.layers, layouts)
    micro_batches = np.minimum(layouts.pp, layouts.micro_batches)
    interleaved = np.where(
        layouts.virtual_stages > 1, 1.0 + (layouts.pp - 1) / (layouts.pp * layouts.virtual_stages), 1.0
    )
    first = per_layer * layers * micro_batches * interleaved
    logits = tokens * shape.vocabulary * 6.0 / tp  # BF16 and its FP32 copy for the loss
    last = per_layer * layers * np.where(layouts.pp == 1, 1.0, interleaved) + logits
    stored = np.maximum(first, last)
    if layouts.recompute == "full":  # one layer is whole again while its backward pass runs
        stored = stored + tokens * layer_activation_bytes_per_token(shape, "none") / tp
    return stored
