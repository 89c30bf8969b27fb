"""Dragonfly+: adversarial traffic between groups, minimal and non-minimal, against the closed form."""

from __future__ import annotations

import numpy as np
import pytest

from models.scenario.schema import Failures, Topology
from models.solvers.max_min import max_min_rates
from models.topology.dragonfly_plus import closed_form_share
from models.topology.flows import equal_flows
from models.topology.graph import Graph, graph
from models.topology.mechanism import Mechanism
from models.topology.network import plain_network
from models.topology.routes import routes

RATE = 50e9


def dragonfly(gpus: int, radix: int, **options: object) -> Graph:
    return graph(plain_network(gpus, Topology(kind="dragonfly_plus"), radix, **options), RATE)  # type: ignore[arg-type]


def adversarial(g: Graph) -> tuple[np.ndarray, float]:
    """Rates as shares of the NIC when every group sends to the next, and the pair's cables per host."""
    per_group = g.shape.leaves_per_pod * g.shape.down
    hosts = g.shape.ports
    flows = equal_flows(np.arange(hosts), (np.arange(hosts) + per_group) % hosts)
    table = routes(g, flows, Mechanism("static"), scale_up=False)
    return max_min_rates(table.capacity, table.offsets, table.links) / RATE, g.shape.global_links / per_group


def test_sizes_of_the_paper() -> None:
    g = dragonfly(16 * 17, 8)  # radix 8 at its largest: 17 groups of 16 hosts, one cable a pair
    assert (g.shape.pods, g.shape.global_links, g.shape.spines) == (17, 1, 4)
    cables = (g.tier("spine-core").stop - g.tier("spine-core").start) // 2
    assert cables == 17 * 16 // 2


def test_minimal_routes_give_the_adversary_its_share_of_the_pair() -> None:
    for gpus, radix in ((16 * 17, 8), (64 * 6, 16)):
        g = dragonfly(gpus, radix)
        rates, share = adversarial(g)
        assert rates.mean() == pytest.approx(share, rel=0.05)


def test_going_around_restores_about_half() -> None:
    g = dragonfly(16 * 17, 8)
    hosts = g.shape.ports
    flows = equal_flows(np.arange(hosts), (np.arange(hosts) + 16) % hosts)
    table = routes(g, flows, Mechanism("adaptive"), scale_up=False)
    rates = max_min_rates(table.capacity, table.offsets, table.links, table.share)
    per_host = np.bincount(table.flow, weights=rates) / RATE
    demand = np.roll(16.0 * np.eye(17), 1, axis=1)
    ideal = closed_form_share(demand, g.shape, Mechanism("adaptive"))
    assert ideal == pytest.approx((1 + 15 / 2) / 16)
    assert 0.6 * ideal < per_host.mean() < 1.01 * ideal
    assert per_host.mean() > 4 * adversarial(g)[0].mean()


def test_uniform_traffic_is_hardly_limited() -> None:
    g = dragonfly(64 * 6, 16)
    hosts = g.shape.ports
    source = np.repeat(np.arange(hosts), hosts)
    flows = equal_flows(source, np.tile(np.arange(hosts), hosts))
    table = routes(g, flows, Mechanism("adaptive"), scale_up=False)
    rates = max_min_rates(table.capacity, table.offsets, table.links, table.share)
    per_host = np.bincount(flows.source[table.flow], weights=rates) / RATE
    assert per_host.mean() > 0.9


def test_a_pair_without_cables_is_reached_through_a_third_group() -> None:
    g = dragonfly(64 * 6, 16, failures=Failures(links=("group0-group1",)))
    for kind in ("static", "ecmp", "adaptive"):
        table = routes(g, equal_flows(np.arange(8), np.arange(64, 72)), Mechanism(kind))  # type: ignore[arg-type]
        above = g.tier("spine-core")
        crossing = ((table.links >= above.start) & (table.links < above.stop)).sum()
        assert crossing == 2 * table.share.size
        assert g.alive[table.links].all()
