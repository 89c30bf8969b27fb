"""Cash flows, identities between bill and ownership, sums over years, bands in order."""

from __future__ import annotations

import pytest

from models.catalog.parts import parts
from models.cost.bill_of_materials import bill_of_materials
from models.cost.lines import Bill, is_network
from models.cost.ownership import annuity_factor, energy_usd_per_w_year, ownership, space_usd_per_w_year
from models.cost.power import line_power_w, network_power_w
from models.cost.tables import network_bands, ownership_table, yearly_costs
from models.units import HOURS_PER_YEAR
from tests.cost.scenarios import BRANDED, IB, bill, scenario

FLAT = {
    "years": 5, "discount_rate_fraction": 0.0, "usd_per_kwh": 0.1, "pue": 1.5, "space_usd_per_kw_month": 100.0,
    "network_staff": 2.0, "staff_usd_per_year": 100_000.0,
}  # fmt: skip


def test_columns_and_rows() -> None:
    s = scenario()
    table = ownership_table(ownership(s, "ib", bill_of_materials(s, "ib")))
    assert list(table.columns) == [
        "candidate", "year", "category", "low_usd", "mid_usd", "high_usd", "network_share_fraction", "denominator",
    ]  # fmt: skip
    assert {"total 1", "total 3", "total 5"} <= set(table["year"])
    assert (table["denominator"].str.len() > 10).all()
    assert (table["low_usd"] <= table["mid_usd"]).all() and (table["mid_usd"] <= table["high_usd"]).all()


def test_running_costs_by_hand() -> None:
    s = scenario(economics=FLAT)
    built = bill_of_materials(s, "ib")
    own = ownership(s, "ib", built)
    of_year = {flow.category: flow.usd[1] for flow in own.flows if flow.year == 3}
    kw = line_power_w(built.lines) / 1000
    assert of_year["power"] == pytest.approx(kw * HOURS_PER_YEAR * 1.5 * 0.1)
    assert of_year["space"] == pytest.approx(kw * 100 * 12)
    assert of_year["labour"] == 200_000
    assert of_year["licences"] == pytest.approx(128 * 250)
    switches = built.total(lambda line: line.category == "switch" and is_network(line))[1]
    assert of_year["support"] == pytest.approx(0.08 * switches, abs=0.05)


def test_bill_and_ownership_add_up() -> None:
    s = scenario(economics=FLAT)
    built = bill_of_materials(s, "ib")
    own = ownership(s, "ib", built)
    paid = sum(flow.usd[1] for flow in own.flows if flow.category in ("capital", "support", "licences"))
    assert paid == pytest.approx(built.total()[1], abs=0.02)
    assert own.discounted()[1] == pytest.approx(sum(flow.usd[1] for flow in own.flows))
    assert own.yearly()[1] == pytest.approx(own.discounted()[1] / 5)
    assert sum(line.mid_usd for line in yearly_costs(built, own)) == pytest.approx(own.yearly()[1])
    assert own.per_gpu_hour()[1] == pytest.approx(own.yearly()[1] / (1024 * HOURS_PER_YEAR))
    stacked = sum(band[1] for found in network_bands(built).values() for band in found.values())
    assert stacked == pytest.approx(built.capital()[1], abs=0.02)


@pytest.mark.parametrize("residual", [0.0, 0.3])
def test_groups_move_together_and_are_in_order(residual: float) -> None:
    s = scenario(economics={"residual_value_fraction": residual})
    for name in s.candidates:
        built = bill_of_materials(s, name)
        own = ownership(s, name, built)
        groups = yearly_costs(built, own)
        assert all(line.low_usd <= line.mid_usd <= line.high_usd for line in groups)
        for at, end in enumerate(("low_usd", "mid_usd", "high_usd")):
            assert sum(getattr(line, end) for line in groups) == pytest.approx(own.yearly()[at])


def test_discounting_and_residual_value() -> None:
    assert annuity_factor(0.08, 5) == pytest.approx((1 - 1.08**-5) / 0.08)
    for tiny in (1e-300, 1e-15, 1e-9):
        assert annuity_factor(tiny, 5) == pytest.approx(5.0, rel=1e-8)
    s = scenario()
    plain = ownership(s, "ib", bill_of_materials(s, "ib"))
    sold = scenario(economics={"residual_value_fraction": 0.2})
    resold = ownership(sold, "ib", bill_of_materials(sold, "ib"))
    gained = plain.discounted()[1] - resold.discounted()[1]
    assert gained == pytest.approx(0.2 * plain.flows[0].usd[1] / 1.08**5)
    assert plain.discounted(3) == resold.discounted(3), "sold at the end, not before"


def test_optics_are_added_to_typical_watts_only_once() -> None:
    built = bill("ib", 1016, cluster={"server": "sv_dgx_h100"})
    compute = line_power_w(
        built.lines,
        lambda line: (
            line.network == "compute"
            and line.category in ("switch", "transceiver")
            and line.tier != "management"
        ),
    )
    # 48 x 747 W + 1,536 x 15 W twin + 508 twin modules in the systems
    assert compute == pytest.approx(48 * 747 + 1536 * 15 + 508 * 15)
    # Q3400 states a maximum with optics only: its modules add nothing
    xdr = bill("x", candidates={"x": {"technology": "infiniband_xdr", "parts": {"switch": "sw_q3400"}}})
    tiers = ("leaf", "spine")
    watts = line_power_w(xdr.lines, lambda line: line.network == "compute" and line.tier in tiers)
    assert watts == 24 * 7000


