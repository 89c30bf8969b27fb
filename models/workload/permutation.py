"""Permutation traffic: every endpoint sends to one other and receives from one other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def permutation_targets(endpoints: int, pattern: str, seed: int, leaf_size: int = 1) -> NDArray[np.int64]:
    """Target of every endpoint, shape (endpoints,).

    random: one seeded random cycle (nobody sends to itself); leaf_shift: to the same place under the next leaf
    of `leaf_size` endpoints; bit_reversal: address bits reversed in the largest power of two, the rest random.
    Raises ValueError for fewer than two endpoints or an unknown pattern.

    >>> permutation_targets(8, "bit_reversal", 0).tolist()
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    if endpoints < 2:
        raise ValueError(f"a permutation needs two endpoints, given {endpoints}")
    own = np.arange(endpoints, dtype=np.int64)
    if pattern == "leaf_shift":
        return (own + min(leaf_size, endpoints - 1)) % endpoints
    if pattern not in {"random", "bit_reversal"}:
        raise ValueError(f"pattern {pattern!r}; allowed random, leaf_shift, bit_reversal")
    bits = endpoints.bit_length() - 1
    whole = 1 << bits if pattern == "bit_reversal" else 0
    target = own.copy()
    if whole:
        target[:whole] = sum(((own[:whole] >> bit) & 1) << (bits - 1 - bit) for bit in range(bits))
    order = np.random.default_rng((seed, 0x9E12)).permutation(own[whole:])
    target[order] = np.roll(order, -1)
    return target
