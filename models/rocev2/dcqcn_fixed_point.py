"""Where N equal DCQCN flows rest on one port: parameters in packets and the fixed point of the delay equations.

Equations in `dcqcn.py` (Zhu, Ghobadi, Misra, Padhye, "ECN or Delay", CoNEXT 2016); where they hold in `dcqcn_comfort.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, log1p

import numpy as np

from models.rocev2.dcqcn_sets import DcqcnSet


@dataclass(frozen=True)
class DcqcnFluid:
    """Parameters in packets and seconds; `byte_counter` inf = none."""

    capacity: float  # packets/s
    packet_bytes: float
    g: float
    alpha_s: float  # tau'
    cut_s: float  # tau
    increase_s: float  # T
    byte_counter: float  # B, packets
    stages: float  # F
    additive: float  # R_AI, packets/s
    kmin: float
    kmax: float
    pmax: float


def dcqcn_fluid(values: DcqcnSet, rate_bytes_per_s: float, packet_bytes: float = 1000.0) -> DcqcnFluid:
    """The set at a link rate, in the units of the fluid model."""
    return DcqcnFluid(
        capacity=rate_bytes_per_s / packet_bytes,
        packet_bytes=packet_bytes,
        g=values.g,
        alpha_s=values.alpha_timer_s,
        cut_s=values.cnp_interval_s or values.cut_interval_s,
        increase_s=values.increase_timer_s,
        byte_counter=values.byte_counter_bytes / packet_bytes if values.byte_counter_bytes else inf,
        stages=float(values.fast_recovery_stages),
        additive=values.additive_bytes_per_s / packet_bytes,
        kmin=values.kmin_bytes / packet_bytes,
        kmax=values.kmax_bytes / packet_bytes,
        pmax=values.pmax,
    )


@dataclass(frozen=True)
class FixedPoint:
    """Where N flows rest; `on_ramp` False: the marking needed exceeds Pmax, the queue chatters around Kmax."""

    marking_probability: float
    alpha: float
    target_over_rate: float
    queue_bytes: float  # on the ramp, continued past Kmax if need be
    on_ramp: bool


def fixed_point(fluid: DcqcnFluid, flows: int) -> FixedPoint:
    """Exact fixed point by bisection on log p: a^2 alpha / ((b + d)(c + e)) = tau^2 R_AI C / N.

    Raises ValueError when no marking probability below one half balances the flows.

    >>> from models.rocev2.dcqcn_sets import dcqcn_set
    >>> round(fixed_point(dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9), 8).marking_probability, 7)
    0.0045521
    """
    from models.rocev2.dcqcn_kernels import event_rates

    rate = fluid.capacity / flows
    wanted = log(fluid.cut_s**2 * fluid.additive * rate)

    def parts(p: float) -> tuple[float, float, float, float, float, float]:
        alpha = -np.expm1(fluid.alpha_s * rate * log1p(-p))
        timing = fluid.cut_s, fluid.increase_s, fluid.byte_counter, fluid.stages
        return (float(alpha), *event_rates(p, rate, *timing))

    def excess(p: float) -> float:
        alpha, a, b, c, d, e = parts(p)
        if min(b + d, c + e) <= 0:
            return inf
        return 2 * log(a) + log(alpha) - log(b + d) - log(c + e) - wanted

    low, high = log(1e-9), log(0.5)
    if excess(exp(low)) > 0 or excess(exp(high)) < 0:
        raise ValueError(f"no fixed point for {flows} flows with p in 1e-9 .. 0.5")
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(exp(middle)) > 0 else (middle, high)
    p = exp(0.5 * (low + high))
    alpha, a, b, _, d, _ = parts(p)
    gap = alpha * a / (fluid.cut_s * (b + d))
    queue = fluid.kmin + p / fluid.pmax * (fluid.kmax - fluid.kmin)
    return FixedPoint(p, alpha, 1.0 + gap / rate, queue * fluid.packet_bytes, p <= fluid.pmax)


def small_p_approximation(fluid: DcqcnFluid, flows: int) -> float:
    """p* ~ [R_AI / (tau' R*^2) (1/B + 1/(T R*))^2]^(1/3); 10-60 % high, more so for many flows."""
    rate = fluid.capacity / flows
    events = 1.0 / fluid.byte_counter + 1.0 / (fluid.increase_s * rate)
    return float((fluid.additive / (fluid.alpha_s * rate**2) * events**2) ** (1.0 / 3.0))
