"""Blocking in the flow-level solver equals packets in steady state: pauses and credits, over random placements."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from models.solvers.credits import CreditFlows, CreditLinks, CreditRules, credit_result
from models.solvers.head_of_line import head_of_line_rates
from models.solvers.max_min import max_min_rates
from models.solvers.queues import run
from models.solvers.queues_fabrics import leaf_spine, three_tier
from models.solvers.queues_types import FlowSet, Gate, Marking, PacketFormat, Recording, SenderLaw

C = 50e9
PACKET = PacketFormat(payload_bytes=4096, header_bytes=64)


def incidence(paths):
    offsets = np.cumsum([0, *map(len, paths)]).astype(np.int64)
    return offsets, np.array([link for path in paths for link in path], dtype=np.int32)


def fabric_of(kind: str, random: np.random.Generator):
    """The fabric of a kind; small memory so that the steady state comes soon."""
    common = {"rate_bytes_per_s": C, "propagation_s": 1e-7, "buffer_bytes": 4e6}
    if kind == "three_tier":
        return three_tier(
            pods=2, leaves_per_pod=2, hosts_per_leaf=5, spines_per_pod=2, cores_per_spine=1, **common
        )
    spines = 2 if kind == "oversubscribed" else int(random.integers(3, 6))
    hosts = 8 if kind == "oversubscribed" else 6
    return leaf_spine(leaves=int(random.integers(2, 4)), hosts_per_leaf=hosts, spines=spines, **common)


def placement(kind: str, seed: int):
    """An incast from random hosts, some beside the receiver, and one or two victims; every sender on its own NIC."""
    random = np.random.default_rng(seed)
    fabric = fabric_of(kind, random)
    hosts = fabric.hosts
    hot, others = hosts - 1, [hosts - 2, hosts - 3]
    senders = random.permutation([h for h in range(hosts) if h not in (hot, *others)])
    count = int(random.integers(3, min(len(senders) - 2, 11)))
    ends = [(int(s), hot) for s in senders[:count]]
    ends += [(int(s), other) for s, other in zip(senders[count : count + 2], others, strict=True)]
    choices = 2 if kind != "leaf_spine" else fabric.spines
    return fabric, [fabric.path(a, b, int(random.integers(choices))) for a, b in ends]


def packets_with_pauses(fabric, paths):
    end_s = 6e-3
    flows = FlowSet(tuple((path,) for path in paths), np.full(len(paths), np.inf), np.zeros(len(paths)))
    found = run(
        fabric.network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET, stop_s=end_s,
        recording=Recording(checkpoints_s=(end_s / 2, end_s)),
    )  # fmt: skip
    return found.goodput_bytes_per_s() * PACKET.wire_bytes / PACKET.payload_bytes


def packets_with_credits(fabric, paths):
    network = fabric.network
    links = CreditLinks(
        rate_bytes_per_s=network.rate_bytes_per_s, forward_s=network.propagation_s,
        credit_s=network.propagation_s, buffer_bytes=np.full(network.links, 131072.0),
        tier=network.tier[network.from_node],
    )  # fmt: skip
    count = len(paths)
    flows = CreditFlows(
        tuple((path,) for path in paths), np.full(count, -1), np.zeros(count), np.zeros(count, np.int64)
    )
    rules = CreditRules(packet_payload_bytes=4096, header_bytes=64, warmup_s=1e-3, stop_s=3e-3)
    return credit_result(links, flows, rules).goodput_bytes_per_s * PACKET.wire_bytes / PACKET.payload_bytes


GATES = {"pauses": packets_with_pauses, "credits": packets_with_credits}


@pytest.mark.parametrize("kind", ["leaf_spine", "oversubscribed", "three_tier"])
@pytest.mark.parametrize("gate", ["pauses", "credits"])
def test_rates_of_random_placements_equal_packets(kind: str, gate: str) -> None:
    errors: list[float] = []
    for seed in range(12):
        fabric, paths = placement(kind, seed)
        rates = head_of_line_rates(np.full(fabric.network.links, C), *incidence(paths))
        solved = GATES[gate](fabric, paths)
        errors += (np.abs(solved - rates) / np.maximum(rates, 0.02 * C)).tolist()
    assert np.median(errors) < 0.02, np.median(errors)
    assert np.percentile(errors, 90) < 0.08, np.percentile(errors, 90)


def test_without_a_congested_port_downstream_both_are_max_min() -> None:
    """Random flows to receivers of their own over wide uplinks: nothing to block, nothing to share but the ports."""
    random = np.random.default_rng(7)
    for _ in range(10):
        flows = int(random.integers(2, 8))
        paths = [(i, 20 + int(random.integers(3))) for i in range(flows)]
        capacity = np.full(23, C)
        np.testing.assert_allclose(
            head_of_line_rates(capacity, *incidence(paths)),
            max_min_rates(capacity, *incidence(paths)),
            rtol=0.005,
        )


def test_placements_differ_and_are_loop_free() -> None:
    seen = {tuple(placement("leaf_spine", seed)[1]) for seed in range(12)}
    assert len(seen) == 12
    for kind in ("leaf_spine", "oversubscribed", "three_tier"):
        fabric, paths = placement(kind, 3)
        for path in paths:
            for before, after in pairwise(path):
                assert fabric.network.to_node[before] == fabric.network.from_node[after]
