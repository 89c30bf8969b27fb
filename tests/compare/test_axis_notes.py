"""A range says its step and how many points came out; a key that concerns not everybody says whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.cli import main
from models.compare.axes import axes, grid
from models.compare.axis_notes import axis_notes
from models.scenario.load import load, with_values

FIRST = Path(__file__).resolve().parents[2] / "scenarios" / "llama3-70b-1024-h100.yaml"
SCENARIO = load(FIRST)


def test_a_range_says_its_step() -> None:
    texts = ["cluster.gpus=64..100"]
    (note,) = axis_notes(texts, grid(axes(texts)), SCENARIO)
    assert note.startswith("cluster.gpus = 64..100: 1 power of two: 64; a range steps by powers of two")
    assert axis_notes(["cluster.gpus=64,96"], grid(axes(["cluster.gpus=64,96"])), SCENARIO) == ()


def test_candidates_with_their_own_topology_are_named() -> None:
    texts = ["topology.oversubscription=1,2"]
    points = grid(axes(texts))
    assert axis_notes(texts, points, SCENARIO) == ()
    name = next(iter(SCENARIO.candidates))
    own = with_values(SCENARIO, {f"candidates.{name}.topology.kind": "fat_tree"})
    (note,) = axis_notes(texts, points, own)
    assert note.startswith(f"topology.oversubscription has no effect on {name}: ")


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--axis", "seed=2..3", "--method", "analytical", "--out", str(tmp_path / "out")]
    assert main(["sweep", str(FIRST), *arguments]) == 0
    assert "note: seed = 2..3: 1 power of two: 2" in capsys.readouterr().err
