"""Counting rules at every size, not only at powers of two: ports, tapers, monotony, published designs."""

from __future__ import annotations

from collections import Counter
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.scenario.schema import Topology
from models.topology.core_wiring import core_of_cable
from models.topology.route_choice_kernels import core_of, core_range, like_cable
from models.topology.size import CannotBuild, NetworkSize, network_size

RADICES = (32, 36, 40, 64, 128, 144, 256)
KINDS = ("fat_tree", "rail_optimized", "rail_only", "multi_plane", "dragonfly_plus")
SIZES = st.one_of(st.integers(1, 8192), st.integers(1, 300))


def built(
    kind: str, nodes: int, nics: int, radix: int, taper: float = 1.0, planes: int = 2, upper: int = 0
) -> NetworkSize:
    topology = Topology.model_validate({"kind": kind, "oversubscription": taper, "planes": planes})
    return network_size(topology, nodes, nics, radix, upper_radix=upper)


def core_ports(size: NetworkSize) -> Counter[int]:
    """Cables at every core of one copy, with the last pod as short as it is."""
    pods = size.pods_per_copy
    each = ceil(size.leaves_per_copy / pods)
    over = each * size.leaf_up % size.cores_per_copy
    found: Counter[int] = Counter()
    for pod in range(pods):
        leaves = min(each, size.leaves_per_copy - pod * each)
        cables = leaves * size.leaf_up
        found.update(core_of_cable(np.arange(cables), pod, cables, size.cores_per_copy, pod * over).tolist())
    return found


@given(
    kind=st.sampled_from(KINDS), nodes=SIZES, nics=st.sampled_from((1, 2, 4, 8)), radix=st.sampled_from(RADICES),
    taper=st.sampled_from((1.0, 1.5, 2.0, 3.0, 7.0)), planes=st.sampled_from((2, 4)),
)  # fmt: skip
@settings(max_examples=400, deadline=None)
def test_what_is_counted_can_be_wired(
    kind: str, nodes: int, nics: int, radix: int, taper: float, planes: int
) -> None:
    try:
        size = built(kind, nodes, nics, radix, taper, planes)
    except CannotBuild:
        return
    copies = {"rail_only": nics, "multi_plane": planes}.get(kind, 1)
    assert size.copies == copies
    assert size.host_leaf_links == nodes * nics * (planes if kind == "multi_plane" else 1)
    assert size.host_leaf_links <= copies * size.leaves_per_copy * size.leaf_down
    assert size.leaf_down + size.leaf_up <= size.radix
    for tier in size.tiers():
        assert tier.down_ports_used + tier.up_ports_used <= tier.ports
    if not size.spines_per_copy:
        assert size.leaves_per_copy == 1 and not size.leaf_spine_links
        return
    if kind != "dragonfly_plus":
        assert size.leaf_down <= taper * size.leaf_up + 1e-9, "never more tapered than asked for"
    assert size.leaf_spine_links == copies * size.leaves_per_copy * size.leaf_up
    pods = max(1, size.pods_per_copy)
    spines, rest = divmod(size.spines_per_copy, pods)
    assert rest == 0 and size.leaf_up % spines == 0, "every leaf reaches every spine of its pod equally"
    down = ceil(size.leaves_per_copy / pods) * size.leaf_up // spines
    if size.groups:
        cables = 2 * size.spine_core_links // size.groups
        assert cables >= size.groups - 1, "a cable between every two groups"
        assert down + ceil(cables / spines) <= size.radix
    elif size.cores_per_copy:
        assert size.spine_core_links == size.leaf_spine_links
        assert 2 * down <= size.radix
        ports = core_ports(size)
        assert max(ports.values()) <= size.radix
        assert sum(ports.values()) * copies == size.spine_core_links
    else:
        assert down <= size.radix


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("radix", [36, 64, 128])
@pytest.mark.parametrize("taper", [1.0, 1.5, 3.0])
def test_more_nodes_never_take_fewer_switches_of_the_same_tiers(kind: str, radix: int, taper: float) -> None:
    before: dict[int, int] = {}
    for nodes in [*range(1, 200), *range(200, 3000, 37)]:
        try:
            size = built(kind, nodes, 8, radix, taper)
        except CannotBuild:
            break
        # fewer, larger groups may cost a tenth more than the least, so a step of a tenth may go back
        least = before.get(size.tiers_count, 0) / (1.1 if size.groups else 1.0)
        assert size.switches >= least - 1e-9, nodes
        before[size.tiers_count] = max(size.switches, before.get(size.tiers_count, 0))


