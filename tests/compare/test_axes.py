"""Axes: what the command line and the scenario may ask to vary."""

import pytest

from models.compare.axes import AXES_MAX, Axis, axes, axis, grid, listed_points
from models.compare.concerns import concern, cost_keys, plan_keys, setup_keys
from models.scenario.faults import InputError
from models.scenario.load import load


def test_ranges_are_powers_of_two_inside_the_ends() -> None:
    assert axis("cluster.gpus=64..65536").values == tuple(2**p for p in range(6, 17))
    assert axis("cluster.gpus=100..600").values == (128, 256, 512)
    assert axis("workloads.a.message_bytes=1KiB..8KiB").values == (1024, 2048, 4096, 8192)


def test_lists_keep_their_order_and_types() -> None:
    assert axis("a.b=3,1.5,adaptive,false,2e3").values == (3, 1.5, "adaptive", False, 2000)


@pytest.mark.parametrize(
    "text",
    ["", "cluster.gpus", "cluster.gpus=", "=1", "a..b=1", "a.b=1,,2", "a.b=8..4", "a.b=0..4", "a.b=x..y", "a.b=5..7",
     "a.b=1,1"],
)  # fmt: skip
def test_what_is_no_axis_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as caught:
        axis(text)
    assert len(str(caught.value).splitlines()) == 1


def test_the_scenario_s_own_axes_serve_when_none_is_given() -> None:
    assert axes([], {"cluster.gpus": [64, 128]}) == (Axis("cluster.gpus", (64, 128)),)
    assert axes(["a.b=1"], {"cluster.gpus": [64]}) == (Axis("a.b", (1,)),)
    with pytest.raises(InputError, match="nothing to sweep"):
        axes([])


def test_too_many_axes_or_points_are_refused() -> None:
    with pytest.raises(InputError, match="too many axes"):
        axes([f"k{i}.x=1" for i in range(AXES_MAX + 1)])
    many = ",".join(str(i) for i in range(2000))
    with pytest.raises(InputError, match="too many"):
        axes([f"a.x={many}", f"b.x={many}"])
    with pytest.raises(InputError, match="given twice"):
        axes(["a.x=1", "a.x=2"])


def test_the_grid_runs_the_last_axis_fastest() -> None:
    points = grid(axes(["a.x=1,2", "b.y=p,q"]))
    assert [tuple(point.values()) for point in points] == [(1, "p"), (1, "q"), (2, "p"), (2, "q")]


def test_listed_points(tmp_path) -> None:
    file = tmp_path / "points.csv"
    file.write_text("cluster.gpus,topology.kind\n64,fat_tree\n128,rail_only\n")
    assert listed_points(file)[1] == {"cluster.gpus": 128, "topology.kind": "rail_only"}
    file.write_text("cluster.gpus,topology.kind\n64\n")
    with pytest.raises(InputError, match="1 cells"):
        listed_points(file)


def test_a_key_concerns_only_what_it_can_change() -> None:
    scenario = load("scenarios/llama3-70b-1024-h100.yaml")
    keys = [
        "cluster.gpus", "topology.oversubscription", "prices.sw_qm9700", "economics.pue", "workloads.incast.fan_in",
        "candidates.InfiniBand NDR.overrides.link.hop_latency_us", "placement.kind",
    ]  # fmt: skip
    concerns = [concern(key, scenario) for key in keys]
    ib, roce = "InfiniBand NDR", "RoCEv2 400G"
    assert keys[5] in setup_keys(concerns, ib) and keys[5] not in setup_keys(concerns, roce)
    assert set(setup_keys(concerns, roce)) == {keys[0], keys[1], keys[6]}
    assert set(plan_keys(concerns, "training")) == {keys[0], keys[1], keys[6]}
    assert keys[4] in plan_keys(concerns, "incast")
    assert set(cost_keys(concerns, roce)) == {keys[0], keys[1], keys[2], keys[3]}
    behaviour = concern(f"candidates.{ib}.overrides.routing.kind", scenario)
    staff = concern(f"candidates.{ib}.overrides.operations.network_staff", scenario)
    rate = concern(f"candidates.{ib}.overrides.link.rate_gbit_per_s", scenario)
    assert set(setup_keys([behaviour, staff, rate], ib)) == {behaviour.key, rate.key}
    assert set(cost_keys([behaviour, staff, rate], ib)) == {staff.key, rate.key}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"cluster.gpus\n" + b"1" * 200_000, "is no CSV"),
        (b"cluster.gpus\n\xff\n", "is not UTF-8 text"),
        (b"", "holds no points"),
        (b"cluster.gpus,cluster.gpus\n1,2\n", "there twice"),
        (b"cluster.gpus\n1,2\n", "has 2 cells, not 1"),
    ],
)
def test_listed_points_that_are_none_are_one_fault(tmp_path, content, says) -> None:
    file = tmp_path / "points.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        listed_points(file)
    assert len(caught.value.faults) == 1
    with pytest.raises(InputError, match="cannot be read"):
        listed_points(tmp_path)
