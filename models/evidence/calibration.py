"""The model held to a user's own log: two parameters on large messages, interpolated ratios below.

Two figures per operation are identifiable from large rows, T = alpha + S / b. Below them the ratio of measured
to modelled time is interpolated in log size between the user's points. alpha does not carry over to another
number of nodes; scale it with the model's own latency there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.solvers.alpha_beta import Array
from models.units import MIB

LARGE_BYTES = 256.0 * MIB


@dataclass(frozen=True)
class Calibration:
    """A log's fit: latency and algorithm bandwidth of large messages, measured / modelled time of all points."""

    latency_s: float
    rate_bytes_per_s: float
    message_bytes: tuple[float, ...]
    ratios: tuple[float, ...]

    def times_s(self, message_bytes: Array, modelled_s: Array) -> Array:
        """Calibrated times: the fit from 256 MiB (if the log reaches it), else the model times the ratio.

        Outside the log's sizes the nearest ratio holds.
        """
        size = np.asarray(message_bytes, dtype=np.float64)
        logs = np.log(np.maximum(size, 1.0))
        ratio = np.interp(logs, np.log(self.message_bytes), self.ratios)
        below = np.asarray(modelled_s, dtype=np.float64) * ratio
        if not np.isfinite(self.rate_bytes_per_s):
            return below
        found: Array = np.where(size >= LARGE_BYTES, self.latency_s + size / self.rate_bytes_per_s, below)
        return found


def calibration(message_bytes: Array, measured_s: Array, modelled_s: Array) -> Calibration:
    """Fit of a log, arrays of shape (points,): least squares of relative errors on the points >= 256 MiB.

    With fewer than two such points only ratios are used (rate infinite). Raises ValueError without a point.

    >>> size = np.array([2.0**20, 2.0**28, 2.0**30])
    >>> found = calibration(size, 1e-4 + size / 2e11, 5e-5 + size / 2.5e11)
    >>> round(found.latency_s * 1e6), round(found.rate_bytes_per_s / 1e9)
    (100, 200)
    """
    size, measured, modelled = (
        np.asarray(a, dtype=np.float64) for a in (message_bytes, measured_s, modelled_s)
    )
    good = (size > 0) & (measured > 0) & (modelled > 0)
    if not good.any():
        raise ValueError("the log has no point with a size and a time")
    order = np.argsort(size[good], kind="stable")
    size, measured, modelled = (a[good][order] for a in (size, measured, modelled))
    latency, rate = _two_parameters(size, measured)
    return Calibration(latency, rate, tuple(size.tolist()), tuple((measured / modelled).tolist()))


def _two_parameters(size: Array, measured: Array) -> tuple[float, float]:
    large = size >= LARGE_BYTES
    if len(np.unique(size[large])) < 2:
        return 0.0, float("inf")
    columns = np.stack([1.0 / measured[large], size[large] / measured[large]], axis=1)
    (alpha, slowness), *_ = np.linalg.lstsq(columns, np.ones(int(large.sum())), rcond=None)
    if alpha < 0.0 or slowness <= 0.0:
        alpha, slowness = 0.0, float(np.mean(measured[large] / size[large]))
    return float(alpha), 1.0 / float(slowness)
