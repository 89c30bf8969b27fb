"""Plain transfers: serialisation bounds, taper, storage servers, loss."""

from __future__ import annotations

import pytest

from models.solvers.alpha_beta import ring_all_reduce_s, tree_all_reduce_s
from models.solvers.transfer_time import transfer_time
from models.workload.phase import RankGroups, StorageTransfer
from tests.solvers.collective_cases import analytical, ideal, link_of, network_of, phase_of

GIB = 2.0**30
IB = link_of("infiniband_ndr")


def test_permutation_takes_bytes_over_the_nic() -> None:
    found = transfer_time(phase_of("permutation", GIB, RankGroups(64)), network_of(8), IB, ideal)
    assert found.time_s == pytest.approx(GIB / (50e9 * 4096 / 4122), rel=1e-3)
    assert found.binding_limit == "nic"


def test_four_nics_for_eight_gpus_take_twice_as_long() -> None:
    phase = phase_of("permutation", GIB, RankGroups(64))
    eight, four = (transfer_time(phase, network_of(8, nics=n), IB, ideal).time_s for n in (8, 4))
    assert four == pytest.approx(2 * eight, rel=1e-3)


def test_storage_is_bound_by_servers_when_they_are_few() -> None:
    def storage(servers: int) -> StorageTransfer:
        return StorageTransfer(servers, 50e9, 40e9, "checkpoint_write")

    few = phase_of("storage", GIB, RankGroups(64), storage=storage(2))
    found = transfer_time(few, network_of(8), IB, ideal)
    assert found.time_s == pytest.approx(64 * GIB / (2 * 40e9), rel=1e-3)
    assert found.binding_limit == "storage"
    many = phase_of("storage", GIB, RankGroups(64), storage=storage(200))
    assert transfer_time(many, network_of(8), IB, ideal).binding_limit == "nic"


def test_storage_without_figures_is_refused() -> None:
    with pytest.raises(ValueError, match="servers"):
        transfer_time(phase_of("storage", GIB, RankGroups(64)), network_of(8), IB, ideal)


def test_cache_hand_over_inside_a_node_uses_nvlink() -> None:
    phase = phase_of("kv_transfer", GIB, RankGroups(2, groups=4, stride=4))
    assert transfer_time(phase, network_of(1), IB, ideal).binding_limit == "nvlink"


def test_a_tapered_fabric_slows_a_bisection() -> None:
    phase = phase_of("bisection", GIB, RankGroups(1024))
    times = [
        analytical("infiniband_ndr")(
            phase, network_of(128, kind="fat_tree", oversubscription=taper), IB
        ).time_s
        for taper in (1.0, 3.0)
    ]
    assert times[1] > 2.5 * times[0]


def test_loss_costs_go_back_n_more_than_selective_repeat() -> None:
    phase, network = phase_of("permutation", GIB, RankGroups(64)), network_of(8)
    times = [
        analytical("rocev2_400g")(
            phase,
            network,
            link_of("rocev2_400g", {"loss_recovery.loss_fraction": 1e-3, "loss_recovery.kind": kind}),
        ).time_s
        for kind in ("selective_repeat", "go_back_n")
    ]
    assert times[1] > 1.02 * times[0]


def test_textbook_costs_cross_where_they_should() -> None:
    """Ring moves fewer bytes, the tree takes fewer steps (Sanders, Speck, Traeff 2009)."""
    assert tree_all_reduce_s(256, 1e-6, 1e9, 1e3) < ring_all_reduce_s(256, 1e-6, 1e9, 1e3)
    assert tree_all_reduce_s(256, 1e-6, 1e9, 1e9) > ring_all_reduce_s(256, 1e-6, 1e9, 1e9)
