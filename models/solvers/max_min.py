"""Which rate each flow gets: weighted max-min fairness over a sparse incidence of flows and links.

Rates are max-min fair when no flow can get more without taking from one that has no more per unit of weight.
Progressive filling: raise all levels (rate / weight) together, freeze the flows of a link when it is full.
Source: Bertsekas, Gallager, Data Networks (1992), section 6.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Completion:
    """End of every flow (s), its rate just after it starts (bytes/s), how often rates were solved."""

    finish_s: Floats
    first_rate_bytes_per_s: Floats
    solves: int


def max_min_rates(
    capacity: Floats, offsets: NDArray[np.int64], links: NDArray[np.int32], weights: Floats | None = None
) -> Floats:
    """Weighted max-min rate of every flow, bytes/s, shape (flows,).

    capacity (links,) bytes/s; links[offsets[i]:offsets[i + 1]] are the links of flow i; weights (flows,), 1 by
    default. A flow without links gets an infinite rate. Raises ValueError when the arrays do not fit.

    >>> max_min_rates(np.array([10.0, 4.0]), np.array([0, 1, 3]), np.array([0, 0, 1], dtype=np.int32)).tolist()
    [6.0, 4.0]
    """
    from models.solvers.max_min_kernels import levels

    weights = _checked(capacity, offsets, links, weights)
    return np.asarray(levels(capacity, offsets, links, weights) * weights, dtype=np.float64)


def link_loads(offsets: NDArray[np.int64], links: NDArray[np.int32], rates: Floats, number: int) -> Floats:
    """Sum of the rates on every link, shape (number,)."""
    from models.solvers.max_min_kernels import loads

    return np.asarray(loads(offsets, links, rates, number), dtype=np.float64)


def flow_completion(
    capacity: Floats,
    offsets: NDArray[np.int64],
    links: NDArray[np.int32],
    size_bytes: Floats,
    *,
    weights: Floats | None = None,
    start_s: Floats | None = None,
    latency_s: Floats | None = None,
    together_fraction: float = 0.0,
) -> Completion:
    """Completions of flows of `size_bytes` that share links max-min fairly, event by event.

    A flow takes no bandwidth during its latency, as in SimGrid's CM02 model (which also weighs flows by
    1 / latency: pass weights = 1 / latency_s to reproduce it); finish = start + latency + transfer.
    Flows of one size, weight and start need a single solve: the fastest end first, and what a flow leaves behind
    only helps flows at or above its level. Raises ValueError when arrays do not fit or a path has no capacity.
    """
    from models.solvers.max_min_kernels import completions

    weights = _checked(capacity, offsets, links, weights)
    flows = offsets.size - 1
    start = np.zeros(flows) if start_s is None else start_s.astype(np.float64)
    if latency_s is not None:
        start = start + latency_s
    if flows and not np.ptp(start) and not np.ptp(size_bytes / weights):
        rates = max_min_rates(capacity, offsets, links, weights)
        done = Completion(
            start + np.where(size_bytes > 0, size_bytes, 0.0) / _positive(rates, size_bytes), rates, 1
        )
    else:
        finish, first, solves = completions(
            capacity, offsets, links, weights, size_bytes.astype(np.float64), start, together_fraction
        )
        done = Completion(finish, first, int(solves))
    if not np.isfinite(done.finish_s).all():
        raise ValueError(
            f"flow {int(np.argmax(~np.isfinite(done.finish_s)))} crosses a link without capacity"
        )
    return done


def _positive(rates: Floats, size_bytes: Floats) -> Floats:
    if ((rates <= 0) & (size_bytes > 0)).any():
        raise ValueError(f"flow {int(np.argmin(rates))} crosses a link without capacity")
    return np.where(rates > 0, rates, 1.0)


def _checked(
    capacity: Floats, offsets: NDArray[np.int64], links: NDArray[np.int32], weights: Floats | None
) -> Floats:
    flows = offsets.size - 1
    if flows < 0 or offsets[0] != 0 or offsets[-1] != links.size:
        raise ValueError(
            f"offsets end at {offsets[-1] if offsets.size else None}, there are {links.size} entries"
        )
    if links.size and (links.min() < 0 or links.max() >= capacity.size):
        raise ValueError(f"link numbers {links.min()} .. {links.max()} do not fit {capacity.size} links")
    if weights is None:
        return np.ones(flows)
    if weights.shape != (flows,) or not (weights > 0).all():
        raise ValueError("weights must be positive, one per flow")
    return weights.astype(np.float64)
