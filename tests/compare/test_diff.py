"""What changed between two scenarios, two result folders or two tables: rows paired by what identifies them."""

from pathlib import Path

import pandas as pd
import pytest

from models.compare.axes import Axis, grid
from models.compare.comparison import compare
from models.compare.diff import difference_text
from models.compare.diff_scenarios import NONE_SHARED, scenario_changes
from models.compare.diff_tables import KEYS, RowChange, kind_of, read_table, table_diff
from models.compare.sensitivity import sensitivity
from models.compare.sweep import sweep
from models.compare.sweep_files import JOURNAL
from models.export import write_tables
from models.scenario.faults import InputError
from models.scenario.load import dump, with_values
from tests.compare.sweeping import small_scenario

SMALL = small_scenario()
DEAR = with_values(SMALL, {"prices.sw_qm9700": 400000, "cluster.gpus": 128})
DECISION = ["candidate", "metric", "input", "value"]


def table(columns: list[str], *rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame([[str(cell) for cell in row] for row in rows], columns=columns)


def test_keys_that_differ_and_only_those() -> None:
    assert scenario_changes(SMALL, SMALL) == []
    changed = {change.what: (change.before, change.after) for change in scenario_changes(SMALL, DEAR)}
    assert changed["cluster.gpus"] == (64, 128)
    assert changed["prices.sw_qm9700.mid"] == (None, 400000.0)
    assert all(key == "cluster.gpus" or key.startswith("prices") for key in changed)


def test_a_default_written_out_is_no_change() -> None:
    assert scenario_changes(SMALL, with_values(SMALL, {"economics.years": SMALL.economics.years})) == []


def test_two_scenarios_and_how_the_answer_moved(tmp_path: Path) -> None:
    a, b = tmp_path / "a.yaml", tmp_path / "b.yaml"
    a.write_text(dump(SMALL))
    b.write_text(dump(DEAR))
    text = difference_text(a, b)
    assert "cluster.gpus: 64 -> 128 (+100.00%)" in text
    assert text.endswith("too close to call, with RoCEv2 400G ahead; now the answer is RoCEv2 400G.")
    assert "no key differs" in difference_text(a, a)
    assert "stays" in difference_text(a, a).splitlines()[-1]
    for path, scenario in ((a, SMALL), (b, DEAR)):
        called = compare(scenario, unscored=False).verdict
        last = difference_text(path, path).splitlines()[-1]
        assert last.startswith("The answer stays" if called.decided else "Too close to call in both")


def test_files_that_share_no_candidate_are_said_to(tmp_path: Path) -> None:
    first, second = SMALL.candidates.values()
    for name, candidates in (("a", {"One": first, "Two": second}), ("b", {"Three": first, "Four": second})):
        only = SMALL.model_copy(update={"candidates": candidates})
        (tmp_path / f"{name}.yaml").write_text(dump(only))
    assert NONE_SHARED in difference_text(tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert NONE_SHARED not in difference_text(tmp_path / "a.yaml", tmp_path / "a.yaml")


def test_a_verdict_too_close_to_call_is_no_answer(tmp_path: Path) -> None:
    for name, rows in {
        "sure": [("A", "verdict", "", 1.0)],
        "close": [("A", "verdict", "", 0.0)],
        "other": [("B", "verdict", "", 1.0)],
    }.items():
        table(DECISION, *rows).to_csv(tmp_path / f"{name}.csv", index=False)

    def last(a: str, b: str) -> str:
        return difference_text(tmp_path / f"{a}.csv", tmp_path / f"{b}.csv").splitlines()[-1]

    assert last("sure", "sure") == "The answer stays with A."
    assert last("sure", "close") == "The answer was A; now it is too close to call, with A still ahead."
    assert last("close", "close") == "Too close to call in both; A stays ahead."
    assert last("sure", "other") == f"{NONE_SHARED} The answer moves from A to B."


def test_two_folders(tmp_path: Path) -> None:
    for name, scenario in (("a", SMALL), ("b", DEAR)):
        write_tables(sensitivity(scenario, 64, ("analytical",)).tables(), tmp_path / name)
    text = difference_text(tmp_path / "a", tmp_path / "b")
    assert "decision: " in text and "the answer is RoCEv2 400G" in text and "draws: " in text
    same = difference_text(tmp_path / "a", tmp_path / "a")
    for name in ("decision", "tornado", "break_even", "draws"):
        rows = len(pd.read_csv(tmp_path / "a" / f"{name}.csv"))
        assert f"{name}: 0 changed, 0 added, 0 removed, {rows} unchanged rows" in same


def test_rows_are_paired_by_key_whatever_their_order_and_number() -> None:
    before = table(DECISION, ("A", "x", "", 1.0), ("A", "y", "", 2.0), ("A", "z", "", 3.0), ("A", "v", "", 7))
    after = table(
        DECISION, ("B", "w", "", 3.0), ("A", "y", "", 1.0), ("A", "x", "", 1.1), ("A", "v", "", 7.0)
    )
    found = table_diff("decision", before, after)
    assert [change.key for change in found.changed] == ["A / y", "A / x"]  # largest move first
    assert found.changed[0].relative == pytest.approx(-0.5)
    assert found.added == (RowChange("B / w", "", "3.0"),)
    assert found.removed == (RowChange("A / z", "3.0", ""),)
    assert found.unchanged == 1
    back = table_diff("decision", after, before)
    assert (len(back.added), len(back.removed), len(back.changed)) == (1, 1, 2)


def test_rows_of_one_key_are_paired_in_their_order() -> None:
    before = table(DECISION, ("A", "x", "", 1.0), ("A", "x", "", 2.0))
    after = table(DECISION, ("A", "x", "", 1.0), ("A", "x", "", 5.0), ("A", "x", "", 9.0))
    found = table_diff("decision", before, after)
    assert (len(found.changed), len(found.added), found.unchanged) == (1, 1, 1)


def test_a_change_beside_the_main_figure_is_a_change_and_is_named() -> None:
    columns = [*DECISION, "low", "note"]
    before = table(columns, ("A", "x", "", 1.0, 0.5, "n"), ("A", "y", "", 1.0, 0.5, "n"))
    after = table(columns, ("A", "x", "", 1.0, 0.6, "n"), ("A", "y", "", 1 + 1e-12, 0.5, "n"))
    found = table_diff("decision", before, after)
    assert [(c.key, c.others) for c in found.changed] == [("A / x", ("low",))]
    assert found.unchanged == 1


def test_columns_of_one_side_are_named(tmp_path: Path) -> None:
    for name, extra in (("a.csv", "old"), ("b.csv", "new")):
        table([*DECISION, extra], ("A", "x", "", 1.0, "n")).to_csv(tmp_path / name, index=False)
    text = difference_text(tmp_path / "a.csv", tmp_path / "b.csv")
    assert "columns new: new; gone: old" in text


def test_two_sweeps_by_folder_and_by_file(tmp_path: Path) -> None:
    gpus = (64, 128)
    switch = SMALL.candidates["RoCEv2 400G"].parts["switch"]
    for name, price in (("a", 30_000), ("b", 3_000_000)):
        priced = with_values(SMALL, {f"prices.{switch}": price})
        points = grid([Axis("cluster.gpus", gpus if name == "a" else (*gpus, 256))])
        sweep(priced, points, tmp_path / name, ("analytical",))
    text = difference_text(tmp_path / "a", tmp_path / "b")
    first = pd.read_csv(tmp_path / "a" / "sweep.csv")
    added = len(pd.read_csv(tmp_path / "b" / "sweep.csv")) - len(first)
    line = next(line for line in text.splitlines() if line.startswith("sweep: "))
    changed, new, gone, same = (int(word) for word in line.replace(",", "").split() if word.isdigit())
    assert (new, gone) == (added, 0) and changed > 0 and changed + same == len(first)
    assert "cluster.gpus 256 / InfiniBand NDR" in text
    assert "The best candidate changes at 2 of 2 points they share" in text
    assert "cluster.gpus 128: RoCEv2 400G -> InfiniBand NDR" in text
    files = difference_text(tmp_path / "a" / "sweep.csv", tmp_path / "b" / "sweep.csv")
    assert line in files
    assert "The best candidate is the same at all 2 points" in difference_text(tmp_path / "a", tmp_path / "a")


def test_a_renamed_table_is_known_by_its_columns(tmp_path: Path) -> None:
    tables = sensitivity(SMALL, 64, ("analytical",)).tables()
    for name, found in tables.items():
        path = tmp_path / f"mine_{name}.csv"
        found.to_csv(path, index=False)
        assert kind_of(path, read_table(path)) == name
    assert set(tables) <= set(KEYS)


def test_what_cannot_be_compared_is_one_clear_fault(tmp_path: Path) -> None:
    file, csv = tmp_path / "a.yaml", tmp_path / "a.csv"
    file.write_text(dump(SMALL))
    csv.write_text("a,b\n1,2\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / JOURNAL).write_text("{}\n")
    (tmp_path / "none.csv").write_text("")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2,3\n1\n1,2,3,4,5\n")
    for one, other, says in (
        (file, tmp_path, "one is a scenario file, the other a folder"),
        (csv, file, "one is a table, the other a scenario file"),
        (tmp_path / "empty", tmp_path / "empty", "no result tables"),
        (tmp_path / "half", tmp_path / "half", "unfinished sweep"),
        (file, tmp_path / "gone.yaml", "cannot be read"),
        (csv, csv, "columns of no result table"),
        (tmp_path / "none.csv", csv, "is no table"),
        (tmp_path / "bytes.csv", csv, "not UTF-8"),
        (tmp_path / "ragged.csv", csv, "is no table"),
    ):
        with pytest.raises(InputError, match=says):
            difference_text(one, other)
