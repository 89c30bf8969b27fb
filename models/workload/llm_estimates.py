"""Training-step estimates for many layouts at once: the same formulas as a single plan, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.catalog.gpus import GpuModel
from models.catalog.llms import LlmShape
from models.workload.llm_compute import compute_time_s, optimizer_time_s
from models.workload.llm_layout import Layouts
from models.workload.llm_phases import traffic_phase
from models.workload.llm_step import Seconds, StepTime, step_terms, step_time
from models.workload.llm_traffic import Traffic, step_traffic
from models.workload.phase import Phase

# time of one execution of a traffic record for every layout, shape (n,); whatever is not sent counts nothing
CommunicationCost = Callable[[Traffic, Layouts, LlmShape], Seconds]


def step_estimates(
    shape: LlmShape,
    layouts: Layouts,
    gpu: GpuModel,
    efficiency: float | NDArray[np.float64],
    hidden_fractions: Mapping[str, float],
    cost: CommunicationCost,
    scale_loss_per_doubling: float = 0.0,
    stall_s: float = 0.0,
) -> StepTime:
    """Step times of all `layouts`, arrays of shape (n,).

    `efficiency` is the share of peak with memory traffic included (llm_kernels.effective_efficiency), one or one
    per layout. With the `cost` of a fabric's phase times, entry i equals `unit_time` of the plan of layout i.
    """
    traffic = step_traffic(shape, layouts)
    times = {}
    for record in traffic:
        sent = (record.size > 1) & (record.count > 0) & (record.message_bytes > 0)
        once = cost(record, layouts, shape) if sent.any() else np.zeros(len(layouts.tp))
        times[record.name] = np.where(sent, record.count * once, 0.0)
    terms = step_terms(
        traffic,
        layouts,
        hidden_fractions,
        optimizer_time_s(shape, layouts, gpu),
        np.full(len(layouts.tp), stall_s),
        scale_loss_per_doubling,
    )
    return step_time(terms, compute_time_s(shape, layouts, gpu.peak_bf16_flops, efficiency), times)


def phase_cost(once_s: Callable[[Phase], float]) -> CommunicationCost:
    """The cost of a method that times one phase: each distinct phase of the layouts is timed once."""

    def times_s(phase: Phase, message_bytes: Seconds) -> Seconds:
        return np.array([once_s(replace(phase, message_bytes=float(size))) for size in message_bytes])

    return sizes_cost(times_s)


def sizes_cost(times_s: Callable[[Phase, Seconds], Seconds]) -> CommunicationCost:
    """The cost of a method that times a phase for many message sizes at once, shape (sizes,) in and out.

    Called once for each distinct set of groups, with the distinct sizes sent in it.
    """

    def cost(record: Traffic, layouts: Layouts, shape: LlmShape) -> Seconds:
        sent = np.flatnonzero((record.size > 1) & (record.count > 0) & (record.message_bytes > 0))
        times = np.zeros(len(record.size))
        if not len(sent):
            return times
        tokens = _tokens(record)[sent]
        keys = np.stack([record.size[sent], record.stride[sent], layouts.gpus[sent], tokens], axis=1)
        columns = keys.T[::-1]
        order = np.lexsort((record.message_bytes[sent], *columns))
        ordered = keys[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(ordered, axis=0) != 0).any(axis=1)])
        for start, end in zip(starts, np.r_[starts[1:], len(order)], strict=True):
            members = sent[order[start:end]]
            sizes, where = np.unique(record.message_bytes[members], return_inverse=True)
            size, stride, gpus, rank_tokens = ordered[start]
            phase = traffic_phase(
                record, shape, int(size), int(stride), int(gpus), float(sizes[0]), float(rank_tokens)
            )
            times[members] = times_s(phase, sizes)[where]
        return times

    return cost


def _tokens(record: Traffic) -> NDArray[np.float64]:
    return np.zeros_like(record.message_bytes) if record.tokens_per_rank is None else record.tokens_per_rank
