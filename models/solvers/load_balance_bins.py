"""Balls in bins: what hashing flows on equal links costs.

n flows, each of demand 1 / k of a link, are hashed on m links; X is the number on a link. Aggregate utilisation
E[min(X, k)] m / n, slowest flow E[min(1, k / max X)]. Exact for one set of bins: given their sum, independent
Poisson counts are multinomial. Several sets (leaves, both directions, tiers) are taken as independent.
Source: Raab, Steger, "Balls into bins", RANDOM 1998; the conditioning is standard.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special  # scipy.stats would add half a second to a first answer

EXACT_BALLS_MAX = 5000  # beyond, counts are taken as independent Poisson

Floats = NDArray[np.float64]


@lru_cache(maxsize=4096)
def most_loaded_cdf(balls: int, bins: int, highest: int) -> tuple[float, ...]:
    """P(max X <= x) for x = 0 .. highest.

    >>> [round(p, 3) for p in most_loaded_cdf(2, 2, 2)]
    [0.0, 0.5, 1.0]
    """
    if bins <= 0 or balls <= 0:
        return (1.0,) * (highest + 1)
    mean = balls / bins
    x = np.arange(highest + 1)
    if balls > EXACT_BALLS_MAX:
        return tuple(float(p) for p in special.pdtr(x, mean) ** bins)
    total = float(_poisson(np.array(balls), balls))
    out = np.zeros(highest + 1)
    weights = _poisson(np.arange(min(highest, balls) + 1), mean)
    for most in range(highest + 1):
        if most >= balls:
            out[most:] = 1.0
            break
        if most * bins < balls:
            continue
        # indices wrap round at `size`: what falls on `balls` from so far beyond is below rounding
        beyond = balls + int(14.0 * np.sqrt(balls)) + 64
        size = 1 << (min(most * bins, beyond) + 1).bit_length()
        sums = np.fft.irfft(np.fft.rfft(weights[: most + 1], size) ** bins, size)
        out[most] = min(1.0, max(0.0, float(sums[balls]) / total))
        if out[most] > 1.0 - 1e-13:
            out[most:] = 1.0
            break
    return tuple(float(p) for p in np.maximum.accumulate(out))


def slowest_share(sets: list[tuple[int, int]], flows_per_link: float) -> tuple[float, float, float]:
    """E[min(1, k / max X)] over all sets of (balls, bins) together, with its 5th and 95th percentile.

    flows_per_link: k, how many flows fill one link.

    >>> round(slowest_share([(32, 32)], 1.0)[0], 2), round(slowest_share([(32 * 8, 32)], 8.0)[0], 2)
    (0.3, 0.56)
    """
    busy = [(int(balls), int(bins)) for balls, bins in sets if balls > 0]
    if not busy:
        return 1.0, 1.0, 1.0
    mean = max(balls / bins for balls, bins in busy)
    highest = int(min(max(b for b, _ in busy), mean + 12.0 * np.sqrt(mean) + 30))
    # equal sets share one distribution: raise it to their number
    cdf = np.ones(highest + 1)
    for (balls, bins), count in _counted(busy).items():
        cdf *= np.array(most_loaded_cdf(balls, bins, highest)) ** count
    cdf[-1] = 1.0
    probability = np.diff(cdf, prepend=0.0)
    share = np.minimum(1.0, flows_per_link / np.maximum(np.arange(highest + 1), 1e-9))
    low, high = (float(share[int(np.searchsorted(cdf, p))]) for p in (0.95, 0.05))
    return float(probability @ share), low, high


def mean_share(sets: list[tuple[float, int]], flows_per_link: float) -> float:
    """Expected share of a flow that meets one link of each kind of set: E[min(1, k / max over its links X)].

    `sets` holds one (balls, bins) per tier crossed; with one it is the aggregate utilisation.

    >>> round(mean_share([(32, 32)], 1.0), 2), round(mean_share([(64 * 4, 64)], 4.0), 2)
    (0.64, 0.81)
    """
    busy = [(balls, bins) for balls, bins in sets if balls > 0]
    if not busy:
        return 1.0
    mean = max(balls / bins for balls, bins in busy)
    highest = int(mean + 12.0 * np.sqrt(mean) + 30)
    x = np.arange(highest + 1)
    cdf = np.ones(highest + 1)
    for balls, bins in busy:
        # the others on a flow's own link: binomial; itself comes on top
        others = max(round(balls) - 1, 0)
        cdf *= np.concatenate([[0.0], special.bdtr(np.minimum(x[:-1], others), others, 1.0 / bins)])
    probability = np.diff(cdf, prepend=0.0)
    return float(probability @ np.minimum(1.0, flows_per_link / np.maximum(x, 1e-9)))


def _poisson(x: NDArray[np.int64], mean: float) -> Floats:
    return np.asarray(np.exp(x * np.log(mean) - mean - special.gammaln(x + 1.0)), dtype=np.float64)


def _counted(sets: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    counted: dict[tuple[int, int], int] = {}
    for item in sets:
        counted[item] = counted.get(item, 0) + 1
    return counted
