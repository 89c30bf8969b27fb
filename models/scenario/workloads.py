"""Workload kinds a scenario can name: what is sent, how much of it counts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from models.catalog.technology import Strict
from models.units import TIB

CollectiveOperation = Literal[
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "send_recv",
    "moe_dispatch",
    "moe_combine",
]
Algorithm = Literal["auto", "ring", "tree", "nvls", "nvls_tree", "collnet", "collnet_nvls", "pat"]


class Weighted(Strict):
    """A workload with its share in the score; weight 0 is shown, not scored."""

    weight: float = Field(1.0, ge=0, le=1e6, description="share in the score; 0 = shown only")


class ModelShape(Strict):
    """A transformer written out in the scenario instead of by preset name."""

    params_billion: float | None = Field(None, gt=0, le=1e5)
    layers: int = Field(ge=1, le=1000)
    hidden: int = Field(ge=64, le=1_000_000)
    heads: int = Field(ge=1, le=10_000)
    kv_heads: int = Field(ge=1, le=10_000)
    head_dim: int = Field(128, ge=1, le=4096)
    ffn: int = Field(ge=1, le=10_000_000)
    vocabulary: int = Field(ge=1, le=10_000_000)
    tied_embeddings: bool = False
    gated_ffn: bool = True
    experts: int = Field(0, ge=0, le=4096, description="routed experts per MoE layer; 0 = dense")
    active_experts: int = Field(0, ge=0, le=4096, description="routed experts a token visits")
    shared_experts: int = Field(0, ge=0, le=64)
    expert_ffn: int = Field(0, ge=0, le=10_000_000, description="FFN width of one expert; 0 = ffn")
    dense_layers: int = Field(0, ge=0, le=1000, description="leading layers without experts")
    node_limit: int = Field(0, ge=0, le=4096, description="nodes a token's experts may span; 0 = no limit")

    @model_validator(mode="after")
    def _consistent(self) -> ModelShape:
        if self.active_experts > self.experts:
            raise ValueError(f"active_experts = {self.active_experts} exceeds experts = {self.experts}")
        if self.experts and not self.active_experts:
            raise ValueError(f"active_experts = 0 with experts = {self.experts}; allowed 1 .. {self.experts}")
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads = {self.kv_heads} does not divide heads = {self.heads}")
        return self


class Overlap(Strict):
    """Share of each dimension's communication that hides behind compute."""

    tp: float | None = Field(None, ge=0, le=1)
    pp: float | None = Field(None, ge=0, le=1)
    dp: float | None = Field(None, ge=0, le=1)
    ep: float | None = Field(None, ge=0, le=1)
    cp: float | None = Field(None, ge=0, le=1)


class LlmTraining(Weighted):
    """One training run of a language model; the unit of work is a step."""

    kind: Literal["llm_training"]
    model: str | ModelShape
    tp: int = Field(1, ge=1, le=1024)
    pp: int = Field(1, ge=1, le=1024)
    dp: Annotated[int, Field(ge=1, le=1_048_576)] | Literal["auto"] = Field(
        "auto", description="auto = gpus / (tp pp cp)"
    )
    cp: int = Field(1, ge=1, le=1024)
    ep: int = Field(1, ge=1, le=4096, description="expert parallel group, inside DP x CP x TP")
    virtual_stages: int = Field(1, ge=1, le=128)
    micro_batch: int = Field(1, ge=1, le=4096)
    global_batch_sequences: int = Field(ge=1, le=100_000_000)
    batch_scaling: Literal["fixed", "per_gpu"] = "fixed"
    sequence: int = Field(ge=1, le=10_000_000)
    zero: int = Field(1, ge=0, le=3, description="ZeRO stage; 3 = FSDP")
    sequence_parallel: bool = True
    recompute: Literal["none", "selective", "full"] = "none"
    weight_dtype: Literal["bf16", "fp16", "fp8"] = "bf16"
    gradient_dtype: Literal["fp32", "bf16"] = "fp32"
    tokens_total: float = Field(gt=0, le=1e18)
    overlap: Overlap = Overlap()
    kernel_efficiency: float | None = Field(
        None, gt=0, le=1, description="share of peak the kernels reach; default per GPU generation"
    )
    checkpoint_interval_steps: int | None = Field(None, ge=1, le=10_000_000)
    search_layout: bool = Field(False, description="find the best tp x pp x dp x micro-batch per candidate")


class Collective(Weighted):
    """One collective operation over `ranks` GPUs; the unit of work is one execution."""

    kind: Literal["collective"]
    operation: CollectiveOperation
    message_bytes: int = Field(ge=1, lt=TIB, description="nccl-tests size")
    ranks: Annotated[int, Field(ge=1, le=1_048_576)] | Literal["all"] = "all"
    algorithm: Algorithm = "auto"
    dtype: Literal["fp32", "bf16", "fp16", "fp8", "int32"] = "bf16"
    top_k: int = Field(8, ge=1, le=256, description="MoE: experts a token visits")
    hidden: int = Field(7168, ge=1, le=1_000_000, description="MoE: hidden size")
    low_latency: bool = Field(False, description="MoE: low-latency kernels")


class Incast(Weighted):
    """`fan_in` senders answer one receiver at once; a victim flow shares their path."""

    kind: Literal["incast"]
    fan_in: int = Field(ge=1, le=4096)
    burst_bytes: int = Field(ge=1, le=2**36)
    victim: bool = True
    seeds: int = Field(3, ge=1, le=32, description="marking draws averaged")


class Permutation(Weighted):
    """Every node sends to one other, all at once."""

    kind: Literal["permutation"]
    message_bytes: int = Field(67108864, ge=1, lt=TIB)
    pattern: Literal["random", "leaf_shift", "bit_reversal"] = "random"


class Bisection(Weighted):
    """Each half of the cluster sends to the other half."""

    kind: Literal["bisection"]
    message_bytes: int = Field(1073741824, ge=1, lt=TIB)


class Storage(Weighted):
    """Checkpoint write or data read between the compute nodes and storage servers."""

    kind: Literal["storage"]
    direction: Literal["checkpoint_write", "read"] = "checkpoint_write"
    bytes_total: int = Field(ge=1, le=2**54)
    servers: int = Field(ge=1, le=65536)
    server_gbit_per_s: float = Field(400.0, ge=0.001, le=12800)
    device_gbyte_per_s: float = Field(40.0, ge=0.001, le=1000, description="media rate of one server")


class Inference(Weighted):
    """Prefill nodes hand key-value caches to decode nodes; the unit of work is one request."""

    kind: Literal["inference"]
    model: str | ModelShape
    prompt_tokens: int = Field(ge=1, le=100_000_000)
    prefill_gpus: int = Field(8, ge=1, le=1_000_000)
    decode_gpus: int = Field(8, ge=1, le=1_000_000)
    concurrent_requests: int = Field(
        1, ge=1, le=1_000_000, description="requests arriving at one decode node"
    )
    kv_dtype: Literal["bf16", "fp8"] = "bf16"


Workload = Annotated[
    LlmTraining | Collective | Incast | Permutation | Bisection | Storage | Inference,
    Field(discriminator="kind"),
]
KINDS = tuple(
    kind.model_fields["kind"].annotation.__args__[0]  # type: ignore[union-attr]
    for kind in (LlmTraining, Collective, Incast, Permutation, Bisection, Storage, Inference)
)
