"""Bisection traffic: each half of the endpoints sends to the other half, all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bisection_targets(endpoints: int) -> NDArray[np.int64]:
    """Target of every endpoint: the one half the cluster away, shape (endpoints,).

    An odd last endpoint sends to itself (nothing). Raises ValueError for fewer than two endpoints.

    >>> bisection_targets(6).tolist()
    [3, 4, 5, 0, 1, 2]
    """
    if endpoints < 2:
        raise ValueError(f"a bisection needs two endpoints, given {endpoints}")
    half = endpoints // 2
    own = np.arange(endpoints, dtype=np.int64)
    return np.where(own < half, own + half, np.where(own < 2 * half, own - half, own))
