"""Worked example, traps, provenance, sums to the cent, unknown prices, brownfield, checks."""

from __future__ import annotations

from dataclasses import fields
from io import StringIO

import pandas as pd
import pytest

from models.catalog.quotes import catalogue_with_quotes
from models.cost.bill_of_materials import bill_of_materials
from models.cost.lines import BillLine
from models.cost.tables import bill_table
from models.export import csv_text
from models.scenario.faults import InputError
from tests.cost.scenarios import BRANDED, IB, ROCE, THIRD_PARTY, bill, quantities, scenario

COLUMNS = [
    "line", "candidate", "network", "tier", "category", "vendor", "part", "description",
    "speed_gbit_per_s", "quantity_base", "spares_fraction", "quantity_spares", "quantity_total",
    "unit_price_low_usd", "unit_price_mid_usd", "unit_price_high_usd", "extended_low_usd",
    "extended_mid_usd", "extended_high_usd", "price_date", "price_source", "price_confidence",
    "rack_units", "power_typical_w", "power_max_w", "optics_in_power", "reach_m", "lead_time_weeks_low",
    "lead_time_weeks_high", "notes",
]  # fmt: skip
# switches + optics + fibre + NIC at 1,024 GPUs and 400G, USD per GPU from the same mids (worked by hand)
BUILDS = [
    ("infiniband_ndr", "sw_qm9700", "nic_cx7_400", BRANDED, 48, 6041),
    ("infiniband_ndr", "sw_qm9700", "nic_cx7_400", THIRD_PARTY, 48, 4896),
    ("spectrum_x_400g", "sw_sn5600", "nic_bf3_b3140h", BRANDED, 24, 6519),
    ("rocev2_400g", "sw_sn5600", "nic_cx7_400", BRANDED, 24, 5619),
    ("rocev2_400g", "sw_th5_wb", "nic_thor2", BRANDED, 24, 4654),
    ("rocev2_400g", "sw_th5_wb", "nic_thor2", THIRD_PARTY, 24, 3509),
]


@pytest.mark.parametrize(("technology", "switch", "nic", "optics", "switches", "usd_per_gpu"), BUILDS)
def test_six_builds(
    technology: str, switch: str, nic: str, optics: dict[str, str], switches: int, usd_per_gpu: int
) -> None:
    parts = {"switch": switch, "nic": nic, **optics}
    built = bill("x", candidates={"x": {"technology": technology, "parts": parts}})
    lines = [
        line
        for line in built.lines
        if line.network == "compute"
        and line.tier != "management"
        and line.category in ("switch", "transceiver", "cable", "nic")
    ]
    total = sum(line.quantity_base * (line.unit_price_mid_usd or 0) for line in lines)
    assert round(total / 1024) == usd_per_gpu
    assert sum(line.quantity_base for line in lines if line.category == "switch") == switches


def test_the_bill_says_which_network_it_is() -> None:
    rails = bill(gpus=4096, topology={"kind": "rail_only"})
    any_to_any = bill(gpus=4096, topology={"kind": "rail_optimized"})
    planes = bill("roce", gpus=4096, topology={"kind": "multi_plane"})
    assert "192 switches" in rails.built and "rail-only" in rails.built
    assert "320 switches" in any_to_any.built and "any-to-any" in any_to_any.built
    assert "2 independent planes" in planes.built


def test_columns_and_sums_to_the_cent() -> None:
    built = bill()
    text = csv_text(bill_table(built))
    table = pd.read_csv(StringIO(text))
    assert list(table.columns) == COLUMNS == [field.name for field in fields(BillLine)]
    assert (table["quantity_total"] == table["quantity_base"] + table["quantity_spares"]).all()
    for end, total in zip(("low", "mid", "high"), built.total(), strict=True):
        assert round(table[f"extended_{end}_usd"].sum(), 2) == total
        off = table[f"extended_{end}_usd"] - table["quantity_total"] * table[f"unit_price_{end}_usd"]
        assert off.abs().max() < 0.005
    assert table["price_source"].notna().all() and table["price_date"].notna().all()


