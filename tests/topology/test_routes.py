"""Routes: every path is one, every mechanism spreads as it says, dead links are avoided."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from models.scenario.schema import Failures, Topology
from models.topology.flows import Flows, equal_flows
from models.topology.graph import BUNDLES, TIERS, Graph, graph
from models.topology.link_loads import switch_ends
from models.topology.mechanism import Mechanism
from models.topology.network import plain_network
from models.topology.routes import Routes, routes
from models.topology.size import CannotBuild
from models.workload.permutation import permutation_targets

RATE = 50e9
KINDS = [
    ("fat_tree", 512, 32, 1.0),
    ("fat_tree", 500 * 8, 32, 2.0),
    ("fat_tree", 1024, 16, 1.0),
    ("fat_tree", 2200, 32, 1.0),  # pods' cables do not share out evenly over the cores
    ("rail_optimized", 1024, 64, 1.0),
    ("rail_only", 1024, 16, 1.0),
    ("multi_plane", 512, 16, 1.0),
    ("dragonfly_plus", 600, 16, 1.0),
    ("dragonfly_plus", 200, 16, 1.0),  # groups smaller than the radix allows: several cables to each spine
]
MECHANISMS = ["static", "shift", "ecmp", "flowlet", "planned", "adaptive"]


def built(kind: str, gpus: int, radix: int, taper: float = 1.0, **options: object) -> Graph:
    topology = Topology(kind=kind, oversubscription=taper)  # type: ignore[arg-type]
    return graph(plain_network(gpus, topology, radix, **options), RATE)  # type: ignore[arg-type]


def random_flows(gpus: int, seed: int = 3) -> Flows:
    return equal_flows(np.arange(gpus), permutation_targets(gpus, "random", seed))


def ends(g: Graph, link: int) -> tuple[tuple[str, int], tuple[str, int]]:
    """Both ends of a link as (kind, number through copies)."""
    shape = g.shape
    name = (*TIERS, *BUNDLES)[int(np.searchsorted(np.array(g.first), link, side="right")) - 1]
    at = link - g.tier(name).start
    if name in {"host-leaf", "leaf-host"}:
        pair = ("port", at), ("leaf", at // shape.ports * shape.leaves + int(g.leaf_of_port[at]))
        return pair if name == "host-leaf" else (pair[1], pair[0])
    if name in {"gpu-nvlink", "nvlink-gpu"}:
        pair = ("gpu", at), ("nvlink", at // g.network.domain_gpus)
        return pair if name == "gpu-nvlink" else (pair[1], pair[0])
    lower, upper = (int(side[0]) for side in switch_ends(g, np.array([link])))
    if name in {"leaf-spine", "spine-leaf"}:
        pair = ("leaf", lower), ("spine", upper)
        return pair if name == "leaf-spine" else (pair[1], pair[0])
    if shape.global_links:
        q = at % shape.pod_cables
        own, peer = at // shape.pod_cables, upper
        back = (own - (own > peer)) * shape.global_links + q % shape.global_links
        return ("spine", lower), ("spine", peer * shape.spines + back % shape.spines)
    pair = ("spine", lower), ("core", upper)
    return pair if name == "spine-core" else (pair[1], pair[0])


def check_paths(table: Routes, flows: Flows, sample: int = 400) -> None:
    """Consecutive links meet in a node, from the sender's NIC or GPU to the receiver's."""
    g = table.graph
    nics, gpus = g.network.nics_per_node, g.network.gpus_per_node
    step = max(1, table.share.size // sample)
    for sub in range(0, table.share.size, step):
        path = table.links[table.offsets[sub] : table.offsets[sub + 1]]
        pairs = [ends(g, int(link)) for link in path]
        for (_, there), (here, _) in pairwise(pairs):
            same = there == here
            # a NIC port and the GPU it belongs to are one place
            port = there if there[0] == "port" else here
            gpu = there if there[0] == "gpu" else here
            if not same and {there[0], here[0]} == {"port", "gpu"}:
                node, rail = (
                    (port[1] % g.shape.ports, port[1] // g.shape.ports)
                    if g.network.topology.kind == "rail_only"
                    else divmod(port[1] % g.shape.ports, nics)
                )
                same = node * gpus + rail * gpus // nics == gpu[1]
            assert same, (sub, pairs)
        flow = int(table.flow[sub])
        first, last = pairs[0][0], pairs[-1][1]
        for end, endpoint in ((first, flows.source[flow]), (last, flows.target[flow])):
            if end[0] == "gpu":
                assert end[1] == endpoint // nics * gpus + endpoint % nics * gpus // nics
            elif g.network.topology.kind != "rail_only":
                assert end == ("port", end[1]) and end[1] % g.shape.ports == endpoint
        assert len(set(path.tolist())) == path.size, "no link twice"


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("kind", "gpus", "radix", "taper"), KINDS)
def test_paths_are_paths(kind: str, gpus: int, radix: int, taper: float, mechanism: str) -> None:
    g = built(kind, gpus, radix, taper)
    flows = random_flows(gpus)
    table = routes(g, flows, Mechanism(mechanism, queue_pairs=2), seed=5)  # type: ignore[arg-type]
    np.testing.assert_allclose(np.bincount(table.flow, weights=table.share), 1.0)
    assert table.links.max() < table.capacity.size
    if mechanism != "adaptive" or kind == "dragonfly_plus":
        check_paths(table, flows)
    assert (table.capacity[table.links] > 0).all()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("kind", "gpus", "radix", "taper"), KINDS)
def test_dead_links_carry_nothing(kind: str, gpus: int, radix: int, taper: float, mechanism: str) -> None:
    failures = Failures(
        host_links_fraction=0.01, leaf_links_fraction=0.08, spine_links_fraction=0.08, switches=("spine1",)
    )
    g = built(kind, gpus, radix, taper, failures=failures)
    flows = random_flows(gpus)
    table = routes(g, flows, Mechanism(mechanism, queue_pairs=2), seed=5)  # type: ignore[arg-type]
    assert g.alive[table.links].all()
    assert (table.capacity[table.links] > 0).all()
    np.testing.assert_allclose(np.bincount(table.flow, weights=table.share), 1.0)


def test_destination_modulo_is_contention_free_for_shifts() -> None:
    for radix, gpus in ((32, 512), (16, 1024)):
        g = built("fat_tree", gpus, radix)
        for shift in (1, 16, 100, gpus // 2):
            flows = equal_flows(np.arange(gpus), (np.arange(gpus) + shift) % gpus)
            table = routes(g, flows, Mechanism("static"), scale_up=False)
            assert np.bincount(table.links).max() == 1, (radix, shift)


def test_hash_spreads_evenly_and_depends_on_the_seed_alone() -> None:
    g = built("fat_tree", 4096, 32)
    flows = random_flows(4096)
    first, again = (routes(g, flows, Mechanism("ecmp"), seed=1) for _ in range(2))
    other = routes(g, flows, Mechanism("ecmp"), seed=2)
    assert (first.links == again.links).all()
    assert (first.links != other.links).any()
    up = first.links[(first.links >= g.tier("leaf-spine").start) & (first.links < g.tier("leaf-spine").stop)]
    per_cable = np.bincount((up - g.tier("leaf-spine").start) % g.shape.up, minlength=g.shape.up)
    assert per_cable.std() < 3.0 * np.sqrt(per_cable.mean())


def test_polarised_hash_uses_fewer_core_cables() -> None:
    g = built("fat_tree", 4096, 32)
    flows = random_flows(4096)

    def cables(polarised: bool) -> int:
        table = routes(g, flows, Mechanism("ecmp", 4, polarised=polarised), seed=1)
        above = g.tier("spine-core")
        return int(np.unique(table.links[(table.links >= above.start) & (table.links < above.stop)]).size)

    assert cables(True) < 0.2 * cables(False)


def test_ecmp_shrinks_to_next_hops_that_reach_the_destination() -> None:
    # leaf 0 cannot reach leaf 1 over spine 0, although its own cable to spine 0 is up
    g = built("fat_tree", 128, 16, failures=Failures(links=("leaf1-spine0",)))
    assert g.shape.leaves == 16 and g.shape.parallel == 1
    flows = equal_flows(np.repeat(np.arange(8), 50), np.tile(np.arange(8, 16), 50))
    table = routes(g, flows, Mechanism("ecmp", 4), seed=0, scale_up=False)
    used = np.unique(
        table.links[(table.links >= g.tier("leaf-spine").start) & (table.links < g.tier("leaf-spine").stop)]
    )
    assert (used - g.tier("leaf-spine").start).tolist() == list(range(1, 8))


def test_static_tables_move_to_the_next_live_port_only_where_needed() -> None:
    whole, cut = (
        built("fat_tree", 128, 16),
        built("fat_tree", 128, 16, failures=Failures(links=("leaf0-spine3",))),
    )
    flows = equal_flows(np.zeros(8, dtype=np.int64), np.arange(8, 16))
    before = routes(whole, flows, Mechanism("static"), scale_up=False).links.reshape(8, 4)
    after = routes(cut, flows, Mechanism("static"), scale_up=False).links.reshape(8, 4)
    moved = (before != after).any(axis=1)
    assert moved.tolist() == [False, False, False, True, False, False, False, False]
    assert after[3, 1] == before[4, 1]


def test_a_network_cut_in_two_is_an_error() -> None:
    dead = tuple(f"leaf0-spine{n}" for n in range(8))
    g = built("fat_tree", 128, 16, failures=Failures(links=dead))
    flows = equal_flows(np.array([0]), np.array([100]))
    for mechanism in MECHANISMS:
        with pytest.raises(CannotBuild, match="cut this network in two"):
            routes(g, flows, Mechanism(mechanism))  # type: ignore[arg-type]


def test_a_node_without_a_live_nic_is_an_error() -> None:
    names = tuple(f"host{n}" for n in range(8))
    g = built("fat_tree", 128, 16, failures=Failures(switches=names))
    with pytest.raises(CannotBuild, match="no live NIC"):
        routes(g, equal_flows(np.array([0]), np.array([100])), Mechanism("static"))


def test_rails_that_do_not_meet_are_joined_over_nvlink_or_refused() -> None:
    flows = equal_flows(np.array([0]), np.array([8 * 40 + 3]))  # rail 0 of node 0 to rail 3 of node 40
    g = built("rail_only", 512, 64)
    table = routes(g, flows, Mechanism("adaptive"))
    tiers = np.searchsorted(np.array(g.first), table.links, side="right") - 1
    assert [TIERS[t] for t in tiers[:2]] == ["gpu-nvlink", "nvlink-gpu"]
    alone = built("rail_only", 64, 64, gpus_per_node=1)
    assert alone.shape.copies == 1
    from dataclasses import replace

    from models.topology.size import network_size

    network = plain_network(64, Topology(kind="rail_only"), 64, gpus_per_node=1)
    network = replace(network, nics_per_node=2, size=network_size(Topology(kind="rail_only"), 64, 2, 64))
    with pytest.raises(CannotBuild, match="rails do not meet"):
        routes(graph(network, RATE), equal_flows(np.array([0]), np.array([81])), Mechanism("static"))


def test_traffic_inside_a_domain_takes_nvlink() -> None:
    g = built("rail_optimized", 128, 64)
    table = routes(g, equal_flows(np.array([0]), np.array([5])), Mechanism("ecmp", 8))
    assert table.share.tolist() == [1.0]
    tiers = [TIERS[t] for t in np.searchsorted(np.array(g.first), table.links, side="right") - 1]
    assert tiers == ["gpu-nvlink", "nvlink-gpu"]
    rack = built("fat_tree", 144, 64, gpus_per_node=4, gpu="GB200")
    table = routes(rack, equal_flows(np.array([0, 0]), np.array([71, 72])), Mechanism("static"))
    assert np.diff(table.offsets).tolist()[0] == 2 and table.links[table.offsets[1]] == 0


def test_more_flows_than_memory_holds_are_refused_before_allocation() -> None:
    g = built("fat_tree", 4096, 32)
    many = np.zeros(40_000_000, dtype=np.int32)
    with pytest.raises(CannotBuild, match="memory"):
        routes(g, Flows(many, many, np.broadcast_to(np.float64(1.0), many.shape)), Mechanism("ecmp", 4))


def test_planned_paths_beat_the_hash() -> None:
    g = built("fat_tree", 1024, 64)
    flows = random_flows(1024)

    def worst(kind: str) -> int:
        table = routes(g, flows, Mechanism(kind), seed=1)  # type: ignore[arg-type]
        return int(np.bincount(table.links).max())

    assert worst("planned") <= 2 < worst("ecmp")
