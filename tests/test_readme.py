"""The README's example is what the command prints, and what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from models.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_example_is_real_output(capsys: pytest.CaptureFixture[str]) -> None:
    block = re.search(r"<!-- example -->\n```\n\$ \S+fabric-compare ([^\n]+)\n(.*?)```", README, re.S)
    assert block is not None
    assert main(block[1].split()) == 0
    printed = capsys.readouterr().out.splitlines()
    shown = [line for line in block[2].splitlines() if line.strip() and line != "..."]
    assert len(shown) > 15
    for line in shown:
        assert line in printed, line


def test_pictures_files_and_commands_exist() -> None:
    for name in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / name).exists(), name
    count = len(list((ROOT / "scenarios").glob("*.yaml")))
    words = {14: "fourteen", 15: "fifteen", 16: "sixteen", 17: "seventeen"}
    assert f"`scenarios/` holds {words[count]}" in README
    for command in re.findall(r"^\| `(\w+)", README, re.M):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0


def test_every_environment_variable_is_said() -> None:
    code = [ROOT / "app.py", *(ROOT / "models").rglob("*.py"), *(ROOT / "views").rglob("*.py")]
    named = {name for path in code for name in re.findall(r"\bFABRIC_COMPARE_\w+", path.read_text("utf-8"))}
    assert named
    for name in named:
        assert re.search(rf"`{name}\b", README), name
