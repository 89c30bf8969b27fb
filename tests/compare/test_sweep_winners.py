"""Who wins where in a sweep's table, read line by line."""

from pathlib import Path

from models.compare.sweep_winners import winners, winners_sentence

HEADER = "cluster.gpus,topology.kind,scenario,candidate,metric,value,status,reason\n"


def test_the_best_by_mid_of_every_point_and_where_it_changes(tmp_path: Path) -> None:
    rows = [
        "64,fat_tree,s,A,work_per_dollar,1.0,ok,",
        "64,fat_tree,s,B,work_per_dollar,0.9,ok,",
        "64,fat_tree,s,B,relative_work,9.9,ok,",
        "128,fat_tree,s,A,work_per_dollar,1.0,ok,",
        "128,fat_tree,s,B,work_per_dollar,1.1,ok,",
        "256,fat_tree,s,A,work_per_dollar,,impossible,no work_per_dollar",
    ]
    path = tmp_path / "sweep.csv"
    path.write_text(HEADER + "\n".join(rows) + "\n")
    keys, found = winners(path)
    assert keys == ("cluster.gpus", "topology.kind")
    assert found == {("64", "fat_tree"): "A", ("128", "fat_tree"): "B"}
    assert winners_sentence(keys, found) == (
        "Most work per dollar at mid prices: A at 1, B at 1 of 2 points; changes at cluster.gpus 64 -> 128 (A -> B)."
    )
    path.write_text(HEADER + rows[-1] + "\n")
    assert winners_sentence(*winners(path)) == ""


def test_one_winner_everywhere_and_points_that_are_no_neighbours() -> None:
    assert winners_sentence(("k",), {("1",): "A", ("2",): "A"}).endswith("A at all 2 points.")
    apart = winners_sentence(("k", "j"), {("1", "1"): "A", ("2", "2"): "B"})
    assert apart.endswith("A at 1, B at 1 of 2 points.")