def test_nics_in_the_server_are_not_counted_twice() -> None:
    ib, roce = bill("ib"), bill("roce")
    servers = [line for line in ib.lines if line.category == "server" and line.tier == "node"]
    assert [line.extended_mid_usd for line in servers] == [128 * 310_000]
    nic_and_server = [
        sum(line.extended_mid_usd or 0 for line in b.lines
            if (line.category in ("server", "nic", "nic_in_server") and line.tier in ("node", "host")
                and line.network in ("servers", "compute")))
        for b in (ib, roce)
    ]  # fmt: skip
    spares = 11  # 1 % of 1,024
    assert nic_and_server[0] == 128 * 310_000 + spares * 1600
    assert nic_and_server[1] == 128 * 310_000 + 1024 * (1150 - 1600) + spares * 1150
    credit = next(line for line in roce.lines if line.category == "nic_in_server")
    assert "nic_thor2 pays the difference" in credit.notes
    # the low world takes off the low price of the same NIC
    assert credit.extended == (-1024 * 1200, -1024 * 1600, -1024 * 2300)


def test_a_price_changes_no_count_and_a_workload_changes_no_part() -> None:
    base = bill()
    dear = bill(prices={"sw_qm9700": {"low": 1, "mid": 99_999, "high": 200_000}})
    other = bill(workloads={"b": {"kind": "incast", "fan_in": 8, "burst_bytes": 65536}})
    assert quantities(dear) == quantities(base) == quantities(other)
    assert other.total() == base.total() != dear.total()
    line = next(line for line in dear.lines if line.part == "sw_qm9700")
    assert line.price_source == "set in the scenario" and line.price_confidence == "scenario"


def test_quotes_are_named_on_every_line_they_price() -> None:
    quotes = catalogue_with_quotes(b"id,price_mid,source\ntx_800_2sr4_nv,1000,offer 12\n").catalogue
    built = bill_of_materials(scenario(), "ib", quotes)
    lines = [line for line in built.lines if line.part == "tx_800_2sr4_nv"]
    assert lines and all(line.price_source == "quotes: offer 12" for line in lines)
    assert all(line.unit_price_low_usd == line.unit_price_high_usd == 1000 for line in lines)


def test_a_missing_price_is_unknown_never_zero() -> None:
    quotes = catalogue_with_quotes(b"id,price_mid\nsw_qm9700,\n").catalogue
    built = bill_of_materials(scenario(), "ib", quotes)
    lines = [line for line in built.lines if line.part == "sw_qm9700" and line.category == "switch"]
    assert lines and all(line.extended is None and line.price_confidence == "unknown" for line in lines)
    assert set(built.unknown) >= {line.line for line in lines}
    support = next(line for line in built.lines if line.category == "support")
    assert support.extended is None, "support is a share of a price that is not known"
    text = csv_text(bill_table(built))
    assert ",unknown," in text
    assert any("price unknown: 33 x sw_qm9700" in w and "% of the total" in w for w in built.warnings)
    assert any("lower bounds" in w for w in built.warnings)


def test_brownfield_and_own_lines() -> None:
    own = [{"description": "existing storage contract", "network": "storage", "mid": 5000, "per_year": True}]
    built = bill(prices={"sw_qm9700": {"mid": 0, "source": "existing fabric"}}, networks={"own_lines": own})
    lines = [line for line in built.lines if line.part == "sw_qm9700" and line.category == "switch"]
    assert all(line.extended == (0, 0, 0) and line.price_source == "existing fabric" for line in lines)
    contract = next(line for line in built.lines if line.tier == "own")
    assert contract.extended_mid_usd == 25_000 and contract.line in built.per_year


