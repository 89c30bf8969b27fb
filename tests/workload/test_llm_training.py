"""The training step: volumes of the published table, overlap, faults."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.catalog.kernel_efficiency import scale_loss_per_doubling
from models.scenario.faults import InputError
from models.workload.phase import Phase, RankGroups
from models.workload.plan import unit_time
from models.workload.plan_metrics import fixed_s, metrics, mfu
from tests.workload.training_jobs import toy_times, training

LOCAL = 70.55e9 / 32
TOKENS_BYTES = 8192 * 8192 * 2  # b s h in bf16


def sent(phase: Phase) -> float:
    """Bytes one GPU sends per step."""
    n = phase.groups.size
    share = {"all_reduce": 2 * (n - 1) / n, "all_gather": (n - 1) / n, "reduce_scatter": (n - 1) / n}
    return phase.count * phase.message_bytes * share.get(phase.operation, 1.0)


def sent_by(plan, dimension: str) -> float:
    return sum(sent(phase) for phase in plan.phases if phase.dimension == dimension)


def test_compute_time_of_the_shipped_step_is_the_formula():
    plan = training(kernel_efficiency=0.5)
    tokens = 2048 * 8192
    flops = 6 * 70.55e9 * tokens + 6 * 80 * 8192 * 8192 * tokens
    assert plan.compute_s == pytest.approx(flops / (1024 * 989e12 * 0.5), rel=2e-3)


def test_tensor_parallel_volume_is_the_same_with_and_without_sequence_parallelism():
    expected = 4 * (80 / 4) * 64 * 2 * (7 / 8) * TOKENS_BYTES
    assert sent_by(training(), "tp") == pytest.approx(expected)
    assert sent_by(training(sequence_parallel=False, cluster__gpu="H200"), "tp") == pytest.approx(expected)
    assert sent_by(training(recompute="full"), "tp") == pytest.approx(1.5 * expected)


def test_pipeline_volume_is_two_messages_a_micro_batch_times_virtual_stages():
    assert sent_by(training(), "pp") == pytest.approx(2 * 64 * TOKENS_BYTES / 8)
    assert sent_by(training(virtual_stages=5), "pp") == pytest.approx(5 * 2 * 64 * TOKENS_BYTES / 8)


@pytest.mark.parametrize(("zero", "bytes_per_parameter"), [(0, 2 * 4), (1, 4 + 2), (2, 4 + 2)])
def test_gradient_volume_by_zero_stage(zero, bytes_per_parameter):
    volume = sent_by(training(zero=zero), "dp")
    # the fullest stage also holds one of the two embedding matrices: 3 % above the mean
    assert volume == pytest.approx(31 / 32 * bytes_per_parameter * LOCAL, rel=0.04)


def test_zero_3_sends_three_times_a_micro_batch():
    volume = sent_by(training(zero=3, gradient_dtype="bf16"), "dp")
    assert volume == pytest.approx(64 * 3 * 31 / 32 * 2 * LOCAL, rel=0.04)


def test_gradient_accumulation_leaves_gradient_traffic_alone():
    assert sent_by(training(global_batch_sequences=4096), "dp") == sent_by(training(), "dp")


def test_context_parallel_ring_moves_keys_and_values_three_times():
    plan = training(cp=4, sequence=32768, global_batch_sequences=512)
    layers, micro_batches, kv = 20, 512 / 8, 2 * 2 * 1024 / 8
    assert sent_by(plan, "cp") == pytest.approx(3 * layers * micro_batches * 3 / 4 * 32768 * kv)


def test_rank_orders_place_stages_and_replicas():
    strides = {p.dimension: p.groups.stride for p in training().phases}
    assert strides == {"tp": 1, "dp": 8, "pp": 256}
    other = {p.dimension: p.groups.stride for p in training(placement__rank_order="tp-pp-dp").phases}
    assert other == {"tp": 1, "pp": 8, "dp": 32}


def test_parts_add_up_to_the_step():
    plan = training(checkpoint_interval_steps=50)
    unit = unit_time(plan, toy_times(plan))
    parts = unit.compute_s + sum(unit.exposed_s.values()) + unit.bubble_s
    parts += unit.optimizer_s + unit.stall_s + unit.scale_loss_s
    assert unit.total_s == pytest.approx(parts, rel=1e-12)
    assert sum(unit.exposed_by_dimension_s.values()) == pytest.approx(sum(unit.exposed_s.values()))
    assert unit.stall_s > 0
    assert unit.low_s < unit.fabric_low_s <= unit.total_s <= unit.fabric_high_s < unit.high_s


def test_nothing_hides_behind_compute_that_is_not_there():
    plan = training(overlap={"tp": 1.0, "pp": 1.0, "dp": 1.0})
    slow = {phase.name: 1000.0 for phase in plan.phases}
    unit = unit_time(plan, slow)
    communication = sum(1000.0 * phase.count for phase in plan.phases)
    hidden = communication - sum(unit.exposed_s.values())
    assert 0 < hidden <= plan.compute_s * (1 + 1e-9)


def test_hidden_share_follows_the_scenario():
    plan, open_plan = training(), training(overlap={"tp": 0.0})
    times = toy_times(plan)
    tp_s = sum(times[p.name] * p.count for p in plan.phases if p.dimension == "tp")
    assert unit_time(plan, times).exposed_by_dimension_s["tp"] == pytest.approx(0.7 * tp_s)
    assert unit_time(open_plan, times).exposed_by_dimension_s["tp"] == pytest.approx(tp_s)


def test_without_communication_only_fixed_time_is_left():
    plan = training()
    beta, scale = 3 / 64, scale_loss_per_doubling() * 2
    assert fixed_s(plan) == pytest.approx((plan.compute_s * (1 + beta)) * (1 + scale), rel=1e-3)


def test_interleaving_divides_the_bubble():
    plain, cut = training(), training(virtual_stages=4)
    nothing = {phase.name: 0.0 for phase in plain.phases}
    assert unit_time(plain, nothing).bubble_s == pytest.approx(4 * unit_time(cut, nothing).bubble_s)


def test_metrics_are_consistent():
    plan = training()
    unit = unit_time(plan, toy_times(plan))
    table = {m.name: m for m in metrics(plan, unit)}
    assert table["tokens_per_s"].value == pytest.approx(2048 * 8192 / unit.total_s)
    assert table["time_to_train"].value == pytest.approx(15e12 / table["tokens_per_s"].value / 86400)
    assert table["mfu"].value == pytest.approx(
        6 * 70.55e9 * 2048 * 8192 / (unit.total_s * 1024 * 989e12), rel=2e-3
    )
    assert mfu(plan, unit, with_attention=True) > mfu(plan, unit)
    assert all(m.low <= m.value <= m.high for m in table.values() if m.low is not None)


def test_uneven_stages_are_allowed_and_the_longest_decides():
    plan = training(
        model="llama3-405b", pp=16, cluster__gpus=16384, zero=1, recompute="full", kernel_efficiency=0.5
    )
    assert any("126 layers on 16 stages" in note for note in plan.notes)
    even = 6 * 405.85e9 + 6 * 126 * 16384 * 8192
    expected = even * 4 / 3 * 2048 * 8192 / (16384 * 989e12 * 0.5) * 128 / 126
    assert plan.compute_s == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"tp": 6}, "tp", "does not divide the cluster's 1024 GPUs"),
        ({"dp": 16}, "dp", "= 512 GPUs, the cluster has 1024"),
        ({"global_batch_sequences": 2000}, "global_batch_sequences", "nearest allowed: 1984 or 2016"),
        ({"global_batch_sequences": 5}, "global_batch_sequences", "nearest allowed: 32"),
        ({"pp": 32, "virtual_stages": 4}, "pp", "128 stages for 80 layers"),
        ({"pp": 1, "virtual_stages": 2}, "virtual_stages", "needs a pipeline"),
        ({"ep": 8}, "ep", "no experts"),
        ({"cp": 8, "sequence": 4097, "global_batch_sequences": 512}, "cp", "does not divide the sequence"),
        ({"tp": 128}, "tp", "64 attention heads"),
    ],
)
def test_a_bad_layout_is_one_clear_fault(changes, key, text):
    with pytest.raises(InputError) as error:
        training(**changes)
    faults = [f for f in error.value.faults if f.key == f"workloads.training.{key}"]
    assert any(text in f.problem for f in faults), str(error.value)


def test_all_faults_come_at_once():
    with pytest.raises(InputError) as error:
        training(tp=6, pp=100, ep=3, virtual_stages=1)
    assert len(error.value.faults) >= 3


def test_tensor_parallelism_across_nodes_is_allowed_with_a_warning():
    plan = training(tp=16, pp=2)
    assert any("crosses scale-up domains of 8 GPUs" in text for text in plan.warnings)
    assert training().warnings == ()


def test_experts_add_dispatch_and_combine():
    changes = {
        "model": "deepseek-v3", "tp": 1, "pp": 16, "ep": 64, "sequence": 4096, "global_batch_sequences": 2048,
        "recompute": "full",
    }  # fmt: skip
    plan = training(**changes)
    by_name = {phase.name: phase for phase in plan.phases}
    dispatch = by_name["ep_dispatch"]
    assert dispatch.operation == "moe_dispatch"
    assert dispatch.expert is not None and dispatch.expert.top_k == 8 and dispatch.expert.node_limit == 4
    assert dispatch.message_bytes == pytest.approx(4096 * 8 * 7168 * 2)
    assert dispatch.groups.size == 64
    assert "tp_all_gather" not in by_name
    assert not any(name.startswith("dp_experts") for name in by_name)  # 64 replicas, 64 expert ranks
    replicated = {phase.name: phase for phase in training(**{**changes, "ep": 32}).phases}
    assert replicated["dp_experts_reduce_scatter"].groups == RankGroups(2, 512, 32)


def test_small_micro_batches_do_less_per_byte():
    one, two = training(sequence=2048), training(sequence=2048, micro_batch=2)
    assert two.compute_s < one.compute_s
    assert training(sequence=2048, kernel_efficiency=0.5).compute_s == pytest.approx(
        training(sequence=2048, micro_batch=2, kernel_efficiency=0.5).compute_s
    )


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    tp=st.sampled_from([1, 2, 4, 8, 16]),
    pp=st.sampled_from([1, 2, 3, 4, 8, 40]),
    cp=st.sampled_from([1, 2, 8]),
    ep=st.sampled_from([1, 2, 8]),
    zero=st.integers(0, 3),
    virtual_stages=st.sampled_from([1, 2, 5]),
    micro_batch=st.sampled_from([1, 2, 16]),
    recompute=st.sampled_from(["none", "selective", "full"]),
    sequence_parallel=st.booleans(),
    model=st.sampled_from(["llama3-8b", "mixtral-8x22b", "deepseek-v3"]),
    placement__rank_order=st.sampled_from(["tp-dp-pp", "tp-pp-dp"]),
    cluster__gpus=st.sampled_from([8, 64, 1024]),
    weight_dtype=st.sampled_from(["bf16", "fp8"]),
)
def test_any_layout_is_a_finite_plan_or_a_fault(**changes):
    try:
        plan = training(**changes, cluster__gpu="B200")
    except InputError as error:
        assert error.faults
        return
    unit = unit_time(plan, toy_times(plan))
    assert math.isfinite(unit.total_s) and unit.total_s > 0
    assert all(time >= 0 for time in unit.exposed_s.values())
    assert all(phase.groups.ranks == changes["cluster__gpus"] for phase in plan.phases)
    assert all(m.value >= 0 for m in metrics(plan, unit))
