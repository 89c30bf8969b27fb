"""Figures that are allowed but hardly meant are doubted; every scenario that ships is beyond doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.scenario.load import load, with_values
from models.scenario.plausible import doubts

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"
FIRST = load(FOLDER / "llama3-70b-1024-h100.yaml")


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_nothing_that_ships_is_doubted(file: Path) -> None:
    assert doubts(load(file)) == ()


@pytest.mark.parametrize(
    ("price", "doubted"), [(8.3, True), (0.001, True), (0.0, False), (0.01, False), (1.0, False)]
)
def test_the_price_of_power(price: float, doubted: bool) -> None:
    found = doubts(with_values(FIRST, {"economics.usd_per_kwh": price}))
    assert bool(found) is doubted
    assert not doubted or "USD per kWh" in found[0]


def test_racks_of_trays_are_not_nodes_of_eight() -> None:
    found = doubts(with_values(FIRST, {"cluster.gpu": "GB200", "cluster.gpus": 64}))
    assert len(found) == 2
    assert "gpus_per_node = 8: GB200 comes in trays of 4 GPUs, 18 trays a rack of 72" in found[0]
    assert "gpus = 64: no whole racks of 72" in found[1]
    assert (
        doubts(with_values(FIRST, {"cluster.gpu": "GB200", "cluster.gpus": 72, "cluster.gpus_per_node": 4}))
        == ()
    )


def test_a_node_larger_than_the_gpu_s_is_doubted() -> None:
    found = doubts(with_values(FIRST, {"cluster.gpus_per_node": 16}))
    assert len(found) == 1 and "nodes of at most 8" in found[0]


def test_doubts_reach_the_answer_and_with_it_pages_and_reports() -> None:
    from models.compare.comparison import compare

    dear = with_values(FIRST, {"economics.usd_per_kwh": 8.3})
    answer = compare(dear, ("analytical",), unscored=False)
    assert any("usd_per_kwh = 8.3" in text for text in answer.warnings)