def test_nic_watts_are_not_counted_twice() -> None:
    built = bill("ib")
    nics = [line for line in built.lines if line.part == "nic_cx7_400"]
    assert sum((line.power_typical_w or 0) * line.quantity_base for line in nics) == 0
    assert network_power_w(built.lines) < line_power_w(built.lines)


def test_cooling_plant_only_if_asked() -> None:
    assert not any(line.category == "cooling_plant" for line in bill().lines)
    asked = bill(economics={"include_cooling_plant": True})
    plant = next(line for line in asked.lines if line.category == "cooling_plant")
    assert plant.unit_price_mid_usd == 14_000 and plant.network == "facility"


def test_the_same_quote_drives_bill_and_running_costs() -> None:
    s = scenario(prices={"op_elec": 0.2})
    own = ownership(s, "ib", bill_of_materials(s, "ib"))
    power = next(flow for flow in own.flows if flow.category == "power")
    assert power.usd[0] == power.usd[1] == pytest.approx(own.it_w / 1000 * HOURS_PER_YEAR * 1.25 * 0.2)


def test_network_share_names_its_denominator_and_is_in_the_published_range() -> None:
    s = scenario(candidates={"ib": IB})
    own = ownership(s, "ib", bill_of_materials(s, "ib"))
    capital = own.flows[0]
    # AM Compute about 20 % of cluster, Epoch 9-13 %, tech-talk 8.6 % (switches and links only)
    assert 0.08 < capital.network_usd[1] / capital.usd[1] < 0.25
    assert "servers" in capital.denominator


def test_watts_of_the_1016_gpu_fabrics() -> None:
    """Switches and modules of 127 nodes at 400G by hand from typical watts: about 67 kW NDR, 54 kW Spectrum-4."""
    ib = bill("ib", 1016, cluster={"server": "sv_dgx_h100"})
    parts_w = {
        "sn": {"technology": "rocev2_400g", "parts": {"switch": "sw_sn5600", "nic": "nic_cx7_400", **BRANDED}}
    }
    roce = bill("sn", 1016, parts_w, cluster={"server": "sv_dgx_h100"})

    def watts(built: Bill, categories: tuple[str, ...]) -> float:
        return line_power_w(
            built.lines,
            lambda line: (
                line.network == "compute" and line.category in categories and line.tier != "management"
            ),
        )

    optics = 1536 * 15 + 508 * 15
    assert watts(ib, ("transceiver",)) == optics == watts(roce, ("transceiver",))
    assert watts(ib, ("switch", "transceiver")) == pytest.approx(48 * 747 + optics) == pytest.approx(66_516)
    assert watts(roce, ("switch", "transceiver")) == pytest.approx(24 * 940 + optics) == pytest.approx(53_220)


def test_a_kilowatt_costs_about_sixteen_thousand_dollars_in_five_years() -> None:
    """184 USD per kW and month of space, 0.083 USD/kWh at PUE 1.25, not discounted."""
    s = scenario(economics={"usd_per_kwh": 0.083, "pue": 1.25, "space_usd_per_kw_month": 184.06})
    energy, space = energy_usd_per_w_year(s, parts())[1], space_usd_per_w_year(s, parts())[1]
    assert 5 * 1000 * energy == pytest.approx(5 * HOURS_PER_YEAR * 0.083 * 1.25)
    assert 5 * 1000 * space == pytest.approx(5 * 12 * 184.06)
    assert 15_000 < 5 * 1000 * (energy + space) < 16_500


def test_low_and_high_reach_every_figure() -> None:
    """Bands of prices, energy, space, support and staff come through to USD per GPU-hour; each moves alone too."""
    s = scenario()
    own = ownership(s, "ib", bill("ib"))
    for flow in own.flows:
        low, mid, high = flow.usd
        assert low <= mid <= high and low < high, flow.category
    low, mid, high = own.per_gpu_hour()
    assert low < mid < high
    tight = scenario(economics={"usd_per_kwh": 0.083, "space_usd_per_kw_month": 184.06, "network_staff": 6})
    fixed = {f.category: f.usd for f in ownership(tight, "ib", bill("ib")).flows if f.year == 1}
    for category in ("power", "space", "labour"):
        assert fixed[category][0] == fixed[category][1] == fixed[category][2]


def test_spares_are_bought_and_draw_no_power() -> None:
    none = {"spares_fraction": dict.fromkeys(("switch", "transceiver", "nic", "cable"), 0.0)}
    with_spares, without = bill("ib"), bill("ib", economics=none)
    assert with_spares.capital()[1] > without.capital()[1]
    assert line_power_w(with_spares.lines) == line_power_w(without.lines)
