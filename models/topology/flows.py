"""Flows between endpoints: who sends to whom, how much, relative to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Flows:
    """Source and target endpoint (NIC number: node * nics_per_node + NIC) and relative size of every flow."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    size: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not (self.source.shape == self.target.shape == self.size.shape) or self.source.ndim != 1:
            raise ValueError(f"shapes differ: {self.source.shape}, {self.target.shape}, {self.size.shape}")

    def __len__(self) -> int:
        return int(self.source.size)


def equal_flows(source: NDArray[np.int64], target: NDArray[np.int64]) -> Flows:
    """Flows of size 1, those from an endpoint to itself left out.

    >>> len(equal_flows(np.array([0, 1, 2]), np.array([1, 1, 0])))
    2
    """
    real = source != target
    return Flows(source[real].astype(np.int64), target[real].astype(np.int64), np.ones(int(real.sum())))
