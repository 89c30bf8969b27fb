"""A candidate's compute network on a given cluster: sizes, node shape, placement, failures."""

from __future__ import annotations

from dataclasses import dataclass

from models.catalog.gpus import GpuModel, gpus
from models.catalog.parts import Part
from models.scenario.schema import CableM, Cluster, Failures, Placement, Scenario, Topology
from models.topology.size import NetworkSize, network_size, radix_at


@dataclass(frozen=True)
class Network:
    """Everything a method needs to know of the network besides the link's own figures.

    Endpoint e of node v is number v * nics_per_node + e; rail j is NIC j of every node. A *domain* is one
    scale-up (NVLink, xGMI) domain: a node of 8 GPUs, or a rack of 72.
    """

    gpus: int
    gpu: GpuModel
    gpus_per_node: int
    nics_per_node: int
    topology: Topology
    size: NetworkSize
    cable_m: CableM
    placement: Placement
    failures: Failures
    seed: int

    @property
    def nodes(self) -> int:
        """Servers or trays."""
        return self.gpus // self.gpus_per_node

    @property
    def domain_gpus(self) -> int:
        """GPUs of one scale-up domain; a node's GPUs where the node is smaller than the table's domain."""
        if self.gpu.domain_gpus <= 8:
            return self.gpus_per_node
        return min(self.gpus, self.gpu.domain_gpus)

    @property
    def domain_nics(self) -> int:
        """NICs of one scale-up domain."""
        return self.nics_per_node * self.domain_gpus // self.gpus_per_node

    @property
    def cable_m_path(self) -> float:
        """Cable on the longest minimal path, metres."""
        lengths = self.cable_m
        total = 2 * lengths.host_leaf
        if self.size.tiers_count > 1:
            total += 2 * lengths.leaf_spine
        if self.size.tiers_count > 2:
            total += 2 * lengths.spine_core
        return total


def switch_radices(
    topology: Topology, rate_gbit_per_s: float, leaf: Part, upper: Part | None = None
) -> tuple[int, int]:
    """Ports at the NIC's speed of the leaf switch and of the switch above it (`upper`, or the same model).

    A plane of a multi-plane network runs at a part of the NIC's speed, so a 400G switch carries two planes of an
    800G NIC. Raises CannotBuild for links faster than the ports.
    """
    planes = topology.planes if topology.kind == "multi_plane" else 1
    leaf_radix, upper_radix = (
        radix_at(part.ports or 0, part.speed_gbit_per_s or 0.0, rate_gbit_per_s / planes) // planes
        for part in (leaf, upper or leaf)
    )
    return leaf_radix, upper_radix


def network(
    scenario: Scenario, radix: int, topology: Topology | None = None, upper_radix: int = 0
) -> Network:
    """The network of a scenario built with switches of `radix` ports at the NIC's speed.

    `topology` is a candidate's own wiring, the scenario's where none is given; `upper_radix` counts the ports of
    spines and cores where they are another model. Raises CannotBuild when the switches cannot reach the size.
    """
    cluster: Cluster = scenario.cluster
    topology = topology or scenario.topology
    return Network(
        gpus=cluster.gpus,
        gpu=gpus()[cluster.gpu],
        gpus_per_node=cluster.gpus_per_node,
        nics_per_node=cluster.nics_per_node,
        topology=topology,
        size=network_size(topology, cluster.nodes, cluster.nics_per_node, radix, upper_radix=upper_radix),
        cable_m=topology.cable_m,
        placement=scenario.placement,
        failures=scenario.failures,
        seed=scenario.seed,
    )


def plain_network(
    gpus_count: int,
    topology: Topology,
    radix: int,
    *,
    gpus_per_node: int = 8,
    gpu: str = "H100",
    placement: Placement | None = None,
    failures: Failures | None = None,
    seed: int = 1,
) -> Network:
    """A network without a scenario file: one NIC per GPU, nodes of `gpus_per_node`.

    >>> plain_network(64, Topology(kind="fat_tree"), 64).size.switches
    1
    """
    nodes = gpus_count // gpus_per_node
    return Network(
        gpus=gpus_count,
        gpu=gpus()[gpu],
        gpus_per_node=gpus_per_node,
        nics_per_node=gpus_per_node,
        topology=topology,
        size=network_size(topology, nodes, gpus_per_node, radix),
        cable_m=topology.cable_m,
        placement=placement or Placement(),
        failures=failures or Failures(),
        seed=seed,
    )
