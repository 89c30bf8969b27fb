"""Which sets a validation runs: those named, or all that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.evidence import packet, validation
from models.evidence.fit import cases, leave_one_source_out, summary
from models.evidence.records import ValidationRow, records
from models.evidence.validation import is_training_table, validate

EVIDENCE = Path(validation.__file__).parent
MARK = ValidationRow(
    set="packet", kind="incast", fabric="roce", metric="fct_mean", band="zhu2015", id="run",
    value=1.0, unit="us", source="simulator", prediction=1.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def everything() -> list[ValidationRow]:
    """All sets, with one row standing for the minutes of packet runs."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(packet, "packet_rows", lambda folder=None: [MARK] if folder is None else [])
        return validate()


def test_no_option_runs_all_shipped_sets(everything: list[ValidationRow]) -> None:
    assert {row.set for row in everything} == {"published", "packet", "bom"}
    assert {"collective", "p2p_bw", "p2p_lat", "storage", "training_step"} <= {row.kind for row in everything}
    steps = [row for row in everything if row.kind == "training_step" and row.usable]
    assert len(steps) == 122  # of the layouts' own table


def test_ids_are_unique_within_a_set(everything: list[ValidationRow]) -> None:
    named = [(row.set, row.kind, row.id, row.metric) for row in everything]
    assert len(set(named)) == len(named)


def test_naming_one_set_runs_only_that() -> None:
    assert {row.set for row in validate(bom=EVIDENCE / "bom_reference.csv")} == {"bom"}
    steps = validate(published=EVIDENCE / "training_steps.csv")
    assert {row.kind for row in steps} == {"training_step"}


def test_naming_two_runs_both() -> None:
    found = validate(published=EVIDENCE / "published.csv", bom=EVIDENCE / "bom_reference.csv")
    assert {row.set for row in found} == {"published", "bom"}


def test_training_tables_are_told_by_their_columns() -> None:
    assert is_training_table(EVIDENCE / "training_steps.csv")
    assert not is_training_table(EVIDENCE / "published.csv")


def test_reference_designs_are_counted_exactly(everything: list[ValidationRow]) -> None:
    for record in records(row for row in everything if row.set == "bom"):
        assert record["p90_abs_pct_error"] == 0.0


# Errors when this was written, in per cent with room for a tenth more: a change that costs accuracy must say so.
IN_SAMPLE = {
    "collective >= 1 GiB": (1.0, 5.9),
    "collective 16 MiB - 1 GiB": (5.0, 14.2),
    "collective < 16 MiB": (9.4, 33.0),
    "moe": (3.9, 8.8),
}
LEFT_OUT = {
    "collective >= 1 GiB": (1.8, 10.4),
    "collective 16 MiB - 1 GiB": (8.4, 18.3),
    "collective < 16 MiB": (12.2, 36.6),
    "moe": (3.9, 8.9),
}


def test_errors_of_collectives_do_not_creep_up() -> None:
    of = cases()
    for guard, found in (
        (IN_SAMPLE, summary([case.row for case in of])),
        (LEFT_OUT, summary(leave_one_source_out(of))),
    ):
        for kind, (median, p90) in guard.items():
            assert found[kind][1] <= median, kind
            assert found[kind][2] <= p90, kind
