"""Compiled integrator of the DCQCN delay-differential equations (see `dcqcn.py`); rates and queues in packets."""

from __future__ import annotations

from math import expm1, log1p
from typing import Any

import numpy as np
from numba import njit

LARGEST_EXPONENT = 600.0  # e^600 is still a number; beyond, the terms are 0 or infinite anyway


@njit(cache=True)
def mark_probability(q: float, kmin: float, kmax: float, pmax: float, continued: bool) -> float:
    """RED ramp; above Kmax either 1 or, `continued`, the same slope up to 1."""
    if q <= kmin:
        return 0.0
    ramp = pmax * (q - kmin) / (kmax - kmin)
    if q > kmax and not continued:
        return 1.0
    return min(1.0, ramp)


@njit(cache=True)
def event_rates(
    p: float, rate: float, cut_s: float, increase_s: float, byte_counter: float, stages: float
) -> Any:
    """a, b, c, d, e of the paper: cut probability, byte and timer events, each also past fast recovery."""
    timer = increase_s * rate
    if p <= 0.0:
        by_bytes = 0.0 if byte_counter == np.inf else 1.0 / byte_counter
        return 0.0, by_bytes, by_bytes, 1.0 / timer, 1.0 / timer
    if p >= 1.0:
        return 1.0, 0.0, 0.0, 0.0, 0.0
    unmarked = log1p(-p)
    a = -expm1(max(-LARGEST_EXPONENT, cut_s * rate * unmarked))
    b = 0.0
    c = 0.0
    if byte_counter < np.inf:
        b = p / expm1(min(LARGEST_EXPONENT, -byte_counter * unmarked))
        c = b * np.exp(max(-LARGEST_EXPONENT, stages * byte_counter * unmarked))
    d = p / expm1(min(LARGEST_EXPONENT, max(-timer * unmarked, 1e-300)))
    e = d * np.exp(max(-LARGEST_EXPONENT, stages * timer * unmarked))
    return a, b, c, d, e


@njit(cache=True)
def slopes(
    alpha: float, target: float, rate: float, p: float, delayed: float, g: float, alpha_s: float, cut_s: float,
    increase_s: float, byte_counter: float, stages: float, additive: float,
) -> Any:  # fmt: skip
    """d alpha / dt, d R_T / dt, d R_C / dt for the delayed marking probability and rate."""
    a, b, c, d, e = event_rates(p, delayed, cut_s, increase_s, byte_counter, stages)
    marked = 1.0 if p >= 1.0 else -expm1(max(-LARGEST_EXPONENT, alpha_s * delayed * log1p(-p)))
    to_alpha = g / alpha_s * (marked - alpha)
    to_target = -(target - rate) / cut_s * a + additive * delayed * (c + e)
    to_rate = -rate * alpha / (2.0 * cut_s) * a + (target - rate) / 2.0 * delayed * (b + d)
    return to_alpha, to_target, to_rate


@njit(cache=True)
def integrate(
    capacity: float, flows: int, delay_steps: int, step_s: float, steps: int, kmin: float, kmax: float, pmax: float,
    continued: bool, g: float, alpha_s: float, cut_s: float, increase_s: float, byte_counter: float, stages: float,
    additive: float, least: float, start: Any, queue: Any, rates: Any,
) -> None:  # fmt: skip
    """Explicit Euler for equal flows; fills queue[steps] and rates[steps] (one flow), packets and packets/s."""
    alpha, target, rate, q = start[0], start[1], start[2], start[3]
    first_rate = rate
    for k in range(steps):
        queue[k] = q
        rates[k] = rate
        before = k - delay_steps
        delayed = rates[before] if before >= 0 else first_rate
        seen = queue[before] if before >= 0 else start[3]
        p = mark_probability(seen, kmin, kmax, pmax, continued)
        to_alpha, to_target, to_rate = slopes(
            alpha, target, rate, p, delayed, g, alpha_s, cut_s, increase_s, byte_counter, stages, additive
        )
        q = max(0.0, q + step_s * (flows * rate - capacity))
        alpha += step_s * to_alpha
        target = min(capacity, max(least, target + step_s * to_target))
        rate = min(capacity, max(least, rate + step_s * to_rate))
