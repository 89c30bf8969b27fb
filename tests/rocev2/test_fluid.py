"""The fluid method: bounds, limits it must share with the closed form, figures it reports, clear refusals."""

from __future__ import annotations

import numpy as np
import pytest

from models.catalog.technology import technology
from models.rocev2.analytical import phase_time as closed_phase_time
from models.rocev2.fluid import phase_time
from models.rocev2.link import link
from models.scenario.schema import Failures, Topology
from models.topology.network import Network, plain_network
from models.topology.size import CannotBuild
from models.units import MIB
from models.workload.phase import Operation, Phase, PhaseTime, RankGroups, StorageTransfer

LINK = link(technology("rocev2_400g"))
TRANSFERS: tuple[Operation, ...] = ("permutation", "bisection", "storage", "kv_transfer")


def network(gpus: int = 256, kind: str = "fat_tree", taper: float = 1.0, **options: object) -> Network:
    topology = Topology(kind=kind, oversubscription=taper)  # type: ignore[arg-type]
    return plain_network(gpus, topology, 32, **options)  # type: ignore[arg-type]


def phase(operation: Operation, message_bytes: float, gpus: int = 256, **options: object) -> Phase:
    groups = RankGroups(2, gpus // 2, gpus // 2) if operation == "kv_transfer" else RankGroups(gpus)
    storage = StorageTransfer(16, 50e9, 40e9, "checkpoint_write") if operation == "storage" else None
    return Phase(operation, operation, message_bytes, groups, storage=storage, **options)  # type: ignore[arg-type]


def time_of(operation: Operation, message_bytes: float = 64 * MIB, **options: object) -> PhaseTime:
    return phase_time(phase(operation, message_bytes), network(**options), LINK)  # type: ignore[arg-type]


@pytest.mark.parametrize("operation", TRANSFERS)
def test_never_faster_than_the_line_and_monotone_in_bytes(operation: Operation) -> None:
    times = [time_of(operation, size) for size in (0.0, 1.0, MIB, 64 * MIB, 128 * MIB)]
    seconds = [t.time_s for t in times]
    assert seconds == sorted(seconds) and seconds[0] > 0.0
    assert all(t.low_s <= t.time_s <= t.high_s for t in times)
    assert (
        seconds[3] >= 64 * MIB / LINK.goodput_bytes_per_s * (7 / 8 if operation == "storage" else 1.0) * 0.999
    )


@pytest.mark.parametrize("operation", ["permutation", "bisection"])
def test_oversubscription_never_helps(operation: Operation) -> None:
    seconds = [time_of(operation, taper=taper).time_s for taper in (1.0, 2.0, 4.0)]
    assert seconds[0] < seconds[1] < seconds[2]


@pytest.mark.parametrize("operation", [*TRANSFERS, "all_reduce", "all_to_all", "send_recv"])
def test_uncongested_equals_the_closed_form(operation: Operation) -> None:
    alone = network(32)  # one leaf: no path to choose
    given = phase(operation, 64 * MIB, 32)
    fluid, closed = (method(given, alone, LINK) for method in (phase_time, closed_phase_time))
    assert fluid.time_s == pytest.approx(closed.time_s, rel=0.02)


def test_figures_for_the_network_page() -> None:
    found = time_of("permutation")
    values = {metric.name: metric.value for metric in found.metrics}
    assert 0 < values["flow_throughput_slowest"] <= values["flow_throughput_mean"] <= LINK.goodput_bytes_per_s
    for tier in ("host_leaf", "leaf_spine", "spine_leaf"):
        assert 0 <= values[f"link_load_{tier}_p50"] <= values[f"link_load_{tier}_max"] <= 1.0 + 1e-9
    assert found.series["flow_rate_gbit_per_s"].size == 256
    assert np.isfinite(found.series["link_load_leaf_spine"]).all()


def test_collectives_say_where_their_balance_comes_from() -> None:
    found = phase_time(phase("all_reduce", 2**30), network(), LINK)
    assert any(metric.name.startswith("load_balance_") for metric in found.metrics)
    assert any("flows on the graph" in note or "no contention" in note for note in found.notes)


def test_same_seed_same_result() -> None:
    again = network(seed=3)
    assert phase_time(phase("permutation", MIB), again, LINK) == phase_time(
        phase("permutation", MIB), again, LINK
    )


@pytest.mark.parametrize("operation", ["permutation", "bisection", "storage", "all_to_all"])
def test_a_network_cut_in_two_is_refused(operation: Operation) -> None:
    cut = network(failures=Failures(links=tuple(f"leaf0-spine{n}" for n in range(8))))
    assert cut.size.spines_per_copy == 8
    with pytest.raises(CannotBuild, match=r"no live (path|link)"):
        phase_time(phase(operation, MIB), cut, LINK)


@pytest.mark.parametrize("operation", ["all_reduce", "all_to_all", "permutation"])
def test_rail_only_goes_through_nvlink(operation: Operation) -> None:
    found = phase_time(phase(operation, 64 * MIB, 512), network(512, "rail_only"), LINK)
    assert 0 < found.time_s < 1.0


def test_without_congestion_control_blocking_spreads() -> None:
    blocked = link(technology("rocev2_400g", {"congestion_control.kind": "none"}))
    given, large = phase("permutation", 64 * MIB, 1024), network(1024)
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
