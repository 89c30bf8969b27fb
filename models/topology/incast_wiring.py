"""The part of a network that an incast touches: a few leaves and spines around the hot receiver."""

from __future__ import annotations

from dataclasses import dataclass

from models.topology.link import Link
from models.topology.network import Network
from models.units import PROPAGATION_S_PER_M
from models.workload.phase import Burst

LEAVES_MAX = 5  # one with the receivers, the senders spread over the others
SPINES_MAX = 8  # more spines only lower the chance of sharing the victim's path


@dataclass(frozen=True)
class IncastWiring:
    """Counts and one-way delays of the links around the hot port.

    A link's delay holds its cable and the switch it leads to; the delay counted for the receiver's own link
    stands for the NIC.
    """

    leaves: int
    spines: int
    host_propagation_s: float
    fabric_propagation_s: float
    path_latency_s: float  # sender to receiver over the longest path, serialisation apart


def incast_wiring(network: Network, link: Link) -> IncastWiring:
    """Wiring of an incast on `network`: senders spread over its leaves, receivers on one of them.

    *Assumptions*: senders are spread as storage or parameter traffic is, not packed beside the receiver; three
    tiers are taken as two with the spine's delay, since the contention is at the last leaf.
    """
    size = network.size
    host_s = network.cable_m.host_leaf * PROPAGATION_S_PER_M + link.hop_latency_s
    fabric_s = network.cable_m.leaf_spine * PROPAGATION_S_PER_M + link.hop_latency_s
    if size.cores_per_copy:
        fabric_s += network.cable_m.spine_core * PROPAGATION_S_PER_M + link.hop_latency_s
    leaves = min(size.leaves_per_copy, LEAVES_MAX) if size.spines_per_copy else 1
    spines = max(1, min(size.spines_per_copy, SPINES_MAX))
    path_s = 2 * host_s + (2 * fabric_s if leaves > 1 else 0.0)
    return IncastWiring(leaves, spines, host_s, fabric_s, path_s)


def spreads_packets(link: Link) -> bool:
    """Whether the packets of one flow take several paths."""
    return link.technology.routing.kind in ("adaptive", "spray", "flowlet")


def incast_bound_s(burst: Burst, link: Link) -> float:
    """Serialisation bound of an incast: all wire bytes of the bursts through one port, s."""
    packets = -(-burst.burst_bytes // int(link.packet_bytes))
    header_bytes = link.wire_packet_bytes - link.packet_bytes
    return burst.fan_in * (burst.burst_bytes + packets * header_bytes) / link.rate_bytes_per_s
