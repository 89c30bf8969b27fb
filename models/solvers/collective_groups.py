"""Where the ranks of a phase's groups sit: members per scale-up domain, domains, share of the NICs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from models.topology.network import Network
from models.workload.phase import RankGroups


@dataclass(frozen=True)
class GroupShape:
    """One group of a phase on the machine, all groups of the phase running at once.

    `per_domain` = ranks / domains, as if the group were spread evenly; `nics` is the group's share of the
    NICs of a domain, `flow_nics` what one rank that sends to the next one outside its domain gets.
    """

    ranks: int
    domains: int
    per_domain: float
    groups_per_domain: float
    nics: float
    flow_nics: float
    nodes: int  # servers or trays the widest group touches
    rack_domain: bool  # a domain of more than 8 GPUs

    @property
    def nics_per_rank(self) -> float:
        """Share of the NICs of one rank when all ranks send at once."""
        return self.nics / self.per_domain


def group_shape(groups: RankGroups, network: Network) -> GroupShape:
    """The shape of the groups of a phase on a network; ranks fill GPUs in order.

    A group uses at least one NIC of a domain it has to itself, and its share by ranks where it is not alone:
    8 data-parallel groups with one rank each in a node of 4 NICs have half a NIC each.

    Raises ValueError when the phase has more ranks than the cluster has GPUs.
    """
    if groups.ranks > network.gpus:
        raise ValueError(f"the phase has {groups.ranks} ranks, the cluster has {network.gpus} GPUs")
    return _shape(
        groups.size,
        groups.groups,
        groups.stride,
        network.domain_gpus,
        network.gpus_per_node,
        network.nics_per_node,
        network.gpu.domain_gpus > 8 and network.domain_gpus > 8,
    )


@lru_cache(maxsize=4096)
def _shape(
    size: int, groups: int, stride: int, domain_gpus: int, node_gpus: int, node_nics: int, rack: bool
) -> GroupShape:
    domain_nics = node_nics * domain_gpus / node_gpus
    active = min(domain_gpus, size * groups)
    domains, crossing = _domains(size, groups, stride, domain_gpus)
    nodes, _ = _domains(size, groups, stride, node_gpus)
    per_domain = size / domains
    reachable = min(domain_nics, max(1.0, active * domain_nics / domain_gpus))
    nics = reachable * min(1.0, per_domain / active)
    own = max(1.0, domain_nics / domain_gpus)
    return GroupShape(
        ranks=size,
        domains=domains,
        per_domain=per_domain,
        groups_per_domain=max(1.0, active / per_domain),
        nics=nics,
        flow_nics=min(own, domain_nics / max(1, crossing)),
        nodes=nodes,
        rack_domain=rack,
    )


def _domains(size: int, groups: int, stride: int, domain: int) -> tuple[int, int]:
    """Domains of the widest group, and how many ranks of one domain have their next member outside it."""
    span = size * stride
    if stride % domain == 0 or stride >= domain:
        return size, min(domain, size * groups) if size > 1 else 0
    if domain % span == 0:
        return 1, 0
    if domain % stride == 0 and (span % domain == 0 or groups == stride):
        return ceil(span / domain), stride
    return _counted_domains(size, groups, stride, domain)


def _counted_domains(size: int, groups: int, stride: int, domain: int) -> tuple[int, int]:
    where = RankGroups(size, groups, stride).members() // domain
    changes = np.diff(where, axis=1) != 0
    leaving = np.bincount(where[:, :-1][changes]) if changes.any() else np.zeros(1, dtype=np.int64)
    return int(changes.sum(axis=1).max(initial=0)) + 1, int(leaving.max())
