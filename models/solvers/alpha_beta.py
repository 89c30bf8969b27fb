"""Time of a message as latency, rate and pipeline fill; the textbook costs of collectives.

    T(S) = alpha + S / b + F S / (S + S_f) + chunks beyond the first x chunk cost

alpha: latency of the steps, b: algorithm bandwidth, F S / (S + S_f): a pipeline fill that saturates at F.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log2

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cost:
    """One way of doing an operation: its terms, and what bounds its rate."""

    algorithm: str
    latency_s: float
    rate_bytes_per_s: float
    limit: str  # nvlink | nic | pcie | fabric | switch | cpu
    ramp_s: float = 0.0
    ramp_bytes: float = 1.0
    chunk_bytes: float = inf
    chunk_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.rate_bytes_per_s > 0 or self.latency_s < 0 or self.ramp_s < 0:
            raise ValueError(f"{self.algorithm}: rate {self.rate_bytes_per_s}, latency {self.latency_s}")

    @property
    def name(self) -> str:
        """The algorithm without its protocol."""
        return self.algorithm.split("/")[0]


def terms_s(costs: Sequence[Cost], message_bytes: Array) -> tuple[Array, Array, Array]:
    """Latency, transfer and ramp of every cost for every size, each of shape (costs, sizes), seconds.

    A message of zero bytes has latency only. Chunk costs count as latency.
    """
    size = np.asarray(message_bytes, dtype=np.float64)[None, :]
    columns = np.array(
        [(c.latency_s, c.rate_bytes_per_s, c.ramp_s, c.ramp_bytes, c.chunk_bytes, c.chunk_s) for c in costs]
    )
    alpha, rate, ramp, ramp_bytes, chunk, chunk_s = (column[:, None] for column in columns.T)
    more = np.maximum(np.ceil(size / chunk) - 1.0, 0.0)
    latency = alpha + more * chunk_s
    return latency, size / rate, ramp * size / (size + ramp_bytes)


def times_s(costs: Sequence[Cost], message_bytes: Array) -> Array:
    """Time of every cost for every size, shape (costs, sizes), seconds.

    >>> cost = Cost("ring", latency_s=1e-5, rate_bytes_per_s=1e9, limit="nic")
    >>> times_s([cost], np.array([0.0, 1e6])).round(6).tolist()
    [[1e-05, 0.00101]]
    """
    latency, transfer, ramp = terms_s(costs, message_bytes)
    return latency + transfer + ramp


def ring_all_reduce_s(ranks: int, step_s: float, rate_bytes_per_s: float, message_bytes: float) -> float:
    """Ring all-reduce, 2(n-1) a + 2(n-1)/n S/B (Thakur, Rabenseifner, Gropp 2005).

    >>> round(ring_all_reduce_s(8, 0.0, 1.0, 4.0), 3)
    7.0
    """
    return 2 * (ranks - 1) * (step_s + message_bytes / ranks / rate_bytes_per_s)


def tree_all_reduce_s(ranks: int, step_s: float, rate_bytes_per_s: float, message_bytes: float) -> float:
    """Double binary tree all-reduce, 2 log2(n) a + 2 S/B (Sanders, Speck, Traeff 2009).

    >>> tree_all_reduce_s(8, 1.0, 1.0, 0.0)
    6.0
    """
    return 2 * log2(max(1, ranks)) * step_s + 2 * message_bytes / rate_bytes_per_s


def bruck_all_gather_s(ranks: int, step_s: float, rate_bytes_per_s: float, message_bytes: float) -> float:
    """Bruck (PAT-like) all-gather of S gathered bytes, ceil(log2 n) a + (n-1)/n S/B.

    >>> bruck_all_gather_s(5, 1.0, 1.0, 0.0)
    3.0
    """
    steps = ceil(log2(ranks)) if ranks > 1 else 0
    return steps * step_s + (ranks - 1) / ranks * message_bytes / rate_bytes_per_s


def goodput_under_loss_fraction(loss_fraction: float, packets_in_flight: float, go_back: bool) -> float:
    """Share of the rate that is new data when packets are lost.

    Go-back-N resends a window W per loss, (1-p) / (1-p + p W); selective repeat loses 1-p only.

    >>> [round(goodput_under_loss_fraction(p, 122, True), 3) for p in (0.0, 1e-5, 1e-4, 1e-3, 1e-2)]
    [1.0, 0.999, 0.988, 0.891, 0.448]
    """
    kept = 1.0 - loss_fraction
    return kept / (kept + loss_fraction * packets_in_flight) if go_back else kept
