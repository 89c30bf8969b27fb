"""Seeded, correlated draws: what is uncertain in common moves together, what is not does not.

Prices: one draw per vendor and part, shared by every candidate that buys there (a discount moves all of a
vendor's lines; the same server costs the same under each fabric). Times: a model error common to all fabrics and
an own one per candidate. Published InfiniBand/RoCE pairs of like set-up differ by 4 % at most while sites of the
same set-up differ by 10 % and more, so most of the error is common.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Draws = NDArray[np.float64]

COMMON_MODEL_ERROR = 0.9  # correlation of the time errors of two fabrics; 1 - (0.03 / 0.10)^2
DRAWS_DEFAULT = 4096


def within_band(u: Draws, low: float | Draws, mid: float | Draws, high: float | Draws) -> Draws:
    """Quantile at `u` of a distribution on [low, high] whose median is `mid`: two triangles that peak there.

    A mid price is what half of the quotes are below; a plain triangular distribution would move the median
    away from it wherever the band is lopsided.

    >>> within_band(np.array([0.0, 0.5, 0.999999]), 1.0, 2.0, 6.0).round(1).tolist()
    [1.0, 2.0, 6.0]
    """
    below = low + (np.asarray(mid) - low) * np.sqrt(2.0 * np.minimum(u, 0.5))
    above = high - (np.asarray(high) - mid) * np.sqrt(2.0 * np.minimum(1.0 - u, 0.5))
    return np.where(u < 0.5, below, above)


def normal_quantile(u: Draws) -> Draws:
    """Standard normal quantile of `u`, kept finite at the ends."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(u, 1e-9, 1 - 1e-9)), dtype=np.float64)


def normal_share(z: Draws) -> Draws:
    """Standard normal distribution function."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z), dtype=np.float64)


class DrawSource:
    """Columns of one scrambled Sobol sequence, handed out by name in the order given.

    Same seed, same place in the order, same numbers: what a thing is called does not change its draws.
    """

    def __init__(self, names: list[str], draws: int, seed: int) -> None:
        from scipy.stats import qmc

        unique = list(dict.fromkeys(names))
        power = max(4, int(np.ceil(np.log2(max(draws, 16)))))
        mixed = crc32(str(len(unique)).encode()) ^ seed
        sequence = qmc.Sobol(d=max(1, len(unique)), scramble=True, rng=np.random.default_rng(mixed))
        table = sequence.random_base2(power)[:draws]
        self._columns = {name: table[:, i] for i, name in enumerate(unique)}
        self.draws = draws

    def __getitem__(self, name: str) -> Draws:
        return self._columns[name]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def fixed(self, name: str, value: float) -> DrawSource:
        """The same draws with one column held at a value (for shares of variance)."""
        other = object.__new__(DrawSource)
        other._columns = dict(self._columns) | {name: np.full(self.draws, value)}
        other.draws = self.draws
        return other


def correlated(common: Draws, own: Draws, correlation: float = COMMON_MODEL_ERROR) -> Draws:
    """Uniform draws whose normal scores correlate by `correlation` with the common ones."""
    z = np.sqrt(correlation) * normal_quantile(common) + np.sqrt(1.0 - correlation) * normal_quantile(own)
    return normal_share(z)


def quantiles(values: Draws, shares: tuple[float, ...] = (0.05, 0.5, 0.95)) -> tuple[float, ...]:
    """Quantiles of draws.

    >>> quantiles(np.arange(101.0))
    (5.0, 50.0, 95.0)
    """
    return tuple(float(q) for q in np.quantile(values, shares))


def share_best(values: Mapping[str, Draws]) -> dict[str, float]:
    """Probability of being the highest, ties split evenly.

    >>> share_best({"a": np.array([1.0, 2.0]), "b": np.array([1.0, 0.0])})
    {'a': 0.75, 'b': 0.25}
    """
    table = np.stack(list(values.values()))
    top = np.isclose(table, table.max(axis=0), rtol=1e-12, atol=0)
    shares = (top / top.sum(axis=0)).mean(axis=1)
    return {name: float(share) for name, share in zip(values, shares, strict=True)}
