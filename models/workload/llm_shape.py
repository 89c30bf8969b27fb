"""Where a transformer's parameters sit: dense layers, experts, embeddings."""

from __future__ import annotations

from dataclasses import dataclass

from models.catalog.llms import LlmShape, llms
from models.scenario.workloads import ModelShape


@dataclass(frozen=True)
class ParameterCounts:
    """Parameters of a model by what shards them: dense layers by tp and pp, experts by ep and pp."""

    dense_layers: float  # attention, norms, dense and shared FFN of all layers
    experts: float  # routed experts of all layers
    embedding: float  # one vocabulary x hidden matrix
    embeddings: int  # 1 tied, 2 untied

    @property
    def total(self) -> float:
        """All parameters."""
        return self.dense_layers + self.experts + self.embedding * self.embeddings


def shape_of(model: str | ModelShape) -> LlmShape:
    """The shape a scenario names by preset or writes out; parameters counted where they are not given.

    >>> round(shape_of("llama3-70b").params / 1e9, 1)
    70.5
    >>> written = ModelShape(layers=80, hidden=8192, heads=64, kv_heads=8, ffn=28672, vocabulary=128256)
    >>> round(shape_of(written).params / 1e9, 1)
    70.6
    """
    if isinstance(model, str):
        return llms()[model]
    expert_ffn = model.expert_ffn or model.ffn
    embeddings = 1 if model.tied_embeddings else 2
    embedding = float(model.vocabulary) * model.hidden
    matrices = 3 if model.gated_ffn else 2
    attention = 2.0 * model.hidden * model.head_dim * (model.heads + model.kv_heads)
    moe_layers = max(0, model.layers - model.dense_layers) if model.experts else 0
    expert = float(matrices) * model.hidden * expert_ffn
    always = (
        model.layers * (attention + 2 * model.hidden)
        + (model.layers - moe_layers) * float(matrices) * model.hidden * model.ffn
        + moe_layers * (model.shared_experts * expert + model.hidden * model.experts)
        + embeddings * embedding
    )
    params = always + moe_layers * model.experts * expert
    if model.params_billion is not None:
        always += model.params_billion * 1e9 - params
        params = model.params_billion * 1e9
    return LlmShape(
        id="written out",
        params=params,
        active_params=always + moe_layers * model.active_experts * expert,
        layers=model.layers,
        hidden=model.hidden,
        heads=model.heads,
        kv_heads=model.kv_heads,
        head_dim=model.head_dim,
        ffn=model.ffn,
        vocabulary=model.vocabulary,
        experts=model.experts,
        active_experts=model.active_experts,
        shared_experts=model.shared_experts,
        expert_ffn=expert_ffn if model.experts else 0,
        dense_layers=model.dense_layers,
        node_limit=model.node_limit,
        kv_bytes_per_token_bf16=4.0 * model.layers * model.kv_heads * model.head_dim,
        tied_embeddings=model.tied_embeddings,
        gated_ffn=model.gated_ffn,
        source="scenario",
        confidence="scenario",
    )


def moe_layers(shape: LlmShape) -> int:
    """Layers with routed experts.

    >>> moe_layers(llms()["deepseek-v3"]), moe_layers(llms()["llama3-8b"])
    (58, 0)
    """
    return max(0, shape.layers - shape.dense_layers) if shape.experts else 0


def parameter_counts(shape: LlmShape) -> ParameterCounts:
    """Parameters by what shards them; the dense layers take what experts and embeddings leave of the total.

    >>> round(parameter_counts(llms()["deepseek-v3"]).experts / 1e9)
    654
    """
    matrices = 3 if shape.gated_ffn else 2
    experts = float(moe_layers(shape)) * shape.experts * matrices * shape.hidden * shape.expert_ffn
    embedding = float(shape.vocabulary) * shape.hidden
    embeddings = 1 if shape.tied_embeddings else 2
    dense = max(0.0, shape.params - experts - embedding * embeddings)
    return ParameterCounts(dense, experts, embedding, embeddings)