@pytest.mark.parametrize(
    ("kind", "nodes", "nics", "radix", "counts"),
    [
        # Asterfusion guide for CX864E-N: 256 GPUs, four a node, 400G
        ("rail_optimized", 64, 4, 128, (4, 2, 0)),
        # B300 farm of 32 nodes on Q3400, neocloud.kedios.io: eight leaves, four spines
        ("rail_optimized", 32, 8, 144, (8, 4, 0)),
        # losslessnetwork.com: 256-GPU pod, eight leaves of one rail, four spines
        ("rail_optimized", 32, 8, 64, (8, 4, 0)),
        # arXiv 2505.09343: two-tier multi-plane 16,384 endpoints 768, three-tier 65,536 endpoints 5,120 switches
        ("rail_only", 2048, 8, 64, (512, 256, 0)),
        ("fat_tree", 8192, 8, 64, (2048, 2048, 1024)),
    ],
)
def test_published_designs(
    kind: str, nodes: int, nics: int, radix: int, counts: tuple[int, int, int]
) -> None:
    size = built(kind, nodes, nics, radix)
    tiers = {tier.name: tier.switches for tier in size.tiers()}
    assert (tiers["leaf"], tiers.get("spine", 0), tiers.get("core", 0)) == counts


def test_small_dragonfly_groups_have_no_empty_switches() -> None:
    small = built("dragonfly_plus", 128, 8, 64)  # 1,024 GPUs
    assert small.switches == 64 and small.groups == 2  # 32 leaves are the least that hold 1,024 ports
    full = built("dragonfly_plus", 512, 8, 64)
    assert (full.groups, full.leaves_per_copy, full.spines_per_copy) == (4, 128, 128)
    one = built("dragonfly_plus", 8, 8, 64)
    assert one.switches == 1 and "one switch" in one.words


def test_another_radix_above_the_leaves() -> None:
    same, wide = built("fat_tree", 128, 8, 64), built("fat_tree", 128, 8, 64, upper=128)
    assert (same.spines_per_copy, wide.spines_per_copy) == (16, 8)
    assert wide.leaves_per_copy == same.leaves_per_copy == 32
    # 128 leaves of 64 ports still fit two tiers under 128-port spines
    assert built("fat_tree", 512, 8, 64, upper=128).tiers_count == 2
    # the 24,576-GPU RoCE cluster's modular spine: 576 ports
    assert built("fat_tree", 1024, 8, 64, upper=576).tiers_count == 2
    with pytest.raises(CannotBuild, match="one switch model"):
        built("dragonfly_plus", 512, 8, 64, upper=128)


@given(st.integers(1, 600), st.integers(1, 40), st.integers(0, 70))
@settings(max_examples=100, deadline=None)
def test_compiled_core_wiring_is_the_plain_one(cables: int, cores: int, pod: int) -> None:
    cables = max(cables, cores)
    plain = core_of_cable(np.arange(cables), pod, cables, cores)
    assert [core_of(q, pod, cables, cores) for q in range(cables)] == plain.tolist()
    for core in range(cores):
        lo, hi = core_range(core, pod, cables, cores)
        assert np.flatnonzero(plain == core).tolist() == list(range(lo, hi))
    other = core_of_cable(np.arange(cables), pod + 1, cables, cores)
    assert all(other[like_cable(q, pod, pod + 1, cables, cores)] == plain[q] for q in range(cables))
