"""A candidate that cannot be linked, or whose price is missing, is never ranked without saying so."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from models.cli import main
from models.compare.comparison import compare
from models.compare.incast_checks import checks_sentence
from models.scenario.load import from_mapping

ERROR = "nic_cx8 on Ethernet is 2 x 400GbE, not 1 x 800GbE"


def written(gpu: str = "B200", **cluster: object) -> dict[str, object]:
    return {
        "schema_version": 1,
        "name": "mine",
        "question": "Which?",
        "cluster": {"gpus": 128, "gpu": gpu, "gpus_per_node": 8, "nics_per_node": 8, **cluster},
        "workloads": {"p": {"kind": "collective", "operation": "all_reduce", "message_bytes": 2**26}},
        "candidates": {
            "RoCE 800G": {
                "technology": "rocev2_800g",
                "parts": {"switch": "sw_th6_wb", "nic": "nic_cx8"},
            },
            "TCP 400G": {
                "technology": "tcp_400g",
                "parts": {"switch": "sw_th5_wb", "nic": "nic_cx7_400"},
            },
        },
    }


def test_what_cannot_be_linked_is_in_the_verdict_and_to_act_on() -> None:
    answer = compare(from_mapping(written()), methods=("analytical",))
    said = answer.verdict.sentence
    assert "RoCE 800G cannot be linked as written" in said and ERROR in said
    assert "TCP 400G cannot" not in said
    assert answer.warnings[0].startswith("RoCE 800G: cannot be linked as written: ")
    first = answer.checks()[0]
    assert (first.candidate, first.state) == ("RoCE 800G", "act") and ERROR in first.finding
    assert "Nothing has to change" not in checks_sentence(answer.checks())
    assert not any("Server price missing" in t for t in (said, answer.verdict.cost_sentence))


def test_the_command_says_it_at_the_top_and_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(written(), sort_keys=False))
    assert main(["compare", str(path), "--method", "analytical"]) == 0
    printed = capsys.readouterr()
    assert "cannot be linked as written" in printed.out.splitlines()[2]
    check = next(line for line in printed.out.splitlines() if line.startswith("To check: "))
    assert check.startswith("To check: To act on before buying: RoCE 800G, ") and ERROR in check


def test_planes_of_two_are_linked_and_nothing_is_said() -> None:
    planes = written()
    planes["topology"] = {"kind": "multi_plane", "planes": 2}
    planes["candidates"] = {
        "SpX": {"technology": "spectrum_x_800g", "parts": {"switch": "sw_sn5600", "nic": "nic_cx8"}}
    }
    answer = compare(from_mapping(planes), methods=("analytical",))
    assert "cannot be linked" not in answer.verdict.sentence
    assert "lower bound" not in answer.verdict.cost_sentence


def test_a_missing_server_price_is_in_the_verdict() -> None:
    answer = compare(from_mapping(written("GB300")), methods=("analytical",))
    assert "Server price missing: totals are lower bounds; missing for all alike" in (
        answer.verdict.cost_sentence
    )


def test_the_incast_page_does_not_say_that_nothing_has_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    from views import incast_checks

    monkeypatch.setattr(incast_checks, "incast_checks", lambda *args, **keys: [])
    found = incast_checks._solved(from_mapping(written()), SimpleNamespace(progress=print))
    assert [(check.candidate, check.state) for check in found] == [("RoCE 800G", "act")]