def test_existing_servers_give_no_money_back_for_their_nics() -> None:
    owned = {"prices": {"sv_hgx_h100": {"mid": 0, "source": "existing servers"}}}
    ib, roce = bill("ib", **owned), bill("roce", **owned)
    net = [
        sum(line.extended_mid_usd or 0 for line in b.lines if line.part in ("nic_cx7_400", "nic_thor2"))
        for b in (ib, roce)
    ]
    assert net == [11 * 1600, 1035 * 1150]  # spares only; all new NICs at full price


def test_a_quote_for_servers_without_nics() -> None:
    quotes = catalogue_with_quotes(b"id,price_mid,nic_included\nsv_hgx_h100,290000,none\n").catalogue
    built = bill_of_materials(scenario(), "ib", quotes)
    assert not any(line.category == "nic_in_server" for line in built.lines)
    with pytest.raises(InputError, match="nic_included = nic_x: no such part"):
        catalogue_with_quotes(b"id,price_mid,nic_included\nsv_hgx_h100,290000,nic_x\n")


def test_a_vendor_discount_moves_all_lines_of_the_vendor() -> None:
    base, off = bill(), bill(networks={"vendor_discount_fraction": {"NVIDIA": 0.25}})
    for before, after in zip(base.lines, off.lines, strict=True):
        if before.vendor == "NVIDIA" and before.category in ("switch", "nic", "transceiver", "cable"):
            assert after.unit_price_mid_usd == pytest.approx(0.75 * (before.unit_price_mid_usd or 0))
            assert "25 % discount" in after.notes
        elif before.category not in ("support",):
            assert after.extended == before.extended


