"""The 127-node DGX SuperPOD H100 (RA-11333-001 V11, tables 7 and 8), line by line, all four networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.catalog.parts import parts
from models.cost.cabling import cabling_rows
from tests.cost.scenarios import bill, quantities, scenario

REFERENCE = Path(__file__).parents[1] / "data" / "cost" / "superpod_h100_127_nodes.csv"


def reference() -> list[tuple[str, str, str, str, int]]:
    rows = [line.split(",") for line in REFERENCE.read_text("utf-8").splitlines()[1:]]
    return [(r[0], r[1], r[2], r[3], int(r[4])) for r in rows]


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str, str], int]:
    return quantities(bill("ib", 127 * 8, cluster={"server": "sv_dgx_h100"}))


@pytest.mark.parametrize(
    ("item", "network", "tiers", "part", "quantity"), reference(), ids=lambda v: str(v)[:32]
)
def test_line(
    found: dict[tuple[str, str, str], int], item: str, network: str, tiers: str, part: str, quantity: int
) -> None:
    wanted = tiers.split("+")
    counted = sum(
        n for (net, tier, p), n in found.items() if net in network.split("+") and tier in wanted and p == part
    )
    assert counted == quantity, item


def test_four_leaf_ports_stay_unused_and_all_cages_are_paid() -> None:
    built = bill("ib", 127 * 8, cluster={"server": "sv_dgx_h100"})
    unused = [line for line in built.lines if line.category == "unused_ports" and line.network == "compute"]
    assert [(line.tier, line.quantity_base, line.extended) for line in unused] == [("leaf", 4, (0, 0, 0))]
    assert "32 leaf, 16 spine" in built.built and not built.errors


def test_cabling_plan_has_the_same_cables() -> None:
    rows = list(cabling_rows(scenario(127 * 8, cluster={"server": "sv_dgx_h100"}), "ib"))
    count = {("compute", "cb_mpo_mm"): 2040, ("storage", "cb_mpo_mm"): 494, ("in_band", "cb_aoc_200"): 254}
    for (network, cable), quantity in count.items():
        assert sum(row.network == network and row.cable_type == cable for row in rows) == quantity
    ends = [(row.a_node, row.a_port) for row in rows] + [(row.z_node, row.z_port) for row in rows]
    assert len(ends) == len(set(ends)), "a port holds one cable"
    assert {row.cable_type for row in rows} <= set(parts())
