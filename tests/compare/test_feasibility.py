"""Faults of workloads and candidates all at once, placed in the file by the command."""

from pathlib import Path

import pytest
import yaml

from models.cli import main
from models.compare.feasibility import check
from models.scenario.faults import InputError
from models.scenario.load import SHIPPED, load, with_values

FIRST = SHIPPED / "llama3-70b-1024-h100.yaml"


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda p: p.stem)
def test_shipped_scenarios_have_none(path: Path) -> None:
    check(load(path))


def test_faults_of_every_workload_and_candidate_come_at_once() -> None:
    bad = with_values(
        load(FIRST),
        {
            "workloads.training.pp": 3,
            "workloads.allreduce.ranks": 12,
            "workloads.incast.fan_in": 4096,
            "candidates.RoCEv2 400G.parts.switch": "sw_sn2201",
            "failures.links": ["leaf999-spine0", "nonsense"],
        },
    )
    with pytest.raises(InputError) as caught:
        check(bad)
    found = {(fault.key, fault.given) for fault in caught.value.faults}
    assert {
        ("workloads.training.pp", "3"),
        ("workloads.allreduce.ranks", "12"),
        ("workloads.incast.fan_in", "4096"),
        ("candidates.RoCEv2 400G.parts.switch", "sw_sn2201"),
        ("failures.links", "leaf999-spine0"),
        ("failures.links", "nonsense"),
    } == found
    assert sum("is not a name" in fault.problem for fault in caught.value.faults) == 1


def test_a_layout_that_is_searched_is_not_checked_as_written() -> None:
    check(with_values(load(FIRST), {"workloads.training.pp": 3, "workloads.training.search_layout": True}))


@pytest.mark.parametrize("command", [["compare"], ["sensitivity"], ["report", "--out", "never"]])
def test_the_command_names_file_line_and_value(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FIRST.read_text().replace("fan_in: 32", "fan_in: 4096")
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    line = 1 + text.splitlines().index("    fan_in: 4096")
    assert yaml.safe_load(text)["workloads"]["incast"]["fan_in"] == 4096
    assert main([command[0], str(path), *command[1:]]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert (
        said[0].startswith(f"error: {path}:{line}: workloads.incast.fan_in = 4096: ")
        and "allowed 1 .." in said[0]
    )
