"""Placement: whole domains move, nobody shares a GPU, the seed decides."""

from __future__ import annotations

import numpy as np
import pytest

from models.scenario.schema import Placement, Topology
from models.topology.network import Network, plain_network
from models.topology.placement import endpoints_of_gpu, gpu_of_rank
from models.topology.size import CannotBuild


def placed(kind: str, ranks: int, seed: int = 1, **options: object) -> np.ndarray:
    return gpu_of_rank(network(kind, seed, **options), ranks)


def network(kind: str = "packed", seed: int = 1, gpus: int = 512, **options: object) -> Network:
    placement = Placement(kind=kind)  # type: ignore[arg-type]
    return plain_network(gpus, Topology(), 64, placement=placement, seed=seed, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["packed", "scattered", "rail_aligned"])
def test_every_rank_has_a_gpu_of_its_own_and_nodes_stay_whole(kind: str) -> None:
    gpu = placed(kind, 256)
    assert np.unique(gpu).size == 256 and gpu.max() < 512
    assert (gpu.reshape(-1, 8) // 8 == gpu.reshape(-1, 8)[:, :1] // 8).all()
    assert (gpu % 8 == np.arange(256) % 8).all()


def test_scattered_is_seeded_and_not_in_order() -> None:
    assert (placed("scattered", 256) == placed("scattered", 256)).all()
    assert (placed("scattered", 256) != placed("scattered", 256, seed=2)).any()
    assert (np.diff(placed("scattered", 256)[::8]) < 0).any()


def test_rail_aligned_takes_the_same_nodes_along_the_leaves() -> None:
    aligned, scattered = placed("rail_aligned", 256), placed("scattered", 256)
    assert sorted(aligned) == sorted(scattered)
    assert (np.diff(aligned) > 0).all()
    assert (placed("rail_aligned", 512) == placed("packed", 512)).all()


def test_racks_move_whole() -> None:
    gpu = placed("scattered", 144, gpus=576, gpus_per_node=4, gpu="GB200")
    assert np.unique(gpu[:72] // 72).size == 1 and np.unique(gpu[72:] // 72).size == 1


def test_nics_of_gpus() -> None:
    assert endpoints_of_gpu(network(), np.array([3, 9])).tolist() == [[3], [9]]
    from dataclasses import replace

    half = replace(network(), nics_per_node=4)
    assert endpoints_of_gpu(half, np.arange(8)).ravel().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    double = replace(network(), nics_per_node=16)
    assert endpoints_of_gpu(double, np.array([1])).tolist() == [[2, 3]]


def test_a_job_larger_than_the_cluster_is_refused() -> None:
    with pytest.raises(CannotBuild, match="does not fit the 512 GPUs"):
        placed("packed", 513)
