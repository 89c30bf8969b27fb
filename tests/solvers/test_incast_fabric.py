"""Routes of an incast: connected, to the right receivers, and counted as the victim law needs them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.solvers.dependency_cycle import dependency_cycle
from models.solvers.incast_fabric import incast_fabric


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    fan_in=st.integers(1, 40),
    leaves=st.integers(1, 5),
    spines=st.integers(1, 4),
    pods=st.integers(1, 3),
    routing=st.sampled_from(["hash", "destination", "spray"]),
    victim=st.booleans(),
)
def test_routes_are_connected_and_end_where_they_should(fan_in, leaves, spines, pods, routing, victim):
    made = incast_fabric(
        fan_in=fan_in, rate_bytes_per_s=1e9, propagation_s=1e-6, leaves=leaves, spines=spines, pods=pods,
        routing=routing, victim=victim,
    )  # fmt: skip
    network = made.network
    for f, alternatives in enumerate(made.paths):
        for path in alternatives:
            ends = network.to_node[list(path[:-1])]
            assert np.array_equal(ends, network.from_node[list(path[1:])])
            assert network.tier[network.from_node[path[0]]] == 0
            assert path[-1] == (made.victim_link if f == made.victim else made.hot_link)
    sources = [network.from_node[alternatives[0][0]] for alternatives in made.paths]
    assert len(set(sources)) == len(sources)
    assert made.victim == (fan_in if victim else None)
    assert 1 <= made.shared_ports <= max(fan_in, spines)
    assert dependency_cycle(path for alternatives in made.paths for path in alternatives) == ()


def test_destination_routing_parts_the_receivers_over_two_spines():
    apart = incast_fabric(
        fan_in=6, rate_bytes_per_s=1e9, propagation_s=1e-6, leaves=2, spines=2, routing="destination"
    )
    assert apart.flows_on_victim_port == 0
    assert apart.shared_ports == 1


def test_seed_decides_the_hash():
    def paths(seed: int) -> object:
        return incast_fabric(fan_in=16, rate_bytes_per_s=1e9, propagation_s=1e-6, seed=seed).paths

    assert paths(1) == paths(1)
    assert paths(1) != paths(2)


def test_counts_below_one_are_refused():
    with pytest.raises(ValueError, match="spines"):
        incast_fabric(fan_in=2, rate_bytes_per_s=1e9, propagation_s=1e-6, spines=0)
