"""Rates on a lossless fabric without congestion control: congestion spreads by head-of-line blocking.

Every link is a FIFO. A congested port shares its rate evenly over the *ingress links* that feed it, not over
flows; a FIFO that holds traffic for a congested port runs at the pace of that port, so its other traffic loses
the same fraction although its own path is idle: r_victim = r_hot L_victim / L_hot. Steady state only: buffers
set the delay, not the rates. Closed form it reproduces: victim = min(C / (k + 1), C / (P k)) for k hot flows on
the victim's link and P ingress links into the hot port (checked against ns-3 PFC and BookSim credits).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.solvers.max_min import link_loads

Floats = NDArray[np.float64]
GROWTHS = (0.3, 0.1, 0.03, 0.01, 0.003)  # how much faster flows try to be, stage by stage
REPEATS = 40
WARM_GROWTHS = (0.1, 0.01, 0.003)  # when the rates of a similar problem are given


def head_of_line_rates(
    capacity: Floats,
    offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    top: Floats | None = None,
    near: Floats | None = None,
) -> Floats:
    """Rate of every flow, bytes/s, shape (flows,), when all are backlogged at the source.

    Incidence as in `max_min_rates`, links in path order; top (flows,): highest rate of a flow, by default the
    capacity of its first link; near (flows,): rates of a similar problem to start from. A shared NIC serves its
    flows in turn and stops as a whole when paused. Exact to about
    0.3 % (the last growth stage). A flow without links raises ValueError.

    >>> c = np.full(4, 100.0)  # hosts 0, 1 feed link 2; host 0's flow goes on to the slow port 3
    >>> c[3] = 10.0
    >>> r = head_of_line_rates(c, np.array([0, 3, 5]), np.array([0, 2, 3, 1, 2], dtype=np.int32))
    >>> [round(float(x), 1) for x in r]
    [10.0, 10.0]
    """
    from models.solvers.head_of_line_kernels import sweeps

    flows, number = offsets.size - 1, capacity.size
    if flows == 0:
        return np.empty(0)
    if (np.diff(offsets) < 1).any():
        raise ValueError("a flow without links has no rate")
    heads = np.zeros(links.size, dtype=np.bool_)
    heads[offsets[:-1]] = True
    before = np.roll(links, 1).astype(np.int64)
    before[heads] = number + np.arange(flows)  # the ingress of a first hop is the flow itself
    codes, pair = np.unique(links.astype(np.int64) * (number + flows) + before, return_inverse=True)
    link_of, ingress_of = np.divmod(codes, number + flows)
    first_pair = np.searchsorted(link_of, np.arange(number + 1)).astype(np.int64)
    inner = np.flatnonzero(ingress_of < number)
    inner = inner[np.argsort(ingress_of[inner], kind="stable")]
    out_start = np.searchsorted(ingress_of[inner], np.arange(number + 1)).astype(np.int64)
    order = _sinks_first(ingress_of[inner], link_of[inner], np.unique(links).astype(np.int64), number)
    highest = capacity[links[offsets[:-1]]] if top is None else top
    rates = (highest if near is None else near).astype(np.float64).copy()
    growths = np.array(GROWTHS if near is None else WARM_GROWTHS)
    mean = sweeps(
        capacity, offsets, pair.astype(np.int64), first_pair, order, out_start, inner.astype(np.int64),
        highest.astype(np.float64), growths, REPEATS, rates,
    )  # fmt: skip
    load = link_loads(offsets, links, mean, number)
    # the mean over growth steps may exceed a capacity by the last step
    over = np.maximum(1.0, np.where(capacity > 0, load / np.maximum(capacity, 1e-300), 1.0))
    return np.asarray(mean / np.maximum.reduceat(over[links], offsets[:-1]), dtype=np.float64)


def rates_beside_acknowledgements(
    capacity: Floats,
    offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    ack_offsets: NDArray[np.int64],
    ack_links: NDArray[np.int32],
    ack_fraction: float,
    *,
    head_of_line: bool,
) -> Floats:
    """Rates of flows whose acknowledgements take `ack_fraction` of their rate on other links, with priority.

    Repeats: rates on what the acknowledgements leave, until they settle (six rounds; the fraction is small).
    """
    from models.solvers.max_min import max_min_rates

    rates = np.zeros(offsets.size - 1)
    for _ in range(6):
        taken = link_loads(ack_offsets, ack_links, rates * ack_fraction, capacity.size)
        left = np.maximum(capacity - taken, 0.0)
        solved = (
            head_of_line_rates(left, offsets, links) if head_of_line else max_min_rates(left, offsets, links)
        )
        rates = solved if not rates.any() else 0.5 * (rates + solved)
    return rates


def _sinks_first(
    upstream: NDArray[np.int64], downstream: NDArray[np.int64], used: NDArray[np.int64], number: int
) -> NDArray[np.int64]:
    """Links ordered so that a link comes after all links its traffic goes on to; cycles are cut after 16 hops."""
    distance = np.zeros(number, dtype=np.int64)
    for _ in range(16):
        further = distance.copy()
        np.maximum.at(further, upstream, distance[downstream] + 1)
        if (further == distance).all():
            break
        distance = further
    return used[np.argsort(distance[used], kind="stable")]
