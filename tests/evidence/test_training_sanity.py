"""Training steps over model sizes, layouts, GPUs and cluster sizes: plausible, never negative, never faster for more."""

from __future__ import annotations

from itertools import pairwise

import pytest

from models.catalog.kernel_efficiency import kernel_efficiency, scale_loss_per_doubling
from models.evidence.training_columns import row_shape
from models.evidence.training_setup import step_row
from models.workload.llm_compute import model_flops_per_token
from models.workload.llm_step import step_time

PLANS = {  # model, tp, pp, cp, ep, virtual stages, sequence, share of peak: least and most
    "8b": ("Llama3-8B", 1, 1, 1, 1, 1, 8192, 0.45, 0.65),
    "70b": ("Llama3-70B", 4, 4, 2, 1, 5, 8192, 0.35, 0.55),
    "405b": ("Llama3-405B", 8, 16, 1, 1, 1, 8192, 0.33, 0.50),
    "405b-long": ("Llama3-405B", 8, 16, 16, 1, 8, 131072, 0.33, 0.50),
    "1t": ("GPT 1T", 8, 64, 1, 1, 1, 2048, 0.30, 0.50),
    "mixtral": ("Mixtral-8x22B", 2, 4, 1, 8, 2, 8192, 0.30, 0.50),
    "deepseek": ("DeepSeek-V3", 1, 16, 1, 64, 1, 4096, 0.12, 0.40),
    "qwen": ("Qwen3-30B-A3B", 1, 1, 1, 8, 1, 4096, 0.12, 0.40),
}
LARGE = {"params_billion": "1008", "layers": "128", "hidden": "25600"}


def step(plan, gpus, gpu="H100", fabric="ib"):
    model, tp, pp, cp, ep, virtual, sequence, *_ = PLANS[plan]
    dp = gpus // (tp * pp * cp)
    row = {
        "id": plan, "model": model, "gpu": gpu, "gpus": gpus, "tp": tp, "pp": pp, "cp": cp, "dp": dp,
        "ep": ep if ep > 1 else "", "virtual_stages": virtual, "micro_batch": 1, "sequence": sequence,
        "global_batch_sequences": dp * max(4 * pp, 16), "stack": "x", "step_s": 1, "fabric": fabric, "source": "s",
    }  # fmt: skip
    row |= LARGE if plan == "1t" else {}
    row = {key: str(value) for key, value in row.items()}
    return step_row(row), row_shape(row)


def predicted_s(plan, gpus, **where):
    row, _ = step(plan, gpus, **where)
    return row.predicted_s(kernel_efficiency(row.gpu.generation).efficiency, scale_loss_per_doubling())


@pytest.mark.parametrize("plan", PLANS)
def test_share_of_peak_is_plausible(plan):
    row, shape = step(plan, 2048)
    sequence = row.layouts.sequence
    flops = row.layouts.batch_sequences * sequence * model_flops_per_token(shape, sequence)
    share = flops / (2048 * row.gpu.peak_bf16_flops * predicted_s(plan, 2048))
    least, most = PLANS[plan][-2:]
    assert least < share < most


@pytest.mark.parametrize("fabric", ["ib", "roce", "tcp"])
@pytest.mark.parametrize("plan", PLANS)
def test_more_gpus_at_the_same_work_each_are_never_faster(plan, fabric):
    times = [predicted_s(plan, gpus, fabric=fabric) for gpus in (2048, 4096, 8192, 16384)]
    for smaller, larger in pairwise(times):
        assert smaller <= larger < 1.1 * smaller


@pytest.mark.parametrize("gpu", ["H100", "B200", "GB300", "MI300X"])
@pytest.mark.parametrize("plan", PLANS)
def test_nothing_is_negative(plan, gpu):
    row, _ = step(plan, 2048, gpu=gpu)
    e = kernel_efficiency(row.gpu.generation).efficiency
    parts = step_time(row.terms, row.at_peak_s / e + row.overhead_s, row.times_s)
    assert all(float(exposed[0]) >= 0.0 for exposed in parts.exposed_s.values())
    assert float(parts.bubble_s[0]) >= 0.0 and float(parts.optimizer_s[0]) >= 0.0
    assert float(parts.total_s[0]) >= float((row.at_peak_s / e)[0])
