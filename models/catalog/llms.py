"""Language-model presets: shapes with their sources."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class LlmShape:
    """Shape of a transformer; counts, no units."""

    id: str
    params: float
    active_params: float
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    experts: int
    active_experts: int
    shared_experts: int
    expert_ffn: int
    dense_layers: int
    node_limit: int
    kv_bytes_per_token_bf16: float
    tied_embeddings: bool
    gated_ffn: bool
    source: str
    confidence: str


@cache
def llms() -> dict[str, LlmShape]:
    """All presets by id."""
    text = resources.files("models.catalog").joinpath("llms.csv").read_text("utf-8")
    return {
        row["id"]: LlmShape(
            id=row["id"],
            params=float(row["params_billion"]) * 1e9,
            active_params=float(row["active_params_billion"]) * 1e9,
            kv_bytes_per_token_bf16=float(row["kv_bytes_per_token_bf16"]),
            tied_embeddings=row["tied_embeddings"] == "yes",
            gated_ffn=row["gated_ffn"] == "yes",
            source=row["source"],
            confidence=row["confidence"],
            **{
                name: int(row[name])
                for name in (
                    "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocabulary", "experts",
                    "active_experts", "shared_experts", "expert_ffn", "dense_layers", "node_limit",
                )
            },
        )
        for row in csv.DictReader(text.splitlines())
    }  # fmt: skip


def llm_names() -> tuple[str, ...]:
    """Ids of the shipped presets."""
    return tuple(llms())
