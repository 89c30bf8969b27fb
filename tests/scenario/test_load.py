"""Scenario files: what is right loads, what is wrong says so in one line a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.scenario.faults import InputError
from models.scenario.json_schema import schema_text
from models.scenario.load import dump, load, loads, with_value, with_values

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "scenarios").glob("*.yaml"))
FIRST = ROOT / "scenarios" / "llama3-70b-1024-h100.yaml"
BROKEN = {
    "unknown_key": ("cluster.gpus_count", "unknown key"),
    "negative_gpus": ("cluster.gpus = -1024", "allowed 1 .. 1048576"),
    "rate_in_bytes_per_s": ("link.rate_gbit_per_s", "400 Gbit/s"),
    "missing_technology": ("candidates.RoCEv2 400G.technology", "is missing"),
    "gpus_not_divisible": ("cluster.gpus = 1023", "1016 or 1024"),
    "billion_gpus": ("cluster.gpus = 1000000000", "allowed 1 .. 1048576"),
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_shipped_scenarios_load_and_survive_a_round_trip(path: Path) -> None:
    scenario = load(path)
    assert loads(dump(scenario)) == scenario
    assert scenario.name == path.stem


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_gives_one_clear_message(name: str) -> None:
    path = ROOT / "tests" / "data" / "broken" / f"{name}.yaml"
    with pytest.raises(InputError) as caught:
        load(path)
    assert len(caught.value.faults) == 1
    text = str(caught.value)
    for part in (str(path), *BROKEN[name]):
        assert part in text, text
    assert caught.value.faults[0].line is not None


def test_all_faults_come_at_once() -> None:
    text = FIRST.read_text().replace("gpus: 1024", "gpus: -8").replace("gpu: H100", "gpu: H101")
    text = text.replace("switch: sw_qm9700", "switch: sw_qm970").replace("pue: 1.25", "pue: 0.5")
    with pytest.raises(InputError) as caught:
        loads(text)
    keys = {fault.key for fault in caught.value.faults}
    assert keys == {
        "cluster.gpus",
        "cluster.gpu",
        "candidates.InfiniBand NDR.parts.switch",
        "economics.pue",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must be a mapping"),
        ("- 1\n- 2\n", "must be a mapping"),
        ("a: [1, 2", "is not valid YAML"),
        ("a: 1\na: 2\n", "is given twice"),
        ("a: &x [1]\nb: *x\n", "aliases are not allowed"),
        ("x" * 1_000_001, "too large"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        ("a: " + "[" * 400 + "]" * 400, "nested deeper"),
        ("a: !!python/object/apply:os.system ['echo']", "cannot be read"),
        ("a:\n" + " - 1\n" * 60_000, "more than"),
    ],
)
def test_untrusted_text_is_refused(text: str | bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        loads(text)


def test_missing_file_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml.*cannot be read"):
        load(tmp_path / "nowhere.yaml")


def test_numbers_in_quotes_are_not_numbers() -> None:
    with pytest.raises(InputError, match=r"cluster\.gpus"):
        loads(FIRST.read_text().replace("gpus: 1024", "gpus: '1024'"))


def test_exponents_without_a_dot_are_numbers() -> None:
    scenario = loads(FIRST.read_text().replace("15.0e+12", "15e12"))
    assert scenario.workloads["training"].tokens_total == 15e12  # type: ignore[union-attr]


def test_with_value_reaches_every_kind_of_key() -> None:
    scenario = load(FIRST)
    assert with_value(scenario, "cluster.gpus", 2048).cluster.gpus == 2048
    assert with_value(scenario, "workloads.incast.fan_in", 8).workloads["incast"].fan_in == 8  # type: ignore[union-attr]
    changed = with_value(scenario, "candidates.RoCEv2 400G.overrides.routing.queue_pairs", 16)
    assert changed.candidates["RoCEv2 400G"].overrides == {"routing.queue_pairs": 16}
    assert with_value(scenario, "prices.sw_qm9700", 41000).prices["sw_qm9700"].mid == 41000
    assert with_values(scenario, {}) == scenario


def test_with_value_refuses_what_the_file_would_refuse() -> None:
    scenario = load(FIRST)
    with pytest.raises(InputError, match="unknown key"):
        with_value(scenario, "cluster.gpuz", 5)
    with pytest.raises(InputError, match="allowed 1"):
        with_value(scenario, "candidates.RoCEv2 400G.overrides.link.rate_gbit_per_s", 50e9)


def test_committed_json_schema_is_the_one_the_command_writes() -> None:
    assert (ROOT / "scenarios" / "schema.json").read_text("utf-8") == schema_text()


def test_a_server_of_another_gpu_is_refused() -> None:
    scenario = load(FIRST)
    assert with_value(scenario, "cluster.server", "sv_dgx_h100").cluster.server == "sv_dgx_h100"
    with pytest.raises(InputError, match="is a server of H100, not of B200"):
        with_values(scenario, {"cluster.server": "sv_hgx_h100", "cluster.gpu": "B200"})


def test_an_incast_too_large_to_simulate_is_refused() -> None:
    from models.workload.phases import phases

    scenario = with_value(load(FIRST), "workloads.incast.burst_bytes", 2**30)
    with pytest.raises(InputError, match="at most 268435456 a burst"):
        phases(scenario.workloads["incast"], scenario, "incast")
