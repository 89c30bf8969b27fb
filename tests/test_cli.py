"""The command: tables, files, exit status, and one readable message a fault."""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from models.catalog.parts import parts
from models.cli import _parser, main
from models.scenario.json_schema import schema_text

ROOT = Path(__file__).resolve().parents[1]
FIRST = str(ROOT / "scenarios" / "llama3-70b-1024-h100.yaml")
COLUMNS = {
    "comparison": "scenario,candidate,fabric,method,workload,metric,value,unit,low,high,source",
    "phases": "scenario,candidate,fabric,method,workload,phase,operation,ranks,message_bytes,count,time_s,exposed_s,"
    "bus_bandwidth_bytes_per_s,algorithm,binding_limit,low,high",
    "bill_of_materials": "line,candidate,network,tier,category,vendor,part,description,speed_gbit_per_s,quantity_base,"
    "spares_fraction,quantity_spares,quantity_total,unit_price_low_usd,unit_price_mid_usd,unit_price_high_usd,"
    "extended_low_usd,extended_mid_usd,extended_high_usd,price_date,price_source,price_confidence,rack_units,"
    "power_typical_w,power_max_w,optics_in_power,reach_m,lead_time_weeks_low,lead_time_weeks_high,notes",
    "ownership": "candidate,year,category,low_usd,mid_usd,high_usd,network_share_fraction,denominator",
    "cabling": "a_node,a_port,z_node,z_port,cable_type,length_m,speed_gbit_per_s,network",
}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    assert main(["compare", FIRST, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("name", ["comparison", "phases", "bill_of_materials", "ownership"])
def test_compare_writes_the_tables_with_their_columns(compared: Path, name: str) -> None:
    with open(compared / f"{name}.csv", encoding="utf-8") as file:
        assert next(csv.reader(file)) == COLUMNS[name].split(",")


def test_four_candidates_by_two_methods(compared: Path) -> None:
    table = pd.read_csv(compared / "comparison.csv")
    times = table[(table.workload == "training") & (table.metric == "step_time")]
    assert len(times) == 8
    assert set(times.method) == {"analytical", "fluid"}
    assert (times.low <= times.value).all() and (times.value <= times.high).all()
    assert table.value.notna().all() and table.source.notna().all()
    incast = table[(table.workload == "incast") & (table.metric == "victim_share")]
    assert len(incast) == 8 and incast.value.between(0, 1.001).all()


def test_same_file_same_bytes(compared: Path, tmp_path: Path) -> None:
    assert main(["compare", FIRST, "--out", str(tmp_path)]) == 0
    for name in ("comparison", "phases", "bill_of_materials", "ownership"):
        assert (tmp_path / f"{name}.csv").read_bytes() == (compared / f"{name}.csv").read_bytes()


def test_bill_lines_sum_to_the_capital_of_the_comparison(compared: Path) -> None:
    bill = pd.read_csv(compared / "bill_of_materials.csv")
    own = pd.read_csv(compared / "ownership.csv")
    for candidate, lines in bill.groupby("candidate"):
        capital = own[(own.candidate == candidate) & (own.category == "capital")].mid_usd.sum()
        other = own[(own.candidate == candidate) & own.year.str.fullmatch(r"\d+")]
        running = other[other.category.isin(["support", "licences"])].mid_usd.sum()
        total = pd.to_numeric(lines.extended_mid_usd, errors="coerce").sum()
        assert total == pytest.approx(capital + running, abs=1.0)


def test_json_is_json_and_csv_is_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", FIRST, "--method", "analytical", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] and len(answer["comparison"]) > 40
    assert main(["compare", FIRST, "--method", "analytical", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == COLUMNS["comparison"]


def test_table_names_the_network_that_was_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", FIRST, "--method", "analytical"]) == 0
    text = capsys.readouterr().out
    assert "48 switches of 64 ports" in text and "24 switches of 128 ports" in text
    assert "rail-optimised any-to-any" in text


def test_bom_writes_three_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bom", FIRST, "--candidate", "RoCEv2 400G", "--out", str(tmp_path)]) == 0
    for name in ("bill_of_materials", "ownership", "cabling"):
        with open(tmp_path / f"{name}.csv", encoding="utf-8") as file:
            assert next(csv.reader(file)) == COLUMNS[name].split(",")
    cables = pd.read_csv(tmp_path / "cabling.csv")
    assert (cables.network == "compute").sum() == 2 * 1024


def test_quotes_win_and_are_named(tmp_path: Path) -> None:
    quotes = tmp_path / "quotes.csv"
    quotes.write_text(
        "id,price_low,price_mid,price_high,price_date,source,confidence\n"
        "sw_qm9700,20000,21000,22000,2026-11,reseller quote 4711,quote\n"
    )
    assert main(["bom", FIRST, "--prices", str(quotes), "--out", str(tmp_path)]) == 0
    bill = pd.read_csv(tmp_path / "bill_of_materials.csv")
    switches = bill[(bill.part == "sw_qm9700") & (bill.network == "compute")]
    assert (pd.to_numeric(switches.unit_price_mid_usd) == 21000).all()
    assert switches.price_source.str.contains("reseller quote 4711").all()


@pytest.mark.parametrize("path", sorted((ROOT / "tests/data/broken").glob("*.yaml")), ids=lambda p: p.stem)
def test_broken_scenarios_exit_2_with_one_message(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "models.cli", "compare", str(path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    assert path.name in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "nowhere.yaml"],
        ["bom", FIRST, "--candidate", "nobody"],
        ["compare", FIRST, "--prices", "no.csv"],
    ],
)
def test_bad_arguments_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and "Traceback" not in error


@pytest.mark.parametrize("out", ["/dev/null", "/proc/nowhere"])
def test_a_folder_that_cannot_be_written_is_one_message(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bom", FIRST, "--out", out]) == 2
    assert capsys.readouterr().err.strip().splitlines()[-1].startswith("error: ")


def test_unknown_options_exit_2() -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["compare", FIRST, "--method", "guess"])
    assert stopped.value.code == 2


def options() -> list[tuple[str, argparse.Action]]:
    """Every option and argument of every command."""
    commands = next(a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    return [
        (name, action)
        for name, parser in commands.choices.items()
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction)
    ]


def test_every_option_says_what_it_takes_and_its_default() -> None:
    for command, action in options():
        assert action.help and len(action.help) > 10, (command, action.dest)
        if action.option_strings and action.nargs != 0:
            assert "default" in action.help or "required" in action.help, (command, action.dest)
            if action.default not in (None, []):
                assert f"default: {action.default}" in action.help


def test_readme_names_every_command_and_option() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for command, action in options():
        assert f"`{command}" in text
        for option in action.option_strings:
            assert f"`{option}" in text, (command, option)


def test_schema_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == schema_text()
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("fabric-compare 0.")


def test_parts_lists_ids_by_category(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parts", "--category", "switch"]) == 0
    listed = [line.split()[:2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert ["sw_qm9700", "switch"] in listed
    assert len(listed) == sum(part.category == "switch" for part in parts().values())
    assert main(["parts"]) == 0
    assert "nic_cx7_400" in capsys.readouterr().out


def test_a_missing_switch_says_which_ones_speak_the_protocol(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapping = yaml.safe_load(Path(FIRST).read_text("utf-8"))
    del mapping["candidates"]["InfiniBand NDR"]["parts"]["switch"]
    file = tmp_path / "s.yaml"
    file.write_text(yaml.safe_dump(mapping))
    assert main(["compare", str(file)]) == 2
    said = capsys.readouterr().err
    assert "allowed: sw_qm8700, sw_qm9700" in said and "sw_sn" not in said
    assert "`fabric-compare parts --category switch` lists all" in said


def test_a_folder_that_is_a_file_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "infer.yaml"
    file.write_text("mine")
    assert main(["compare", FIRST, "--out", str(file)]) == 2
    assert (
        capsys.readouterr().err
        == f"error: --out: {file}: is a file; must be a folder, made where it is not there\n"
    )
    assert file.read_text() == "mine"


def test_cents_typed_as_dollars_are_doubted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mapping = yaml.safe_load(Path(FIRST).read_text("utf-8"))
    mapping.setdefault("economics", {})["usd_per_kwh"] = 8.3
    file = tmp_path / "s.yaml"
    file.write_text(yaml.safe_dump(mapping))
    assert main(["bom", str(file)]) == 0
    assert "warning: economics.usd_per_kwh = 8.3: plausible 0.01 .. 1 USD per kWh" in capsys.readouterr().err
