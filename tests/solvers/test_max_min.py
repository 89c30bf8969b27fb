"""Max-min rates and completions: the slow twin, what fairness means, and SimGrid where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.solvers.max_min import flow_completion, link_loads, max_min_rates
from tests.solvers import max_min_twin as twin


def incidence(paths: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, paths)]).astype(np.int64)
    return offsets, np.array([link for path in paths for link in path], dtype=np.int32)


def random_case(seed: int) -> tuple[np.ndarray, list[list[int]], np.ndarray]:
    rng = np.random.default_rng(seed)
    links, flows = int(rng.integers(1, 15)), int(rng.integers(1, 30))
    capacity = rng.choice([1.0, 2.0, 5.0, 10.0], links) * rng.choice([1.0, rng.uniform(0.1, 3.0)])
    paths = [
        rng.choice(links, int(rng.integers(1, min(links, 6) + 1)), replace=False).tolist()
        for _ in range(flows)
    ]
    weights = np.ones(flows) if seed % 2 else rng.uniform(0.1, 4.0, flows)
    return capacity, paths, weights


@pytest.mark.parametrize("first", range(0, 200, 25))
def test_rates_equal_the_slow_twin(first: int) -> None:
    for seed in range(first, first + 25):
        capacity, paths, weights = random_case(seed)
        fast = max_min_rates(capacity, *incidence(paths), weights)
        slow = twin.rates(capacity.tolist(), paths, weights.tolist())
        np.testing.assert_allclose(fast, slow, rtol=1e-9, err_msg=f"seed {seed}")


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_completions_equal_the_slow_twin(first: int) -> None:
    for seed in range(first, first + 20):
        capacity, paths, weights = random_case(seed)
        rng = np.random.default_rng(seed + 999)
        sizes = rng.choice([1.0, 3.0, rng.uniform(0.5, 5.0)], len(paths))
        starts = rng.choice([0.0, 0.0, 0.2, 1.5], len(paths)) if seed % 3 else np.zeros(len(paths))
        fast = flow_completion(capacity, *incidence(paths), sizes, weights=weights, start_s=starts)
        slow = twin.finish_times(capacity.tolist(), paths, weights.tolist(), sizes.tolist(), starts.tolist())
        np.testing.assert_allclose(fast.finish_s, slow, rtol=1e-8, err_msg=f"seed {seed}")


def test_equal_flows_need_one_solve_and_still_equal_the_event_loop() -> None:
    for seed in range(1, 40, 2):
        capacity, paths, weights = random_case(seed)
        sizes = np.full(len(paths), 3.0)
        at_once = flow_completion(capacity, *incidence(paths), sizes)
        assert at_once.solves == 1
        slow = twin.finish_times(
            capacity.tolist(), paths, weights.tolist(), sizes.tolist(), [0.0] * len(paths)
        )
        np.testing.assert_allclose(at_once.finish_s, slow, rtol=1e-9)


graphs = st.integers(1, 12).flatmap(
    lambda links: st.tuples(
        st.lists(st.floats(0.01, 1e3), min_size=links, max_size=links),
        st.lists(
            st.lists(st.integers(0, links - 1), min_size=1, max_size=5, unique=True), min_size=1, max_size=25
        ),
    )
)


@settings(max_examples=150, deadline=None)
@given(graphs, st.randoms(use_true_random=False))
def test_no_link_is_overloaded_and_every_flow_has_a_bottleneck(case, random) -> None:
    capacity, paths = np.array(case[0]), case[1]
    weights = np.array([random.uniform(0.2, 5.0) for _ in paths])
    offsets, links = incidence(paths)
    rates = max_min_rates(capacity, offsets, links, weights)
    load = link_loads(offsets, links, rates, capacity.size)
    assert (load <= capacity * (1 + 1e-9)).all()
    level = rates / weights
    for flow, path in enumerate(paths):
        # max-min: on some full link of its path no other flow has a higher level
        assert any(
            load[link] >= capacity[link] * (1 - 1e-9)
            and all(level[g] <= level[flow] * (1 + 1e-9) for g, other in enumerate(paths) if link in other)
            for link in path
        )


@settings(max_examples=60, deadline=None)
@given(graphs, st.randoms(use_true_random=False))
def test_bytes_are_conserved(case, random) -> None:
    """A link cannot have carried its flows' bytes sooner than its capacity allows, and nobody waits for ever."""
    capacity, paths = np.array(case[0]), case[1]
    sizes = np.array([random.uniform(0.1, 9.0) for _ in paths])
    offsets, links = incidence(paths)
    finish = flow_completion(capacity, offsets, links, sizes).finish_s
    carried = link_loads(offsets, links, sizes, capacity.size)
    last = np.zeros(capacity.size)
    np.maximum.at(last, links, np.repeat(finish, np.diff(offsets)))
    assert np.isfinite(finish).all()
    assert (carried <= capacity * last * (1 + 1e-8)).all()


