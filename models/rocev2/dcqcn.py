"""DCQCN as delay-differential equations: fixed point, phase margin, behaviour, and advice on stability.

Zhu, Ghobadi, Misra, Padhye, "ECN or Delay" (CoNEXT 2016), for N equal flows on one port of capacity C, rates
in packets/s, queue q in packets, p' and R' seen a feedback delay ago:

    dq/dt     = N R_C - C
    d alpha/dt = (g / tau') (1 - (1 - p')^(tau' R') - alpha)
    d R_T/dt  = -(R_T - R_C) a / tau + R_AI R' (c + e)
    d R_C/dt  = -R_C alpha a / (2 tau) + (R_T - R_C) / 2 R' (b + d)

*Assumptions* Equal flows, no hyper increase, p' small within a round. Where the equations hold is worked out in
`dcqcn_comfort.py`, and the advice says so: timers of 1 us (vendor defaults) are outside, where the packet-grain
solver answers. `continued_ramp`: marking goes on rising past Kmax, as in the paper's stability discussion; otherwise
every packet above Kmax is marked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.rocev2.dcqcn_comfort import comfortable_flows, equations_domain
from models.rocev2.dcqcn_fixed_point import (
    DcqcnFluid,
    FixedPoint,
    dcqcn_fluid,
    fixed_point,
    small_p_approximation,
)

__all__ = [
    "DcqcnBehaviour",
    "DcqcnFluid",
    "FixedPoint",
    "StabilityAdvice",
    "behaviour",
    "dcqcn_fluid",
    "fixed_point",
    "phase_margin_deg",
    "small_p_approximation",
    "stability_advice",
]

Floats = npt.NDArray[np.float64]
LEAST_RATE_FRACTION = 1e-6  # of the line rate; the equations divide by the rate


def phase_margin_deg(fluid: DcqcnFluid, flows: int, delay_s: float) -> float:
    """Phase margin of the linearised loop in degrees; below 0 = unstable, 180 when the gain never reaches
    one.

    The loop is cut at the marking probability: L(s) = -p'(q) e_q (sI - A - A_d e^(-s tau))^-1 B e^(-s tau),
    ramp continued past Kmax. The smallest margin over all gain crossings.
    """
    from models.rocev2.dcqcn_kernels import slopes

    point = fixed_point(fluid, flows)
    rate = fluid.capacity / flows
    timing = fluid.g, fluid.alpha_s, fluid.cut_s, fluid.increase_s, fluid.byte_counter, fluid.stages
    rest = np.array([point.alpha, point.target_over_rate * rate, rate, point.marking_probability, rate])

    def derivative(place: int) -> Floats:
        step = 1e-5 * rest[place]
        sides = []
        for sign in (1.0, -1.0):
            moved = rest.copy()
            moved[place] += sign * step
            sides.append(np.array(slopes(*moved, *timing, fluid.additive)))
        return np.asarray((sides[0] - sides[1]) / (2.0 * step))

    now, later = np.zeros((4, 4)), np.zeros((4, 4))
    for place in range(3):
        now[:3, place] = derivative(place)
    now[3, 2] = flows
    later[:3, 2] = derivative(4)
    marks = np.append(derivative(3), 0.0)
    slope = fluid.pmax / (fluid.kmax - fluid.kmin)
    omega = np.logspace(1, 7, 6000)
    delayed = np.exp(-1j * omega * delay_s)
    inner = 1j * omega[:, None, None] * np.eye(4) - now - later * delayed[:, None, None]
    response = np.linalg.solve(inner, np.broadcast_to(marks.astype(complex)[:, None], (len(omega), 4, 1)))
    loop = -slope * response[:, 3, 0] * delayed
    gain = np.log(np.abs(loop))
    crossings = np.flatnonzero(gain[:-1] * gain[1:] <= 0)
    if not len(crossings):
        return 180.0
    phase = np.unwrap(np.angle(loop))
    phase -= 2 * np.pi * np.round(phase[0] / (2 * np.pi))
    return float(np.degrees(np.min(np.pi + phase[crossings])))


@dataclass(frozen=True, eq=False)
class DcqcnBehaviour:
    """What the equations do, over the last third of the run."""

    time_s: Floats
    queue_bytes: Floats  # whole run
    rate_bytes_per_s: Floats  # one flow, whole run
    queue_mean_bytes: float
    queue_std_bytes: float
    queue_low_bytes: float
    queue_high_bytes: float
    utilisation: float


def behaviour(
    fluid: DcqcnFluid,
    flows: int,
    delay_s: float,
    *,
    duration_s: float = 0.3,
    step_s: float = 1e-6,
    continued_ramp: bool = True,
    start_rate_fraction: float = 1.0,
) -> DcqcnBehaviour:
    """Explicit Euler of N equal flows that start at `start_rate_fraction` of the line with alpha = 1 and no queue."""
    from models.rocev2.dcqcn_kernels import integrate

    steps = round(duration_s / step_s)
    queue, rates = np.zeros(steps), np.zeros(steps)
    first = start_rate_fraction * fluid.capacity
    integrate(
        fluid.capacity, flows, round(delay_s / step_s), step_s, steps, fluid.kmin, fluid.kmax, fluid.pmax,
        continued_ramp, fluid.g, fluid.alpha_s, fluid.cut_s, fluid.increase_s, fluid.byte_counter, fluid.stages,
        fluid.additive, LEAST_RATE_FRACTION * fluid.capacity, np.array([1.0, first, first, 0.0]), queue, rates,
    )  # fmt: skip
    late = slice(2 * steps // 3, steps)
    served = np.where(queue[late] > 0, 1.0, np.minimum(1.0, flows * rates[late] / fluid.capacity))
    seen = queue[late] * fluid.packet_bytes
    return DcqcnBehaviour(
        time_s=np.arange(steps, dtype=np.float64) * step_s,
        queue_bytes=queue * fluid.packet_bytes,
        rate_bytes_per_s=rates * fluid.packet_bytes,
        queue_mean_bytes=float(seen.mean()),
        queue_std_bytes=float(seen.std()),
        queue_low_bytes=float(seen.min()),
        queue_high_bytes=float(seen.max()),
        utilisation=float(served.mean()),
    )


@dataclass(frozen=True)
class StabilityAdvice:
    """Flow counts that oscillate or cannot rest on the ramp, in words and as ranges (first, last).

    `looked_to`: the largest flow count the advice covers, 0 where the equations hold for none; `outside` says why it
    ends there, empty where everything asked for is covered. Nothing is claimed beyond `looked_to`.
    """

    unstable: tuple[tuple[int, int], ...]
    above_ramp_from: int | None
    text: str
    looked_to: int = 0
    outside: str = ""

    @property
    def decided(self) -> bool:
        """Whether the advice says anything at all."""
        return self.looked_to >= 2

    def unstable_at(self, flows: int) -> bool | None:
        """Whether N flows oscillate; None where the advice does not reach."""
        if not 2 <= flows <= self.looked_to:
            return None
        return any(first <= flows <= last for first, last in self.unstable)


def stability_advice(fluid: DcqcnFluid, delay_s: float, largest: int = 64) -> StabilityAdvice:
    """Phase margin for 2 .. `largest` flows, put in words; only where the equations hold.

    >>> from models.rocev2.dcqcn_sets import dcqcn_set
    >>> stability_advice(dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9), 4e-6, largest=8).text
    'with these thresholds and a feedback delay of 4 us, stable for 2 <= N <= 8'
    >>> stability_advice(dcqcn_fluid(dcqcn_set("vendor_default", 50e9), 50e9), 4e-6, largest=8).text
    'not decided: alpha timer of 1 us: 0.12 marked intervals in the memory of alpha, at least 5 needed'
    """
    most = min(largest, comfortable_flows(fluid))
    outside = "" if most == largest else equations_domain(fluid, max(2, most + 1)).reason
    if most < 2:
        return StabilityAdvice((), None, f"not decided: {outside}", 0, outside)
    ranges: list[tuple[int, int]] = []
    above = None
    for n in range(2, most + 1):
        if not fixed_point(fluid, n).on_ramp and above is None:
            above = n
        if phase_margin_deg(fluid, n, delay_s) >= 0:
            continue
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1] = (ranges[-1][0], n)
        else:
            ranges.append((n, n))
    where = " and ".join(f"N = {a}" if a == b else f"{a} <= N <= {b}" for a, b in ranges)
    verdict = f"unstable for {where}" if ranges else f"stable for 2 <= N <= {most}"
    text = f"with these thresholds and a feedback delay of {delay_s * 1e6:g} us, {verdict}"
    if above is not None:
        text += f"; from N = {above} the marking needed exceeds Pmax and the queue chatters around Kmax"
    if outside:
        text += f"; not decided beyond N = {most}: {outside}"
    return StabilityAdvice(tuple(ranges), above, text, most, outside)
