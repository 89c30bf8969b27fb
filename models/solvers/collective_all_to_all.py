"""All-to-all and mixture-of-experts exchanges as Costs; S is what one rank sends in total."""

from __future__ import annotations

from models.solvers.alpha_beta import Cost
from models.solvers.collective_rates import Place, extra_step_s, network_rate, nic_rate, slower
from models.workload.phase import Expert


def all_to_all_costs(place: Place) -> list[Cost]:
    """All-to-all with PXN: messages gather over NVLink on the GPU of the destination's rail, then cross.

    Latency: launch + peers of the own domain + one network step + a share for every further remote peer.
    Network: S (N-1)/N per rank over the group's NICs. NVLink: S (G-1)/G per rank, own domain and gathering
    together. Both run in the same kernel; a share w of the shorter one does not overlap:
    1/b = max(net, nvlink) + w min(net, nvlink).
    """
    constants, shape = place.constants, place.shape
    members, domains = shape.per_domain, shape.domains
    inside = (
        (members - 1) / members / (constants["all_to_all_nvlink_efficiency"] * place.scale_up_bytes_per_s)
    )
    outside, limit = 0.0, "nvlink"
    latency = constants["all_to_all_base"] + (members - 1) * constants["all_to_all_local_step"]
    if domains > 1:
        rate, limit = network_rate(place, "all_to_all")
        rate *= constants["all_to_all_network_efficiency"]
        outside = (domains - 1) / domains * members / rate
        limit = limit if outside >= inside else "nvlink"
        peers = constants["send_recv_step"] + (shape.ranks - members - 1) * constants["all_to_all_step"]
        latency += peers * place.link.step_latency_factor + extra_step_s(place)
    slowness = max(inside, outside) + constants["all_to_all_interference"] * min(inside, outside)
    return [
        Cost(
            "all_to_all_pxn" if domains > 1 and members > 1 else "all_to_all",
            latency,
            1.0 / slowness,
            limit,
            constants["all_to_all_ramp"],
            constants["all_to_all_ramp_size"],
        )
    ]


def expert_domains(domains: int, top_k: int, node_limit: int) -> float:
    """Domains a token's experts touch on average, at most the routing's node limit.

    Without a limit: N (1 - (1 - 1/N)^k), k experts drawn evenly.

    >>> expert_domains(8, 8, 4), round(expert_domains(8, 8, 0), 2), expert_domains(2, 8, 4)
    (4, 5.25, 2)
    """
    if node_limit:
        return min(domains, node_limit, top_k)
    return domains * (1.0 - (1.0 - 1.0 / domains) ** top_k)


def moe_bytes(expert: Expert) -> float:
    """S of a dispatch or combine: tokens x experts x hidden x bytes per element, bytes a rank sends.

    >>> moe_bytes(Expert(128, 8, 7168, 4, 1.0, True))
    7340032.0
    """
    return float(expert.tokens_per_rank * expert.top_k * expert.hidden * expert.bytes_per_element)


def moe_costs(place: Place, expert: Expert) -> list[Cost]:
    """Dispatch or combine of a mixture of experts (DeepEP kernels), rates in terms of S = `moe_bytes`."""
    return [_low_latency(place) if expert.low_latency else _normal(place, expert)]


def logical_rate(place: Place, expert: Expert) -> tuple[float, str]:
    """Bytes per second as DeepEP reports them, one copy of a token per domain incl. the own, and the limit.

    min[ NIC eta N/(N-1), B_v eta m G / (k (G-1)) ]; in one domain B_v eta.
    """
    constants, shape = place.constants, place.shape
    inside = constants["moe_nvlink_efficiency"] * place.scale_up_bytes_per_s
    if shape.domains == 1:
        return inside, "nvlink"
    touched = expert_domains(shape.domains, expert.top_k, expert.node_limit)
    nic, limit = nic_rate(place, "all_to_all", library=False)
    outside = nic * shape.nics_per_rank * constants["moe_network_efficiency"]
    outside *= shape.domains / (shape.domains - 1)
    if shape.per_domain == 1:
        return outside, limit
    gather = touched * shape.per_domain / (expert.top_k * (shape.per_domain - 1))
    return slower((outside, limit), (inside * max(gather, 1.0 / expert.top_k), "nvlink"))


def copies_per_token(place: Place, expert: Expert) -> float:
    """Copies of a token that `logical_rate` counts: domains touched, or ranks in a single domain."""
    shape = place.shape
    if shape.domains == 1:
        return expert_domains(shape.ranks, expert.top_k, 0)
    return expert_domains(shape.domains, expert.top_k, expert.node_limit)


def _normal(place: Place, expert: Expert) -> Cost:
    rate, limit = logical_rate(place, expert)
    latency = place.constants["moe_base"]
    if place.shape.domains > 1:
        latency += extra_step_s(place)
    copies = copies_per_token(place, expert)
    return Cost("moe_normal", latency, rate * expert.top_k / copies, limit)


def _low_latency(place: Place) -> Cost:
    """T = a + max[(1 - 1/N) S / (eta NIC), S / (N eta B_v)]: direct sends, NVLink for the own domain."""
    constants, shape = place.constants, place.shape
    domains = shape.domains
    inside = constants["moe_low_latency_nvlink_efficiency"] * place.scale_up_bytes_per_s * domains
    latency = constants["moe_low_latency_base"]
    bound = (inside, "nvlink")
    if domains > 1:
        nic, limit = nic_rate(place, "all_to_all", library=False)
        outside = nic * shape.nics_per_rank * constants["moe_low_latency_network_efficiency"]
        bound = slower(bound, (outside * domains / (domains - 1), limit))
        latency += 2 * extra_step_s(place) + place.link.host_pair_latency_s
    return Cost("moe_low_latency", latency, *bound)
