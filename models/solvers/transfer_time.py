"""Time of phases that are plain transfers: permutation, bisection, cache hand-over, storage.

Serialisation bound: bytes over the NIC share of a GPU, times what the fabric leaves to the traffic pattern,
plus the latency of the path. No protocol of a collective library.
"""

from __future__ import annotations

from models.solvers.collective_bands import band_factors
from models.solvers.collective_constants import constants
from models.solvers.collective_groups import group_shape
from models.solvers.collective_rates import Balances, Place, nic_rate, slower
from models.topology.link import Link, path_latency_s
from models.topology.network import Network
from models.workload.phase import Phase, PhaseTime

PATTERNS = {
    "permutation": "permutation",
    "bisection": "bisection",
    "kv_transfer": "point_to_point",
    "storage": "permutation",
}


def transfer_time(phase: Phase, network: Network, link: Link, balance: Balances) -> PhaseTime:
    """Time of a permutation, bisection, kv_transfer or storage phase.

    T = t_path + S / min(NIC share of a GPU x pattern's balance, PCIe ceiling); transfers inside a scale-up
    domain run over NVLink. Storage: also the servers' ports and media, S x ranks over all of them.

    Raises ValueError for another operation, and for a storage phase without its figures.
    """
    if phase.operation not in PATTERNS:
        raise ValueError(f"phase {phase.name}: {phase.operation} is no plain transfer")
    pattern = PATTERNS[phase.operation]
    shape = group_shape(phase.groups, network)
    library = constants(network.gpu.generation)
    where = Place(shape, library, network, link, balance)
    if phase.operation == "kv_transfer" and shape.domains == 1:
        rate, limit = network.gpu.scale_up_bytes_per_s * library["all_to_all_nvlink_efficiency"], "nvlink"
        latency = library["all_to_all_base"]
    else:
        nic, limit = nic_rate(where, pattern, library=False)
        rate, latency = (
            nic * _nics_per_rank(network, phase),
            path_latency_s(link, network.size.hops_max, network.cable_m_path),
        )
    if phase.operation == "storage":
        if phase.storage is None:
            raise ValueError(f"phase {phase.name}: storage needs servers and their rates")
        servers = phase.storage
        port = servers.server_rate_bytes_per_s * link.wire_efficiency_fraction
        supply = servers.servers * min(port, servers.device_rate_bytes_per_s) / phase.groups.ranks
        rate, limit = slower((rate, limit), (supply, "storage"))
    transfer = phase.message_bytes / rate
    time_s = latency + transfer
    low, high = band_factors("send_recv", phase.message_bytes)
    return PhaseTime(
        time_s=time_s,
        low_s=time_s * low,
        high_s=time_s * high,
        algorithm="direct",
        binding_limit=limit if transfer > latency else "latency",
        bus_bandwidth_bytes_per_s=phase.message_bytes / time_s,
    )


def _nics_per_rank(network: Network, phase: Phase) -> float:
    """NICs of a sending GPU: a node's NICs shared by the GPUs of the phase in it."""
    active = min(network.gpus_per_node, phase.groups.ranks)
    return min(network.nics_per_node / active, max(1.0, network.nics_per_node / network.gpus_per_node))
