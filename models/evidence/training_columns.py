"""What the columns of a published training step say: model, counts, precision, sharding, fabric.

Each raises Unusable, with the reason, where a column is missing or says what the model does not know.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from models.catalog.llms import LlmShape, llms
from models.evidence.published_setup import PRESETS, Row, Unusable, number, text, whole


def row_shape(row: Row) -> LlmShape:
    """The model of a row: a preset its name matches, else a GPT shape (FFN 4 h, heads of 128, tied embeddings)."""
    plain = "".join(c for c in text(row, "model").lower() if c.isalnum())
    preset = next((m for key, m in llms().items() if plain.startswith(key.replace("-", ""))), None)
    params = number(row, "params_billion")
    layers, hidden = whole(row, "layers"), whole(row, "hidden")
    if preset is not None and preset.experts and not text(row, "ep"):
        raise Unusable("expert parallelism not stated")
    if preset is not None:
        if params is None or preset.experts:
            return preset
        return replace(preset, params=params * 1e9, active_params=params * 1e9)
    if params is None or not layers or not hidden:
        raise Unusable("parameters, layers or hidden size not stated")
    heads = max(1, hidden // 128)
    return LlmShape(
        id=text(row, "model"),
        params=params * 1e9,
        active_params=params * 1e9,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        ffn=4 * hidden,
        vocabulary=whole(row, "vocabulary") or 51200,
        experts=0,
        active_experts=0,
        shared_experts=0,
        expert_ffn=0,
        dense_layers=0,
        node_limit=0,
        kv_bytes_per_token_bf16=4.0 * layers * hidden,
        tied_embeddings=text(row, "tied_embeddings") != "no",
        gated_ffn=False,
        source="row",
        confidence="row",
    )


def row_count(row: Row, key: str, needed: str) -> int:
    """A whole number above zero; Unusable says what is `needed`."""
    value = whole(row, key, needed)
    if not value:
        raise Unusable(f"{needed} is zero")
    return value


def row_recompute(row: Row) -> Literal["none", "selective", "full"]:
    """What activations a row computes again: none where it does not say."""
    known: dict[str, Literal["none", "selective", "full"]] = {
        "": "none", "none": "none", "selective": "selective", "full": "full",
    }  # fmt: skip
    given = text(row, "recompute")
    if given not in known:
        raise Unusable(f"recompute = {given!r} is not none, selective or full")
    return known[given]


def row_weight_bytes(row: Row) -> float:
    """Bytes of a weight in the products: 2 where no precision is stated."""
    known = {"": 2.0, "bf16": 2.0, "fp8": 1.0}
    given = text(row, "precision")
    if given not in known:
        raise Unusable(f"precision = {given!r} is not bf16 or fp8")
    return known[given]


def row_zero(row: Row) -> int:
    """ZeRO stage of a row: 1 where none is stated, 3 for fully sharded data parallelism."""
    stage = whole(row, "zero")
    if stage is not None and stage > 3:
        raise Unusable(f"zero = {stage} is not 0, 1, 2 or 3")
    return 1 if stage is None else stage


def row_fabric(row: Row) -> tuple[str, str]:
    """Fabric of a row, and a note where it is taken for one."""
    given = text(row, "fabric")
    if given in PRESETS:
        return given, ""
    if given:
        raise Unusable(f"fabric {given!r} is not one of {', '.join(PRESETS)}")
    return "ib", "fabric not stated, InfiniBand taken"
