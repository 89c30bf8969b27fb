"""Every workload kind as a plan, and what refuses."""

from __future__ import annotations

import pytest

from models.scenario.faults import InputError
from models.scenario.workloads import (
    Bisection,
    Collective,
    Incast,
    Inference,
    Permutation,
    Storage,
)
from models.workload.phase import PhaseTime
from models.workload.phases import PLANS, phases
from models.workload.plan import unit_time, work_per_s
from models.workload.plan_metrics import metrics, scaling_efficiency
from tests.workload.training_jobs import scenario

AT = scenario()


def plan(workload):
    return phases(workload, AT, "x")


def test_the_scenario_names_its_plans():
    for name, workload in AT.workloads.items():
        assert phases(workload, AT).name == name


def test_every_kind_has_a_plan():
    assert len(PLANS) == 7


def test_collective_over_all_ranks_or_some():
    everyone = plan(Collective(kind="collective", operation="all_reduce", message_bytes=2**30))
    assert everyone.phases[0].groups.size == 1024
    some = plan(
        Collective(kind="collective", operation="all_gather", message_bytes=2**20, ranks=64, algorithm="ring")
    )
    assert (some.phases[0].groups.size, some.phases[0].algorithm) == (64, "ring")


@pytest.mark.parametrize(
    ("ranks", "text"), [(2048, "allowed 2 .. 1024"), (12, "nearest allowed: 8 or 16"), (1, "allowed 2")]
)
def test_ranks_that_do_not_exist(ranks, text):
    with pytest.raises(InputError, match=text):
        plan(Collective(kind="collective", operation="all_reduce", message_bytes=1, ranks=ranks))


def test_moe_message_carries_its_tokens():
    dispatch = plan(
        Collective(kind="collective", operation="moe_dispatch", message_bytes=128 * 8 * 7168, dtype="fp8")
    ).phases[0]
    assert dispatch.expert is not None and dispatch.expert.tokens_per_rank == 128


def test_incast_uses_the_scenario_seed_and_refuses_too_many_senders():
    burst = plan(Incast(kind="incast", fan_in=32, burst_bytes=2**20)).phases[0].burst
    assert burst is not None and (burst.fan_in, burst.seed) == (32, AT.seed)
    with pytest.raises(InputError, match=r"allowed 1 \.\. 1022"):
        plan(Incast(kind="incast", fan_in=2000, burst_bytes=1))


def test_permutation_and_bisection_span_the_cluster():
    for workload in (Permutation(kind="permutation"), Bisection(kind="bisection")):
        assert plan(workload).phases[0].groups.ranks == 1024


def test_storage_shares_add_up():
    write = plan(Storage(kind="storage", bytes_total=912 * 10**9, servers=16))
    assert write.phases[0].message_bytes * 1024 == pytest.approx(912e9)
    floor = {m.name: m.value for m in write.metrics}["storage_servers_bound"]
    assert floor == pytest.approx(912e9 / (16 * 40e9))


def test_cache_transfer_hides_behind_prefill_layer_by_layer():
    request = plan(Inference(kind="inference", model="llama3-70b", prompt_tokens=8192))
    phase = request.phases[0]
    assert phase.message_bytes == pytest.approx(8192 * 327680 / 8)
    assert (phase.groups.size, phase.groups.stride) == (2, 8)
    fast = unit_time(request, {phase.name: 0.5 * request.compute_s})
    assert fast.total_s == pytest.approx(request.compute_s * (1 + 0.5 / 80))
    slow = unit_time(request, {phase.name: 3 * request.compute_s})
    assert slow.total_s == pytest.approx(3 * request.compute_s, rel=1e-9)
    assert {"request_time", "prefill_time", "kv_transfer_exposed"} <= {m.name for m in metrics(request, slow)}


def test_latent_attention_sends_less():
    mla = plan(Inference(kind="inference", model="deepseek-v3", prompt_tokens=1000)).phases[0].message_bytes
    assert mla == pytest.approx(1000 * 61 * 576 * 2 / 8)


def test_inference_refuses_more_gpus_than_there_are():
    with pytest.raises(InputError, match="cluster has 1024"):
        plan(
            Inference(
                kind="inference", model="llama3-8b", prompt_tokens=1, prefill_gpus=1000, decode_gpus=100
            )
        )


def test_a_single_execution_takes_the_time_of_its_phase():
    one = plan(Collective(kind="collective", operation="all_reduce", message_bytes=2**30))
    unit = unit_time(one, {"all_reduce": PhaseTime(0.01, 0.008, 0.02, "ring", "nic")})
    assert (unit.total_s, unit.low_s, unit.fabric_high_s) == (0.01, 0.008, 0.02)
    assert work_per_s(one, unit) == 100.0


def test_a_phase_without_a_time_is_an_error():
    one = plan(Collective(kind="collective", operation="all_reduce", message_bytes=2**30))
    with pytest.raises(KeyError):
        unit_time(one, {})


def test_scaling_efficiency_of_linear_scaling_is_one():
    assert scaling_efficiency(2.0, 16, 1.0, 8) == 1.0
