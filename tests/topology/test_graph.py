"""The graph: counts agree with the sizes, every cable is there, names and failures hit what they say."""

from __future__ import annotations

import numpy as np
import pytest

from models.scenario.schema import Failures, Placement, Topology
from models.topology.failures import named_links
from models.topology.graph import Graph, graph
from models.topology.network import plain_network
from models.topology.size import CannotBuild

RATE = 50e9
SHAPES = [
    ("fat_tree", 64, 64, 1.0),
    ("fat_tree", 1000, 64, 1.0),  # uneven last leaf
    ("fat_tree", 960, 32, 3.0),
    ("fat_tree", 4096, 32, 1.0),  # three tiers
    ("fat_tree", 4000, 32, 2.0),  # three tiers, uneven last leaf and pod
    ("rail_optimized", 1024, 64, 1.0),
    ("rail_optimized", 1336, 64, 2.0),
    ("rail_only", 512, 64, 1.0),
    ("multi_plane", 1024, 16, 1.0),
    ("dragonfly_plus", 600, 16, 1.0),
]


def built(kind: str, gpus: int, radix: int, taper: float = 1.0, **options: object) -> Graph:
    topology = Topology(kind=kind, oversubscription=taper)  # type: ignore[arg-type]
    return graph(plain_network(gpus, topology, radix, **options), RATE)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "gpus", "radix", "taper"), SHAPES)
def test_links_and_capacity_agree_with_the_sizes(kind: str, gpus: int, radix: int, taper: float) -> None:
    g = built(kind, gpus, radix, taper)
    size = g.network.size
    rate = RATE * size.port_rate_fraction

    def cables(tier: str) -> int:
        return g.tier(tier).stop - g.tier(tier).start

    assert cables("host-leaf") == cables("leaf-host") == size.host_leaf_links
    assert cables("leaf-spine") == cables("spine-leaf") == size.leaf_spine_links
    assert g.capacity[g.tier("leaf-spine")].sum() == pytest.approx(size.leaf_spine_links * rate)
    both = g.capacity[g.tier("spine-core")].sum() + g.capacity[g.tier("core-spine")].sum()
    assert both == pytest.approx(2 * size.spine_core_links * rate)
    assert g.capacity[g.tier("gpu-nvlink")].min() == g.network.gpu.scale_up_bytes_per_s
    ports_on_leaf = np.bincount(g.leaf_of_port[: g.shape.ports], minlength=g.shape.leaves)
    assert ports_on_leaf.max() <= size.leaf_down
    assert ports_on_leaf.sum() == size.endpoints // size.copies
    assert np.unique(g.order_of_port[: g.shape.ports]).size == g.shape.ports, "one index a port"
    bundle = g.capacity[g.tier("leaf-spine bundle")]
    np.testing.assert_allclose(bundle, size.leaf_up * rate)


def test_rail_optimised_puts_one_rail_on_a_leaf() -> None:
    g = built("rail_optimized", 1024, 64)
    rail = np.arange(1024) % 8
    for leaf in range(g.shape.leaves):
        assert np.unique(rail[g.leaf_of_port == leaf]).size == 1


def test_background_load_is_taken_off_the_tiers_between_switches_only() -> None:
    g = built("fat_tree", 1024, 32, placement=Placement(background_load=0.25))
    assert g.capacity[g.tier("leaf-spine")].max() == pytest.approx(0.75 * RATE)
    assert g.capacity[g.tier("host-leaf")].min() == RATE


@pytest.mark.parametrize(("kind", "gpus", "radix", "taper"), SHAPES)
def test_failed_fractions_are_counted_seeded_and_cut_both_directions(
    kind: str, gpus: int, radix: int, taper: float
) -> None:
    failures = Failures(host_links_fraction=0.02, leaf_links_fraction=0.1, spine_links_fraction=0.05)
    g = built(kind, gpus, radix, taper, failures=failures)
    again = built(kind, gpus, radix, taper, failures=failures)
    other = built(kind, gpus, radix, taper, failures=failures, seed=2)
    assert (g.alive == again.alive).all()
    assert g.network.size.tiers_count == 1 or (g.alive != other.alive).any()
    down = ~g.alive[g.tier("host-leaf")]
    assert down.sum() == round(0.02 * g.network.size.host_leaf_links)
    assert (down == ~g.alive[g.tier("leaf-host")]).all()
    assert (g.alive[g.tier("leaf-spine")] == g.alive[g.tier("spine-leaf")]).all()
    if g.network.size.cores_per_copy:
        assert (~g.alive[g.tier("spine-core")]).mean() == pytest.approx(0.05, abs=0.002)
        assert (g.alive[g.tier("spine-core")] == g.alive[g.tier("core-spine")]).all()
    if g.shape.global_links:
        assert (~g.alive[g.tier("spine-core")]).sum() % 2 == 0


def test_names_of_switches_and_cables() -> None:
    g = built("fat_tree", 1024, 64)  # 32 leaves of 32 hosts, 32 uplinks over 16 spines
    s = g.shape
    assert named_links(g, "leaf3").size == s.down + s.up
    assert named_links(g, "spine2").size == s.leaves * s.parallel
    assert named_links(g, "leaf3-spine2").size == s.parallel == 2
    assert named_links(g, "leaf3-spine2.1").size == 1
    assert named_links(g, "host40-leaf1").tolist() == [40]
    three = built("fat_tree", 4096, 32)
    assert named_links(three, "core5").size == three.shape.pods * three.shape.pod_cables // three.shape.cores
    both = built("rail_only", 512, 16)
    assert named_links(both, "rail2/leaf1").min() >= 2 * both.shape.ports
    groups = built("dragonfly_plus", 600, 16)
    assert named_links(groups, "group0-group3").size == groups.shape.global_links


@pytest.mark.parametrize(
    "name", ["leaf999", "leaf3-spine99", "spine", "rail9/leaf0", "core0", "leaf0-core1", "x"]
)
def test_unknown_names_are_refused_with_what_exists(name: str) -> None:
    with pytest.raises(CannotBuild, match="failures"):
        built("fat_tree", 1024, 64, failures=Failures(links=(name,)))


def test_a_dead_switch_takes_all_its_cables_along() -> None:
    g = built("fat_tree", 1024, 64, failures=Failures(switches=("spine0",)))
    up = g.alive[g.tier("leaf-spine")].reshape(g.shape.leaves, g.shape.up)
    assert (~up).sum() == g.shape.leaves * g.shape.parallel
    assert g.capacity[g.tier("leaf-spine bundle")].max() == pytest.approx(RATE * (g.shape.up - 2))


def test_a_graph_beyond_memory_is_refused_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    from models.topology import graph as module

    monkeypatch.setattr(module, "MEMORY_LIMIT_BYTES", 10_000)
    with pytest.raises(CannotBuild, match="memory; the limit is"):
        built("fat_tree", 2048, 64, seed=77)
