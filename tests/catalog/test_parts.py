"""Catalogue rows carry unit, date, source and confidence; quotes win and say so."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from models.catalog.parts import CATEGORIES, CONFIDENCES, part_rows, parts
from models.catalog.quotes import catalogue_with_overrides, catalogue_with_quotes
from models.scenario.faults import InputError
from models.scenario.schema import PriceOverride

ROWS = [(file, row["id"], row) for file, row in part_rows()]


@pytest.mark.parametrize(("file", "part_id", "row"), ROWS, ids=[part_id for _, part_id, _ in ROWS])
def test_every_row_is_sourced(file: str, part_id: str, row: dict[str, str]) -> None:
    for column in ("source", "price_date", "unit", "confidence", "category", "is_band", "model"):
        assert row[column].strip(), f"{file}: {part_id} has no {column}"
    assert row["confidence"] in CONFIDENCES and row["category"] in CATEGORIES
    assert not any(word in row["source"] + row["notes"] for word in ("/work", "../", "shared/")), part_id


@pytest.mark.parametrize(("file", "part_id", "row"), ROWS, ids=[part_id for _, part_id, _ in ROWS])
def test_a_page_that_gave_no_price_is_not_its_source(file: str, part_id: str, row: dict[str, str]) -> None:
    if row["confidence"] == "from memory" and file != "references.csv":
        assert "memory" in row["source"], "who reads the source cell must see that the price is from memory"
    for end in ("low", "mid", "high"):
        if row["confidence"] == "read in source" and f"{end} memory" in row["notes"].replace("/", " "):
            assert "from memory" in row["source"], (end, row["notes"])


def test_bands_are_in_order_and_units_are_not_all_dollars() -> None:
    for part in parts().values():
        if part.prices:
            low, mid, high = part.prices
            assert 0 <= low <= mid <= high, part.id
    assert parts()["li_cumulus"].prices is None  # 1/3/5-year prices side by side, no band
    assert parts()["op_elec"].unit == "USD per kWh"
    assert parts()["sw_qm9700"].ports == 64 and parts()["sw_sn5600"].ports_at_400g == 128


def test_watts_say_whether_optics_are_in() -> None:
    for part in parts().values():
        if part.category == "switch" and (part.power_typical_w or part.power_max_w):
            assert part.optics_in_power, part.id


def test_a_quote_wins_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my_quotes.csv"
    path.write_text(
        "id,price_usd_low,price_usd_mid,price_usd_high,source,price_date\nsw_qm9700,1,2,3,Q-77,2026-05\n",
        "utf-8",
    )
    part = catalogue_with_quotes(path).catalogue["sw_qm9700"]
    assert part.prices == (1, 2, 3) and part.source == "my_quotes.csv: Q-77" and part.confidence == "quote"
    assert part.ports == 64 and parts()["sw_qm9700"].price_mid == 38000


def test_quotes_in_another_currency_and_past_their_date() -> None:
    text = b"id,price_mid,currency,usd_per_currency,expiry\nnic_cx8,1000,EUR,1.1,2026-01-31\n"
    quotes = catalogue_with_quotes(text, today=date(2026, 3, 1))
    assert quotes.catalogue["nic_cx8"].prices == pytest.approx((1100, 1100, 1100))
    assert quotes.warnings == ("quotes:2: quote for nic_cx8 expired on 2026-01-31",)
    assert "EUR" in quotes.catalogue["nic_cx8"].notes and "2026-01-31" in quotes.catalogue["nic_cx8"].notes
    assert catalogue_with_quotes(text, today=date(2026, 1, 31)).warnings == ()


def test_a_quote_without_a_price_is_unknown_and_zero_is_zero() -> None:
    quotes = catalogue_with_quotes(b"id,price_mid\nsw_qm9700,\nnic_cx8,0\n")
    assert quotes.catalogue["sw_qm9700"].prices is None
    assert quotes.catalogue["nic_cx8"].prices == (0, 0, 0)


def test_a_new_part_needs_its_category() -> None:
    text = b"id,category,vendor,model,speed_gbit_per_s,ports,price_mid\nsw_mine,switch,Me,Box,800,64,9\n"
    assert catalogue_with_quotes(text).catalogue["sw_mine"].ports == 64
    with pytest.raises(InputError, match="no such part; did you mean sw_qm97"):
        catalogue_with_quotes(b"id,price_mid\nsw_qm970,9\n")


def test_all_faults_of_a_quote_file_at_once() -> None:
    text = b"id,price_low,price_mid,price_high,currency,expiry\n" + (
        b"nic_cx8,,-1,,,\nnic_cx7_400,,1k,,,\nsw_qm9700,5,4,6,,\nsw_sn5600,,1,,EUR,\nnic_thor2,,1,,,soon\n"
    )
    with pytest.raises(InputError) as error:
        catalogue_with_quotes(text)
    lines = str(error.value).splitlines()
    assert len(lines) == 5
    for line, words in zip(
        lines, ("not negative", "plain number", "between low", "one EUR in USD", "date"), strict=True
    ):
        assert words in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"part,price\nx,1\n", "no column id"),
        (b"id,cost\nnic_cx8,1\n", "no price column"),
        (b"id,price_mid,colour\nnic_cx8,1,red\n", "unknown column"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_other_files_are_refused(text: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        catalogue_with_quotes(text)


def test_scenario_prices_win_and_are_named() -> None:
    base = parts()
    part = catalogue_with_overrides(base, {"nic_cx8": PriceOverride(mid=5.0, source="existing contract")})[
        "nic_cx8"
    ]
    assert part.prices == (5, 5, 5) and part.source == "existing contract" and part.confidence == "scenario"


def test_a_quote_file_without_a_price_column_is_one_fault_that_names_what_is_needed() -> None:
    with pytest.raises(InputError) as caught:
        catalogue_with_quotes(b"id,low,mid,high\nsw_qm9700,1,2,3\n")
    (fault,) = caught.value.faults
    assert "needed: id and at least one of price_low, price_mid, price_high" in fault.problem
    assert "given: id, low, mid, high" in fault.problem


def test_unknown_columns_of_a_quote_file_are_one_fault() -> None:
    with pytest.raises(InputError) as caught:
        catalogue_with_quotes(b"id,price_mid,colour,shape\nsw_qm9700,2,red,round\n")
    (fault,) = caught.value.faults
    assert fault.key == "colour, shape" and fault.problem.startswith("unknown columns; allowed: id")
