"""Cabling plans: every link once, each port once, the same counts as the bill, any size streams."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from models.catalog.parts import parts
from models.cost.bill_of_materials import bill_of_materials, compute_size
from models.cost.cabling import cabling_rows, write_cabling
from models.cost.chosen import chosen_parts
from models.scenario.faults import InputError
from tests.cost.scenarios import scenario


@pytest.mark.parametrize("kind", ["fat_tree", "rail_optimized", "rail_only", "multi_plane", "dragonfly_plus"])
@pytest.mark.parametrize("gpus", [64, 1000, 2600, 4096])  # 2,600: three tiers, no two pods wired alike
def test_links_and_ports(kind: str, gpus: int) -> None:
    s = scenario(gpus, topology={"kind": kind})
    size = compute_size(s, chosen_parts(s, "ib", parts()))
    rows = [row for row in cabling_rows(s, "ib") if row.network == "compute"]
    held = sum(row.a_node.startswith("ufm") for row in rows)
    tiers = Counter(row.a_node.split("/")[-1].rstrip("0123456789") for row in rows)
    assert tiers["node"] == size.host_leaf_links and tiers["leaf"] == size.leaf_spine_links
    assert tiers["spine"] == size.spine_core_links
    assert len(rows) == size.host_leaf_links + size.leaf_spine_links + size.spine_core_links + held
    ends = Counter([(row.a_node, row.a_port) for row in rows] + [(row.z_node, row.z_port) for row in rows])
    assert max(ends.values()) == 1
    per_switch = Counter(node for node, _ in ends if "node" not in node and "ufm" not in node)
    assert max(per_switch.values()) <= size.radix
    assert len(per_switch) <= size.switches


def test_rail_optimised_leaves_hold_one_rail() -> None:
    rows = [
        r
        for r in cabling_rows(scenario(1024), "ib")
        if r.a_node.startswith("node") and r.network == "compute"
    ]
    rails: dict[str, set[str]] = {}
    for row in rows:
        rails.setdefault(row.z_node, set()).add(row.a_port)
    assert len(rails) == 32 and all(len(ports) == 1 for ports in rails.values())


def test_a_large_plan_streams_and_a_huge_one_is_refused(tmp_path: Path) -> None:
    s = scenario(16_384)
    rows = cabling_rows(s, "ib")
    assert next(iter(rows)).a_node == "node0"
    path = tmp_path / "cabling.csv"
    assert write_cabling(islice(rows, 1000), path) == 1000
    header = path.read_text("utf-8").splitlines()[0]
    assert header == "a_node,a_port,z_node,z_port,cable_type,length_m,speed_gbit_per_s,network"


def test_bill_and_plan_agree_on_storage_and_management() -> None:
    s = scenario(512)
    built = bill_of_materials(s, "ib")
    rows = Counter((row.network, row.cable_type) for row in cabling_rows(s, "ib"))
    for network in ("storage", "in_band", "out_of_band"):
        for cable in {
            line.part for line in built.lines if line.network == network and line.category == "cable"
        }:
            if cable == "cb_mpo_split":
                continue  # one splitter is two rows
            billed = sum(
                line.quantity_base for line in built.lines if (line.network, line.part) == (network, cable)
            )
            assert rows[network, cable] == billed, (network, cable)


def test_a_network_that_cannot_be_built_is_refused_before_the_first_row() -> None:
    with pytest.raises(InputError, match="exceed"):
        cabling_rows(scenario(1_048_576), "ib")


@pytest.mark.parametrize(("nodes", "ports_per_node"), [(127, 2), (700, 2), (1025, 2), (300, 1), (90, 3)])
def test_in_band_leaves_have_the_ports_they_need(nodes: int, ports_per_node: int) -> None:
    s = scenario(nodes * 8, networks={"in_band": {"ports_per_node": ports_per_node}})
    rows = list(cabling_rows(s, "ib"))
    ends = [*((row.a_node, row.a_port) for row in rows), *((row.z_node, row.z_port) for row in rows)]
    data = Counter(node for node, port in ends if node.startswith("in-band-") and port != "mgmt0")
    assert max(data.values()) <= (parts()["sw_sn4600c"].ports or 0)
