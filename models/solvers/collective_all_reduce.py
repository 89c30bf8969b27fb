"""Ways to do an all-reduce, as the collective library does them, each as a Cost.

B_ring: ring over NVLink; B_net: NICs of the group in a domain; n ranks, N domains, G = n/N; f = 2(n-1)/n.
Rates below are algorithm bandwidths S/T. Constants: NCCL src/graph/tuning.cc and fits, see collectives.csv.
"""

from __future__ import annotations

from math import floor, inf, log2

from models.solvers.alpha_beta import Cost
from models.solvers.collective_rates import (
    Place,
    extra_step_s,
    network_rate,
    pcie_rate_bytes_per_s,
    slower,
)

CHANNELS_FILL = (
    1.15  # NICs at most this much faster than the channels of NVLSTree are still named as the limit
)
PROTOCOLS = ("simple", "ll128", "ll")


def all_reduce_costs(place: Place) -> list[Cost]:
    """Every candidate the library has for this group: Ring and Tree in three protocols, NVLS, NVLSTree, SHARP."""
    costs = [ring_cost(place, protocol, steps=2, factor=_factor(place)) for protocol in PROTOCOLS]
    if place.shape.ranks > 2:
        costs += tree_costs(place)
    if reduces_in_nvswitch(place):
        costs.append(_nvls(place) if place.shape.domains == 1 else _nvls_tree(place))
    if place.reduction is not None and place.shape.domains > 1 and not place.shape.rack_domain:
        costs += _in_network(place)
    return costs


def _factor(place: Place) -> float:
    ranks = place.shape.ranks
    return 2.0 * (ranks - 1) / ranks


def ring_rate(place: Place) -> tuple[float, str]:
    """Bus rate of a ring, bytes per second, and its limit.

    One domain: NVLink. HGX: min(B_ring, B_net), where on Hopper ring channels do not fill NICs that are nearly
    as fast as NVLink. Several NVL72 racks: a rate of its own.
    """
    constants, shape = place.constants, place.shape
    inside = (place.ring_scale_up_bytes_per_s, "nvlink")
    if shape.domains == 1:
        return inside
    rate, limit = network_rate(place, "ring")
    if constants["mesh_links"] and shape.per_domain > 1:
        inside = (inside[0] * shape.per_domain / (shape.per_domain - 1.0), inside[1])
    if shape.per_domain > 1 and not shape.rack_domain:
        loss = constants["ring_hop_efficiency"]
        onset = constants["ring_hop_onset"] * loss * place.scale_up_bytes_per_s
        rate = max(loss * rate, min(rate, onset))
    if shape.rack_domain and shape.per_domain > 1:
        inside = slower(inside, (constants["rack_ring_rate"], "nvlink"))
    return slower(inside, (rate, limit))


def ring_cost(place: Place, protocol: str, steps: int, factor: float) -> Cost:
    """A ring with `steps` passes (2 all-reduce, 1 gather or scatter) and bus factor `factor`."""
    constants, shape = place.constants, place.shape
    rate, limit = ring_rate(place)
    if protocol == "ll128":
        rate *= constants["ll128_efficiency"]
    elif protocol == "ll":
        rate = min(rate * constants["ll_efficiency"], _ll_rate(place))
    step = _ring_inside_step(place, protocol)
    outside = steps * (shape.domains - 1)
    inside = steps * (shape.ranks - 1) - outside
    latency = (
        constants[f"ring_base_{protocol}"] + inside * step + outside * _ring_network_step(place, protocol)
    )
    return Cost(f"ring/{protocol}", latency, rate / factor, limit)


def _ring_inside_step(place: Place, protocol: str) -> float:
    """One step over NVLink; in a ring that also crosses the network the proxies set a floor (tuning.cc)."""
    constants, shape = place.constants, place.shape
    step = constants[f"ring_step_{protocol}"]
    if shape.domains == 1:
        return step
    if shape.rack_domain:
        return constants["rack_ring_step"] if protocol == "simple" else step
    return max(step, constants["ring_step_network_floor"] * (3.0 if protocol == "simple" else 1.0))


def _ring_network_step(place: Place, protocol: str) -> float:
    """One network step; with one member a node the library counts the tree's step, if that is longer (tuning.cc)."""
    if place.shape.domains == 1:
        return 0.0
    step = place.constants[f"ring_network_step_{protocol}"]
    if place.shape.per_domain == 1:
        step = max(step, place.constants[f"tree_network_step_{protocol}"])
    return step * place.link.step_latency_factor


def _ll_rate(place: Place) -> float:
    domains = place.shape.domains
    if domains == 1:
        return place.constants["ll_rate"]
    return place.constants["ll_rate_two_domains" if domains == 2 else "ll_rate_many_domains"]


def _levels(place: Place) -> int:
    return floor(log2(place.shape.domains))


def _network_step(place: Place, name: str) -> float:
    return place.constants[name] * place.link.step_latency_factor + extra_step_s(place)


