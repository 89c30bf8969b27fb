"""The axis that decides: points, stages, and that the scenario's own burst is the page's own figure."""

from itertools import pairwise

import pytest

from models.compare.incast_axis import (
    AxisPoint,
    axis_bursts,
    axis_frame,
    axis_points,
    axis_seconds,
    axis_sentence,
    axis_spans,
    axis_stages,
    axis_steps,
    half_rate_buffers,
    incast_axis,
    stage_of,
)
from models.compare.incast_table import incast_tables, victim_fractions
from models.compare.performance import setup
from models.scenario.load import SHIPPED, load, with_values

FULL = load(SHIPPED / "llama3-70b-1024-h100.yaml")
NAMES = ("InfiniBand NDR", "RoCEv2 400G")
SCENARIO = with_values(
    FULL.model_copy(update={"candidates": {name: FULL.candidates[name] for name in NAMES}}),
    {
        "workloads.incast.fan_in": 8,
        "workloads.incast.seeds": 1,
        "candidates.RoCEv2 400G.overrides.flow_control.switch_buffer_mb": 20.0,
    },
)


@pytest.fixture(scope="module")
def table():
    return incast_axis(SCENARIO, "incast")


def test_points_are_octaves_of_the_scenarios_burst_within_the_range() -> None:
    for name in NAMES:
        sizes = axis_bursts(SCENARIO, "incast", setup(SCENARIO, name))
        assert 2**20 in sizes and sizes == tuple(sorted(sizes))
        assert all(later == 2 * earlier for earlier, later in pairwise(sizes))
        assert sizes[0] >= 4096 and sizes[-1] >= 2**21
    assert axis_steps(SCENARIO, "incast") == 2 * sum(
        len(axis_bursts(SCENARIO, "incast", setup(SCENARIO, n))) for n in NAMES
    )
    for name, span in axis_spans(SCENARIO, "incast").items():
        sizes = axis_bursts(SCENARIO, "incast", setup(SCENARIO, name))
        assert span.first < span.here < span.last
        assert span.last / span.first == pytest.approx(sizes[-1] / sizes[0])


def test_an_incast_at_the_limit_has_no_larger_neighbour() -> None:
    most = with_values(SCENARIO, {"workloads.incast.burst_bytes": 2**30})
    assert axis_bursts(most, "incast", setup(most, NAMES[0]))[-1] == 2**30
    assert axis_seconds(most, "incast") > 10 * axis_seconds(SCENARIO, "incast") > 0


def test_the_scenarios_own_point_is_what_the_page_shows(table) -> None:
    own = table[(table.method == "fluid") & table.scenario_burst].set_index("candidate")
    page = victim_fractions(incast_tables(SCENARIO, "incast")).set_index("candidate")
    assert list(own.index) == list(NAMES)
    for name in NAMES:
        assert own.victim_fraction[name] == page.value[name]


def test_ratio_is_all_bursts_over_the_memory_that_holds_them(table) -> None:
    assert (table.bursts_bytes == 8 * table.burst_bytes).all()
    assert table.burst_over_buffer.to_numpy() == pytest.approx(
        (table.bursts_bytes / table.buffer_bytes).to_numpy()
    )
    assert set(table[table.candidate == NAMES[1]].buffer_bytes) == {20e6}


def test_the_victim_loses_by_credits_past_the_buffer(table) -> None:
    solved = table[(table.method == "fluid") & (table.candidate == NAMES[0])].sort_values("burst_over_buffer")
    below, past = solved[solved.burst_over_buffer <= 0.5], solved[solved.burst_over_buffer >= 8]
    assert len(below) and len(past)
    assert past.victim_fraction.max() < below.victim_fraction.max()
    assert (solved.p99_over_ideal > 0.8).all()


def test_known_points_are_not_worked_out_again(table) -> None:
    both = list(axis_points(SCENARIO, "incast", methods=("analytical",)))
    half = both[: len(both) // 2]
    rest = list(axis_points(SCENARIO, "incast", known=half, methods=("analytical",)))
    assert sorted(map(repr, [*half, *rest])) == sorted(map(repr, both))


def test_points_come_small_first_so_that_a_stopped_run_keeps_something() -> None:
    some = []
    for point in axis_points(SCENARIO, "incast", methods=("analytical",)):
        some.append(point)
        if len(some) == 5:
            break
    part = axis_frame(some)
    assert len(part) == 5 and list(part.columns) == list(AxisPoint.__dataclass_fields__)
    assert part.burst_bytes.max() < 2**20


def test_stages_follow_the_thresholds() -> None:
    stages = axis_stages(SCENARIO, "incast")
    ib = stages[stages.candidate == NAMES[0]]
    assert list(ib.stage) == ["waits", "stopped"]  # no congestion control: nothing in between
    roce = stages[stages.candidate == NAMES[1]]
    assert list(roce.stage) == ["waits", "slowed", "stopped"]
    kmin = 1.6e6 / (7 / 8) / 20e6
    assert roce.from_buffers.iloc[1] == pytest.approx(kmin)
    assert (
        stage_of(stages, NAMES[1], kmin * 0.99) == "waits"
        and stage_of(stages, NAMES[1], kmin * 1.01) == "slowed"
    )
    more = axis_stages(
        with_values(SCENARIO, {"candidates.RoCEv2 400G.overrides.flow_control.dynamic_threshold": 1.0}),
        "incast",
    )
    assert more[more.candidate == NAMES[1]].from_buffers.iloc[2] > roce.from_buffers.iloc[2]


def test_the_sentence_says_how_far_the_burst_is_from_stopping() -> None:
    text = axis_sentence(SCENARIO, "incast")
    assert "With 8 senders" in text and "InfiniBand NDR 146 KiB (credits run out; now 7 times that)" in text


def test_half_rate_is_the_first_point_after_which_it_never_recovers(table) -> None:
    assert half_rate_buffers(table)[NAMES[0]] > 0
    quiet = table.assign(victim_fraction=1.0)
    assert all(value != value for value in half_rate_buffers(quiet).values())
