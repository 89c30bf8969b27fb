"""Every published count, exactly; and the trap of 192 against 320 switches."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.evidence.bom import bom_records, bom_rows, design, design_counts, exact
from models.scenario.faults import InputError

HEADER = "design,technology,link_gbit_per_s,switch_radix,planes,nodes,gpus,leaf,spine,core,network,source\n"


def test_every_reference_row_is_exact() -> None:
    rows = bom_rows()
    assert len(rows) == 20 * 6 + 2 * 2  # two designs publish leaves and spines only
    assert [row.id for row in rows if not exact(row)] == []


def test_records_are_by_metric_and_design_without_error() -> None:
    table, _ = bom_records()
    assert {record["metric"] for record in table} == {"leaf", "spine", "core", "cables"}
    assert {record["band"] for record in table} == {
        "superpod_h100_compute", "superpod_h100_b200_larger", "b300_spectrum4_twin_plane", "b300_xdr",
        "asterfusion_256", "b300_farm_256",
    }  # fmt: skip
    assert all(record["median_abs_pct_error"] == 0 for record in table)


def test_rail_only_and_any_to_any_are_told_apart(tmp_path: Path) -> None:
    # tech-talk-cto sheet: from 4,096 GPUs its counts are rail-only; NVIDIA's any-to-any count is 320
    lines = [
        f"sheet,ib,400,64,1,{nodes},{nodes * 8},,,,{kind},sheet"
        for nodes in (64, 128, 256, 512, 1024, 2048)
        for kind in ("rail_only", "any_to_any")
    ]
    path = tmp_path / "designs.csv"
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    assert bom_rows(path) == []  # blank cells are not checked

    def switches(nodes: int, network: str) -> float:
        row = {
            "nodes": str(nodes),
            "gpus": str(nodes * 8),
            "switch_radix": "64",
            "link_gbit_per_s": "400",
            "network": network,
        }
        counts = design_counts(design(row))
        return counts["leaf"] + counts["spine"] + counts["core"]

    assert [switches(n, "rail_only") for n in (64, 128, 256, 512, 1024, 2048)] == [8, 48, 96, 192, 384, 768]
    assert switches(512, "any_to_any") == 320


def test_rail_only_paper() -> None:
    """32,768 GPUs in domains of 256 (arXiv 2307.12169): 2,560 and 1,536, 1,280 and 256."""

    def switches(radix: int, network: str, nodes: int) -> float:
        row = {
            "nodes": str(nodes),
            "gpus": "32768",
            "switch_radix": str(radix),
            "link_gbit_per_s": "400",
            "network": network,
        }
        counts = design_counts(design(row))
        return counts["leaf"] + counts["spine"] + counts["core"]

    assert switches(64, "any_to_any", 4096) == 2560
    assert switches(64, "rail_only", 128) == 1536
    assert switches(128, "any_to_any", 4096) == 1280
    assert switches(128, "rail_only", 128) == 256


def test_a_wrong_figure_shows_as_an_error_and_new_hardware_as_new(tmp_path: Path) -> None:
    path = tmp_path / "designs.csv"
    path.write_text(HEADER + "odd,ib,400,64,1,128,1024,33,16,0,any_to_any,x\n", encoding="utf-8")
    leaf, spine, core = bom_rows(path)
    assert leaf.error_pct == pytest.approx(100 * (32 / 33 - 1)) and leaf.hardware == "known"
    assert spine.error_pct == 0 and not core.usable
    path.write_text(HEADER + "odd,ib,1600,288,1,128,1024,8,4,0,any_to_any,x\n", encoding="utf-8")
    assert {row.hardware for row in bom_rows(path)} == {"new"}


def test_bad_files_are_refused_readably(tmp_path: Path) -> None:
    path = tmp_path / "designs.csv"
    path.write_text("design,leaf\na,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="columns missing: link_gbit_per_s, switch_radix"):
        bom_rows(path)
    path.write_text(HEADER + "odd,ib,400,64,1,128,1024,many,16,0,any_to_any,x\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"leaf.*must be a number"):
        bom_rows(path)
    path.write_text(HEADER + "odd,ib,400,64,1,128,1024,32,16,0,torus,x\n", encoding="utf-8")
    assert "allowed: any_to_any" in bom_rows(path)[0].reason


def test_gpus_that_do_not_fill_their_nodes_and_another_spine_model() -> None:
    def counts(**row: str) -> dict[str, float]:
        return design_counts(design({"switch_radix": "64", "link_gbit_per_s": "400", **row}))

    # tech-talk-cto sheet: 104,858 GPUs in 13,107 nodes, about 8,192 switches, eight separate three-tier networks
    sheet = counts(nodes="13107", gpus="104858", network="rail-only")
    assert sheet["leaf"] + sheet["spine"] + sheet["core"] == pytest.approx(8192, rel=0.01)
    mixed = counts(nodes="512", gpus="4096", network="clos", spine_radix="128")
    assert (mixed["leaf"], mixed["spine"], mixed["core"]) == (128, 32, 0)
