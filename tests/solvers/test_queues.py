"""The queue solver: equal to a packet-by-packet twin, conserving, bounded, repeatable, and right in closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from models.infiniband.credits import victim_goodput
from models.solvers.alpha_beta import goodput_under_loss_fraction
from models.solvers.queues import (
    CyclicRoutesError,
    FlowSet,
    Gate,
    LeafSpine,
    Marking,
    PacketFormat,
    QueueNetwork,
    Recording,
    SenderLaw,
    incast_flows,
    leaf_spine,
    run,
    star,
)
from tests.solvers.queue_twin import Twin

PACKET = PacketFormat(payload_bytes=1000, header_bytes=36, ack_bytes=48)
DCQCN = SenderLaw(
    "dcqcn", alpha_timer_s=1e-6, cut_interval_s=4e-6, increase_timer_s=300e-6, fast_recovery_stages=1
)
MARKS = Marking(400e3, 1600e3, 0.2)


FAST = SenderLaw(
    "dcqcn", alpha_timer_s=1e-6, cut_interval_s=4e-6, increase_timer_s=28e-6, fast_recovery_stages=1,
    min_rate_bytes_per_s=1e8, additive_bytes_per_s=1e9, hyper_bytes_per_s=2e9,
)  # fmt: skip
SLOW = SenderLaw(
    "dcqcn", alpha_timer_s=55e-6, cut_interval_s=50e-6, increase_timer_s=55e-6, fast_recovery_stages=5,
    min_rate_bytes_per_s=1e8, additive_bytes_per_s=1e9, hyper_bytes_per_s=2e9,
)  # fmt: skip
STEP_MARKS = Marking(20e3, 20e3, 1.0)  # needs no random draw


def small_network(random: np.random.Generator, memory_bytes: float) -> LeafSpine:
    """A random leaf-spine network whose switches have `memory_bytes` to share beside headroom and reserves."""
    leaves, hosts, spines = (int(random.integers(low, high)) for low, high in ((2, 4), (2, 5), (1, 4)))
    rate = float(random.choice([1.25e9, 11.3e9, 12.5e9]))
    propagation_s = float(random.uniform(0.3e-6, 3e-6))
    ports = max(hosts + spines, leaves)
    return leaf_spine(
        leaves=leaves, hosts_per_leaf=hosts, spines=spines, rate_bytes_per_s=rate, propagation_s=propagation_s,
        buffer_bytes=memory_bytes + ports * (3.0 * rate * propagation_s + 4096.0),
    )  # fmt: skip


def mixed_flows(random: np.random.Generator, fabric: LeafSpine, a_nic: int) -> FlowSet:
    """Up to `a_nic` flows a sender, most of them to one host."""
    hot_host = int(random.integers(fabric.hosts))
    paths, sizes, starts = [], [], []
    for source in list(random.permutation(fabric.hosts)[: int(random.integers(2, fabric.hosts))]) * a_nic:
        others = [host for host in range(fabric.hosts) if host != source]
        destination = hot_host if random.random() < 0.6 and hot_host != source else int(random.choice(others))
        paths.append((fabric.path(int(source), destination, int(random.integers(fabric.spines))),))
        sizes.append(float(random.integers(1, 300_000)))
        starts.append(float(random.uniform(0, 30e-6)))
    return FlowSet(tuple(paths), np.array(sizes), np.array(starts))


@pytest.mark.parametrize("a_nic", [1, 3])
@pytest.mark.parametrize("law", [SenderLaw("none"), FAST, SLOW], ids=["none", "fast timers", "slow timers"])
@pytest.mark.parametrize("case", range(8))
def test_equals_the_packet_twin_on_random_networks(case: int, law: SenderLaw, a_nic: int) -> None:
    random = np.random.default_rng(case)
    fabric = small_network(random, 1e9)
    flows = mixed_flows(random, fabric, a_nic)
    found = run(fabric.network, flows, law, Gate("pfc"), STEP_MARKS, packet=PACKET, check=True)
    twin = Twin(fabric.network, flows, law, Gate("pfc"), STEP_MARKS, PACKET)
    assert found.status == "finished"
    # equal to the tick, but where two packets reach a port in the same tick by different ways: either may be first
    off = np.abs(found.fct_s - twin.fct_s)
    assert np.mean(off == 0.0) >= 0.9
    assert off.max() <= 2.0 * PACKET.wire_bytes / fabric.network.rate_bytes_per_s[0]
    assert np.abs(found.marks - twin.marks).max() <= 1
    assert (
        np.abs(found.cuts - [sender.cuts for sender in twin.senders]).max() <= 1
    )  # one after the last packet


@pytest.mark.parametrize("case", range(6))
def test_equals_the_packet_twin_where_one_switch_pauses(case: int) -> None:
    random = np.random.default_rng(case)
    senders, propagation_s = int(random.integers(2, 9)), float(random.uniform(0.3e-6, 3e-6))
    network = star(
        senders=senders, rate_bytes_per_s=11.3e9, propagation_s=propagation_s,
        buffer_bytes=1e5 + (senders + 1) * (3.0 * 11.3e9 * propagation_s + 4096.0),
    )  # fmt: skip
    sizes, starts = random.integers(1, 300_000, senders).astype(float), random.uniform(0, 9e-6, senders)
    flows = incast_flows(network, senders=senders, bytes_per_flow=sizes, start_s=starts)
    found = run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET, check=True)
    twin = Twin(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), PACKET)
    assert sum(port.pauses for port in twin.ports) > 0
    assert found.fct_s.tolist() == twin.fct_s
    assert found.link_pauses.tolist() == [port.pauses for port in twin.ports]


@pytest.mark.parametrize("case", range(6))
def test_is_close_to_the_packet_twin_where_several_ports_of_a_switch_share_little_memory(case: int) -> None:
    """Ports are served one after the other within a window, so a release may be a window late for another port."""
    random = np.random.default_rng(case)
    fabric = small_network(random, 1e5)
    flows = mixed_flows(random, fabric, 2)
    found = run(fabric.network, flows, FAST, Gate("pfc"), STEP_MARKS, packet=PACKET, check=True)
    twin = Twin(fabric.network, flows, FAST, Gate("pfc"), STEP_MARKS, PACKET)
    error = np.abs(found.fct_s / np.array(twin.fct_s) - 1.0)
    assert found.status == "finished"
    assert np.median(error) <= 0.03
    assert found.link_pauses.sum() == pytest.approx(sum(port.pauses for port in twin.ports), rel=0.15, abs=4)


def hot(senders: int, size: float, buffer_bytes: float = 32e6) -> tuple[QueueNetwork, FlowSet]:
    network = star(senders=senders, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=buffer_bytes)
    return network, incast_flows(network, senders=senders, bytes_per_flow=size)


@pytest.mark.parametrize("law", [SenderLaw("none"), DCQCN], ids=["none", "dcqcn"])
def test_nothing_is_lost_and_the_buffer_holds(law: SenderLaw) -> None:
    network, flows = hot(16, 2e6, 4e6)
    marking = MARKS if law.kind == "dcqcn" else Marking()
    found = run(network, flows, law, Gate("pfc"), marking, packet=PACKET, check=True)
    assert found.status == "finished"
    assert (found.delivered_packets == found.sent_packets).all()
    assert found.delivered_bytes == pytest.approx(np.full(16, 2e6))
    assert found.link_peak_bytes.max() <= 4e6
    assert found.losses.sum() == 0


def test_the_same_seed_gives_the_same_and_another_seed_does_not() -> None:
    network, flows = hot(8, 2e6)
    first, again, other = (
        run(network, flows, DCQCN, Gate("pfc"), MARKS, packet=PACKET, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.fct_s, again.fct_s)
    assert not np.array_equal(first.fct_s, other.fct_s)


def test_lossless_incast_ends_at_the_serialisation_bound() -> None:
    network, flows = hot(8, 1e6)
    found = run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET)
    bound_s = 8 * 1000 * 1036 / 12.5e9
    assert bound_s < found.completion_s < bound_s + 6e-6


def test_pause_share_and_queue_of_a_long_lossless_incast() -> None:
    """Pause share 1 - 1/N; queue N T with T = alpha B' / (1 + N alpha), B' the buffer less headroom and reserves."""
    senders = 8
    network, flows = hot(senders, np.inf)
    recording = Recording(watch_links=(network.links - 1,), sample_from_s=5e-3, checkpoints_s=(5e-3, 1e-2))
    found = run(
        network,
        flows,
        SenderLaw("none"),
        Gate("pfc"),
        Marking(),
        packet=PACKET,
        stop_s=1e-2,
        recording=recording,
    )
    free = 32e6 - (senders + 1) * (3 * 12.5e9 * 1e-6 + 4096)
    threshold = 0.125 * free / (1 + senders * 0.125)
    assert found.queue.mean_bytes == pytest.approx(senders * threshold, rel=0.02)
    ramp_s = senders * threshold / (12.5e9 * (senders - 1))
    paused = found.pause.time_s["host"] / senders / (found.simulated_s - ramp_s)
    assert paused == pytest.approx(1 - 1 / senders, abs=0.02)


def test_victim_law_of_a_lossless_fabric() -> None:
    fabric = leaf_spine(
        leaves=2, hosts_per_leaf=20, spines=2, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=32e6
    )
    spines = [0] * 7 + [1] * 9
    paths = [(fabric.path(i, 20, spine),) for i, spine in enumerate(spines)]
    paths.append((fabric.path(19, 21, 0),))
    flows = FlowSet(tuple(paths), np.full(17, np.inf), np.zeros(17))
    found = run(
        fabric.network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET, stop_s=1e-2,
        recording=Recording(checkpoints_s=(3e-3, 1e-2)),
    )  # fmt: skip
    rates = found.goodput_bytes_per_s()
    expected = victim_goodput(12.5e9, float(rates[:16].sum()), 2, 7)
    assert rates[16] == pytest.approx(expected, rel=0.03)


def test_dcqcn_keeps_the_queue_far_below_the_lossless_level() -> None:
    network, flows = hot(8, np.inf)
    recording = Recording(watch_links=(network.links - 1,), sample_from_s=2e-2, checkpoints_s=(2e-2, 4e-2))

    def mean(law: SenderLaw, marking: Marking) -> tuple[float, float]:
        found = run(
            network, flows, law, Gate("pfc"), marking, packet=PACKET, stop_s=4e-2, recording=recording
        )
        return found.queue.mean_bytes, float(found.goodput_bytes_per_s().sum())

    with_control, goodput = mean(DCQCN, MARKS)
    without, _ = mean(SenderLaw("none"), Marking())
    assert with_control < 0.1 * without
    assert goodput > 0.9 * 12.5e9 * 1000 / 1036


def test_smooth_limit_is_the_max_min_share() -> None:
    fabric = leaf_spine(
        leaves=2, hosts_per_leaf=4, spines=1, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=64e6
    )
    paths = tuple((fabric.path(i, 4 + i, 0),) for i in range(4))
    flows = FlowSet(paths, np.full(4, np.inf), np.zeros(4))
    found = run(
        fabric.network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET, stop_s=1.5e-2,
        recording=Recording(checkpoints_s=(5e-3, 1.5e-2)),
    )  # fmt: skip
    assert found.goodput_bytes_per_s() == pytest.approx(np.full(4, 12.5e9 / 4 * 1000 / 1036), rel=0.02)


def test_cyclic_routes_are_refused_with_the_cycle_named() -> None:
    """Three switches in a ring, each with a host; every flow passes two ring links, so each waits for the next."""
    hosts, switches = np.arange(3), np.arange(3, 6)
    following = np.roll(switches, -1)
    ring = QueueNetwork(
        from_node=np.concatenate([hosts, switches, switches]),
        to_node=np.concatenate([switches, following, hosts]),
        rate_bytes_per_s=np.full(9, 1e9),
        propagation_s=np.full(9, 1e-6),
        tier=np.array([0, 0, 0, 1, 1, 1]),
        buffer_bytes=np.array([0.0, 0.0, 0.0, 1e6, 1e6, 1e6]),
    )
    paths = tuple(((i, 3 + i, 3 + (i + 1) % 3, 6 + (i + 2) % 3),) for i in range(3))
    flows = FlowSet(paths, np.full(3, 1e4), np.zeros(3))
    with pytest.raises(CyclicRoutesError) as caught:
        run(ring, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET)
    assert sorted(caught.value.cycle) == [3, 4, 5]
    straight = FlowSet(paths[:2], np.full(2, 1e4), np.zeros(2))
    found = run(ring, straight, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET)
    assert found.status == "finished"


def test_a_run_that_meets_its_bound_says_so() -> None:
    network, flows = hot(4, 5e6)
    found = run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET, windows_limit=50)
    assert found.hit_bound
    assert np.isnan(found.fct_s).all()


def test_contradictory_input_is_refused() -> None:
    network, flows = hot(4, np.inf)
    with pytest.raises(ValueError, match="stop_s is needed"):
        run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), packet=PACKET)
    with pytest.raises(ValueError, match="choice"):
        run(network, flows, SenderLaw("none"), Gate("pfc"), Marking(), stop_s=1e-3, choice="guess")
    with pytest.raises(ValueError, match="kind"):
        SenderLaw("guess")


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Marking(2e5, 1e5), "kmin"),
        (lambda: Marking(1e5, 2e5, 7.0), "pmax"),
        (lambda: SenderLaw("dcqcn", g=2.0), "SenderLaw.g"),
        (lambda: Gate(reserve_bytes=-1.0), "reserve"),
        (lambda: PacketFormat(payload_bytes=0), "payload"),
        (lambda: Recording(sample_s=0.0), "sample_s"),
        (lambda: run(*hot(2, 1e5), DCQCN, Gate(), Marking(np.zeros(3), 1e6), stop_s=1e-3), "Marking.kmin_bytes: 3 values"),
        (lambda: run(*hot(2, 1e5), DCQCN, Gate(stuck_links=(99,)), MARKS), "stuck_links"),
        (lambda: run(*hot(2, 1e5), DCQCN, Gate(), MARKS, recording=Recording(watch_links=(-1,))), "watch_links"),
        (lambda: FlowSet((((0, 5),),), np.ones(1), np.array([np.nan])), "start"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_by_name(make: Callable[[], object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make()


def test_flows_that_wait_for_each_other_are_refused() -> None:
    network, flows = hot(3, 1e5)
    circle = replace(flows, after=((2,), (0,), (1,)))
    with pytest.raises(ValueError, match="circle"):
        run(network, circle, SenderLaw("none"), Gate(), Marking(), packet=PACKET)


@pytest.mark.parametrize("loss", [1e-3, 5e-3])
def test_go_back_n_and_selective_repeat_keep_what_their_closed_forms_say(loss: float) -> None:
    network, flows = hot(1, np.inf)
    loop_s = (
        1036 / 12.5e9 + 2 * (1e-6 + 1036 / 12.5e9) + 2 * (1e-6 + 48 / 12.5e9)
    )  # gap shown by the next packet
    in_flight = loop_s / (1036 / 12.5e9)
    expected = {
        "go_back_n": goodput_under_loss_fraction(loss, in_flight, go_back=True),
        "selective_repeat": goodput_under_loss_fraction(loss, in_flight, go_back=False),
    }
    for recovery, kept in expected.items():
        gate = Gate("drop", alpha=1.0, loss_fraction=loss, recovery=recovery)
        found = run(
            network, flows, SenderLaw("none"), gate, Marking(), packet=PACKET, stop_s=3e-2, check=True
        )
        goodput = found.delivered_bytes[0] / 3e-2 / (12.5e9 * 1000 / 1036)
        assert found.losses[0] == pytest.approx(loss * found.sent_packets[0], rel=0.15)
        assert goodput == pytest.approx(kept, abs=0.01)


@pytest.mark.parametrize("recovery", ["selective_repeat", "go_back_n"])
def test_every_packet_arrives_once_through_a_small_dropping_buffer(recovery: str) -> None:
    network, _ = hot(4, 2e5, 2e5)
    # senders in step would meet the full buffer in the same order every time
    flows = incast_flows(network, senders=4, bytes_per_flow=2e5, start_s=np.arange(4) * 37e-9)
    gate = Gate("drop", alpha=1.0, recovery=recovery)
    found = run(network, flows, SenderLaw("none"), gate, Marking(), packet=PACKET, check=True)
    assert found.status == "finished"
    assert found.losses.sum() > 0
    assert (found.delivered_packets == 200).all()
    assert (found.sent_packets == found.delivered_packets + found.losses + found.refused_packets).all()
    assert found.link_peak_bytes.max() <= 2e5
    assert (found.refused_packets.sum() > 0) == (recovery == "go_back_n")


def test_a_lost_tail_waits_for_the_timeout() -> None:
    network, flows = hot(1, 1.0)
    gate = Gate("drop", alpha=1.0, loss_fraction=0.5, recovery="go_back_n", retransmit_timeout_s=2e-4)
    found = [
        run(network, flows, SenderLaw("none"), gate, Marking(), packet=PACKET, seed=s) for s in range(1, 9)
    ]
    losses = np.array([r.losses[0] for r in found])
    assert losses.max() > 0
    for result in found:
        assert result.fct_s[0] == pytest.approx(result.losses[0] * 2e-4, abs=5e-6 + 2e-6 * result.losses[0])


def test_an_endless_pause_ends_the_run_with_its_name() -> None:
    network, flows = hot(8, 1e6, 4e6)
    stuck = Gate(stuck_links=(network.links - 1,), watchdog_s=1e-4)
    found = run(network, flows, SenderLaw("none"), stuck, Marking(), packet=PACKET, check=True)
    assert found.stalled
    assert np.isnan(found.fct_s).all()
    assert found.link_watchdogs[-1] == 1
    assert (found.link_watchdogs[:8] == 1).all()  # the storm has reached the senders
    free = run(network, flows, SenderLaw("none"), Gate(watchdog_s=1.0), Marking(), packet=PACKET)
    assert not free.stalled
    assert free.link_watchdogs.sum() == 0


def test_a_dropping_watchdog_frees_the_neighbour_of_a_stuck_port() -> None:
    network = star(senders=8, receivers=2, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=4e6)
    stuck, free = network.links - 2, network.links - 1
    paths = (*(((sender, stuck),) for sender in range(8)), ((0, free),))
    flows = FlowSet(paths, np.array([1e6] * 8 + [2e6]), np.zeros(9))

    def delivered(drops: bool) -> float:
        gate = Gate(stuck_links=(stuck,), watchdog_s=2e-4, watchdog_drops=drops)
        found = run(
            network, flows, SenderLaw("none"), gate, Marking(), packet=PACKET, stop_s=5e-3, check=True
        )
        assert found.stalled is not drops
        return float(found.delivered_bytes[-1])

    assert delivered(False) < 2e6
    assert delivered(True) == 2e6


def test_go_back_n_needs_packets_in_order() -> None:
    fabric = leaf_spine(
        leaves=2, hosts_per_leaf=2, spines=2, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=4e6
    )
    flows = FlowSet(((fabric.path(0, 2, 0), fabric.path(0, 2, 1)),), np.array([1e5]), np.zeros(1))
    gate = Gate("drop", recovery="go_back_n")
    with pytest.raises(ValueError, match="one route"):
        run(fabric.network, flows, SenderLaw("none"), gate, Marking(), packet=PACKET)
