"""The tree of round robins against the law of victims, the flow-level blocking solver, and credits packet by packet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.infiniband.credits import (
    HOP_LATENCY_S,
    UPDATE_S,
    credit_incast,
    victim_goodput,
    whole_packets_bytes,
)
from models.solvers.head_of_line import head_of_line_rates
from models.solvers.incast_fabric import incast_fabric
from models.solvers.incast_tree import tree_incast

C = 50e9
WIRE = 4126.0


def test_two_bursts_on_one_branch_end_later_than_one_alone() -> None:
    # hot port 9 fed by 7 (two bursts) and 8 (one): 8's burst has half the port, then 7's share it
    found = tree_incast([(0, 7, 9), (1, 7, 9), (2, 8, 9)], 60.0, np.full(10, 10.0))
    np.testing.assert_allclose(found.end_s, [18.0, 18.0, 12.0])


@pytest.mark.parametrize(("on_path", "elsewhere"), [(3, 5), (7, 9), (1, 7), (4, 0), (0, 4)])
def test_victim_at_the_start_follows_the_law(on_path: int, elsewhere: int) -> None:
    # links: 0 and 1 uplinks, 2 and 3 downlinks, 4 hot port, 5 victim's port, NICs from 6 on
    uplinks = [0] * on_path + [1] * elsewhere
    paths = [(6 + i, up, 2 + up, 4) for i, up in enumerate(uplinks)]
    # the bursts that end first are as many as possible: the first step is all that counts
    found = tree_incast(paths, 1.0, np.full(6 + len(paths) + 1, C), (6 + len(paths), 0, 2, 5))
    alone = tree_incast(paths[:on_path] or paths, 1.0, np.full(6 + len(paths) + 1, C))
    law = victim_goodput(C, C, (on_path > 0) + (elsewhere > 0), on_path)
    if on_path == elsewhere or elsewhere == 0:
        assert found.victim_rate_bytes_per_s == pytest.approx(law, rel=1e-6)
    elif on_path == 0:
        assert found.victim_rate_bytes_per_s == C
    else:  # never below the law, which is the share before the first burst ends
        assert found.victim_rate_bytes_per_s >= law * (1 - 1e-9)
    assert alone.end_s.max() <= found.end_s.max() * (1 + 1e-9)


placements = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=20)


@settings(max_examples=40, deadline=None)
@given(placements, st.integers(0, 3))
def test_first_instant_equals_the_blocking_solver(flows: list[tuple[int, int]], spine: int) -> None:
    """Senders on three leaves over four spines: rates before any burst ends, victim of leaf 0 included."""
    # links: 12 uplinks (leaf, spine), 4 downlinks, hot 16, victim's port 17, NICs
    paths = [(18 + i, 4 * leaf + at, 12 + at, 16) for i, (leaf, at) in enumerate(flows)]
    victim = (18 + len(flows), spine, 12 + spine, 17)
    limit = np.full(19 + len(flows), 100.0)
    every = [*paths, victim]
    rates = head_of_line_rates(
        limit, np.cumsum([0, *map(len, every)]).astype(np.int64), np.array(sum(every, ()), dtype=np.int32)
    )
    tiny = tree_incast(paths, 1e-9, limit, victim)  # ends differ, so look at the first to end and the sum
    first_s = tiny.end_s.min()
    assert 1e-9 / first_s == pytest.approx(rates[:-1].max(), rel=0.02)
    if np.ptp(rates[:-1]) < 0.01 * rates[0]:  # all end at once: the victim's mean is its first rate
        assert tiny.victim_rate_bytes_per_s == pytest.approx(rates[-1], rel=0.02)


def _tree_of(made, size: float, buffer_bytes: float):
    fabric = made.fabric
    network = fabric.network
    hop_s = np.where(network.tier[network.to_node] > 0, HOP_LATENCY_S, 0.0)
    loop_s = 2 * network.propagation_s + hop_s + UPDATE_S
    limits = np.minimum(C, whole_packets_bytes(buffer_bytes, WIRE) / loop_s)
    routes = [paths[0] for paths in fabric.paths]
    return tree_incast(routes[: fabric.fan_in], size * WIRE / 4096, limits, routes[fabric.fan_in])


@pytest.mark.parametrize("buffer_kib", [64, 128])
@pytest.mark.parametrize(("host_km", "fabric_km"), [(0.005, 0.05), (0.005, 0.5), (0.2, 0.05), (1.0, 0.05)])
def test_credits_packet_by_packet(buffer_kib: int, host_km: float, fabric_km: float) -> None:
    """Ends within 2 %, victims within 4 %, on short cables and on cables that credits cannot fill."""
    for senders, seed in ((4, 1), (4, 2), (16, 1), (40, 2)):
        size = 4e6
        made = credit_incast(
            senders, size, C, host_km * 5e-6, buffer_kib * 1024.0, leaves=4, spines=4, victim=True, seed=seed,
            fabric_propagation_s=fabric_km * 5e-6,
        )  # fmt: skip
        found = _tree_of(made, size, buffer_kib * 1024.0)
        latency_s = 2 * (host_km + fabric_km) * 5e-6 + 3 * HOP_LATENCY_S
        ends_s = made.result.completion_s[:senders]
        assert found.end_s.max() + latency_s == pytest.approx(float(ends_s.max()), rel=0.02)
        assert found.end_s.mean() + latency_s == pytest.approx(float(ends_s.mean()), rel=0.02)
        line = C * 4096 / WIRE
        solved = float(made.result.goodput_bytes_per_s[senders]) / line
        counted = found.end_s.max() / (found.end_s.max() + latency_s)
        assert found.victim_rate_bytes_per_s / C * counted == pytest.approx(solved, rel=0.04, abs=0.002)


def test_routes_of_the_incast_fabric_are_trees() -> None:
    fabric = incast_fabric(fan_in=9, rate_bytes_per_s=C, propagation_s=1e-7, leaves=4, spines=4, seed=3)
    routes = [paths[0] for paths in fabric.paths]
    found = tree_incast(routes[:9], 1e6, np.full(fabric.network.links, C), routes[9])
    assert found.end_s.max() >= 9e6 / C * (1 - 1e-9)
    assert 0 < found.victim_rate_bytes_per_s <= C
