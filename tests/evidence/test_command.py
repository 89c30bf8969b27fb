"""The validate command: what it prints, and one readable message for a file it cannot use."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from models.cli import main
from models.evidence import validation
from models.evidence.command_text import table_text
from models.evidence.packet import SHIPPED
from models.evidence.published import rows_of
from models.evidence.records import ValidationRow, records

FIELDS = [
    "set", "kind", "operation", "fabric", "hardware", "metric", "band",
    "rows", "sources", "median_abs_pct_error", "p90_abs_pct_error",
]  # fmt: skip
ROW_FIELDS = ["id", "prediction", "value", "unit", "error_pct", "low", "high", "usable", "reason"]
BANDS = {">= 1 GiB", "16 MiB - 1 GiB", "< 16 MiB"}
HEADER = list(rows_of(None)[0])
HEALTHY = {
    "id": "mine1", "kind": "collective", "fabric": "roce", "speed_gbps_per_nic": "400", "nics_per_node": "8",
    "gpu": "H100", "gpus_per_node": "8", "nodes": "4", "gpus": "32", "operation": "all_reduce",
    "message_bytes": "8589934592", "metric": "busbw", "value": "380", "unit": "GB/s", "condition": "healthy",
    "source": "own log",
}  # fmt: skip


def table(path: Path, *rows: dict[str, str], columns: list[str] = HEADER) -> str:
    with path.open("w", newline="") as target:
        writer = csv.DictWriter(target, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("shipped") / "published.csv"
    return table(path, *rows_of(None))


def test_json_is_a_list_of_records_with_exactly_the_agreed_fields(
    shipped: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--published", shipped, "--format", "json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert len(records) > 15
    for record in records:
        assert list(record) == FIELDS
        assert record["set"] == "published" and record["band"] in BANDS
        assert record["hardware"] in {"known", "new"} and record["fabric"] in {"ib", "roce", "tcp", "nvlink"}
        assert record["rows"] >= record["sources"] >= 1
        assert 0.0 <= record["median_abs_pct_error"] <= record["p90_abs_pct_error"] < 100.0


def test_rows_come_after_the_records_with_their_reasons(
    shipped: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--published", shipped, "--format", "json", "--rows"]) == 0
    shown = json.loads(capsys.readouterr().out)
    rows = [record for record in shown if record["record"] == "row"]
    groups = [record for record in shown if record["record"] == "group"]
    assert groups + rows == shown and len(rows) == len(rows_of(None))
    assert all(list(group) == ["record", *FIELDS] for group in groups)
    assert all(list(row)[-len(ROW_FIELDS) :] == ROW_FIELDS for row in rows)
    assert all(row["usable"] or row["reason"] for row in rows)
    assert all(row["low"] <= row["prediction"] <= row["high"] for row in rows if row["usable"])


def test_csv_and_table_say_the_same(shipped: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--published", shipped, "--format", "csv"]) == 0
    records = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(records[0]) == FIELDS
    assert main(["validate", "--published", shipped, "--format", "csv", "--rows"]) == 0
    both = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(both[0]) == ["record", *FIELDS, *ROW_FIELDS]
    assert {row["record"] for row in both if row["id"]} == {"row"}
    assert main(["validate", "--published", shipped, "--rows"]) == 0
    text = capsys.readouterr().out
    assert "12 of 12 operator thresholds met" in text and "not compared: " in text
    assert sum(line.startswith("published ") for line in text.splitlines()) == len(records)


def test_the_table_says_what_it_rests_on(shipped: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--published", shipped]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = "\n".join(lines)
    assert "hw known: GPU and NIC speed" in said and "band or set-up" in said
    assert "In sample" not in said  # a file that is named is one's own
    thresholds = [line for line in lines if line.endswith(": met")]
    assert len(thresholds) == 12
    assert any("roce p2p_lat latency at most 5 us, predicted" in line for line in thresholds)
    assert any("roce collective all_reduce busbw at least 185 GB/s, predicted" in line for line in thresholds)
    (absent,) = (line for line in lines if line.startswith("no published rows compared: "))
    assert absent.startswith("no published rows compared: spectrum_x, tcp (")


def test_rows_left_out_are_counted_by_reason() -> None:
    common: dict[str, Any] = {
        "set": "packet", "kind": "incast", "fabric": "roce", "metric": "pause_us", "band": "a", "unit": "us",
        "source": "s", "value": 2.0,
    }  # fmt: skip
    rows = [
        ValidationRow(id="1", prediction=2.0, **common),
        *(ValidationRow(id=str(n), usable=False, reason="no end", **common) for n in (2, 3)),
    ]
    said = table_text(records(rows), rows, shipped=True, each=False)
    assert said.startswith("In sample: ")
    assert "2 rows not compared, by reason:\n     2 no end" in said
    assert "runs of fewer than 50 pauses" in said
    assert " 0.0     0.0 *" in said  # one row is few


def test_unknown_hardware_of_ones_own_file_is_named_not_guessed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(
        tmp_path / "mine.csv",
        HEALTHY,
        {**HEALTHY, "id": "mine2", "gpu": "TPUv6"},
        {**HEALTHY, "id": "mine3", "speed_gbps_per_nic": "123"},
        {**HEALTHY, "id": "mine4", "gpu": "B300", "speed_gbps_per_nic": "800"},
    )
    assert main(["validate", "--published", path, "--format", "json", "--rows"]) == 0
    shown = json.loads(capsys.readouterr().out)
    rows = {row["id"]: row for row in shown if "id" in row}
    assert rows["mine1"]["usable"] and rows["mine4"]["usable"]
    assert "TPUv6" in rows["mine2"]["reason"] and rows["mine2"]["prediction"] is None
    assert "123" in rows["mine3"]["reason"]
    assert [record["hardware"] for record in shown if "rows" in record] == ["known", "new"]


def test_a_file_without_condition_counts_its_complete_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = [column for column in HEADER if column != "condition"]
    path = table(
        tmp_path / "mine.csv", HEALTHY, {**HEALTHY, "id": "mine2", "nics_per_node": ""}, columns=columns
    )
    assert main(["validate", "--published", path, "--format", "json"]) == 0
    assert [record["rows"] for record in json.loads(capsys.readouterr().out)] == [1]


def test_a_missed_threshold_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {**HEALTHY, "condition": "threshold", "metric": "busbw_min", "value": "2000"}
    assert main(["validate", "--published", table(tmp_path / "mine.csv", row)]) == 1
    assert "bound 2000 GB/s" in capsys.readouterr().err


def test_nothing_comparable_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "mine.csv", {**HEALTHY, "condition": "fault"})
    assert main(["validate", "--published", path, "--format", "json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == [] and "--rows shows why" in said.err


@pytest.mark.parametrize("option", ["--published", "--bom", "--packet"])
@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"a;b\n1;2\n",
        b"id,kind\n\x00\xff",
        "id,kind".encode("utf-16"),
        b"id,kind\nx," + b"a" * 200_000,
    ],
    ids=["missing", "empty", "semicolons", "binary", "utf-16", "huge cell"],
)
def test_broken_files_exit_2_with_one_message(
    option: str, content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.csv"
    if content is not None:
        path.write_bytes(content)
    assert main(["validate", option, str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.strip().splitlines()) == 1
    assert said.err.startswith("error: ") and "broken.csv" in said.err


@pytest.mark.parametrize("tail", ["", "x,collective,ib,400,8,H100," + "a" * 200_000 + "\n"])
def test_a_measurements_file_without_rows_or_with_an_endless_cell(
    tail: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.csv"
    path.write_text(",".join(HEADER) + "\n" + tail)
    assert main(["validate", "--published", str(path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize("option", ["--published", "--bom", "--packet"])
def test_a_folder_without_known_files_exits_2(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    assert main(["validate", option, str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_text_where_a_packet_reference_has_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = SHIPPED / "credit_booksim_summary.csv"
    with source.open() as file:
        rows = list(csv.DictReader(file))
    rows[0]["incast_goodput_gbps"] = "fast"
    table(tmp_path / source.name, *rows, columns=list(rows[0]))
    assert main(["validate", "--packet", str(tmp_path)]) == 2
    assert "fast" in capsys.readouterr().err


def test_a_set_that_is_not_installed_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(validation, "find_spec", lambda name: None)
    assert validation.validate(bom=Path("any.csv")) == []
    assert "models.evidence.bom" in capsys.readouterr().err


def test_one_step_on_a_cluster_nobody_can_wire_leaves_the_others_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path(validation.__file__).with_name("training_steps.csv").open() as file:
        rows = list(csv.DictReader(file))[:3]
    rows[1]["gpus"] = "1e9"
    path = table(tmp_path / "steps.csv", *rows, columns=list(rows[0]))
    assert main(["validate", "--published", path, "--format", "json", "--rows"]) == 0
    shown = [record for record in json.loads(capsys.readouterr().out) if "id" in record]
    assert [row["usable"] for row in shown] == [True, False, True]
