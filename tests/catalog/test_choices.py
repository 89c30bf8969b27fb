"""What is billed where nobody names it is in a table with a source, and is in the catalogue."""

import pytest

from models.catalog.choices import choice_rows, default_nic, default_parts, roles_inside, switch_licence
from models.catalog.parts import CONFIDENCES, parts
from models.catalog.quotes import catalogue_with_quotes
from models.catalog.technology import technology, technology_names
from models.cost.bill_of_materials import bill_of_materials
from models.cost.pricing import spares_fraction
from models.scenario.load import SHIPPED, load
from models.scenario.part_roles import ROLES

ROWS = choice_rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['what']} {r['of']} {r['rate_gbit_per_s']}")
def test_every_choice_has_a_source_and_is_in_the_catalogue(row: dict[str, str]) -> None:
    assert row["source"].strip() and row["confidence"] in {*CONFIDENCES, "assumption"}
    assert ("assumption" in row["source"]) == (row["confidence"] == "assumption")
    vendors = {part.vendor for part in parts().values() if part.category == "switch"}
    if row["what"] == "inside":
        assert parts()[row["of"]].category == "server"
        assert row["chosen"].split() and set(row["chosen"].split()) <= set(ROLES)
        return
    chosen = parts()[row["chosen"]]
    if row["what"] == "nic":
        assert chosen.category == "nic" and (chosen.speed_gbit_per_s or 0) >= float(row["rate_gbit_per_s"])
        assert chosen.technology in ("both", "ib" if row["of"] == "ib" else "ethernet")
    elif row["what"] == "role":
        assert chosen.category == ROLES[row["of"]]
    else:
        assert row["what"] in {"licence", "support"} and chosen.category == "licence"
        assert row["of"] in vendors or not row["of"]


def test_no_choice_is_there_twice() -> None:
    keys = [(row["what"], row["of"], row["rate_gbit_per_s"]) for row in ROWS]
    assert len(set(keys)) == len(keys)


def test_every_preset_at_a_rate_of_its_own_finds_a_nic_or_none_by_name() -> None:
    found = {
        name: default_nic(preset.fabric, preset.link.rate_gbit_per_s.value)
        for name in technology_names()
        for preset in (technology(name),)
    }
    assert found["infiniband_ndr"] == "nic_cx7_400" and found["rocev2_400g"] == "nic_thor2"
    assert default_nic("tcp", 123.0) == ""
    assert set(default_parts()) <= set(ROLES) and "nic" not in default_parts()
    assert switch_licence("Arista") == "li_eos" and switch_licence("NVIDIA") == ""
    assert roles_inside("sv_dgx_h100") == {"in_band_nic", "storage_nic"} and not roles_inside("sv_mi300x")


def test_spares_are_the_catalogues_and_a_quote_moves_them() -> None:
    scenario = load(SHIPPED / "llama3-70b-1024-h100.yaml")
    shipped = {
        c: spares_fraction(scenario, c, parts()) for c in ("switch", "transceiver", "nic", "cable", "server")
    }
    assert shipped == {"switch": 0.02, "transceiver": 0.03, "nic": 0.01, "cable": 0.03, "server": 0.0}
    for category in ("switch", "transceiver", "nic", "cable"):
        assert parts()[f"op_spares_{category}"].unit == "percent of quantity"
    quoted = catalogue_with_quotes(b"id,price_mid\nop_spares_switch,10\n").catalogue
    name = next(iter(scenario.candidates))

    def spare_switches(catalogue=None) -> int:
        built = bill_of_materials(scenario, name, catalogue)
        return sum(line.quantity_spares for line in built.lines if line.category == "switch")

    assert spare_switches(quoted) > spare_switches() > 0
