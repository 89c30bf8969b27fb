"""Packet references rerun: every kind on a few runs, columns honoured, and bad folders refused."""

from __future__ import annotations

import csv
import gzip
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from models.evidence.packet import FILES, SHIPPED, packet_rows
from models.evidence.packet_fabric import permutation_figures
from models.evidence.records import ValidationRow, records
from models.scenario.faults import InputError


def shipped(name: str) -> list[dict[str, str]]:
    plain = SHIPPED / f"{name}.csv"
    text = (
        plain.read_text()
        if plain.exists()
        else gzip.decompress((SHIPPED / f"{name}.csv.gz").read_bytes()).decode()
    )
    return list(csv.DictReader(StringIO(text)))


def written(folder: Path, name: str, rows: list[dict[str, str]]) -> Path:
    with open(folder / f"{name}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def runs(name: str, *ids: str) -> list[dict[str, str]]:
    return [row for row in shipped(name) if row["run_id"] in ids]


def error(rows: list[ValidationRow], metric: str) -> float:
    found = [abs(row.error_pct or 0.0) for row in rows if row.usable and row.metric == metric]
    assert found
    return float(np.median(found))


def test_every_file_of_the_format_ships() -> None:
    for name in FILES:
        assert shipped(name), name
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 1_500_000


def test_lossless_incast_matches(tmp_path: Path) -> None:
    ids = (
        "incast_pfc_only_100g_n8_1024k",
        "incast_pfc_only_100g_n32_1024k",
        "incast_pfc_only_4mb_100g_n16_1024k",
    )
    rows = packet_rows(written(tmp_path, "incast_summary", runs("incast_summary", *ids)))
    assert error(rows, "fct_mean") < 0.5 and error(rows, "fct_max") < 0.2
    assert error(rows, "queue_peak") < 1.0 and error(rows, "utilisation") < 0.2


def test_controlled_incast_matches(tmp_path: Path) -> None:
    ids = [f"incast_hpcc_dcqcn_paper_100g_n{n}_1024k" for n in (4, 16, 64)]
    rows = packet_rows(written(tmp_path, "incast_summary", runs("incast_summary", *ids)))
    assert error(rows, "fct_mean") < 2.0 and error(rows, "queue_mean") < 10.0
    for row in rows:
        assert row.low is not None and row.high is not None and row.low <= (row.prediction or 0) <= row.high


@pytest.mark.parametrize(
    ("run_id", "metrics"),
    [
        ("incast_zhu2015_100g_n32_1024k", ("fct_mean", "fct_p99", "queue_mean", "queue_peak", "pause_us")),
        ("incast_hpcc_dcqcn_vwin_100g_n4_1024k", ("fct_mean", "fct_max", "queue_mean", "queue_peak")),
        ("incast_hpcc_dcqcn_paper_4mb_100g_n16_256k", ("queue_peak", "fct_max")),
    ],
)
def test_what_no_random_mark_decides_is_met_to_the_last_digit(
    tmp_path: Path, run_id: str, metrics: tuple[str, ...]
) -> None:
    """Echoes that put one sender's packets before another's, or a window opened early, showed here by 0.1 to 7 %."""
    rows = packet_rows(written(tmp_path, "incast_summary", runs("incast_summary", run_id)))
    for metric in metrics:
        assert error(rows, metric) < 0.01, metric


def test_victim_permutation_and_collective_match(tmp_path: Path) -> None:
    victims = [row for row in shipped("victim_summary") if row["cc_set"] == "pfc_only"][:2]
    written(tmp_path, "victim_summary", victims)
    written(tmp_path, "victim_flows", runs("victim_flows", *(row["run_id"] for row in victims)))
    permutation = [row for row in shipped("permutation_summary") if row["cc_set"] == "pfc_only"][:1]
    written(tmp_path, "permutation_summary", permutation)
    written(tmp_path, "permutation_flows", runs("permutation_flows", permutation[0]["run_id"]))
    small = runs("collective_summary", "a2a_pfc_only_100g_32r_64k_ecmp")
    written(tmp_path, "collective_summary", small)
    written(tmp_path, "collective_flows", runs("collective_flows", small[0]["run_id"]))
    rows = packet_rows(tmp_path)
    assert error([r for r in rows if r.kind == "victim"], "victim_goodput") < 3.0
    assert error([r for r in rows if r.kind == "permutation"], "goodput") < 2.0
    assert error([r for r in rows if r.kind == "collective_packet"], "time") < 3.0


def test_flows_that_join_a_busy_link_match(tmp_path: Path) -> None:
    joined = runs("join_summary", "join_pfc_only_100g_n4")
    rows = packet_rows(written(tmp_path, "join_summary", joined))
    assert len(joined) > 3 and error(rows, "goodput") < 0.1 and error(rows, "queue_mean") < 0.1


def test_unequal_sizes_and_starts_come_from_the_flows_file(tmp_path: Path) -> None:
    row = runs("incast_summary", "incast_pfc_only_100g_n4_1024k")[0] | {"flow_bytes": "-2", "run_id": "u"}
    row |= {"fct_max_us": "100", "fct_mean_us": "100", "n": "2"}
    written(tmp_path, "incast_summary", [row])
    flows = [
        {"run_id": "u", "flow": "0", "start_ns": "0", "size_bytes": "100000"},
        {"run_id": "u", "flow": "1", "start_ns": "500000", "size_bytes": "200000"},
    ]
    written(tmp_path, "incast_flows", flows)
    found = {row.metric: row.prediction for row in packet_rows(tmp_path)}
    alone = [100 * 1036 / 12.5e9 * 1e6, 200 * 1036 / 12.5e9 * 1e6]
    assert found["fct_max"] == pytest.approx(alone[1] + 4.1, abs=0.3)
    assert found["fct_mean"] == pytest.approx(np.mean(alone) + 4.1, abs=0.3)
    (tmp_path / "incast_flows.csv").unlink()
    assert all("incast_flows.csv" in row.reason for row in packet_rows(tmp_path))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cfg_new_thing": "3"}, "unknown parameter cfg_new_thing"),
        ({"cfg_pmax": "much"}, "cfg_pmax"),
        ({"cfg_g": ""}, "cfg_g"),
        ({"drops": "7"}, "drops = 7"),
    ],
)
def test_what_the_solver_does_not_know_is_skipped_with_the_reason(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    row = runs("incast_summary", "incast_hpcc_dcqcn_100g_n4_1024k")[0] | change
    rows = packet_rows(written(tmp_path, "incast_summary", [row]))
    assert rows and not any(row.usable for row in rows)
    assert says in rows[0].reason


def test_delay_and_rate_come_from_the_columns(tmp_path: Path) -> None:
    row = runs("incast_summary", "incast_pfc_only_100g_n4_1024k")[0]
    near = packet_rows(written(tmp_path, "incast_summary", [row | {"prop_delay_ns": "250"}]))
    far = packet_rows(written(tmp_path, "incast_summary", [row | {"prop_delay_ns": "5000"}]))
    gap = {r.metric: r.prediction for r in far}["fct_max"] - {r.metric: r.prediction for r in near}["fct_max"]  # type: ignore[operator]
    assert gap == pytest.approx(4 * 4.75, abs=0.5)


def test_a_buffer_below_its_headroom_never_pauses_as_in_the_reference(tmp_path: Path) -> None:
    row = runs("incast_summary", "incast_pfc_only_4mb_100g_n32_1024k")[0]
    held = packet_rows(written(tmp_path, "incast_summary", [row]))
    wrapped = packet_rows(written(tmp_path, "incast_summary", [row | {"prop_delay_ns": "5000"}]))
    peak = [next(r.prediction or 0.0 for r in rows if r.metric == "queue_peak") for rows in (held, wrapped)]
    assert peak[0] < 4194 and peak[1] == pytest.approx(32 * 1049 * 1.036 * 31 / 32, rel=0.01)


def test_unknown_acknowledgement_paths_are_drawn_anew_for_each_seed_and_known_ones_kept() -> None:
    name = "perm_pfc_only_100g_l4h16s12_seed101_ecmp"
    row, flows = runs("permutation_summary", name)[0] | {"sim_end_us": "100"}, runs("permutation_flows", name)
    acks = runs("permutation_ack_spine", name)
    known, _ = permutation_figures(row, flows, acks)
    drawn, _ = permutation_figures(row, flows, [])
    assert len(acks) == len(flows) and len(set(known.values["goodput"])) == 1
    assert len(set(drawn.values["goodput"])) == len(drawn.values["goodput"])


def test_records_have_the_fields_of_the_interface(tmp_path: Path) -> None:
    rows = packet_rows(
        written(tmp_path, "incast_summary", runs("incast_summary", "incast_pfc_only_100g_n4_1024k"))
    )
    for record in records(rows):
        assert record["set"] == "packet" and record["kind"] == "incast" and record["band"] == "pfc_only"
        assert np.isfinite(record["median_abs_pct_error"])


def test_a_sprayed_lossless_permutation_on_half_the_spines_comes_to_its_end(tmp_path: Path) -> None:
    """An optimisation of the kernel once never left a window here."""
    name = "perm_pfc_only_100g_l4h16s8_seed1_spray"
    written(tmp_path, "permutation_summary", runs("permutation_summary", name))
    written(tmp_path, "permutation_flows", runs("permutation_flows", name))
    rows = packet_rows(tmp_path)
    assert error(rows, "goodput") < 2.0 and error(rows, "flow_goodput") < 3.0


def test_a_folder_without_references_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="known files"):
        packet_rows(tmp_path)
