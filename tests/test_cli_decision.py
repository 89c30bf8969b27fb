"""The commands about the decision: files, exit status, one readable line a fault."""

import pandas as pd
import pytest

from models.cli import main
from models.scenario.load import dump, with_value
from tests.compare.sweeping import small_scenario


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(dump(small_scenario()))
    return path


def test_sweep_writes_one_table(file, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    axis = ["--axis", "cluster.gpus=64..128", "--axis", "topology.oversubscription=1,2"]
    assert main(["sweep", str(file), *axis, "--method", "analytical", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(out / "sweep.csv")
    assert "4 points" in said.err
    table = pd.read_csv(out / "sweep.csv")
    value = table[table.metric == "work_per_dollar"]
    best = value.loc[value.groupby(["cluster.gpus", "topology.oversubscription"]).value.idxmax()].candidate
    told = next(
        line for line in said.err.splitlines() if line.startswith("Most work per dollar at mid prices: ")
    )
    for name, count in best.value_counts().items():
        assert f"{name} at {count}" in told or (count == 4 and f"{name} at all 4 points" in told)
    assert list(table)[:3] == ["cluster.gpus", "topology.oversubscription", "scenario"]
    assert list(table)[3:] == [
        "candidate", "fabric", "method", "workload", "metric", "value", "unit", "low", "high", "status", "reason",
    ]  # fmt: skip
    assert main(["sweep", str(file), *axis, "--method", "analytical", "--out", str(out), "--resume"]) == 0
    assert "4 of them from before" in capsys.readouterr().err


def test_sweep_takes_listed_points_and_the_scenario_s_own_axes(file, tmp_path, capsys) -> None:
    listed = tmp_path / "points.csv"
    listed.write_text("cluster.gpus,topology.kind\n64,fat_tree\n128,rail_only\n")
    out = tmp_path / "listed"
    assert (
        main(["sweep", str(file), "--points", str(listed), "--method", "analytical", "--out", str(out)]) == 0
    )
    assert pd.read_csv(out / "sweep.csv")[["cluster.gpus", "topology.kind"]].drop_duplicates().shape == (2, 2)
    file.write_text(dump(with_value(small_scenario(), "sweep", {"axes": {"cluster.gpus": [64, 128, 256]}})))
    assert main(["sweep", str(file), "--method", "analytical", "--out", str(tmp_path / "own")]) == 0
    assert pd.read_csv(tmp_path / "own" / "sweep.csv")["cluster.gpus"].nunique() == 3


def test_sweep_tells_how_many_points_have_no_answer_and_why(file, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    arguments = [
        "sweep", str(file), "--axis", "cluster.gpus=64,68,128", "--axis", "workloads.allreduce.ranks=8,100",
        "--method", "analytical", "--out", str(out),
    ]  # fmt: skip
    assert main(arguments) == 0
    said = capsys.readouterr().err
    table = pd.read_csv(out / "sweep.csv")
    lacking = table[table.status != "ok"]
    points = lacking[["cluster.gpus", "workloads.allreduce.ranks"]].drop_duplicates()
    assert f"{len(points)} of 6 points have rows without an answer, {len(lacking)} rows in all" in said
    assert len(points) == 4  # 68 GPUs fill no nodes; 100 ranks are none of 64 GPUs, and no whole nodes of 128
    for (status, reason), rows in lacking.groupby(["status", "reason"]).size().items():
        assert f"  {rows} x {status}: {reason}" in said.splitlines()
    assert main([*arguments, "--resume"]) == 0
    assert f"{len(points)} of 6 points have rows without an answer" in capsys.readouterr().err
    arguments[3:] = ["cluster.gpus=64,128", "--method", "analytical", "--out", str(tmp_path / "all")]
    assert main(arguments) == 0
    assert "without an answer" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--axis", "cluster.gpu_count=1"],
        ["--axis", "cluster.gpus"],
        ["--axis", "cluster.gpus=64", "--axis", "cluster.gpus=128"],
        ["--axis", "candidates.Nobody.technology=tcp_400g"],
        ["--axis", "cluster.gpus=64", "--dask", "somewhere"],
        ["--axis", "cluster.gpus=64", "--points", "x.csv"],
        [],
    ],
)
def test_bad_axes_are_one_line_and_exit_2(file, tmp_path, capsys, arguments) -> None:
    status = main(["sweep", str(file), "--method", "analytical", "--out", str(tmp_path / "o"), *arguments])
    said = capsys.readouterr()
    assert status == 2
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 1 and said.err.startswith("error: ")


def test_sensitivity_writes_four_tables_and_repeats(file, tmp_path, capsys) -> None:
    for name in ("a", "b"):
        arguments = ["sensitivity", str(file), "--method", "analytical", "--draws", "256", "--seed", "9"]
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
    text = capsys.readouterr().out
    assert "one input at a time" in text and "tie" in text
    for name in ("tornado", "draws", "decision", "break_even"):
        one, two = (tmp_path / folder / f"{name}.csv" for folder in ("a", "b"))
        assert one.read_bytes() == two.read_bytes()
    draws = pd.read_csv(tmp_path / "a" / "draws.csv")
    assert list(draws) == ["draw", "candidate", "yearly_usd", "relative_work", "work_per_dollar"]
    assert len(draws) == 256 * len(small_scenario().candidates)
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    assert "draws: 0 changed, 0 added, 0 removed" in capsys.readouterr().out


def test_report_writes_three_files(file, tmp_path, capsys) -> None:
    out = tmp_path / "report"
    assert main(["report", str(file), "--method", "analytical", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["decision.csv", "report.html", "report.md"]
    assert str(out / "report.html") in capsys.readouterr().out


def test_one_candidate_alone_has_an_answer_too(tmp_path, capsys) -> None:
    scenario = small_scenario()
    first = next(iter(scenario.candidates))
    alone = scenario.model_copy(update={"candidates": {first: scenario.candidates[first]}})
    file = tmp_path / "alone.yaml"
    file.write_text(dump(alone))
    arguments = [str(file), "--method", "analytical", "--out", str(tmp_path / "o")]
    assert main(["sensitivity", *arguments, "--draws", "64"]) == 0
    assert main(["report", *arguments]) == 0
    assert "only candidate" in capsys.readouterr().out
    assert "speed alone: \n" not in (tmp_path / "o" / "report.md").read_text()
    assert main(["compare", str(file), "--method", "analytical"]) == 0
    text = capsys.readouterr().out
    assert "\n\n\n" not in text and "best in" not in text and "USD per year" in text


def test_diff_of_two_scenarios(file, tmp_path, capsys) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(dump(with_value(small_scenario(), "cluster.gpus", 256)))
    assert main(["diff", str(file), str(other)]) == 0
    assert "cluster.gpus: 64 -> 256" in capsys.readouterr().out
    assert main(["diff", str(file), str(tmp_path)]) == 2
    assert "one is a scenario file, the other a folder" in capsys.readouterr().err
