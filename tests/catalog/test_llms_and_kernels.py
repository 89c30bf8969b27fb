"""Presets against their own arithmetic; every row of the GPU and kernel tables with a source."""

from __future__ import annotations

import pytest

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import kernel_efficiencies, kernel_efficiency
from models.catalog.llms import llms
from models.evidence.training_fit import MATMUL_SHARE

# DeepSeek-V3 (technical report, section 4.2): query rank 1536, key-value rank 512, rotary 64, heads 128 of 128
LATENT_ATTENTION = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168


@pytest.mark.parametrize("name", list(llms()))
def test_parameters_are_what_the_shape_counts(name):
    model = llms()[name]
    matrices = 3 if model.gated_ffn else 2
    attention = 2 * model.hidden * model.head_dim * (model.heads + model.kv_heads)
    if name == "deepseek-v3":
        attention = LATENT_ATTENTION
    moe = model.layers - model.dense_layers if model.experts else 0
    expert = matrices * model.hidden * model.expert_ffn
    always = (
        model.layers * attention
        + (model.layers - moe) * matrices * model.hidden * model.ffn
        + moe * model.shared_experts * expert
        + model.vocabulary * model.hidden * (1 if model.tied_embeddings else 2)
    )
    assert model.params == pytest.approx(always + moe * model.experts * expert, rel=0.005)
    assert model.active_params == pytest.approx(always + moe * model.active_experts * expert, rel=0.015)


def test_key_value_caches_are_two_per_layer_and_head():
    for model in llms().values():
        if model.id != "deepseek-v3":
            assert model.kv_bytes_per_token_bf16 == 4 * model.layers * model.kv_heads * model.head_dim
    assert llms()["deepseek-v3"].kv_bytes_per_token_bf16 == 61 * 576 * 2


def test_every_gpu_has_a_source_and_a_kernel_efficiency():
    for gpu in gpus().values():
        assert len(gpu.source) > 10 and gpu.confidence
        assert kernel_efficiency(gpu.generation).default


def test_efficiencies_lie_in_their_band_and_below_the_best_matrix_product():
    for row in kernel_efficiencies():
        assert 0 < row.low <= row.efficiency <= row.high <= MATMUL_SHARE[row.generation] + 0.01
        assert row.source and (row.confidence != "fitted" or "fitted on" in row.source)


def test_one_default_a_generation():
    defaults = [row.generation for row in kernel_efficiencies() if row.default]
    assert len(defaults) == len(set(defaults))
