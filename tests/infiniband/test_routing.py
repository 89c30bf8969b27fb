"""Routing of this fabric: what its presets do, and what it refuses."""

from __future__ import annotations

import pytest

from models.catalog.technology import technology, technology_names
from models.infiniband.routing import POSSIBLE, mechanism, solved
from models.scenario.schema import Topology
from models.topology.network import plain_network
from models.topology.size import CannotBuild
from models.workload.phase import Phase, RankGroups

OWN = [name for name in technology_names() if technology(name).fabric in {"ib"}]


@pytest.mark.parametrize("name", OWN)
def test_every_preset_of_the_fabric_can_be_routed(name: str) -> None:
    chosen = mechanism(technology(name))
    assert chosen.kind in POSSIBLE
    network = plain_network(128, Topology(kind="fat_tree"), 16)
    phase = Phase("x", "all_reduce", 2**20, RankGroups(128))
    for pattern in ("ring", "permutation"):
        share = solved(pattern, phase, network, technology(name))
        assert 0.0 < share.slowest <= share.mean + 1e-9 <= 1.0 + 2e-9


@pytest.mark.parametrize("kind", ["ecmp", "flowlet"])
def test_hashing_is_refused_with_what_is_possible(kind: str) -> None:
    with pytest.raises(CannotBuild, match=f"InfiniBand has no {kind} routing; possible: adaptive"):
        mechanism(technology("infiniband_ndr", {"routing.kind": kind}))


def test_queue_pairs_add_no_entropy_to_a_table() -> None:
    chosen = mechanism(technology("infiniband_ndr", {"routing.kind": "static", "routing.queue_pairs": 8}))
    assert chosen.queue_pairs == 1