def test_spares_round_up_once_per_part() -> None:
    built = bill()
    for part, fraction in (("tx_800_2sr4_nv", 0.03), ("cb_mpo_mm", 0.03), ("sw_qm9700", 0.02)):
        lines = [
            line for line in built.lines if line.part == part and line.quantity_spares + line.spares_fraction
        ]
        base = sum(line.quantity_base for line in lines)
        assert sum(line.quantity_spares for line in lines) == -(-base * round(fraction * 100) // 100)
    none = bill(economics={"spares_fraction": {"switch": 0.0, "transceiver": 0.0, "nic": 0.0, "cable": 0.0}})
    assert not any(line.quantity_spares for line in none.lines)


@pytest.mark.parametrize(
    ("metres", "low", "high", "cable"),
    [
        (2, None, None, "cb_dac_800split"),
        (30, "tx_400_sr4_nv", "tx_800_2sr4_nv", "cb_mpo_mm"),
        (80, "tx_400_dr4_nv", "tx_800_2dr4_100_nv", "cb_mpo_sm"),
    ],
)
def test_media_follow_reach(metres: float, low: str | None, high: str | None, cable: str) -> None:
    built = bill(topology={"cable_m": {"host_leaf": metres}})
    found = {(line.tier, line.category): line for line in built.lines if line.network == "compute"}
    assert found["host-leaf", "cable"].part == cable
    assert found["host-leaf", "cable"].quantity_base == (512 if low is None else 1024)
    modules = {
        line.part for line in built.lines if line.network == "compute" and line.tier in ("host", "leaf")
    }
    assert (low is None) == ("tx_400_sr4_nv" not in modules and "tx_400_dr4_nv" not in modules)
    if high:
        assert high in modules
    assert any("exceeds the 50 m" in w for w in built.warnings) == (metres > 50)


def test_xdr_has_active_copper_to_a_metre_and_a_half_and_no_multimode() -> None:
    xdr = {"x": {"technology": "infiniband_xdr", "parts": {"switch": "sw_q3400"}}}
    near = bill("x", candidates=xdr, topology={"cable_m": {"leaf_spine": 1.5}})
    assert near.quantity("compute", "leaf-spine", "cb_lacc_1600") == 576
    far = bill("x", candidates=xdr)
    media = {
        line.part
        for line in far.lines
        if line.network == "compute" and line.category in ("cable", "transceiver")
    }
    assert {"tx_1600_2dr4", "tx_800_dr4_nv", "cb_mpo_sm"} <= media and "cb_mpo_mm" not in media
    wrong = {"x": {"technology": "infiniband_xdr", "parts": {"switch": "sw_q3400", **BRANDED}}}
    errors = bill("x", candidates=wrong).errors
    assert any("tx_800_2sr4_nv runs 100G lanes, sw_q3400 200G lanes" in e for e in errors)


def test_checks_find_what_does_not_plug_together() -> None:
    mixed = {
        "switch_transceiver": "tx_800_2dr4_500_nv",
        "nic_transceiver": "tx_400_sr4_nv",
        "cable": "cb_mpo_mm",
    }
    errors = bill("x", candidates={"x": {**IB, "parts": {**IB["parts"], **mixed}}}).errors
    assert any("multimode" in e and "single-mode" in e for e in errors)
    finned = {"nic_transceiver": "tx_800_2sr4_nv"}
    errors = bill("x", candidates={"x": {**IB, "parts": {**IB["parts"], **finned}}}).errors
    assert any("finned" in e and "flat" in e for e in errors)
    warnings = bill("roce").warnings
    assert any("nic_thor2 takes QSFP112" in w for w in warnings)
    lpo = {"switch": "sw_qm9700", "nic": "nic_thor2"}
    with pytest.raises(InputError, match="for Ethernet only"):
        bill("x", candidates={"x": {**IB, "parts": lpo}})
    cx8 = {"x": {"technology": "spectrum_x_800g", "parts": {"switch": "sw_sn5600", "nic": "nic_cx8"}}}
    assert any("2 x 400GbE" in e for e in bill("x", candidates=cx8).errors)
    assert not any(
        "2 x 400GbE" in e for e in bill("x", candidates=cx8, topology={"kind": "multi_plane"}).errors
    )


def test_subnet_limit() -> None:
    big = bill(gpus=65_536)
    assert any("49151" in w and "routers" in w for w in big.warnings)
    assert not any("49151" in w for w in bill(gpus=32_768).warnings)
    assert not any("49151" in w for w in bill("roce", gpus=65_536).warnings)


def test_management_ports_that_do_not_fit_are_told() -> None:
    assert any("subnet-manager ports fit" in w for w in bill(gpus=1024).warnings)
    assert not any("subnet-manager ports fit" in w for w in bill(gpus=1016).warnings)


def test_bad_parts_are_refused_all_at_once() -> None:
    wrong = {"technology": "rocev2_400g", "parts": {"switch": "nic_thor2", "wire": "cb_mpo_mm"}}
    with pytest.raises(InputError) as error:
        bill("x", candidates={"x": wrong})
    text = str(error.value)
    assert "is a nic, not a switch" in text and "unknown role; allowed: switch" in text


def test_multi_plane_splits_nic_ports_not_nics() -> None:
    one, two = bill("roce"), bill("roce", topology={"kind": "multi_plane", "planes": 2})
    assert (
        one.quantity("compute", "host", "nic_thor2") == two.quantity("compute", "host", "nic_thor2") == 1024
    )
    assert two.quantity("compute", "host", "tx_400_sr4_nv") == 1024
    assert two.quantity("compute", "host-leaf", "cb_mpo_split") == 1024


def test_roce_needs_no_subnet_manager_and_ib_no_sonic() -> None:
    parts = {
        "ib": {line.part for line in bill("ib").lines},
        "roce": {line.part for line in bill("roce").lines},
    }
    assert {"li_ufm", "li_ufm_appl"} <= parts["ib"] and "li_sonic_ent" not in parts["ib"]
    assert "li_sonic_ent" in parts["roce"] and not {"li_ufm", "li_ufm_appl"} & parts["roce"]
    embedded = bill("ib", networks={"compute": {"subnet_manager": "embedded"}})
    assert not {"li_ufm", "li_ufm_appl"} & {line.part for line in embedded.lines}
    assert ROCE["parts"]["nic"] in parts["roce"]
