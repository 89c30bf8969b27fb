"""How pages write numbers and keys: three digits, thin-space thousands, units that stay with their number."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from views.decision import figure_text
from views.evidence import miss_reason
from views.show import _aligned, prose
from views.training_step import _phase_text

THIN, FIXED = "\u2009", "\u00a0"


def test_prose_has_thin_thousands_and_keeps_units_with_their_numbers() -> None:
    assert prose("7.4 % at 16,384 GPUs") == f"7.4{FIXED}% at 16{THIN}384 GPUs"
    assert prose("15.8 M USD a year, 369 GB/s") == f"15.8{FIXED}M USD a year, 369{FIXED}GB/s"
    assert prose("leaf 3, 4 spines, 5 sizes") == "leaf 3, 4 spines, 5 sizes"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (41e9, "bytes", "38.2 GiB"), (17.84, "s", "17.8 s"), (0.0, "s", "0 s"), (0.3951, "fraction", "40 %"),
        (4.2e14, "FLOP/s", "420 TFLOP/s"), (945_123.0, "tokens/s", f"945{THIN}000 tokens/s"), (64, "1", "64"),
        (15_780_000.0, "USD/year", "15.8 M USD/year"), (1.23e6, "W", f"1{THIN}230 kW"),
        (float("nan"), "s", "\u2013"), (None, "bytes", "\u2013"), ("text", "1", "\u2013"),
    ],
)  # fmt: skip
def test_a_figure_has_three_digits_and_its_unit_or_a_dash(value: object, unit: str, text: str) -> None:
    assert figure_text(value, unit) == text


def test_figures_stand_right_and_words_left() -> None:
    frame = pd.DataFrame(
        {
            "Sum": ["12.1 M USD", "\u2013"], "Band": ["1.8 %  (-0.93 % to 7.6 %)", "best"], "GPUs": [f"1{THIN}024", "64"],
            "Name": ["RoCEv2 400G", "x"], "Mixed": ["3 spines up", "4"], "Empty": ["", ""],
        }
    )  # fmt: skip
    assert set(_aligned(frame)) == {"Sum", "Band", "GPUs"}


def test_keys_are_said_in_words() -> None:
    assert _phase_text("dp_reduce_scatter") == "DP reduce-scatter"
    assert _phase_text("checkpoint_write") == "checkpoint write"


def test_a_miss_says_whether_the_stated_band_holds_it() -> None:
    row = SimpleNamespace(
        low=1.0, high=3.0, value=2.0, hardware="new", band="< 16 MiB", fabric="roce", kind="collective"
    )
    assert miss_reason(row).startswith(
        "inside the stated band; hardware that no row behind the constants has"
    )
    assert miss_reason(SimpleNamespace(**{**vars(row), "value": 4.0})).startswith("outside the stated band")
