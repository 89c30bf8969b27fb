"""Routing of this fabric: what its presets do, and what it refuses."""

from __future__ import annotations

import pytest

from models.catalog.technology import technology, technology_names
from models.rocev2.routing import POSSIBLE, mechanism, solved
from models.scenario.schema import Topology
from models.topology.network import plain_network
from models.workload.phase import Phase, RankGroups

OWN = [name for name in technology_names() if technology(name).fabric in {"roce", "spectrum_x"}]


@pytest.mark.parametrize("name", OWN)
def test_every_preset_of_the_fabric_can_be_routed(name: str) -> None:
    chosen = mechanism(technology(name))
    assert chosen.kind in POSSIBLE
    network = plain_network(128, Topology(kind="fat_tree"), 16)
    phase = Phase("x", "all_reduce", 2**20, RankGroups(128))
    for pattern in ("ring", "permutation"):
        share = solved(pattern, phase, network, technology(name))
        assert 0.0 < share.slowest <= share.mean + 1e-9 <= 1.0 + 2e-9


def test_queue_pairs_are_draws_of_the_hash_and_nothing_to_adaptive_routing() -> None:
    assert mechanism(technology("rocev2_400g", {"routing.queue_pairs": 16})).queue_pairs == 16
    assert mechanism(technology("spectrum_x_400g", {"routing.queue_pairs": 16})).queue_pairs == 1


def test_every_mechanism_is_possible_here() -> None:
    for kind in ("ecmp", "flowlet", "adaptive", "spray", "planned", "static"):
        assert mechanism(technology("rocev2_400g", {"routing.kind": kind})).kind == kind
