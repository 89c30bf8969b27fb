"""Numbers that fit no job: one clear message each, through the command."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from models.cli import main

SCENARIO = Path(__file__).parents[2] / "scenarios" / "startup-256-h100.yaml"
SHAPE = {
    "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocabulary": 128256,
}  # fmt: skip
Run = Callable[[dict[str, Any]], tuple[int, list[str]]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Exit status and lines on stderr of a comparison with these changes to the training or more workloads."""
    whole = yaml.safe_load(SCENARIO.read_text())

    def command(changes: dict[str, Any]) -> tuple[int, list[str]]:
        scenario = deepcopy(whole)
        first = next(iter(scenario["candidates"]))
        scenario["candidates"] = {first: scenario["candidates"][first]}
        scenario["workloads"].pop("incast")
        scenario["workloads"]["finetuning"].update(changes.get("training", {}))
        if "collective" in changes:
            scenario["workloads"]["one"] = {
                "kind": "collective", "operation": "all_reduce", "message_bytes": 2**20, **changes["collective"],
            }  # fmt: skip
        path = tmp_path / "scenario.yaml"
        path.write_text(yaml.safe_dump(scenario, sort_keys=False))
        status = main(["compare", str(path), "--method", "analytical", "--format", "csv"])
        return status, capsys.readouterr().err.strip().splitlines()

    return command


@pytest.mark.parametrize(
    ("changes", "key", "words"),
    [
        ({"training": {"tp": 4, "pp": 3}}, "finetuning.pp = 3", "does not divide the cluster's 256 GPUs"),
        ({"training": {"dp": 32}}, "finetuning.dp = 32", "the cluster has 256"),
        ({"training": {"ep": 4}}, "finetuning.ep = 4", "no experts"),
        ({"training": {"model": {**SHAPE, "layers": 0}}}, "finetuning.model.layers = 0", "allowed 1 .. 1000"),
        ({"training": {"model": {**SHAPE, "experts": 8, "active_experts": 9}}}, "active_experts = 9", "experts = 8"),
        ({"training": {"pp": 8, "virtual_stages": 3}}, "finetuning.virtual_stages = 3", "allowed: 1, 2, 5, 10"),
        ({"training": {"pp": 128, "tp": 2, "global_batch_sequences": 512}}, "finetuning.pp = 128", "80 layers"),
        ({"collective": {"message_bytes": 0}}, "one.message_bytes = 0", f"allowed 1 .. below {2**40}"),
        ({"collective": {"message_bytes": 2**40}}, f"one.message_bytes = {2**40}", f"below {2**40}"),
        ({"collective": {"ranks": 257}}, "one.ranks = 257", "allowed 2 .. 256"),
        ({"collective": {"ranks": 12}}, "one.ranks = 12", "nearest allowed: 8 or 16"),
        ({"collective": {"algorithm": "magic"}}, "one.algorithm = 'magic'", "'ring'"),
    ],
)  # fmt: skip
def test_one_message_each(run: Run, changes: dict[str, Any], key: str, words: str) -> None:
    status, lines = run(changes)
    assert status == 2
    assert len(lines) == 1
    assert re.match(r"error: \S+/scenario\.yaml:\d+: ", lines[0])
    assert key in lines[0] and words in lines[0]
    assert "function-" not in lines[0]


def test_tensor_parallelism_across_domains_is_allowed_with_a_warning(run: Run) -> None:
    status, lines = run({"training": {"tp": 16, "pp": 1}})
    assert status == 0
    assert sum("tensor parallelism crosses scale-up domains of 8 GPUs" in line for line in lines) == 1


def test_the_largest_message_allowed_is_compared(run: Run) -> None:
    assert run({"collective": {"message_bytes": 2**40 - 1}})[0] == 0
