"""Checkpoints and failures against published figures."""

from __future__ import annotations

import pytest

from models.workload.goodput import (
    checkpoint_bytes,
    checkpoint_stall_s,
    goodput,
    job_mtbf_s,
    young_daly_interval_s,
)


@pytest.mark.parametrize(("params", "published"), [(8.03e9, 105e9), (70.55e9, 912e9), (405.85e9, 5.29e12)])
def test_checkpoint_sizes_of_mlperf_storage(params, published):
    assert checkpoint_bytes(params) == pytest.approx(published, rel=0.02)


def test_llama3_is_interrupted_about_every_three_hours():
    # 54 days, 419 unexpected interruptions of 16,384 GPUs
    assert job_mtbf_s(16384, 16384) == pytest.approx(54 * 86400 / 419, rel=0.1)


def test_youngs_interval_is_the_best_one():
    stall, mtbf = 2.0, 10_000.0
    best = goodput(stall, mtbf)
    assert best.interval_s == young_daly_interval_s(stall, mtbf)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert goodput(stall, mtbf, interval_s=factor * best.interval_s).fraction < best.fraction


def test_llama3_keeps_more_than_ninety_per_cent():
    stall = checkpoint_stall_s(405e9, 16384, 5)
    assert 0.9 < goodput(stall, job_mtbf_s(16384, 16384)).fraction < 0.97


def test_goodput_is_never_negative():
    assert goodput(10.0, 5.0).fraction == 0.0
