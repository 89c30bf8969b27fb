"""Time of one training step from its compute and its communications, for one layout or many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.workload.llm_layout import Layouts, bubble_fraction
from models.workload.llm_traffic import Traffic

Seconds = NDArray[np.float64]
FORWARD, BACKWARD = 1.0 / 3.0, 2.0 / 3.0


@dataclass(frozen=True)
class Hiding:
    """How one communication hides: at most `fraction` of it, behind the compute of `window`."""

    dimension: str
    window: str
    fraction: float


@dataclass(frozen=True)
class StepTerms:
    """Everything that turns communication times into a step time; arrays of shape (n,)."""

    hiding: Mapping[str, Hiding]
    windows: Mapping[str, NDArray[np.float64]]  # compute a window offers, as a share of the step's compute
    bubble_fraction: NDArray[np.float64]
    optimizer_s: Seconds
    stall_s: Seconds
    scale_loss_fraction: NDArray[np.float64]


@dataclass(frozen=True)
class StepTime:
    """A step and its parts, s, shape (n,) each: total = compute + exposed + bubble + optimizer + stall + scale."""

    total_s: Seconds
    compute_s: Seconds
    exposed_s: Mapping[str, Seconds]
    bubble_s: Seconds
    optimizer_s: Seconds
    stall_s: Seconds
    scale_loss_s: Seconds


def window_shares(layouts: Layouts) -> dict[str, NDArray[np.float64]]:
    """Compute that communication may hide behind, as shares of the step's compute, by window.

    `pipeline`: all of it. `backward_end`: a stage's gradients are complete chunk by chunk during its last
    1 + p (v - 1) chunk passes out of m v; `forward_start`: the same for weights at the beginning. `gather` and
    `scatter` (ZeRO 3): forward and half of backward; the other half.
    """
    chunks = layouts.micro_batches * layouts.virtual_stages
    at_edge = np.minimum(1.0, (1.0 + layouts.pp * (layouts.virtual_stages - 1)) / chunks)
    whole = np.ones_like(at_edge)
    return {
        "pipeline": whole,
        "backward_end": BACKWARD * at_edge,
        "forward_start": FORWARD * at_edge,
        "gather": (FORWARD + BACKWARD / 2) * whole,
        "scatter": BACKWARD / 2 * whole,
    }


def scale_loss(gpus: NDArray[np.int64], per_doubling: float) -> NDArray[np.float64]:
    """Extra step time of large jobs (stragglers, jitter): s log2(GPUs / 256) beyond 256 GPUs.

    >>> scale_loss(np.array([128, 1024]), 0.01).tolist()
    [0.0, 0.02]
    """
    return per_doubling * np.log2(np.maximum(gpus, 256) / 256.0)


def step_terms(
    traffic: tuple[Traffic, ...],
    layouts: Layouts,
    hidden_fractions: Mapping[str, float],
    optimizer_s: Seconds,
    stall_s: Seconds,
    scale_loss_per_doubling: float,
) -> StepTerms:
    """The terms of a step whose communication is `traffic`; `hidden_fractions` by dimension (tp, pp, ...)."""
    return StepTerms(
        hiding={t.name: Hiding(t.dimension, t.window, hidden_fractions[t.dimension]) for t in traffic},
        windows=window_shares(layouts),
        bubble_fraction=bubble_fraction(layouts),
        optimizer_s=optimizer_s,
        stall_s=stall_s,
        scale_loss_fraction=scale_loss(layouts.gpus, scale_loss_per_doubling),
    )


def step_time(terms: StepTerms, compute_s: Seconds, times_s: Mapping[str, Seconds]) -> StepTime:
    """Step time; `times_s` holds each communication's time per step (count x one execution).

    exposed = T - min(o T, compute left in its window)
    T_step = [(T_comp + sum exposed in the pipeline) (1 + (p-1)/(m v)) + sum exposed DP + T_opt + stall] (1 + scale)

    Communication never hides more than the compute that is there: what the pipeline's own communication
    hides behind is not offered a second time to the gradients.
    *Assumptions*: synchronous; one communication at a time; `times_s` is the slowest group's time.
    """
    left = {name: share * compute_s for name, share in terms.windows.items()}
    exposed: dict[str, Seconds] = {}
    inside = np.zeros_like(compute_s)
    outside = np.zeros_like(compute_s)
    in_pipeline_first = sorted(times_s, key=lambda name: terms.hiding[name].window != "pipeline")
    free = np.ones_like(compute_s)
    for name in in_pipeline_first:
        hiding, time = terms.hiding[name], times_s[name]
        if hiding.window == "pipeline":
            hidden = np.minimum(hiding.fraction * time, left["pipeline"])
            left["pipeline"] = left["pipeline"] - hidden
            free = np.divide(left["pipeline"], compute_s, out=np.ones_like(free), where=compute_s > 0)
            exposed[name] = time - hidden
            inside = inside + exposed[name]
        else:
            hidden = np.minimum(hiding.fraction * time, left[hiding.window] * free)
            left[hiding.window] = left[hiding.window] - np.divide(
                hidden, free, out=np.zeros_like(hidden), where=free > 0
            )
            exposed[name] = time - hidden
            outside = outside + exposed[name]
    bubble = (compute_s + inside) * terms.bubble_fraction
    before_scale = compute_s + inside + bubble + outside + terms.optimizer_s + terms.stall_s
    scale = before_scale * terms.scale_loss_fraction
    return StepTime(
        total_s=before_scale + scale,
        compute_s=compute_s,
        exposed_s=exposed,
        bubble_s=bubble,
        optimizer_s=terms.optimizer_s,
        stall_s=terms.stall_s,
        scale_loss_s=scale,
    )
