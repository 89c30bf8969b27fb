"""Every fault is one line in the author's words: key, value given, what is allowed; none in the library's."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from models.compare.feasibility import check
from models.scenario.faults import Fault, InputError
from models.scenario.load import from_mapping
from models.scenario.placed import placed_faults
from models.scenario.yaml_text import mapping_with_lines

FIRST = Path(__file__).resolve().parents[2] / "scenarios" / "llama3-70b-1024-h100.yaml"
WHOLE, LINES = mapping_with_lines(FIRST.read_bytes(), "f.yaml")
ROCE = WHOLE["candidates"]["RoCEv2 400G"]
LIBRARY_WORDS = (
    "input should",
    "Input should",
    "dictionary",
    "instance of",
    "validation",
    "literal[",
    "pattern",
    "[key]",
)


def fault_lines(*path_and_value: Any) -> list[str]:
    """Faults of the first scenario with one value replaced."""
    *path, last, value = path_and_value
    mapping = deepcopy(WHOLE)
    at = mapping
    for key in path:
        at = at[key]
    at[last] = value
    with pytest.raises(InputError) as caught:
        from_mapping(mapping, "f.yaml", LINES)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("cluster", "gpus", 1), "cluster.gpus = 1: is not a multiple of gpus_per_node = 8; nearest allowed: 8"),
        (("cluster", "gpus", 1_048_575), "nearest allowed: 1048568 or 1048576"),
        (("cluster", "gpus", 1001), "1000 or 1008 as whole nodes, 512 or 1024 with the training layouts too"),
        (("cluster", "gpus", True), "cluster.gpus = true: must be a whole number"),
        (("cluster", "gpus", None), "cluster.gpus = null: must be a whole number"),
        (("cluster", "gpus", 10**30), "allowed 1 .. 1048576"),
        (("cluster", None), "cluster = null: must be a group of keys"),
        (("cluster", "server", "sv_nothing"), "cluster.server = 'sv_nothing': no such part"),
        (("cluster", "server", "sw_qm9700"), "is a switch, not a server"),
        (("name", "a\nb"), r"name = 'a\nb': allowed: 1 to 64 letters"),
        (("name", ""), "name = '': allowed: 1 to 64 letters"),
        (("question", " \n "), "question = '': allowed: 5 to 500 characters"),
        (("question", "which\x1b[2J one"), "holds control characters"),
        (("workloads", {}), "workloads = 0 entries: allowed 1 .. 32"),
        (("workloads", "training", "kind", "train"), "workloads.training.kind = 'train': unknown workload kind; allowed: llm"),
        (("workloads", "training", "dp", "some"), "workloads.training.dp = 'some': must be a whole number or 'auto'"),
        (("workloads", "training", "dp", -1), "workloads.training.dp = -1: allowed 1 .. 1048576 or 'auto'"),
        (("workloads", "training", "tp", 0), "workloads.training.tp = 0: allowed 1 .. 1024"),
        (("workloads", "training", "model", 5), "must be text or a group of keys"),
        (("workloads", "allreduce", "ranks", -1), "workloads.allreduce.ranks = -1: allowed 1 .. 1048576 or 'all'"),
        (("economics", "pue", float("inf")), "economics.pue = inf: must be a finite number"),
        (("economics", "pue", float("nan")), "economics.pue = nan: must be a finite number"),
        (("economics", "discount_rate_fraction", 2.0), "allowed 0 .. 1"),
        (("economics", "spares_fraction", {"switch": -1.0}), "economics.spares_fraction.switch = -1.0: allowed 0 .. 1"),
        (("economics", "spares_fraction", {"swich": 0.1}), "unknown category; did you mean switch?"),
        (("economics", "include_cooling_plant", 1), "must be true or false"),
        (("candidates", {f"c{i}": ROCE for i in range(17)}), "candidates = 17 entries: allowed 1 .. 16"),
        (("candidates", {"": ROCE}), "candidates = '': allowed: 1 to 64 letters"),
        (("candidates", {"a\nb": ROCE}), r"candidates = 'a\nb': allowed: 1 to 64 letters"),
        (("candidates", "RoCEv2 400G", "overrides", {"fabric": "ib"}), "cannot be overridden"),
        (("candidates", "RoCEv2 400G", "overrides", {"routing.kind": "x"}), "overrides.routing.kind = 'x': must be 'static'"),
        (("candidates", "RoCEv2 400G", "parts", "swich", "sw_th5_wb"), "unknown role; did you mean switch?"),
        (("candidates", "RoCEv2 400G", "parts", "switch", "nic_thor2"), "parts.switch = 'nic_thor2': is a nic, not a switch"),
        (("candidates", "RoCEv2 400G", "parts", "switch", "sw_th5"), "no such part in the catalogue; did you mean sw_th5_wb?"),
        (("candidates", "InfiniBand NDR", "parts", "switch", "QM9700"), "did you mean sw_qm9700?; `fabric-compare parts"),
        (("prices", {"sw_foo": 1.0}), "prices.sw_foo: no such part in the catalogue"),
        (("prices", {"sw_foo": 1.0}), "`fabric-compare parts` lists all"),
        (("cluster", "gpus", "sixty-four"), "must be a whole number; allowed 1 .. 1048576"),
        (("economics", "years", "4 years"), "must be a whole number; allowed 1 .. 15; a plain number, e.g. 4"),
        (("workloads", "training", "tokens_total", "2T"), "must be a number; allowed above 0 .. 1e+18; a plain number, e.g. 2e+12"),
        (("workloads", "allreduce", "message_bytes", "1GiB"), "bytes as a whole number, e.g. 1073741824"),
        (("workloads", "incast", "burst_kb", 64), "unknown key; did you mean burst_bytes?"),
        (("workloads", "allreduce", {"operation": "all_reduce"}), "allowed: llm_training, collective, incast, permutation"),
        (("sweep", {"axes": {"cluster.gpus": []}}), "sweep.axes.cluster.gpus = 0 entries: allowed 1 .. 100000"),
        (("sweep", {"axes": {"cluster.gpus": [None]}}), "must be a number or text"),
        (("prices", {"sw_qm9700": "dear"}), "prices.sw_qm9700 = 'dear': must be a number or a group of keys"),
    ],
    ids=lambda value: ".".join(str(v) for v in value)[:60] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_one_line_in_the_author_s_words(change: tuple[Any, ...], says: str) -> None:
    lines = fault_lines(*change)
    assert len(lines) == 1, lines
    assert says in lines[0]
    assert not any(word in lines[0] for word in LIBRARY_WORDS)


@pytest.mark.parametrize(
    ("candidate", "role", "part", "says"),
    [
        ("RoCEv2 400G", "switch", "sw_qm9700", "is a switch for InfiniBand only, rocev2_400g runs on Ethernet; allowed: sw_sn"),
        ("InfiniBand NDR", "switch", "sw_th5_wb", "is a switch for Ethernet only, infiniband_ndr runs on InfiniBand"),
        ("InfiniBand NDR", "nic", "nic_thor2", "is a NIC for Ethernet only"),
    ],
)  # fmt: skip
def test_a_part_of_the_other_protocol_is_refused(candidate: str, role: str, part: str, says: str) -> None:
    lines = fault_lines("candidates", candidate, "parts", role, part)
    assert len(lines) == 1
    assert lines[0].startswith(
        f"f.yaml:{LINES[f'candidates.{candidate}.parts.{role}']}: candidates.{candidate}.parts.{role}"
    )
    assert says in lines[0]


def test_a_nic_that_speaks_both_is_fine_on_either_side() -> None:
    mapping = deepcopy(WHOLE)
    for name in ("RoCEv2 400G", "InfiniBand NDR"):
        mapping["candidates"][name]["parts"]["nic"] = "nic_cx7_400"
    from_mapping(mapping, "f.yaml", LINES)


def test_faults_found_later_get_the_line_and_the_value_of_the_file(tmp_path: Path) -> None:
    late = InputError(
        [
            Fault(WHOLE["name"], "workloads.incast.fan_in", "", "more senders than hosts"),
            Fault(WHOLE["name"], "candidates.RoCEv2 400G", "", "cannot be routed"),
            Fault("quotes.csv", "price_mid", "x", "must be a number", 4),
        ]
    )
    fan_in, candidate, other = placed_faults(late, [str(FIRST)])
    assert (fan_in.file, fan_in.line) == (str(FIRST), LINES["workloads.incast.fan_in"])
    assert fan_in.given == str(WHOLE["workloads"]["incast"]["fan_in"])
    assert (candidate.line, candidate.given) == (LINES["candidates.RoCEv2 400G"], "")
    assert other == late.faults[2]
    assert placed_faults(late, [str(tmp_path / "gone.yaml")]) == late.faults


def test_a_fault_is_one_line_whatever_it_holds() -> None:
    text = str(Fault("a\nb.yaml", "k\x1b", "v\r", "p\u2028" + "x" * 5000))
    assert len(text.splitlines()) == 1 and text.isprintable() and len(text) < 2100


def test_the_gpus_proposed_are_accepted() -> None:
    mapping = deepcopy(WHOLE)
    for gpus in (512, 1024):
        mapping["cluster"]["gpus"] = gpus
        check(from_mapping(mapping, "f.yaml", LINES))
    mapping["cluster"]["gpus"] = 1008  # whole nodes, no whole layout
    with pytest.raises(InputError):
        check(from_mapping(mapping, "f.yaml", LINES))


def test_text_with_a_colon_is_to_be_quoted() -> None:
    with pytest.raises(InputError) as caught:
        mapping_with_lines("name: a\nquestion: Q: Which\n", "f.yaml")
    assert str(caught.value).startswith("f.yaml:2: is not valid YAML: ")
    assert "put text that holds ': ' in quotes" in str(caught.value)
