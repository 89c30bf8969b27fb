"""All-gather, reduce-scatter, broadcast, reduce and send/recv as Costs."""

from __future__ import annotations

from math import floor, log2

from models.solvers.alpha_beta import Cost
from models.solvers.collective_all_reduce import PROTOCOLS, ring_cost, ring_rate
from models.solvers.collective_rates import Place, extra_step_s, network_rate, nic_rate, slower


def gather_costs(place: Place) -> list[Cost]:
    """All-gather or reduce-scatter: Ring with half the steps of an all-reduce; PAT with one GPU a node."""
    ranks = place.shape.ranks
    factor = (ranks - 1) / ranks
    costs = [ring_cost(place, protocol, steps=1, factor=factor) for protocol in PROTOCOLS]
    if place.shape.per_domain == 1 and ranks > 2:
        costs.append(_pat(place, factor))
    return costs


def _pat(place: Place, factor: float) -> Cost:
    """Parallel aggregated trees, NCCL tuning.cc: floor(log2 N) NET / 3.5 + 2.8 N us, 0.75 of the ring's rate."""
    constants, ranks = place.constants, place.shape.ranks
    rate, limit = network_rate(place, "tree")
    step = constants["pat_network_step"] * place.link.step_latency_factor + extra_step_s(place)
    latency = constants["pat_base"] + floor(log2(ranks)) * step + constants["pat_step"] * ranks
    return Cost("pat", latency, constants["pat_efficiency"] * rate / factor, limit)


def broadcast_costs(place: Place) -> list[Cost]:
    """Broadcast or reduce: a pipelined chain through all ranks, min(B_ring, B_net) of the buffer."""
    return [ring_cost(place, protocol, steps=1, factor=1.0) for protocol in PROTOCOLS]


def send_recv_costs(place: Place) -> list[Cost]:
    """Every rank sends one message to the next of its group, all at once.

    Inside a domain over NVLink; a rank whose neighbour sits in another domain has its own NIC's share.
    """
    constants, shape = place.constants, place.shape
    latency = constants["send_recv_base"]
    bound = (ring_rate(place)[0] if shape.domains == 1 else place.ring_scale_up_bytes_per_s, "nvlink")
    if shape.domains > 1:
        nic, limit = nic_rate(place, "point_to_point")
        bound = slower(bound, (nic * shape.flow_nics, limit))
        latency += constants["send_recv_step"] * place.link.step_latency_factor + extra_step_s(place)
    return [Cost("send_recv", latency, *bound, constants["send_recv_ramp"], constants["send_recv_ramp_size"])]
