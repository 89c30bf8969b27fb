"""Memory per GPU: textbook figures, direction of every knob, and the error that names the number."""

from __future__ import annotations

import pytest

from models.catalog.llms import llms
from models.scenario.faults import InputError
from models.workload.llm_layout import Layouts, counts
from models.workload.llm_memory import memory
from tests.workload.training_jobs import training

ONE = counts(1)


def need(model: str = "llama3-70b", **changes):
    given = {
        "tp": counts(8), "pp": counts(4), "dp": counts(32), "cp": ONE, "ep": ONE, "virtual_stages": ONE,
        "micro_batch": ONE, "batch_sequences": 2048, "sequence": 8192,
    }  # fmt: skip
    return memory(llms()[model], Layouts(**{**given, **changes}))


def test_the_shipped_layout_fits_where_the_arithmetic_says():
    total = float(need().total[0])
    # weights 2 B, gradients 4 B, optimizer 12 B / 32 of 2.27e9 parameters; 33.5 b s h / 8 x 20 layers x 4
    expected = 2.27e9 * (2 + 4 + 12 / 32) + 33.5 * 8192 * 8192 / 8 * 80 + 4e9
    assert total == pytest.approx(expected, rel=0.01)
    assert total < 80e9


def test_gpt3_static_memory_is_eighteen_bytes_a_parameter_without_zero():
    held = need("gpt3-175b", zero=0, sequence=2048)
    static = float((held.weights + held.gradients + held.optimizer)[0])
    assert static == pytest.approx(18 * 174.6e9 / 32, rel=0.02)


@pytest.mark.parametrize(("part", "stage"), [("optimizer", 1), ("gradients", 2), ("weights", 3)])
def test_each_zero_stage_shards_one_thing(part, stage):
    single = counts(2048 // 32)  # one micro-batch a step
    before = getattr(need(zero=stage - 1, micro_batch=single), part)[0]
    after = getattr(need(zero=stage, micro_batch=single), part)[0]
    assert after < before / 10


def test_activations_fall_with_recomputation_and_sequence_parallelism():
    none, selective, full = (need(recompute=r).activations[0] for r in ("none", "selective", "full"))
    assert none > selective > full
    assert need(sequence_parallel=False).activations[0] > 2 * none
    assert need(micro_batch=counts(2)).activations[0] == pytest.approx(2 * none)


def test_interleaving_keeps_more_in_flight():
    assert need(virtual_stages=counts(2)).activations[0] == pytest.approx((1 + 3 / 8) * need().activations[0])


def test_experts_are_cut_by_their_own_groups():
    few, many = (need("deepseek-v3", tp=ONE, dp=counts(256), ep=counts(e)).weights[0] for e in (8, 64))
    assert few > 3 * many


def test_a_layout_that_does_not_fit_is_an_error_with_both_numbers():
    with pytest.raises(InputError) as error:
        training(pp=1)
    text = str(error.value)
    assert "does not fit" in text and "GB needed per GPU, H100 has 80 GB" in text