def tree_costs(place: Place) -> list[Cost]:
    """Double binary tree over domains, a chain inside each: data crosses every link once up and once down.

    Over several NVL72 racks only the low-latency protocol is offered: published runs show Ring at 512 MiB
    where a tree at full rate would have been four times faster.
    """
    constants, shape = place.constants, place.shape
    busy = (place.ring_scale_up_bytes_per_s, "nvlink")
    if shape.domains > 1:
        busy = slower(busy, network_rate(place, "tree"))
    levels = _levels(place)
    ramp = constants["tree_ramp_per_level"] * max(1, levels)
    costs = []
    for protocol in PROTOCOLS:
        if shape.rack_domain and shape.domains > 1 and protocol != "ll":
            continue
        rate = constants["tree_efficiency"] * busy[0] / 2.0
        if protocol == "ll128":
            rate *= constants["ll128_efficiency"]
        elif protocol == "ll":
            rate = min(busy[0] / constants["ll_tree_divisor"], _ll_rate(place)) / 2.0
        outside = levels * _network_step(place, f"tree_network_step_{protocol}") if levels else 0.0
        chain = (shape.per_domain - 1) * constants[f"tree_step_{protocol}"]
        latency = constants[f"tree_base_{protocol}"] + 2 * (chain + outside)
        fill = 0.0 if protocol == "ll" else ramp
        size = constants["tree_ramp_ll128_size" if protocol == "ll128" else "tree_ramp_size"]
        costs.append(Cost(f"tree/{protocol}", latency, rate, busy[1], fill, size))
    return costs


def nvls_rate(place: Place, ranks: float) -> float:
    """Algorithm bandwidth of a reduction in the NVSwitch over `ranks` GPUs, bytes per second.

    eta B_v / (1 + 1/n): a GPU sends its buffer once for the reduction and 1/n of it for the multicast.
    """
    name = "nvls_rack_efficiency" if place.shape.rack_domain else "nvls_efficiency"
    return place.constants[name] * place.scale_up_bytes_per_s / (1.0 + 1.0 / ranks)


def reduces_in_nvswitch(place: Place) -> bool:
    """Whether the library prefers NVLS in a domain: the switch can, and gains enough over a ring there."""
    members = place.shape.per_domain
    if not place.network.gpu.switch_reduction or members <= 2:
        return False
    if place.shape.rack_domain and place.shape.domains > 2:
        return False  # published runs over 20 racks are rings
    constants = place.constants
    factor = 2.0 * (members - 1) / members
    ratio = constants["nvls_efficiency"] / (1.0 + 1.0 / members) * factor / constants["ring_efficiency"]
    return ratio >= constants["nvls_margin"]


def _nvls_fill(place: Place, ranks: float, levels: int) -> tuple[float, float]:
    constants = place.constants
    if place.shape.rack_domain:
        return constants["nvls_rack_ramp"] * (1 + levels), constants["nvls_rack_ramp_size"]
    fill = constants["nvls_ramp_per_rank"] * ranks * (1 + levels)
    return fill, constants["nvls_ramp_size_per_rank"] * ranks


def _nvls(place: Place) -> Cost:
    ranks = place.shape.ranks
    fill, fill_bytes = _nvls_fill(place, ranks, 0)
    return Cost("nvls", place.constants["nvls_base"], nvls_rate(place, ranks), "nvlink", fill, fill_bytes)


def _nvls_tree(place: Place) -> Cost:
    """NVLS inside, a tree between domains; on two domains each NIC carries the buffer once, else f times.

    Over more than two nodes a channel does less (tuning.cc): `nvls_tree_many_rate` bounds the bus bandwidth.
    """
    constants, shape = place.constants, place.shape
    wire = 1.0 if shape.domains == 2 else _factor(place)
    rate, limit = network_rate(place, "tree")
    inside = nvls_rate(place, shape.per_domain) * constants["nvls_tree_efficiency"]
    bound = slower((rate / wire, limit), (inside, "nvlink"))
    if shape.domains > 2 and not shape.rack_domain:
        most = constants["nvls_tree_many_rate"]
        bound = slower(bound, (most / _factor(place), limit if rate < CHANNELS_FILL * most else "nvlink"))
    levels = _levels(place)
    fill, fill_bytes = _nvls_fill(place, shape.per_domain, levels)
    latency = constants["nvls_base"] + 2 * levels * _network_step(place, "nvls_tree_network_step")
    return Cost("nvls_tree", latency, bound[0], bound[1], fill, fill_bytes)


def _in_network(place: Place) -> list[Cost]:
    """SHARP: every NIC sends its share once up and receives it once; with a ring or NVLS inside the node.

    A reduction tree has fixed links of its own, so neither hashing nor taper touches its rate.
    """
    constants, shape, reduction = place.constants, place.shape, place.reduction
    assert reduction is not None
    pcie = pcie_rate_bytes_per_s(place.network.gpu.pcie_generation, constants)
    nic, nic_limit = slower((reduction.rate_bytes_per_s, "switch"), (pcie, "pcie"))
    outside = (nic * shape.nics, nic_limit)
    members = shape.per_domain
    ring = inf
    if members > 1:
        ring = (
            constants["collnet_efficiency"] * place.ring_scale_up_bytes_per_s * members / (2 * (members - 1))
        )
    latency = constants["collnet_base"] * place.link.step_latency_factor + reduction.latency_s
    fill, fill_bytes = constants["collnet_ramp"], constants["collnet_ramp_size"]
    chunk = reduction.max_message_bytes * shape.nics
    inside = {"collnet": ring}
    if reduces_in_nvswitch(place):
        inside["collnet_nvls"] = nvls_rate(place, members) * constants["nvls_sharp_efficiency"]
    costs = []
    for name, rate in inside.items():
        bound = slower(outside, (rate, "nvlink"))
        costs.append(Cost(name, latency, *bound, fill, fill_bytes, chunk, reduction.chunk_s))
    return costs
