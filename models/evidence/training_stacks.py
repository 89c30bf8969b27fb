"""What is known of the software behind published training steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.workload.plan_defaults import HIDDEN_FRACTIONS

NOTHING_HIDDEN = dict.fromkeys(HIDDEN_FRACTIONS, 0.0)


@dataclass(frozen=True)
class Stack:
    """What is known of the software of a source: its family, what it hides, and what its papers say of layouts."""

    family: str  # modern: fused kernels, overlapped communication; legacy: neither
    hidden_fractions: Mapping[str, float]
    scattered_pipeline: bool = True  # each TP rank sends its own part of the activations
    layer_per_chunk: bool = (
        False  # interleaved down to single layers where the source states no virtual stages
    )
    source: str = ""


MODERN, LEGACY = HIDDEN_FRACTIONS, NOTHING_HIDDEN
STACKS = {
    "megascale": Stack(
        "modern", MODERN, source="NSDI 2024, section 3: TP, PP and DP communication overlapped"
    ),
    "llama3": Stack(
        "modern",
        MODERN,
        layer_per_chunk=True,
        source="Llama 3 paper, section 3.3.2: first chunk embedding only",
    ),
    "megatron-core": Stack(
        "modern", MODERN, source="Megatron-LM README: TP, PP and DP communication overlapped"
    ),
    "nemo-24": Stack("modern", MODERN, source="NeMo 24 containers: Megatron-Core, Transformer Engine"),
    "nemo": Stack("modern", MODERN, source="NeMo 25: Megatron-Core, Transformer Engine"),
    "megatron-bridge": Stack("modern", MODERN, source="Megatron-Bridge 25.11: Megatron-Core"),
    "megatron-moe": Stack(
        "modern", MODERN, source="Megatron-Core, DeepEP, exchanges of experts not overlapped"
    ),
    "llm-foundry": Stack("modern", MODERN, source="llm-foundry README: PyTorch FSDP, flash attention"),
    "automodel": Stack("modern", MODERN, source="NeMo AutoModel: PyTorch FSDP2, prefetching"),
    "torchtitan": Stack("modern", MODERN, source="torchtitan README: PyTorch FSDP2"),
    "megatron-lm-2023": Stack("legacy", LEGACY, source="baseline of MegaScale, NSDI 2024, Table 3"),
    "megatron-lm-2021": Stack(
        "legacy", LEGACY, source="SC'21: scatter/gather of pipeline messages, section 4.1"
    ),
    "megatron-deepspeed-2021": Stack(
        "legacy", LEGACY, scattered_pipeline=False, source="DeepSpeed's pipeline sends whole activations"
    ),
}


def stack_of(name: str) -> Stack:
    """The stack of a row; a name not in the table is modern unless it carries a year before 2023."""
    if name in STACKS:
        return STACKS[name]
    old = any(str(year) in name for year in range(2018, 2023))
    return Stack("legacy", LEGACY) if old else Stack("modern", MODERN)
