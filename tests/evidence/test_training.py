"""Published training steps: accuracy in sample, leaving a source out, from one point; unusable rows say why."""

from __future__ import annotations

from functools import cache

import pytest

from models.catalog.kernel_efficiency import kernel_efficiencies, scale_loss_per_doubling
from models.evidence.published_setup import Unusable
from models.evidence.training import _rows, accuracy_reports, training_rows, usable_steps
from models.evidence.training_fit import dense_rows, fitted, implied_efficiency, series_of
from models.evidence.training_setup import step_row
from models.evidence.training_stacks import stack_of
from models.scenario.faults import InputError
from models.workload.llm_compute import FP8_SPEEDUP

ROW = {
    "id": "x", "model": "GPT-3 175B", "params_billion": "175", "layers": "96", "hidden": "12288", "sequence": "2048",
    "vocabulary": "51200", "gpu": "A100", "gpus": "1024", "tp": "8", "pp": "8", "dp": "16", "virtual_stages": "6",
    "micro_batch": "1", "global_batch_sequences": "1024", "stack": "megascale", "step_s": "12", "fabric": "roce",
    "source": "s",
}  # fmt: skip


@cache
def reports():
    return accuracy_reports()


@cache
def steps():
    return usable_steps(_rows(None))


def test_every_shipped_row_is_predicted_with_a_band():
    rows = training_rows()
    assert len(rows) == 122 and all(row.usable for row in rows)
    assert all(row.low < row.prediction < row.high for row in rows)
    assert {row.metric for row in rows} == {"time"}
    assert {row.band for row in rows} == {"", "experts"}


def test_bands_cover_what_was_measured():
    rows = training_rows()
    for band, share in (("", 0.9), ("experts", 0.75)):
        inside = [row.low <= row.value <= row.high for row in rows if row.band == band]
        assert sum(inside) >= share * len(inside)


def test_in_sample():
    report = reports()["in sample"]
    assert report.median_pct < 3 and report.p90_pct < 10


def test_leaving_a_source_out_holds_its_target():
    report = reports()["leave one source out"]
    assert report.median_pct < 8 and report.p90_pct < 20
    assert report.rows == 99 and report.sources == 10


def test_mixtures_of_experts_are_reported_apart_and_less_sure():
    report = reports()["leave one source out, experts"]
    assert report.rows == 23 and report.sources == 4
    assert report.median_pct < 13 and report.p90_pct < 40


def test_one_calibrated_point_predicts_the_rest_of_its_series():
    report = reports()["calibrated on the smallest job"]
    assert report.median_pct < 4 and report.p90_pct < 9


def test_a_series_is_one_model_at_one_batch_or_one_batch_per_gpu():
    series = series_of(steps())
    assert sum(len(members) for members in series) == len(steps())
    for members in series:
        assert len({(row.source, row.stack, row.gpu.id, row.model) for row in members}) == 1
    weak = next(m for m in series if m[0].stack == "nemo-24" and m[0].model == "Llama3-70B")
    assert [int(row.layouts.gpus[0]) for row in weak] == [64, 128, 256, 512, 1024, 2048]


def test_the_table_holds_what_the_fit_gives():
    fit = fitted(steps())
    assert fit.scale_loss == pytest.approx(scale_loss_per_doubling())
    table = {(row.generation, row.stack): row for row in kernel_efficiencies()}
    for key, e in fit.efficiency.items():
        assert table[key].efficiency == pytest.approx(e, abs=1e-3)
    hopper = fit.family_efficiency("hopper", "modern")
    assert table["hopper", "modern"].efficiency == pytest.approx(hopper, abs=1e-3)
    for generation in ("ampere", "blackwell"):
        mean = fit.family_efficiency(generation, "modern")
        assert table[generation, "modern"].efficiency == pytest.approx(mean, abs=1e-3)
    assert table["ampere", "legacy"].efficiency == pytest.approx(
        fit.family_efficiency("ampere", "legacy"), abs=2e-3
    )


def test_a_fit_without_a_source_has_not_seen_its_stacks():
    fit = fitted([s for s in steps() if s.gpu.generation == "hopper"])
    assert ("ampere", "megascale") not in fit.efficiency
    transferred = fit.family_efficiency("ampere", "modern") / fit.family_efficiency("hopper", "modern")
    assert transferred == pytest.approx(0.869 / 0.803)


