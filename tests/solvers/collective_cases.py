"""Networks and phases the collective tests share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from models.catalog.gpus import gpus
from models.catalog.technology import technology
from models.scenario.schema import Failures, Placement, Topology
from models.solvers.load_balance import IDEAL, LoadBalance
from models.topology.link import Link
from models.topology.network import Network
from models.topology.size import network_size
from models.workload.phase import Phase, PhaseTime, RankGroups

FOLDERS = {"ib": "infiniband", "roce": "rocev2", "spectrum_x": "rocev2", "tcp": "tcp"}


def network_of(
    nodes: int,
    gpu: str = "H100",
    per_node: int = 8,
    nics: int = 8,
    kind: str = "rail_optimized",
    radix: int = 64,
    oversubscription: float = 1.0,
) -> Network:
    topology = Topology.model_validate({"kind": kind, "oversubscription": oversubscription})
    return Network(
        gpus=nodes * per_node,
        gpu=gpus()[gpu],
        gpus_per_node=per_node,
        nics_per_node=nics,
        topology=topology,
        size=network_size(topology, nodes, nics, radix),
        cable_m=topology.cable_m,
        placement=Placement(),
        failures=Failures(),
        seed=1,
    )


def link_of(name: str, overrides: Mapping[str, Any] | None = None) -> Link:
    chosen = technology(name, overrides)
    link: Link = import_module(f"models.{FOLDERS[chosen.fabric]}.link").link(chosen)
    return link


def ideal(pattern: str) -> LoadBalance:
    return IDEAL


def phase_of(operation: str, message_bytes: float, groups: RankGroups, **changes: Any) -> Phase:
    return Phase(operation, operation, message_bytes, groups, **changes)  # type: ignore[arg-type]


def analytical(name: str) -> Callable[[Phase, Network, Link], PhaseTime]:
    folder = FOLDERS[technology(name).fabric]
    time: Callable[[Phase, Network, Link], PhaseTime] = import_module(
        f"models.{folder}.analytical"
    ).phase_time
    return time
