"""Where the ranks of a job sit: rank -> GPU.

packed: rank r on GPU r. scattered: whole scale-up domains (or nodes) in a seeded random order, as a busy
scheduler leaves them. rail_aligned: the same random choice of domains, but ranks ordered along the leaves, as
topology-aware schedulers renumber them. A job that fills the cluster is packed and rail_aligned alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.topology.network import Network
from models.topology.size import CannotBuild


def gpu_of_rank(network: Network, ranks: int) -> NDArray[np.int64]:
    """GPU of every rank of a job of `ranks`, shape (ranks,).

    Raises CannotBuild when the job is larger than the cluster.

    >>> from models.scenario.schema import Topology
    >>> from models.topology.network import plain_network
    >>> gpu_of_rank(plain_network(16, Topology(), 64), 4).tolist()
    [0, 1, 2, 3]
    """
    if ranks > network.gpus:
        raise CannotBuild(f"a job of {ranks} ranks does not fit the {network.gpus} GPUs of this cluster")
    rank = np.arange(ranks, dtype=np.int64)
    if network.placement.kind == "packed":
        return rank
    block = max(network.domain_gpus, network.gpus_per_node)
    whole = network.gpus // block
    needed = -(-ranks // block)
    if needed > whole:  # a partial last domain cannot move
        return rank
    chosen = np.random.default_rng((network.seed, 0x91ACE)).permutation(whole)[:needed]
    if network.placement.kind == "rail_aligned":
        chosen = np.sort(chosen)
    return np.asarray(chosen[rank // block] * block + rank % block, dtype=np.int64)


def endpoints_of_gpu(network: Network, gpu: NDArray[np.int64]) -> NDArray[np.int64]:
    """NICs of every GPU, shape (gpus, NICs per GPU); GPUs that share a NIC name the same one.

    >>> from models.scenario.schema import Topology
    >>> from models.topology.network import plain_network
    >>> endpoints_of_gpu(plain_network(16, Topology(), 64), np.array([9])).tolist()
    [[9]]
    """
    node, local = np.divmod(gpu, network.gpus_per_node)
    per_gpu = max(1, network.nics_per_node // network.gpus_per_node)
    first = local * network.nics_per_node // network.gpus_per_node
    return np.asarray((node * network.nics_per_node + first)[:, None] + np.arange(per_gpu), dtype=np.int64)
