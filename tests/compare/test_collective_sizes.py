"""A collective over message sizes: all sizes at once are each size by itself."""

from dataclasses import replace

import pytest

from models.compare import collective_sizes
from models.compare.collective_sizes import OPERATIONS, SIZES, collective_over_sizes, published_points
from models.compare.fabrics import phase_time_function
from models.compare.performance import setup
from models.evidence.published import rows_of
from models.scenario.faults import InputError
from models.scenario.load import SHIPPED, load
from models.workload.phase import Phase, RankGroups

RANKS = 256


@pytest.fixture(scope="module")
def scenario():
    return load(SHIPPED / "llama3-70b-1024-h100.yaml")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_all_sizes_at_once_are_each_size_by_itself_to_the_last_bit(scenario, operation: str) -> None:
    table = collective_over_sizes(scenario, operation, RANKS)
    assert list(dict.fromkeys(table.candidate)) == list(scenario.candidates)
    base = Phase(operation, operation, 1.0, RankGroups(RANKS))  # type: ignore[arg-type]
    for name in scenario.candidates:
        on = setup(scenario, name)
        time = phase_time_function(on.technology.fabric, "analytical")
        rows = table[table.candidate == name]
        assert tuple(rows.message_bytes) == SIZES
        for row in rows.iloc[::4].itertuples():
            alone = time(replace(base, message_bytes=float(row.message_bytes)), on.network, on.link)
            assert (row.time_s, row.low_s, row.high_s) == (alone.time_s, alone.low_s, alone.high_s)
            assert row.bus_bandwidth_bytes_per_s == alone.bus_bandwidth_bytes_per_s
            assert (row.algorithm, row.binding_limit) == (alone.algorithm, alone.binding_limit)


def test_a_candidate_is_evaluated_once(scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    of = collective_sizes.phase_times_function

    def counted(fabric: str, method):
        def times(phase, sizes, network, link):
            asked.append((fabric, len(sizes)))
            return of(fabric, method)(phase, sizes, network, link)

        return times

    monkeypatch.setattr(collective_sizes, "phase_times_function", counted)
    collective_over_sizes(scenario, "all_reduce", RANKS)
    fabrics = [setup(scenario, name).technology.fabric for name in scenario.candidates]
    assert asked == [(fabric, len(SIZES)) for fabric in fabrics]


def test_published_points_sit_on_candidates_of_their_own_fabric_and_rate(scenario) -> None:
    points = published_points(scenario, "all_reduce")
    published = {row["id"]: row for row in rows_of(None)}
    assert len(points)
    for point in points.itertuples():
        on, row = setup(scenario, point.candidate), published[point.id]
        assert on.technology.fabric == row["fabric"]
        assert on.technology.link.rate_gbit_per_s.value == float(row["speed_gbps_per_nic"])
        assert row["gpu"] == scenario.cluster.gpu


def test_a_group_that_does_not_fit_names_what_does(scenario) -> None:
    with pytest.raises(InputError, match=r"allowed 2 \.\. 1024"):
        collective_over_sizes(scenario, "all_reduce", 2048)
