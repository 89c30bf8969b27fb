"""Time of a collective: the fastest of the library's algorithms for every size, and what binds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.solvers.alpha_beta import Array, Cost, terms_s
from models.solvers.collective_all_reduce import all_reduce_costs
from models.solvers.collective_all_to_all import all_to_all_costs, copies_per_token, moe_costs
from models.solvers.collective_bands import band_factors, hardware_class
from models.solvers.collective_constants import Constants, constants
from models.solvers.collective_gather import broadcast_costs, gather_costs, send_recv_costs
from models.solvers.collective_groups import group_shape
from models.solvers.collective_rates import Balances, Place, Reduction
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Metric, Phase, PhaseTime, bus_bandwidth_factor

COLLECTIVES = frozenset(
    {
        "all_reduce",
        "reduce_scatter",
        "all_gather",
        "all_to_all",
        "broadcast",
        "reduce",
        "send_recv",
        "moe_dispatch",
        "moe_combine",
    }
)
UNMEASURED = ("collnet_nvls",)  # no published run: taken when asked for, never by itself
LEFT_OUT = (
    "SHARP with NVLS in the node is left out: only vendor figures exist (480-500 GB/s on 8-GPU nodes), the published run "
    "with SHARP reached 387 GB/s; algorithm: collnet_nvls takes it"
)
UNPUBLISHED_SHARP_FACTOR = 1.3  # 500 GB/s, a vendor figure, over the 387 GB/s of the one published SHARP run
ALIASES = {"sharp": ("collnet", "collnet_nvls"), "nvls": ("nvls", "nvls_tree")}


@dataclass(frozen=True)
class CollectiveTimes:
    """The fastest algorithm for each size; arrays of shape (sizes,)."""

    time_s: Array
    choice: NDArray[np.int64]  # index into `costs`
    limit: tuple[str, ...]
    costs: tuple[Cost, ...]
    notes: tuple[str, ...]


def place(
    phase: Phase,
    network: Network,
    link: Link,
    balance: Balances,
    reduction: Reduction | None = None,
    library: Constants | None = None,
) -> Place:
    """Everything the algorithms see of a phase: where its groups sit, and the rates there."""
    return Place(
        group_shape(phase.groups, network),
        library or constants(network.gpu.generation),
        network,
        link,
        balance,
        reduction,
    )


def collective_costs(phase: Phase, where: Place) -> tuple[list[Cost], tuple[str, ...]]:
    """The algorithms the library may use for the phase, and notes.

    `phase.algorithm` restricts them ("ring", "ring/ll128", "ring|tree", "nvls", ...); where it names one that
    does not exist here, all remain and a note says so. Raises ValueError for an operation that is no collective.
    """
    operation = phase.operation
    if operation not in COLLECTIVES:
        raise ValueError(f"phase {phase.name}: {operation} is no collective")
    if where.shape.ranks == 1:
        return [Cost("none", 0.0, np.inf, "none")], ()
    if operation == "all_reduce":
        costs = all_reduce_costs(where)
    elif operation in {"all_gather", "reduce_scatter"}:
        costs = gather_costs(where)
    elif operation in {"broadcast", "reduce"}:
        costs = broadcast_costs(where)
    elif operation == "send_recv":
        costs = send_recv_costs(where)
    elif operation == "all_to_all":
        costs = all_to_all_costs(where)
    else:
        if phase.expert is None:
            raise ValueError(f"phase {phase.name}: {operation} needs tokens, experts and hidden size")
        costs = moe_costs(where, phase.expert)
    notes = where.reduction.notes if where.reduction is not None and operation == "all_reduce" else ()
    if phase.algorithm == "auto":
        measured = [cost for cost in costs if cost.name not in UNMEASURED]
        return measured, notes if len(measured) == len(costs) else (*notes, LEFT_OUT)
    wanted = [name for part in phase.algorithm.split("|") for name in ALIASES.get(part, (part,))]
    chosen = [cost for cost in costs if cost.name in wanted or cost.algorithm in wanted]
    if chosen:
        return chosen, notes
    offered = ", ".join(dict.fromkeys(cost.name for cost in costs))
    return costs, (*notes, f"{phase.algorithm} does not exist for this group; used the fastest of {offered}")


def fastest(costs: Sequence[Cost], message_bytes: Array, notes: tuple[str, ...] = ()) -> CollectiveTimes:
    """The fastest of `costs` for every size, with the term that takes most of its time as the limit.

    >>> quick = Cost("tree", 1e-6, 1e9, "nic")
    >>> wide = Cost("ring", 1e-4, 4e9, "nvlink")
    >>> fastest([quick, wide], np.array([0.0, 1e9])).limit
    ('latency', 'nvlink')
    """
    latency, transfer, ramp = terms_s(costs, message_bytes)
    total = latency + transfer + ramp
    choice = total.argmin(axis=0)
    column = np.arange(total.shape[1])
    terms = np.stack([latency[choice, column], ramp[choice, column], transfer[choice, column]])
    largest = terms.argmax(axis=0)
    limit = tuple(
        costs[i].limit if term == 2 else ("latency", "ramp")[term]
        for i, term in zip(choice.tolist(), largest.tolist(), strict=True)
    )
    return CollectiveTimes(total[choice, column], choice, limit, tuple(costs), notes)


def collective_times(
    phase: Phase,
    message_bytes: Array,
    network: Network,
    link: Link,
    balance: Balances,
    reduction: Reduction | None = None,
    library: Constants | None = None,
) -> CollectiveTimes:
    """Times of a phase's operation for many sizes (bytes, shape (sizes,)), its own size set aside."""
    where = place(phase, network, link, balance, reduction, library)
    costs, notes = collective_costs(phase, where)
    return fastest(costs, np.asarray(message_bytes, dtype=np.float64), notes)


