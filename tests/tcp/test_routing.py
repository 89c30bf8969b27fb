"""Routing of this fabric: what its presets do, and what it refuses."""

from __future__ import annotations

import pytest

from models.catalog.technology import technology, technology_names
from models.scenario.schema import Topology
from models.tcp.routing import POSSIBLE, mechanism, solved
from models.topology.network import plain_network
from models.topology.size import CannotBuild
from models.workload.phase import Phase, RankGroups

OWN = [name for name in technology_names() if technology(name).fabric in {"tcp"}]


@pytest.mark.parametrize("name", OWN)
def test_every_preset_of_the_fabric_can_be_routed(name: str) -> None:
    chosen = mechanism(technology(name))
    assert chosen.kind in POSSIBLE
    network = plain_network(128, Topology(kind="fat_tree"), 16)
    phase = Phase("x", "all_reduce", 2**20, RankGroups(128))
    for pattern in ("ring", "permutation"):
        share = solved(pattern, phase, network, technology(name))
        assert 0.0 < share.slowest <= share.mean + 1e-9 <= 1.0 + 2e-9


def test_spraying_is_refused() -> None:
    with pytest.raises(CannotBuild, match="TCP has no spray routing"):
        mechanism(technology("tcp_400g", {"routing.kind": "spray"}))
