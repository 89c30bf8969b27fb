"""The mean recursion of RoCE bursts: its plain twin, the lasting laws as its limits, packets of two kinds."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.evidence.packet_setup import packet_setup
from models.infiniband.credits import victim_goodput
from models.rocev2.expected_marks import LEAST_STEPS, STEPS, STEPS_OF_SPAN, mean_run, wire_bytes
from models.rocev2.pfc import SharedBuffer, first_pause_s, pause_fraction, steady_threshold_bytes
from models.solvers.queues_fabrics import incast_flows, leaf_spine, star
from models.solvers.queues_types import FlowSet, Gate, Marking, PacketFormat, SenderLaw
from tests.rocev2.expected_marks_twin import star_twin

SHIPPED = Path(__file__).parents[2] / "models/evidence/packet"
RATE, DELAY_S, MEMORY = 12.5e9, 1e-6, 4 * 2**20
PACKET = PacketFormat(payload_bytes=1000, header_bytes=36)
NO_MARKS = Marking(float("inf"), float("inf"), 1.0)
FREE = SenderLaw("none")


def star_run(senders, size, law=FREE, gate=None, marking=NO_MARKS, memory=MEMORY, **more):
    network = star(senders=senders, rate_bytes_per_s=RATE, propagation_s=DELAY_S, buffer_bytes=memory)
    flows = incast_flows(network, senders=senders, bytes_per_flow=size)
    return mean_run(
        network,
        flows,
        law,
        gate or Gate("pfc"),
        marking,
        packet=PACKET,
        stop_s=more.pop("stop_s", 1.0),
        **more,
    )


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 6), st.integers(20_000, 800_000), st.sampled_from([1e-6, 50e-6]), st.sampled_from([4e-6, 50e-6]),
    st.integers(1, 3), st.sampled_from([20e3, 400e3]), st.booleans(), st.sampled_from([2**20, 2**24]),
)  # fmt: skip
def test_equals_its_plain_twin(senders, size, alpha_s, cut_s, stages, kmin, controlled, memory):
    law = SenderLaw(
        "dcqcn" if controlled else "none", alpha_timer_s=alpha_s, cut_interval_s=cut_s, increase_timer_s=55e-6,
        fast_recovery_stages=stages, additive_bytes_per_s=2.5e6, hyper_bytes_per_s=25e6, min_rate_bytes_per_s=125e6,
    )  # fmt: skip
    marking, gate = Marking(kmin, 4 * kmin, 0.2), Gate("pfc")
    found = star_run(senders, float(size), law, gate, marking, memory)
    packet_s = PACKET.wire_bytes / RATE
    wire = wire_bytes(size, PACKET)
    loop_s = 4 * DELAY_S + 2 * packet_s
    coarse_s = min(loop_s, cut_s) / LEAST_STEPS
    step_s = min(
        coarse_s, max(coarse_s * LEAST_STEPS / STEPS, min(1.0, 2 * senders * wire / RATE) / STEPS_OF_SPAN)
    )
    ports = senders + 1
    shared = memory - ports * (3 * RATE * DELAY_S + gate.reserve_bytes)
    end, peak, paused = star_twin(
        senders, wire, RATE, shared, law, gate, marking, PACKET.wire_bytes, max(1, round(loop_s / step_s)),
        max(1, round((2 * DELAY_S + packet_s) / step_s)), step_s, memory, 1024, controlled,
    )  # fmt: skip
    np.testing.assert_allclose(found.completion_s, end, rtol=1e-6)
    assert found.queue_peak_bytes[-1] == pytest.approx(peak, rel=1e-6, abs=1e-3)
    np.testing.assert_allclose(found.link_pause_s[:senders], paused, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("senders", [2, 8, 32])
def test_pauses_alone_follow_the_lasting_laws(senders):
    memory = 8 * 2**20
    found = star_run(senders, np.inf, memory=memory, stop_s=20e-3, from_s=10e-3)
    buffer = SharedBuffer(memory, senders + 1, 3 * RATE * DELAY_S)
    threshold = buffer.reserve_bytes + steady_threshold_bytes(buffer, senders)
    in_flight = senders * RATE * 2e-6  # what still comes while a pause is on its way
    assert senders * threshold * 0.98 < found.queue_peak_bytes[-1] < senders * threshold * 1.02 + in_flight
    assert found.goodput_bytes_per_s.sum() == pytest.approx(RATE, rel=1e-6)
    filling_s = first_pause_s(buffer, RATE, senders)
    assert found.first_pause_s == pytest.approx(filling_s, abs=2e-6)  # two steps
    share = found.link_pause_s[:senders].mean() / (20e-3 - filling_s)
    assert share == pytest.approx(pause_fraction(senders), rel=0.015)


def test_a_burst_ends_at_its_serialisation_and_flows_that_came_first_leave_first():
    found = star_run(8, 2.0**20, memory=32 * 2**20)
    bound_s = 8 * wire_bytes(2**20, PACKET) / RATE
    assert found.completion_s.max() == pytest.approx(bound_s, rel=1e-3)
    network = star(senders=2, rate_bytes_per_s=RATE, propagation_s=DELAY_S, buffer_bytes=32 * 2**20)
    flows = FlowSet(
        incast_flows(network, senders=2, bytes_per_flow=1.0).paths, np.array([1e5, 1e6]), np.zeros(2)
    )
    early, late = mean_run(
        network, flows, FREE, Gate("pfc"), NO_MARKS, packet=PACKET, stop_s=1.0
    ).completion_s
    assert early == pytest.approx(2 * wire_bytes(1e5, PACKET) / RATE, rel=0.01)
    assert late == pytest.approx(wire_bytes(1e5, PACKET) / RATE + wire_bytes(1e6, PACKET) / RATE, rel=0.01)


@pytest.mark.parametrize(("hot", "spines"), [(7, 2), (6, 4), (3, 2)])
def test_victim_of_pauses_gets_the_law(hot, spines):
    fabric = leaf_spine(
        leaves=2,
        hosts_per_leaf=20,
        spines=spines,
        rate_bytes_per_s=RATE,
        propagation_s=DELAY_S,
        buffer_bytes=9e6,
    )
    on = [0] * hot + [1 + i % (spines - 1) for i in range(8)]
    paths = [(fabric.path(i, 20, spine),) for i, spine in enumerate(on)] + [(fabric.path(19, 21, 0),)]
    flows = FlowSet(tuple(paths), np.full(len(paths), np.inf), np.zeros(len(paths)))
    found = mean_run(
        fabric.network, flows, FREE, Gate("pfc"), NO_MARKS, packet=PACKET, stop_s=20e-3, from_s=10e-3
    )
    assert found.goodput_bytes_per_s[-1] == pytest.approx(victim_goodput(RATE, RATE, spines, hot), rel=0.03)


def test_loss_appears_with_little_memory_and_everything_still_arrives():
    roomy, tight = (star_run(8, 2.0**20, gate=Gate("drop"), memory=memory) for memory in (128e6, 2e6))
    assert not roomy.lost_bytes.any() and (tight.lost_bytes > 0).all()
    assert np.isfinite(tight.completion_s).all()
    assert tight.queue_peak_bytes.max() <= 1.001 * 2e6 * 0.125 / 1.125


def test_packets_shared_over_links_see_one_fat_link():
    fabric = leaf_spine(
        leaves=2, hosts_per_leaf=9, spines=4, rate_bytes_per_s=RATE, propagation_s=DELAY_S, buffer_bytes=32e6
    )
    paths = tuple(tuple(fabric.path(i, 9, spine) for spine in range(4)) for i in range(8))
    flows = FlowSet(paths, np.full(8, 2.0**20), np.zeros(8))
    found = mean_run(fabric.network, flows, FREE, Gate("pfc"), NO_MARKS, packet=PACKET, stop_s=1.0)
    up = [path[1] for path in paths[0]]
    assert len(set(found.queue_peak_bytes[up])) == 1
    assert found.queue_peak_bytes[up[0]] == pytest.approx(wire_bytes(2**20, PACKET), rel=0.02)  # 8 into 4


def test_two_flows_on_a_nic_and_headroom_without_memory_are_refused():
    network = star(senders=2, rate_bytes_per_s=RATE, propagation_s=DELAY_S, buffer_bytes=32e6)
    twice = FlowSet((((0, network.links - 1),),) * 2, np.full(2, 1e5), np.zeros(2))
    with pytest.raises(ValueError, match="one flow a NIC"):
        mean_run(network, twice, FREE, Gate("pfc"), NO_MARKS, packet=PACKET, stop_s=1.0)
    with pytest.raises(ValueError, match="headroom"):
        star_run(8, 1e5, memory=3e5)


def _rows(name):
    path = SHIPPED / f"{name}.csv"
    text = (
        path.read_text()
        if path.exists()
        else gzip.decompress(path.with_suffix(".csv.gz").read_bytes()).decode()
    )
    return list(csv.DictReader(StringIO(text)))


def _rate(setup):
    return setup.packet.wire_bytes / (
        round(setup.packet_s * 1e9) * 1e-9
    )  # whole nanoseconds, as the reference


def test_victims_of_the_packet_simulator():
    flows = defaultdict(list)
    for row in _rows("victim_flows"):
        flows[row["run_id"]].append(row)
    errors = defaultdict(list)
    for row in _rows("victim_summary"):
        ports = int(row["spines"]) + int(row["hosts_per_leaf"])
        setup, own = packet_setup(row, 4, ports), flows[row["run_id"]]
        fabric = leaf_spine(
            leaves=2, hosts_per_leaf=int(row["hosts_per_leaf"]), spines=int(row["spines"]),
            rate_bytes_per_s=_rate(setup), propagation_s=setup.propagation_s, buffer_bytes=setup.buffer_bytes,
        )  # fmt: skip
        paths = tuple((fabric.path(int(f["src"]), int(f["dst"]), max(0, int(f["spine"]))),) for f in own)
        end_s = float(row["sim_end_us"]) * 1e-6
        found = mean_run(
            fabric.network, FlowSet(paths, np.full(len(own), np.inf), np.zeros(len(own))), setup.law, setup.gate,
            setup.marking, packet=setup.packet, stop_s=end_s, from_s=end_s / 4,
        )  # fmt: skip
        victim = next(i for i, f in enumerate(own) if f["kind"] == "victim")
        goodput = found.goodput_bytes_per_s[victim] * 8e-9 / 1.036
        errors[row["cc_set"].startswith("pfc")].append(abs(goodput / float(row["victim_goodput_gbps"]) - 1))
    assert np.median(errors[True]) < 0.015 and np.percentile(errors[True], 90) < 0.03
    assert np.median(errors[False]) < 0.06 and np.percentile(errors[False], 90) < 0.25


def test_incasts_of_the_packet_simulator():
    errors = defaultdict(list)
    for row in _rows("incast_summary"):
        size = float(row["flow_bytes"])
        if size <= 0 or float(row["cfg_window"]):
            continue
        senders = int(row["n"])
        setup = packet_setup(row, 2, senders + 1)
        network = star(
            senders=senders, rate_bytes_per_s=_rate(setup), propagation_s=setup.propagation_s,
            buffer_bytes=setup.buffer_bytes,
        )  # fmt: skip
        found = mean_run(
            network, incast_flows(network, senders=senders, bytes_per_flow=size), setup.law, setup.gate,
            setup.marking, packet=setup.packet, stop_s=1.0,
        )  # fmt: skip
        ends_us = (found.completion_s + 4 * setup.propagation_s + setup.packet_s) * 1e6
        kind = "pfc" if row["cc_set"].startswith("pfc") else "dcqcn"
        errors[kind, "mean"].append(abs(ends_us.mean() / float(row["fct_mean_us"]) - 1))
        errors[kind, "max"].append(abs(ends_us.max() / float(row["fct_max_us"]) - 1))
        errors[kind, "peak"].append(abs(found.queue_peak_bytes[-1] / 1e3 / float(row["q_max_whole_kB"]) - 1))
        if kind == "pfc" and float(row["pfc_pauses_total"]) >= 50:
            paused_us = found.link_pause_s[:senders].mean() * 1e6
            errors[kind, "pause"].append(abs(paused_us / float(row["pfc_pause_us_mean_per_sender"]) - 1))
    middle = {key: float(np.median(values)) for key, values in errors.items()}
    tail = {key: float(np.percentile(values, 90)) for key, values in errors.items()}
    assert middle["pfc", "mean"] < 0.004 and tail["pfc", "max"] < 0.005
    assert middle["pfc", "pause"] < 0.02 and tail["pfc", "pause"] < 0.08
    assert middle["dcqcn", "mean"] < 0.02 and tail["dcqcn", "mean"] < 0.10
    assert middle["dcqcn", "max"] < 0.02 and tail["dcqcn", "max"] < 0.10
    assert middle["dcqcn", "peak"] < 0.04