def test_scaling_rates_and_bytes_together_changes_nothing() -> None:
    capacity, paths, weights = random_case(6)
    sizes = np.linspace(1, 2, len(paths))
    one = flow_completion(capacity, *incidence(paths), sizes, weights=weights).finish_s
    thousand = flow_completion(capacity * 1e3, *incidence(paths), sizes * 1e3, weights=weights).finish_s
    np.testing.assert_allclose(one, thousand, rtol=1e-9)


def test_a_flow_takes_no_bandwidth_during_its_latency() -> None:
    offsets, links = incidence([[0], [0]])
    done = flow_completion(
        np.array([2.0]), offsets, links, np.array([2.0, 2.0]), latency_s=np.array([0.0, 0.5])
    )
    # alone for half a second (1 byte), then both at 1 byte/s until the first ends, then the second alone
    np.testing.assert_allclose(done.finish_s, [1.5, 2.0])


def test_retiring_flows_together_errs_by_no_more_than_asked() -> None:
    capacity, paths, weights = random_case(11)
    sizes = np.linspace(1.0, 1.2, len(paths))
    exact = flow_completion(capacity, *incidence(paths), sizes, weights=weights)
    rough = flow_completion(capacity, *incidence(paths), sizes, weights=weights, together_fraction=1e-3)
    assert rough.solves <= exact.solves
    np.testing.assert_allclose(rough.finish_s, exact.finish_s, rtol=5e-3)


def test_arrays_that_do_not_fit_are_refused() -> None:
    offsets, links = incidence([[0], [1]])
    with pytest.raises(ValueError, match="do not fit 1 links"):
        max_min_rates(np.array([1.0]), offsets, links)
    with pytest.raises(ValueError, match="offsets end at"):
        max_min_rates(np.ones(2), offsets[:-1], links)
    with pytest.raises(ValueError, match="weights must be positive"):
        max_min_rates(np.ones(2), offsets, links, np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="without capacity"):
        flow_completion(np.array([1.0, 0.0]), offsets, links, np.ones(2))
    with pytest.raises(ValueError, match="without capacity"):
        flow_completion(np.array([1.0, 0.0]), offsets, links, np.array([1.0, 2.0]))


@pytest.mark.parametrize("kind", ["static", "ecmp"])
def test_equals_simgrid_where_it_is_installed(kind: str) -> None:
    from models.scenario.schema import Topology
    from models.topology.flows import equal_flows
    from models.topology.graph import graph
    from models.topology.mechanism import Mechanism
    from models.topology.network import plain_network
    from models.topology.routes import routes
    from models.workload.permutation import permutation_targets
    from tests.benchmarks.simgrid_runs import driver, same_model, simgrid

    if driver() is None:
        pytest.skip("SimGrid is not installed (Debian: libsimgrid-dev, g++)")
    flows = equal_flows(np.arange(128), permutation_targets(128, "random", 3))
    built = graph(plain_network(128, Topology(kind="fat_tree"), 8), 50e9)
    table = routes(built, flows, Mechanism(kind), scale_up=False)  # type: ignore[arg-type]
    theirs = simgrid(table, flows.source, flows.target, 2**22)
    np.testing.assert_allclose(same_model(table, 2**22), theirs.finish_s, rtol=1e-4)
