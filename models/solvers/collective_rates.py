"""Rates of the parts a collective crosses: NVLink ring, NVSwitch reduction, PCIe, NICs with load balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from models.solvers.collective_constants import Constants
from models.solvers.collective_groups import GroupShape
from models.solvers.load_balance import LoadBalance
from models.topology.link import Link, path_latency_s
from models.topology.network import Network

Balances = Callable[[str], LoadBalance]

PCIE_X16_BYTES_PER_S = {3: 15.75e9, 4: 31.5e9, 5: 63.0e9, 6: 121.0e9}  # 128b/130b; Gen6 FLIT 242/256
FABRIC_BINDS_BELOW = 0.9  # the fabric, not the NIC, is named as the limit below this share


@dataclass(frozen=True)
class Reduction:
    """In-network reduction a phase may use, as its own fabric describes it."""

    rate_bytes_per_s: float  # streaming rate of one NIC's tree
    latency_s: float  # up and down the tree
    max_message_bytes: float  # per NIC and operation
    chunk_s: float  # cost of every further operation
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Place:
    """What the algorithms see: a group's shape, the constants of its GPUs, the network and its balance."""

    shape: GroupShape
    constants: Constants
    network: Network
    link: Link
    balance: Balances
    reduction: Reduction | None = None

    @property
    def scale_up_bytes_per_s(self) -> float:
        """NVLink or xGMI rate of a GPU, one direction."""
        return self.network.gpu.scale_up_bytes_per_s

    @property
    def ring_scale_up_bytes_per_s(self) -> float:
        """Ring rate over NVLink; infinite where a domain holds one member."""
        if self.shape.per_domain <= 1.0:
            return inf
        return self.constants["ring_efficiency"] * self.scale_up_bytes_per_s


def pcie_rate_bytes_per_s(generation: int, constants: Constants, lanes: int = 16, links: int = 1) -> float:
    """Payload rate of a PCIe slot: raw x lanes/16 x MPS/(MPS + 24) x flow-control share.

    >>> from models.solvers.collective_constants import constants
    >>> round(pcie_rate_bytes_per_s(5, constants("hopper")) / 1e9, 1)
    55.9
    >>> round(pcie_rate_bytes_per_s(5, constants("hopper"), lanes=4) * 8 / 1e9, 1)
    111.7
    """
    payload = constants["pcie_payload"]
    packet = payload / (payload + constants["pcie_packet_overhead"])
    return PCIE_X16_BYTES_PER_S[generation] * lanes / 16 * links * packet * constants["pcie_flow_efficiency"]


def nic_rate(place: Place, pattern: str, library: bool = True) -> tuple[float, str]:
    """Payload rate of one NIC under a traffic pattern, bytes per second, and what bounds it.

    min(C x wire efficiency x library share x load balance, PCIe ceiling). The library's share is left out for
    kernels that drive the NIC themselves (`library` False).
    """
    link, constants = place.link, place.constants
    fabric_share = _fabric_share(place, pattern)
    share = link.network_efficiency_fraction * constants["network_factor"] if library else 1.0
    wire = link.rate_bytes_per_s * link.wire_efficiency_fraction * share * fabric_share
    cpu = (
        link.host_limit_bytes_per_s * share
    )  # a slower host leaves room on the fabric: no collision loss on top
    pcie = pcie_rate_bytes_per_s(place.network.gpu.pcie_generation, constants)
    if pcie < min(wire, cpu):
        return pcie, "pcie"
    if cpu < wire:
        return cpu, "cpu"
    return wire, "fabric" if fabric_share < FABRIC_BINDS_BELOW else "nic"


def _fabric_share(place: Place, pattern: str) -> float:
    """What the fabric leaves of a NIC's rate to the slowest flow of a pattern.

    All-to-all across leaves bursts in step, so spare uplinks do not hide the residual imbalance of adaptive
    routes as they do for steady flows; planned (scheduled) fabrics have none.
    """
    share = place.balance(pattern).slowest
    routing = place.link.technology.routing
    if pattern == "all_to_all" and routing.kind != "planned" and hop_count(place) > 1:
        share = min(share, 1.0 - routing.imbalance_fraction.value)
    return share


def network_rate(place: Place, pattern: str) -> tuple[float, str]:
    """Rate of all NICs of the group in one domain, bytes per second, and what bounds it."""
    rate, limit = nic_rate(place, pattern)
    return rate * place.shape.nics, limit


def slower(*rates: tuple[float, str]) -> tuple[float, str]:
    """The smallest of (rate, limit) pairs."""
    return min(rates, key=lambda pair: pair[0])


def hop_count(place: Place) -> int:
    """Switches between the outermost members: one while all nodes of the group fit under a leaf."""
    size = place.network.size
    per_leaf = size.leaf_down
    if size.kind not in {"rail_optimized", "rail_only"}:
        per_leaf = max(1, size.leaf_down // place.network.nics_per_node)
    if size.tiers_count == 1 or place.shape.nodes <= per_leaf:
        return 1
    return size.hops_max


def extra_step_s(place: Place) -> float:
    """What a network step takes beyond one switch and short cables, seconds.

    The library's step constants already hold one switch and its cables; the fabric's factor multiplies them,
    further switches and metres come on top.
    """
    hops = hop_count(place)
    cable_m = place.network.cable_m_path if hops > 1 else 2 * place.network.cable_m.host_leaf
    return path_latency_s(place.link, hops, cable_m) - path_latency_s(place.link, 1)