def test_the_implied_efficiency_reproduces_the_measured_step():
    for step in dense_rows(steps()):
        assert step.predicted_s(implied_efficiency(step, 0.01), 0.01) == pytest.approx(
            step.measured_s, rel=1e-6
        )


def test_figures_state_the_same_step():
    flops = (6 * 175e9 + 6 * 96 * 12288 * 2048) * 1024 * 2048
    step = step_row({**ROW, "step_s": "", "tflops_per_gpu": "150"})
    assert step.measured_s == pytest.approx(flops / 1024 / 150e12, rel=0.02)
    recomputed = step_row({**ROW, "step_s": "", "tflops_per_gpu": "150", "recompute": "full"})
    assert recomputed.measured_s == pytest.approx(step.measured_s * 4 / 3)
    by_mfu = step_row({**ROW, "step_s": "", "mfu_percent": str(150 / 3.12)})
    assert by_mfu.measured_s == pytest.approx(step.measured_s)


def test_sharded_weights_precision_and_tied_embeddings_are_read():
    plain = step_row(ROW)
    sharded = step_row({**ROW, "zero": "3"})
    assert sharded.layouts.zero == 3 and plain.layouts.zero == 1
    assert sharded.predicted_s(0.6, 0.0) > plain.predicted_s(0.6, 0.0)
    eighth = step_row({**ROW, "precision": "fp8"})
    scores = 96 * 12288 * 2048 / 175e9  # attention stays in BF16
    assert plain.at_peak_s / eighth.at_peak_s == pytest.approx((1 + scores) / (1 / FP8_SPEEDUP + scores))
    own = {**ROW, "model": "GPT-X"}
    tied, untied = step_row(own), step_row({**own, "tied_embeddings": "no"})
    assert untied.at_peak_s / tied.at_peak_s == pytest.approx(1 - 51200 * 12288 / (175e9 * (1 + scores)))


def test_a_rack_is_used_in_powers_of_two_and_experts_cost_handling():
    row = {
        **ROW,
        "model": "DeepSeek-V3",
        "gpu": "GB200",
        "gpus": "256",
        "tp": "1",
        "pp": "4",
        "dp": "64",
        "ep": "64",
    }
    row |= {"params_billion": "", "sequence": "4096", "virtual_stages": "4"}
    step = step_row(row)
    least, most = step.overhead_band_s
    assert step.experts and least < step.overhead_s < most
    share = step.times_s["ep_dispatch"] / step_row({**row, "gpu": "B200"}).times_s["ep_dispatch"]
    assert share < 0.35  # one NVLink domain of 64 against NICs


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"gpu": "TPUv4"}, "not in the GPU table"),
        ({"gpus": ""}, "number of GPUs not stated"),
        ({"sequence": ""}, "sequence length not stated"),
        ({"tp": "7"}, "does not divide"),
        ({"dp": "3"}, "the row has 1024 GPUs"),
        ({"step_s": ""}, "neither step time"),
        ({"fabric": "carrier pigeon"}, "is not one of"),
        ({"model": "DeepSeek-V3"}, "expert parallelism not stated"),
        ({"recompute": "some"}, "none, selective or full"),
        ({"zero": "4"}, "is not 0, 1, 2 or 3"),
        ({"precision": "fp4"}, "is not bf16 or fp8"),
        ({"layers": "", "model": "GPT-X"}, "parameters, layers or hidden size not stated"),
    ],
)
def test_what_cannot_be_predicted_says_why(changes, reason):
    with pytest.raises(Unusable, match=reason):
        step_row({**ROW, **changes})


def test_an_unusable_row_of_a_file_is_shown_and_not_counted(tmp_path):
    path = tmp_path / "steps.csv"
    broken = {**ROW, "gpu": "TPUv4"}
    lines = [",".join(ROW), ",".join(ROW.values()), ",".join(broken.values())]
    path.write_text("\n".join(lines), "utf-8")
    good, bad = training_rows(path)
    assert good.usable and not bad.usable and "TPUv4" in bad.reason


def test_a_file_of_another_form_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(InputError, match="columns missing"):
        training_rows(path)


def test_a_layout_that_is_not_stated_is_searched_and_said():
    step = step_row({**ROW, "tp": "", "pp": "", "dp": "", "gpus": "256"})
    assert "layout not stated; best of" in step.note


def test_unknown_stacks_are_modern_unless_their_year_says_otherwise():
    assert stack_of("nemo-2024").family == "modern"
    assert stack_of("something-2021").family == "legacy"
