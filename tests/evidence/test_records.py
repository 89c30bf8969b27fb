"""Grouping of validation rows: every source weighs the same, nothing unusable is counted."""

from __future__ import annotations

import pytest

from models.evidence.records import (
    ValidationRow,
    abs_error_quantiles,
    records,
    row_records,
    weighted_quantile,
)


def _row(id: str, source: str, prediction: float | None, **changes: object) -> ValidationRow:
    figures: dict[str, object] = {
        "set": "published",
        "kind": "collective",
        "operation": "all_reduce",
        "fabric": "ib",
        "metric": "busbw",
        "band": ">= 1 GiB",
        "value": 100.0,
        "unit": "GB/s",
    }
    return ValidationRow(id=id, source=source, prediction=prediction, **{**figures, **changes})  # type: ignore[arg-type]


def test_every_source_weighs_the_same() -> None:
    many = [_row(f"m{i}", "many", 150.0) for i in range(9)]
    few = [_row("f", "few", 101.0), _row("g", "other", 102.0)]
    median, p90 = abs_error_quantiles([*many, *few], 0.5, 0.9)
    assert median == pytest.approx(2.0)  # by rows it would be 50
    assert p90 == pytest.approx(50.0)


def test_unusable_rows_are_shown_but_not_counted() -> None:
    rows = [_row("a", "s", 110.0), _row("b", "s", None, usable=False, reason="NIC speed not stated")]
    (record,) = records(rows)
    assert record["rows"] == 1
    assert [shown["usable"] for shown in row_records(rows)] == [True, False]
    assert row_records(rows)[1]["error_pct"] is None


def test_a_group_without_usable_row_is_omitted() -> None:
    assert records([_row("b", "s", None, usable=False, reason="fault")]) == []


def test_groups_are_kept_apart_and_in_order() -> None:
    rows = [_row("a", "s", 110.0), _row("b", "s", 90.0, fabric="roce"), _row("c", "s", 130.0)]
    assert [(record["fabric"], record["rows"]) for record in records(rows)] == [("ib", 2), ("roce", 1)]


def test_errors_are_signed_and_relative_to_the_reference() -> None:
    assert _row("a", "s", 90.0).error_pct == pytest.approx(-10.0)


@pytest.mark.parametrize("prediction", [None, float("nan"), float("inf")])
def test_a_usable_row_has_a_finite_prediction(prediction: float | None) -> None:
    with pytest.raises(ValueError, match="finite prediction"):
        _row("a", "s", prediction)


def test_an_unusable_row_says_why() -> None:
    with pytest.raises(ValueError, match="reason"):
        _row("a", "s", None, usable=False)


def test_quantile_reaches_the_last_value() -> None:
    assert weighted_quantile([3.0, 1.0, 2.0], [1.0, 1.0, 1.0], 0.9) == 3.0