def collective_time(
    phase: Phase,
    network: Network,
    link: Link,
    balance: Balances,
    reduction: Reduction | None = None,
    library: Constants | None = None,
) -> PhaseTime:
    """Time of one execution of a collective phase, all its groups at once.

    balance(pattern) gives the share of the NIC's rate the fabric leaves to a traffic pattern; it is asked only
    for the patterns the candidates need, and not at all inside a scale-up domain. `reduction` is the
    in-network reduction the phase holds, None without. The band is that of `collective_bands`.

    Raises ValueError for an operation that is no collective, and for more ranks than the cluster has.
    """
    sizes = (phase.message_bytes,)
    return collective_phase_times(phase, sizes, network, link, balance, reduction, library)[0]


def collective_phase_times(
    phase: Phase,
    message_bytes: Sequence[float],
    network: Network,
    link: Link,
    balance: Balances,
    reduction: Reduction | None = None,
    library: Constants | None = None,
) -> list[PhaseTime]:
    """`collective_time` at many message sizes, all else of the phase equal: the same figures to the last bit.

    What the algorithms cost a byte does not depend on the size, so it is worked out once.
    """
    where = place(phase, network, link, balance, reduction, library)
    costs, notes = collective_costs(phase, where)
    sizes = np.asarray(message_bytes, dtype=np.float64)
    found = fastest(costs, sizes, notes)
    hardware = hardware_class(network.gpu.id, link.rate_bytes_per_s, where.shape.domains > 1)
    shared = any(found.costs[i].name.startswith("collnet") for i in set(found.choice.tolist()))
    without = _times_without_reduction(phase, where, sizes) if shared else None
    times = []
    for i, size in enumerate(message_bytes):
        cost, time_s = found.costs[int(found.choice[i])], float(found.time_s[i])
        low, high = band_factors(phase.operation, size, hardware)
        metrics: tuple[Metric, ...] = ()
        said = notes
        if without is not None and cost.name.startswith("collnet"):
            metrics, said = _saving(float(without[i]), time_s), notes + _published_caution(cost)
        if cost.name == "collnet_nvls":
            high = max(high, UNPUBLISHED_SHARP_FACTOR)
        times.append(
            PhaseTime(
                time_s=time_s,
                low_s=time_s * low,
                high_s=time_s * high,
                algorithm=cost.algorithm,
                binding_limit=found.limit[i],
                bus_bandwidth_bytes_per_s=bus_bandwidth(phase, where, time_s, size),
                metrics=metrics,
                notes=said,
            )
        )
    return times


def bus_bandwidth(phase: Phase, where: Place, time_s: float, message_bytes: float) -> float:
    """nccl-tests bus bandwidth of a time; for mixture-of-experts kernels the logical rate DeepEP reports."""
    if time_s <= 0.0:
        return 0.0
    if phase.operation in {"moe_dispatch", "moe_combine"} and phase.expert is not None:
        share = copies_per_token(where, phase.expert) / phase.expert.top_k
        return message_bytes * share / time_s
    return bus_bandwidth_factor(phase.operation, where.shape.ranks) * message_bytes / time_s


def _times_without_reduction(phase: Phase, where: Place, message_bytes: Array) -> Array:
    """Times of the best way without an in-network reduction, s, shape (sizes,)."""
    costs, _ = collective_costs(replace(phase, algorithm="auto"), replace(where, reduction=None))
    return fastest(costs, message_bytes).time_s


def _saving(without_s: float, time_s: float) -> tuple[Metric, ...]:
    """The saving of an in-network reduction over the best way without it."""
    return (
        Metric("time_without_in_network_reduction", without_s, "s", source="collective model"),
        Metric("in_network_reduction_saving", without_s - time_s, "s", source="collective model"),
    )


def _published_caution(cost: Cost) -> tuple[str, ...]:
    if cost.name in UNMEASURED:
        return (
            "SHARP with NVLS in the node rests on vendor figures (480-500 GB/s bus bandwidth on 8-GPU nodes); "
            "the one published 8-node run with SHARP reached 387 GB/s",
        )
    return ("SHARP with a ring in the node: fitted on one published 8-node run",)
