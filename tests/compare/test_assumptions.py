"""Where a value of the assumptions table comes from is what the file says, not whether it equals a default."""

from __future__ import annotations

from models.compare.assumptions import assumption_table
from models.compare.comparison import compare
from models.scenario.load import load


def test_what_the_file_writes_is_not_called_a_default() -> None:
    scenario = load("scenarios/llama3-70b-1024-h100.yaml")
    answer = compare(scenario, ("analytical",), unscored=False)
    source = assumption_table(answer, scenario).set_index("parameter").source
    assert source["cluster.gpus_per_node"] == source["topology.kind"] == "scenario file"
    assert source["topology.planes"] == "the default"
