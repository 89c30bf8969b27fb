"""Sweeps: one table however it is computed, points that cannot be built, resuming."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from models.compare import sweep as sweeping
from models.compare import sweep_sizes
from models.compare.axes import axes, grid
from models.compare.fabrics import METHODS
from models.compare.sweep import Interrupted, blocks, rows_text, sweep
from models.compare.sweep_files import JOURNAL, SEAL, SET_ASIDE, TABLE
from models.compare.sweep_points import CANNOT_BUILD, INVALID, OK
from models.scenario.faults import InputError
from models.scenario.load import dump
from tests.compare.sweeping import small_scenario

SMALL = small_scenario()
AXES = [
    "cluster.gpus=64..256",
    "prices.sw_qm9700=20000,30000,40000,45000",
    "workloads.allreduce.message_bytes=1MiB,100MiB,1GiB",
]
ANALYTICAL = ("analytical",)


def records(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


@pytest.fixture(scope="module")
def points():
    return grid(axes(AXES))


@pytest.fixture(scope="module")
def expected(points) -> str:
    return rows_text(SMALL, points, ANALYTICAL)


def test_a_sweep_equals_its_points_one_by_one(points, expected) -> None:
    """Shared parts and interpolated costs change no figure beyond 1e-9."""
    together = records(expected)
    alone = [row for point in points for row in records(rows_text(SMALL, [point], ANALYTICAL))]
    assert len(together) == len(alone)
    for ours, theirs in zip(together, alone, strict=True):
        for column in ("candidate", "method", "workload", "metric", "unit", "status", "reason"):
            assert ours[column] == theirs[column]
        for column in ("value", "low", "high"):
            if theirs[column]:
                assert float(ours[column]) == pytest.approx(float(theirs[column]), rel=1e-9)


@pytest.mark.parametrize("methods", [ANALYTICAL, METHODS])
def test_message_sizes_together_are_the_bytes_of_each_by_itself(methods, monkeypatch) -> None:
    """Sizes that share a network are one evaluation; a size out of range is a row, as it is alone."""
    sizes = "workloads.allreduce.message_bytes=0,1,1KiB,3000,1MiB,16MiB,1GiB,100000000000,2TiB"
    points = grid(axes(["cluster.gpus=64,128", sizes, "workloads.allreduce.ranks=8,64"]))
    alone = [rows_text(SMALL, [point], methods).split("\n", 1)[1] for point in points]
    evaluated: list[int] = []
    together = sweep_sizes._times
    monkeypatch.setattr(
        sweep_sizes,
        "_times",
        lambda plans, evaluate: evaluated.append(len(plans)) or together(plans, evaluate),
    )
    head, rows = rows_text(SMALL, points, methods).split("\n", 1)
    assert rows == "".join(alone)
    assert evaluated == [7] * (len(SMALL.candidates) * len(methods) * 4)
    refused = {
        row["workloads.allreduce.message_bytes"]
        for row in records(f"{head}\n{rows}")
        if row["status"] == INVALID
    }
    assert refused == {"0", str(2**41)}


def test_handfuls_hold_sizes_together_and_lose_no_point() -> None:
    points = grid(axes(["cluster.gpus=64,128", "workloads.allreduce.message_bytes=1..2048"]))
    task = sweeping._task(SMALL, points, ANALYTICAL)
    handfuls = sweeping._handfuls(task, blocks(SMALL, points), points, 2)
    assert sorted(i for numbers, _ in handfuls for i in numbers) == list(range(len(points)))
    assert [len(numbers) for numbers, _ in handfuls] == [6] * 4
    for numbers, chosen in handfuls:
        assert chosen == [points[i] for i in numbers]
        assert len({point["cluster.gpus"] for point in chosen}) == 1


def test_the_key_columns_lead_and_every_point_has_every_candidate(points, expected) -> None:
    rows = records(expected)
    assert list(rows[0])[:3] == ["cluster.gpus", "prices.sw_qm9700", "workloads.allreduce.message_bytes"]
    assert {row["status"] for row in rows} == {OK}
    of_point = {(row["cluster.gpus"], row["prices.sw_qm9700"], row["workloads.allreduce.message_bytes"], row["candidate"])
                for row in rows}  # fmt: skip
    assert len(of_point) == len(points) * len(SMALL.candidates)


def test_two_workers_write_the_same_file_as_one(tmp_path, points, expected) -> None:
    one = sweep(SMALL, points, tmp_path / "one", ANALYTICAL)
    two = sweep(SMALL, points, tmp_path / "two", ANALYTICAL, jobs=2)
    assert one.table.read_text() == two.table.read_text() == expected
    assert not (tmp_path / "one" / JOURNAL).exists()


def test_a_price_axis_moves_only_candidates_that_buy_there(points, expected) -> None:
    rows = [r for r in records(expected) if r["metric"] == "capital" and r["cluster.gpus"] == "64"]
    by = {name: {r["value"] for r in rows if r["candidate"] == name} for name in SMALL.candidates}
    assert len(by["InfiniBand NDR"]) == 4
    assert len(by["RoCEv2 400G"]) == 1


def test_points_that_cannot_be_built_are_rows_with_a_reason() -> None:
    tried = grid(axes(["cluster.gpus=64,100,1048576", "topology.kind=fat_tree"]))
    rows = records(rows_text(SMALL, tried, ANALYTICAL))
    odd = [r for r in rows if r["cluster.gpus"] == "100"]
    assert {r["status"] for r in odd} == {INVALID}
    assert all("multiple of gpus_per_node" in r["reason"] and r["value"] == "" for r in odd)
    large = [r for r in rows if r["cluster.gpus"] == "1048576" and r["candidate"] == "InfiniBand NDR"]
    assert CANNOT_BUILD in {r["status"] for r in large}
    assert any("three-tier" in r["reason"] for r in large)
    assert OK in {r["status"] for r in rows if r["cluster.gpus"] == "64"}


def test_one_candidate_out_of_range_leaves_the_others() -> None:
    key = "candidates.InfiniBand NDR.overrides.link.hop_latency_us"
    rows = records(rows_text(SMALL, grid(axes([f"{key}=0.3,-1"])), ANALYTICAL))
    bad = [r for r in rows if r[key] == "-1"]
    assert {r["candidate"] for r in bad if r["status"] == INVALID} == {"InfiniBand NDR"}
    assert {r["candidate"] for r in bad if r["metric"] == "work_per_dollar"} == {"RoCEv2 400G"}


@pytest.mark.parametrize(
    "text",
    [
        "cluster.gpu_count=1",
        "cluster.gpus=many",
        "prices.sw_nothing=1",
        "candidates.Nobody.overrides.x=1",
        "nonsense.key=1",
    ],
)
def test_a_key_that_does_not_exist_is_an_error_not_a_table(text: str) -> None:
    with pytest.raises(InputError):
        rows_text(SMALL, grid(axes([text])), ANALYTICAL)


def test_a_batch_per_gpu_follows_the_cluster() -> None:
    training = SMALL.workloads["training"].model_copy(update={"batch_scaling": "per_gpu"})
    weak = SMALL.model_copy(update={"workloads": {"training": training}})
    strong = SMALL.model_copy(update={"workloads": {"training": SMALL.workloads["training"]}})
    tried = grid(axes(["cluster.gpus=64,128"]))

    def steps(scenario) -> list[float]:
        rows = records(rows_text(scenario, tried, ANALYTICAL))
        return [
            float(r["value"]) for r in rows if r["metric"] == "step_time" and r["candidate"] == "RoCEv2 400G"
        ]

    small, large = steps(weak)
    assert large == pytest.approx(small, rel=0.1)
    small, large = steps(strong)
    assert large == pytest.approx(small / 2, rel=0.1)


def test_blocks_hold_points_that_share_their_times(points) -> None:
    assert sorted(len(block) for block in blocks(SMALL, points)) == [4] * 9


def test_an_interrupted_sweep_keeps_its_points_and_resumes_to_the_same_file(
    tmp_path, points, expected, monkeypatch
) -> None:
    monkeypatch.setattr(sweeping, "BATCH_S", 0.0)
    calls = []

    def stop_soon(done: int, total: int, left: float | None) -> None:
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="points kept"):
        sweep(SMALL, points, tmp_path, ANALYTICAL, report=stop_soon)
    assert not (tmp_path / TABLE).exists()
    done = sweep(SMALL, points, tmp_path, ANALYTICAL, resume=True)
    assert 0 < done.reused < len(points)
    assert done.table.read_text() == expected


def test_a_record_cut_off_in_the_middle_is_dropped(tmp_path, points, expected, monkeypatch) -> None:
    monkeypatch.setattr(sweeping, "BATCH_S", 0.0)

    def stop(done: int, total: int, left: float | None) -> None:
        if done > len(points) // 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        sweep(SMALL, points, tmp_path, ANALYTICAL, report=stop)
    journal = tmp_path / JOURNAL
    whole = journal.read_bytes()
    for cut in (len(whole) - 1, len(whole) // 2, 40, 0):
        journal.write_bytes(whole[:cut])
        (tmp_path / SEAL).unlink(missing_ok=True)
        (tmp_path / TABLE).unlink(missing_ok=True)
        assert sweep(SMALL, points, tmp_path, ANALYTICAL, resume=True).table.read_text() == expected


def test_resume_takes_an_empty_or_a_finished_folder(tmp_path, points, expected) -> None:
    first = sweep(SMALL, points, tmp_path, ANALYTICAL, resume=True)
    stamp = first.table.stat().st_mtime_ns
    again = sweep(SMALL, points, tmp_path, ANALYTICAL, resume=True)
    assert again.reused == len(points)
    assert again.table.stat().st_mtime_ns == stamp
    again.table.write_text("spoiled")
    assert sweep(SMALL, points, tmp_path, ANALYTICAL, resume=True).table.read_text() == expected


def test_starting_over_sets_the_unfinished_journal_aside(tmp_path, points, monkeypatch) -> None:
    monkeypatch.setattr(sweeping, "BATCH_S", 0.0)

    def stop(done: int, total: int, left: float | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        sweep(SMALL, points, tmp_path, ANALYTICAL, report=stop)
    started = (tmp_path / JOURNAL).read_bytes()
    assert sweep(SMALL, points, tmp_path, ANALYTICAL).reused == 0
    assert (tmp_path / SET_ASIDE).read_bytes() == started


def test_a_folder_of_another_question_is_refused(tmp_path, points) -> None:
    sweep(SMALL, points, tmp_path, ANALYTICAL)
    with pytest.raises(InputError, match="other axes"):
        sweep(SMALL, points[:3], tmp_path, ANALYTICAL, resume=True)
    other = SMALL.model_copy(update={"seed": 7})
    with pytest.raises(InputError, match="another scenario"):
        sweep(other, points, tmp_path, ANALYTICAL, resume=True)
    assert sweep(SMALL, points[:3], tmp_path, ANALYTICAL).points == 3


def test_no_times_hosts_or_paths_in_the_folder(tmp_path, points) -> None:
    sweep(SMALL, points[:2], tmp_path / "a", ANALYTICAL)
    sweep(SMALL, points[:2], tmp_path / "b", ANALYTICAL)
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == [TABLE, SEAL]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        assert str(tmp_path) not in (tmp_path / "a" / name).read_text()
    assert json.loads((tmp_path / "a" / SEAL).read_text())["question"]["points"] == 2


def test_killed_in_the_middle_then_resumed_gives_the_same_file(tmp_path) -> None:
    """kill -9 of a real process; what it had written is used, the file is the same to the byte."""
    file = tmp_path / "small.yaml"
    file.write_text(dump(SMALL))
    out = tmp_path / "out"
    sizes = ",".join(str(1024 * i) for i in range(1, 4000))
    base = [sys.executable, "-m", "models.cli", "sweep", str(file), "--method", "analytical", "--out"]
    base_axis = ["--axis", f"workloads.allreduce.message_bytes={sizes}"]
    process = subprocess.Popen(
        [*base, str(out), *base_axis], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    journal = out / JOURNAL
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if journal.exists() and journal.stat().st_size > 20_000:
            break
        time.sleep(0.02)
    assert process.poll() is None, "the sweep ended before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / TABLE).exists()
    resumed = subprocess.run(
        [*base, str(out), *base_axis, "--resume"], capture_output=True, text=True, check=True
    )
    assert "of them from before" in resumed.stderr
    whole = subprocess.run([*base, str(tmp_path / "whole"), *base_axis], capture_output=True, check=True)
    assert whole.returncode == 0
    assert (out / TABLE).read_bytes() == (tmp_path / "whole" / TABLE).read_bytes()


def test_ctrl_c_ends_with_130(tmp_path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(dump(SMALL))
    out = tmp_path / "out"
    sizes = ",".join(str(1024 * i) for i in range(1, 8000))
    process = subprocess.Popen(
        [sys.executable, "-m", "models.cli", "sweep", str(file), "--method", "analytical", "--out", str(out),
         "--axis", f"workloads.allreduce.message_bytes={sizes}"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (out / JOURNAL).exists():
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "points kept" in said and "Traceback" not in said


def test_a_dask_cluster_writes_the_same_file(tmp_path: Path, points, expected) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        done = sweep(SMALL, points, tmp_path, ANALYTICAL, dask=cluster.scheduler_address)
    assert done.table.read_text() == expected


def test_a_scheduler_that_is_not_there_is_one_readable_fault(tmp_path: Path, points, monkeypatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("models.compare.sweep_dask.CONNECT_S", 0.3)
    with pytest.raises(InputError, match="cannot be reached"):
        sweep(SMALL, points, tmp_path, ANALYTICAL, dask="tcp://127.0.0.1:1")
