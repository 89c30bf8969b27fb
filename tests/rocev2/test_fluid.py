"""What only RoCEv2's fluid method does: blocking without congestion control, recovery of a lossy class."""

from __future__ import annotations

from models.catalog.technology import technology
from models.rocev2.fluid import phase_time
from models.rocev2.link import link
from models.scenario.schema import Topology
from models.topology.network import plain_network
from models.units import MIB
from models.workload.phase import Phase, RankGroups

LINK = link(technology("rocev2_400g"))
FAT_TREE = Topology(kind="fat_tree")


def test_without_congestion_control_blocking_spreads() -> None:
    blocked = link(technology("rocev2_400g", {"congestion_control.kind": "none"}))
    given, large = (
        Phase("permutation", "permutation", 64 * MIB, RankGroups(1024)),
        plain_network(1024, FAT_TREE, 32),
    )
    slow, fast = phase_time(given, large, blocked), phase_time(given, large, LINK)
    assert "head-of-line" in slow.notes[0] and "max-min" in fast.notes[0]
    assert slow.time_s > 1.05 * fast.time_s


def test_a_lossy_class_drops_and_goes_back_where_the_technology_does() -> None:
    from models.compare.performance import setup, workload_time
    from models.scenario.load import load, with_values

    first = load("scenarios/llama3-70b-1024-h100.yaml")
    start = "candidates.RoCEv2 400G.overrides."
    keys = {
        "flow_control.kind": "none",
        "congestion_control.kind": "none",
        "flow_control.switch_buffer_mb": 2.0,
    }
    lossy = with_values(
        first, {start + key: value for key, value in keys.items()} | {"workloads.incast.seeds": 1}
    )
    kinds = ("go_back_n", "selective_repeat")
    found = {}
    for kind in kinds:
        scenario = with_values(lossy, {start + "loss_recovery.kind": kind})
        time = workload_time(scenario, setup(scenario, "RoCEv2 400G"), "incast", "fluid").times["incast"]
        found[kind] = {metric.name: metric.value for metric in time.metrics}
        assert found[kind]["drops"] > 0 and found[kind]["pauses"] == 0
    assert found["go_back_n"]["fct_max"] > found["selective_repeat"]["fct_max"]


def test_loss_and_timeout_of_a_lossy_class_reach_the_packets() -> None:
    from models.catalog.technology import technology
    from models.rocev2.incast_laws import laws
    from models.rocev2.link import link

    changed = {
        "flow_control.kind": "none",
        "loss_recovery.loss_fraction": 1e-3,
        "loss_recovery.timeout_ms": 4.0,
    }
    gate = laws(link(technology("rocev2_400g", changed)))[2]
    assert (gate.kind, gate.loss_fraction, gate.retransmit_timeout_s) == ("drop", 1e-3, 4e-3)
