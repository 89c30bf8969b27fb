"""What changed between two scenarios or two result folders."""

import pandas as pd
import pytest

from models.compare.diff import Change, difference_text, scenario_changes, table_changes
from models.compare.sensitivity import sensitivity
from models.export import write_tables
from models.scenario.faults import InputError
from models.scenario.load import dump, with_values
from tests.compare.sweeping import small_scenario

SMALL = small_scenario()
DEAR = with_values(SMALL, {"prices.sw_qm9700": 400000, "cluster.gpus": 128})


def test_keys_that_differ_and_only_those() -> None:
    assert scenario_changes(SMALL, SMALL) == []
    changed = {change.what: (change.before, change.after) for change in scenario_changes(SMALL, DEAR)}
    assert changed["cluster.gpus"] == (64, 128)
    assert changed["prices.sw_qm9700.mid"] == (None, 400000.0)
    assert all(key == "cluster.gpus" or key.startswith("prices") for key in changed)


def test_a_default_written_out_is_no_change() -> None:
    assert scenario_changes(SMALL, with_values(SMALL, {"economics.years": SMALL.economics.years})) == []


def test_two_scenarios_and_how_the_answer_moved(tmp_path) -> None:
    a, b = tmp_path / "a.yaml", tmp_path / "b.yaml"
    a.write_text(dump(SMALL))
    b.write_text(dump(DEAR))
    text = difference_text(a, b)
    assert "cluster.gpus: 64 -> 128 (+100.00%)" in text
    assert "The answer" in text
    assert "no key differs" in difference_text(a, a)
    assert "stays with" in difference_text(a, a)


def test_two_folders(tmp_path) -> None:
    for name, scenario in (("a", SMALL), ("b", DEAR)):
        write_tables(sensitivity(scenario, 64, ("analytical",)).tables(), tmp_path / name)
    text = difference_text(tmp_path / "a", tmp_path / "b")
    assert "decision:" in text and "The answer" in text
    same = difference_text(tmp_path / "a", tmp_path / "a")
    assert "decision: 0 of" in same and "tornado: 0 of" in same


def test_moves_are_sorted_by_size_and_absent_rows_are_named() -> None:
    columns = ["candidate", "metric", "input", "value"]
    before = pd.DataFrame(
        [["A", "x", None, 1.0], ["A", "y", None, 2.0], ["A", "z", None, 3.0]], columns=columns
    )
    after = pd.DataFrame(
        [["A", "x", None, 1.1], ["A", "y", None, 1.0], ["B", "w", None, 3.0]], columns=columns
    )
    changes = table_changes("decision", before, after)
    assert [change.what for change in changes] == ["A / y", "A / x", "A / z", "B / w"]
    assert changes[0].relative == pytest.approx(-0.5)
    assert changes[3] == Change("B / w", None, 3.0)


def test_a_file_against_a_folder_and_an_empty_folder_are_faults(tmp_path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(dump(SMALL))
    with pytest.raises(InputError, match="one is a file"):
        difference_text(file, tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no result tables"):
        difference_text(tmp_path / "empty", tmp_path / "empty")
