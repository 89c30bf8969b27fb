"""The heat-map table: loads add up, bundles spread, large tiers are merged."""

from __future__ import annotations

import numpy as np
import pytest

from models.catalog.technology import technology
from models.rocev2.link import link
from models.scenario.schema import Topology
from models.solvers.load_map import load_map
from models.solvers.max_min import link_loads, max_min_rates
from models.topology.flows import equal_flows
from models.topology.graph import graph
from models.topology.link_loads import link_load_table
from models.topology.mechanism import Mechanism
from models.topology.network import plain_network
from models.topology.routes import routes
from models.workload.permutation import permutation_targets
from models.workload.phase import RankGroups


@pytest.mark.parametrize("kind", ["static", "ecmp", "adaptive"])
@pytest.mark.parametrize("topology", ["fat_tree", "dragonfly_plus"])
def test_table_holds_the_whole_load(kind: str, topology: str) -> None:
    g = graph(plain_network(512, Topology(kind=topology), 16), 50e9)  # type: ignore[arg-type]
    flows = equal_flows(np.arange(512), permutation_targets(512, "random", 2))
    table = routes(g, flows, Mechanism(kind), scale_up=False)  # type: ignore[arg-type]
    rates = max_min_rates(table.capacity, table.offsets, table.links)
    load = link_loads(table.offsets, table.links, rates, table.capacity.size)
    rows = link_load_table(table, load)
    for tier, own in rows.groupby("tier"):
        carried = float((own["load_fraction"] * own["links"]).sum()) * 50e9
        bundle = g.tier(f"{tier} bundle")
        expected = load[g.tier(str(tier))].sum() + load[bundle].sum()
        assert carried == pytest.approx(expected, rel=1e-9), tier
        assert own["load_max_fraction"].max() <= 1.0 + 1e-9
    small = link_load_table(table, load, cells_max=100)
    assert (small.groupby("tier").size() <= 100).all()
    assert small["links"].sum() == rows["links"].sum()
    assert small["switch_a"].str.contains("-").any()


def test_map_of_a_large_network_is_bounded_and_repeatable() -> None:
    preset = technology("rocev2_400g")
    network = plain_network(8192, Topology(kind="fat_tree"), 32)
    found = load_map("permutation", RankGroups(8192), network, link(preset), Mechanism("ecmp", 4))
    assert found.flows == 8192 == found.flow_rates_bytes_per_s.size
    assert len(found.links) <= 4 * 4096
    assert (np.diff(found.flow_rates_bytes_per_s) >= 0).all()
    assert found.flow_rates_bytes_per_s[-1] <= 50e9
