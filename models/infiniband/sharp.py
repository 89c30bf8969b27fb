"""SHARP: reduction in the InfiniBand switches. Whether a phase gets a tree, and what the tree carries.

A group has one tree per NIC of a node (rail). Every member sends its share S / NICs up once and receives it
once; a switch adds what its children send and passes one stream on. So each link of a tree carries the share
once up and once down whatever the number of ranks, and a tapered network does not slow it.

Sources: NVIDIA SHARP 2.6.1 library page and release notes 3.0-3.8 (exclusive lock mode, data types, largest
message); NCCL's plugin opens one SHARP job per communicator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil

from models.solvers.collective_groups import GroupShape, group_shape
from models.solvers.collective_rates import Reduction
from models.solvers.collective_time import collective_time
from models.solvers.load_balance import LoadBalance
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Phase

DTYPES = frozenset({"fp64", "fp32", "fp16", "bf16", "int64", "int32", "int16", "int8"})
FP8_FROM_BYTES_PER_S = 100e9  # Quantum-X800 (800 Gbit/s) adds FP8; from memory
STREAMING_FRACTION = 0.93  # where a preset names none; 0.90-0.95 assumed
LARGEST_MESSAGE_BYTES = 1_073_741_792.0  # 1 GiB less 32 B


@dataclass(frozen=True)
class ReductionTrees:
    """The trees of one group over the switches of a network, and who shares their links."""

    trees: int  # one per NIC of a node that the group uses
    levels: int  # switches between host and root: 1 leaf, 2 spine, 3 core
    leaves: int  # leaf switches of one tree
    switches: int  # switches of one tree
    trees_per_leaf: int  # trees of all groups that meet in the busiest leaf
    groups_per_leaf: int  # groups (SHARP jobs) that meet in the busiest leaf
    uplinks: int  # leaf uplinks those trees can spread over

    @property
    def trees_per_uplink(self) -> int:
        """Trees on the busiest leaf uplink."""
        return 1 if self.levels == 1 else max(1, ceil(self.trees_per_leaf / max(1, self.uplinks)))

    def link_loads(self, message_bytes: float, nics: float) -> dict[str, float]:
        """Bytes on the busiest link of each tier in one direction, for one all-reduce of the group.

        One up and one down per link and tree: the same figure in both directions.
        """
        share = message_bytes / nics
        loads = {"host-leaf": share}
        if self.levels > 1:
            loads["leaf-spine"] = share * self.trees_per_uplink
        if self.levels > 2:
            loads["spine-core"] = share * self.trees_per_uplink
        return loads


def reduction_trees(phase: Phase, network: Network) -> ReductionTrees:
    """Trees the groups of a phase would use on the real switches of the network."""
    shape, size = group_shape(phase.groups, network), network.size
    by_rail = size.kind in {"rail_optimized", "rail_only"} and size.tiers_count > 1
    rails = network.nics_per_node
    nodes_per_leaf = max(1, size.leaf_down if by_rail else size.leaf_down // rails)
    trees = max(1, ceil(shape.nics * network.gpus_per_node / network.domain_gpus))
    leaves = max(1, ceil(shape.nodes / nodes_per_leaf))
    levels = 1 if leaves == 1 or size.tiers_count == 1 else size.tiers_count
    beside = ceil(shape.groups_per_domain / rails) if by_rail else ceil(shape.groups_per_domain)
    groups_per_leaf = min(phase.groups.groups, beside * _node_sets(phase, shape, network, nodes_per_leaf))
    trees_here = groups_per_leaf * (1 if by_rail else trees)
    above = (0, 1, 1 + leaves)[levels - 1]
    return ReductionTrees(trees, levels, leaves, leaves + above, trees_here, groups_per_leaf, size.leaf_up)


def _node_sets(phase: Phase, shape: GroupShape, network: Network, nodes_per_leaf: int) -> int:
    """Sets of nodes with groups of their own that meet under one leaf."""
    stride_nodes = phase.groups.stride // network.gpus_per_node
    if stride_nodes > 1:
        return min(stride_nodes, nodes_per_leaf)
    return max(1, nodes_per_leaf // max(1, shape.nodes))


def refusal(phase: Phase, network: Network, link: Link) -> str:
    """Why the phase cannot use SHARP; empty when it can."""
    request = link.technology.in_network_reduction
    if request.kind != "sharp":
        return "the technology has no in-network reduction"
    if not request.granted:
        return "the job holds no reduction tree (in_network_reduction.granted is false)"
    if phase.operation != "all_reduce":
        return f"{phase.operation} does not run on SHARP here, only all_reduce"
    if phase.dtype == "fp8" and link.rate_bytes_per_s < FP8_FROM_BYTES_PER_S:
        return "fp8 is not a SHARP data type before Quantum-X800"
    if phase.dtype not in DTYPES | {"fp8"}:
        return f"{phase.dtype} is not a SHARP data type"
    shape = group_shape(phase.groups, network)
    if shape.domains == 1:
        return "the group does not leave its scale-up domain"
    if shape.rack_domain:
        return "no published run of SHARP over NVL72 racks; not offered"
    most = request.jobs_per_switch.value if request.jobs_per_switch else 1.0
    meeting = reduction_trees(phase, network).groups_per_leaf
    if meeting > most:
        return f"{meeting} groups meet in one leaf switch, which serves {most:g} SHARP job(s)"
    return ""


def reduction(phase: Phase, network: Network, link: Link) -> tuple[Reduction | None, tuple[str, ...]]:
    """The in-network reduction the phase may use, or None, and notes that say so.

    Rate of a NIC's tree = line rate x wire x library share x streaming share / trees on the busiest uplink.
    Messages above the largest one are cut into operations; each further one costs a trip through the tree.
    """
    reason = refusal(phase, network, link)
    request = link.technology.in_network_reduction
    if reason:
        told = request.kind == "sharp" and phase.operation == "all_reduce"
        return None, (f"no SHARP: {reason}",) if told else ()
    trees = reduction_trees(phase, network)
    streaming = request.streaming_fraction.value if request.streaming_fraction else STREAMING_FRACTION
    largest = request.max_message_bytes.value if request.max_message_bytes else LARGEST_MESSAGE_BYTES
    rate = link.goodput_bytes_per_s * link.network_efficiency_fraction * streaming / trees.trees_per_uplink
    trip_s = 2 * trees.levels * link.hop_latency_s
    notes = []
    share = phase.message_bytes / group_shape(phase.groups, network).nics
    if share > largest:
        notes.append(f"SHARP: {ceil(share / largest)} operations per NIC, one carries {largest:.0f} bytes")
    if trees.trees_per_uplink > 1:
        notes.append(f"SHARP: {trees.trees_per_uplink} trees share a leaf uplink")
    return Reduction(rate, trip_s, largest, link.host_pair_latency_s + trip_s, tuple(notes)), ()


def size_notes(
    phase: Phase, message_bytes: Sequence[float], network: Network, link: Link
) -> tuple[Reduction | None, list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """The reduction a phase may use at any of the sizes, its notes taken off it, and for each size the notes that come
    before and after those of the algorithms.
    """
    granted: Reduction | None = None
    told = []
    for size in message_bytes:
        found, after = reduction(replace(phase, message_bytes=size), network, link)
        told.append((found.notes if found is not None else (), after))
        granted = None if found is None else replace(found, notes=())
    return granted, told


def saving_s(phase: Phase, network: Network, link: Link, balance: Callable[[str], LoadBalance]) -> float:
    """Seconds SHARP saves in one execution of the phase; 0 when it is refused or slower."""
    granted, _ = reduction(phase, network, link)
    if granted is None:
        return 0.0
    free = replace(phase, algorithm="auto")
    without = collective_time(free, network, link, balance).time_s
    return max(0.0, without - collective_time(free, network, link, balance, granted).time_s)
