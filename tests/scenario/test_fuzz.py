"""Whatever stands in the file: status 2 and readable lines, or an answer; never a traceback, never much memory."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from models.cli import FAULTS_SHOWN, main
from models.compare.feasibility import check
from models.scenario.faults import InputError
from models.scenario.load import SHIPPED, from_mapping, loads
from models.scenario.yaml_text import mapping_with_lines

FIRST = (SHIPPED / "llama3-70b-1024-h100.yaml").read_text("utf-8")
BAD: tuple[Any, ...] = (
    None, True, "", "text", "a\nb", "\x00", "ünïcode ☃", "x" * 5000, "1e999", "auto", -1, 0, 1, 3, 7, 0.5, 1e-300, 1e308,
    2**31, 2**63, 10**400, float("nan"), float("inf"), float("-inf"), [], [1], [[[]]], {}, {"a": 1}, 10**18,
)  # fmt: skip
LIBRARY_WORDS = (
    "put should",
    "Value error",
    "validation",
    "literal[",
    "[key]",
    "function-",
    "NoneType",
    "Traceback",
)
FILES: dict[str, bytes] = {
    "empty": b"",
    "blank lines": b"\n\n  \n",
    "only a comment": b"# nothing\n",
    "binary": bytes(range(256)) * 40,
    "utf-16": FIRST.encode("utf-16"),
    "latin-1": FIRST.replace("Which", "W\xe4hich").encode("latin-1"),
    "10 MB": b"# padding\n" * 1_000_000 + FIRST.encode(),
    "a number": b"42\n",
    "a list": b"- a\n- b\n",
    "two documents": FIRST.encode() + b"\n---\n" + FIRST.encode(),
    "tabs": FIRST.replace("\n  ", "\n\t").encode(),
    "cut off": FIRST.encode()[: len(FIRST) // 2],
    "an anchor bomb": b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (i + 1, i + 1, i, i) for i in range(97, 117)),
    "brackets": b"a: " + b"[" * 499_000,
    "nested maps": b"\n".join(b" " * i + b"a:" for i in range(1200)),
    "too many keys": b"".join(b"k%d: 1\n" % i for i in range(60_000)),
    "a key twice": FIRST.replace("seed:", "name: again\nseed:", 1).encode(),
    "a python tag": FIRST.replace("seed:", "failures: !!python/object/apply:os.system [echo]\nseed:", 1).encode(),
    "a key that is a list": b"? [a, b]\n: 1\n" + FIRST.encode(),
    "an empty key": b": 1\n" + FIRST.encode(),
    "an octal number": FIRST.replace("gpus: 1024", "gpus: 02000", 1).encode(),
    "a number to base 60": FIRST.replace("gpus: 1024", "gpus: 17:04", 1).encode(),
    "a hexadecimal number": FIRST.replace("gpus: 1024", "gpus: 0x400", 1).encode(),
    "a number of many digits": FIRST.replace("gpus: 1024", f"gpus: {'9' * 20_000}", 1).encode(),
    "an escape in a name": FIRST.replace("RoCEv2 400G:", '"RoCE\\e[2Jv2":', 1).encode(),
    "half a character": FIRST.replace("seed:", 'seed: "\\ud800"\nx:', 1).encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_none_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(FILES[name])
    assert main(["compare", str(path), "--method", "analytical"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines and lines[0].startswith(f"error: {path}")
    assert len(lines) == 1 or name in {"cut off", "half a character"}
    assert not any(word in said.err for word in LIBRARY_WORDS)
    assert all(len(line) < 2200 for line in lines)


@pytest.mark.parametrize("text", [FIRST.replace("\n", "\r\n"), "\ufeff" + FIRST, FIRST + "...\n"])
def test_other_line_ends_a_byte_order_mark_and_an_end_mark_change_nothing(text: str) -> None:
    assert loads(text.encode("utf-8"), "f.yaml") == loads(FIRST, "f.yaml")


def test_what_is_no_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    locked = tmp_path / "locked.yaml"
    locked.write_text(FIRST)
    locked.chmod(0)
    unreadable = [] if os.access(locked, os.R_OK) else [locked]  # an administrator reads everything
    for path in (tmp_path, tmp_path / "gone.yaml", tmp_path / "gone" / "x.yaml", "", *unreadable):
        assert main(["compare", str(path)]) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1 and "cannot be read" in lines[0]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device that never ends")
def test_a_file_without_end_is_read_as_far_as_a_scenario_may_go() -> None:
    code = "import resource as r, sys; r.setrlimit(r.RLIMIT_AS, (2**31, 2**31)); from models.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", "/dev/zero"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.strip() == "error: /dev/zero: too large; at most 1000000 bytes"


def test_thousands_of_faults_are_not_thousands_of_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(FIRST + "".join(f"k{i}: 1\n" for i in range(500)))
    assert main(["compare", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == FAULTS_SHOWN + 1 and lines[-1] == "error: 400 more faults"


def places(mapping: Mapping[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every dotted place of a mapping."""
    for key, value in mapping.items():
        yield (*at, key)
        if isinstance(value, Mapping):
            yield from places(value, (*at, key))


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda p: p.stem)
def test_a_wrong_value_anywhere_is_a_readable_fault_or_an_allowed_value(path: Path) -> None:
    whole, lines = mapping_with_lines(path.read_bytes(), str(path))
    rng = random.Random(path.stem)
    refused = 0
    for place in places(whole):
        for value in rng.sample(BAD, 3):
            mapping = deepcopy(whole)
            at = mapping
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = value
            try:
                check(from_mapping(mapping, str(path), lines))
            except InputError as error:
                refused += 1
                for fault in error.faults:
                    text = str(fault)
                    assert len(text.splitlines()) == 1 and text.isprintable(), (place, value)
                    assert not any(word in text for word in LIBRARY_WORDS), (place, value, text)
    assert refused > 50
