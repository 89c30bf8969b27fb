"""Costs between the ends of an axis equal those worked out one by one."""

import pytest

from models.compare.axes import axes, grid
from models.compare.sweep_costs import AFFINE_ECONOMICS, Costs, figures, spans
from models.compare.sweep_points import Variations
from tests.compare.sweeping import small_scenario

SMALL = small_scenario()
VALUES = {
    "economics.usd_per_kwh": "0,0.05,0.11,0.3",
    "economics.pue": "1.0,1.2,1.25,1.6",
    "economics.space_usd_per_kw_month": "0,100,184.06,250",
    "economics.staff_usd_per_year": "0,100000,190000,300000",
    "economics.network_staff": "0,1,4,9",
    "economics.residual_value_fraction": "0,0.1,0.2,0.5",
    "economics.network_discount_fraction": "0,0.1,0.2,0.5",
    "economics.network_support_fraction_per_year": "0,0.05,0.1,0.2",
    "economics.server_support_fraction_per_year": "0,0.01,0.05,0.1",
    "prices.sw_qm9700": "0,20000,38000,60000",
    "prices.nic_cx7_400": "0,900,1600,2500",
    "prices.sv_hgx_h100": "200000,250000,310000,400000",
    "prices.tx_800_2sr4_nv": "0,500,1200,2000",
}


def test_every_rate_that_is_taken_as_affine_is_tried_here() -> None:
    assert set(VALUES) >= AFFINE_ECONOMICS


def compared(texts: list[str]) -> int:
    points = grid(axes(texts))
    keys = list(points[0])
    together = Costs(Variations(SMALL, keys, ("analytical",)), spans(points)).at(points)
    alone = Variations(SMALL, keys, ("analytical",))
    for point, found in zip(points, together, strict=True):
        for name in SMALL.candidates:
            expected = figures(alone.cost(point, name))
            for field in ("capital_usd", "network_capital_usd", "yearly_usd"):
                assert getattr(found[name], field) == pytest.approx(getattr(expected, field), rel=1e-9)
    return len(points)


@pytest.mark.parametrize("key", sorted(VALUES))
def test_one_axis(key: str) -> None:
    assert compared([f"{key}={VALUES[key]}"]) == 4


def test_several_axes_at_once_and_with_one_that_is_not_affine() -> None:
    texts = [
        "prices.sw_qm9700=20000,30000,40000", "economics.pue=1.1,1.2,1.3", "economics.usd_per_kwh=0.05,0.1,0.2",
        "economics.years=3,5", "cluster.gpus=64,128",
    ]  # fmt: skip
    assert compared(texts) == 108


def test_a_batch_does_not_change_an_answer() -> None:
    """The ends belong to the sweep: any part of the points gives the same bits."""
    points = grid(axes(["prices.sw_qm9700=20000,31000,47000,60000", "economics.usd_per_kwh=0.03,0.1,0.17"]))
    keys, over = list(points[0]), spans(points)
    whole = Costs(Variations(SMALL, keys, ("analytical",)), over).at(points)
    for size in (1, 5):
        for start in range(0, len(points), size):
            part = Costs(Variations(SMALL, keys, ("analytical",)), over).at(points[start : start + size])
            assert part == whole[start : start + size]


def test_two_values_or_text_are_worked_out_directly() -> None:
    assert spans(grid(axes(["prices.sw_qm9700=1,2"]))) == {}
    assert spans(grid(axes(["economics.years=1,2,3"]))) == {}
    assert spans(grid(axes(["topology.oversubscription=1,2,3"]))) == {}


def test_a_long_price_axis_takes_few_evaluations(monkeypatch) -> None:
    from models.compare import sweep_points

    calls = []
    made = sweep_points.candidate_costs

    def counted(scenario, setups, prices=None):
        calls.append([on.name for on in setups])
        return made(scenario, setups, prices)

    monkeypatch.setattr(sweep_points, "candidate_costs", counted)
    points = grid(axes(["prices.sw_qm9700=" + ",".join(str(1000 * i) for i in range(1, 201))]))
    found = Costs(Variations(SMALL, list(points[0]), ("analytical",)), spans(points)).at(points)
    assert len({costs["InfiniBand NDR"].capital_usd for costs in found}) == 200
    assert len(calls) == 3 * len(SMALL.candidates)  # two ends and one point to check them
