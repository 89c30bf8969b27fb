"""Training-step estimates for many layouts at once: the same formulas as a single plan, on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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

    def cost(record: Traffic, layouts: Layouts, shape: LlmShape) -> Seconds:
        keys = np.stack(
            [record.size, record.stride, layouts.gpus, record.message_bytes, _tokens(record)], axis=1
        ).astype(np.float64)
        keys[(record.size <= 1) | (record.count <= 0) | (record.message_bytes <= 0)] = 0.0
        distinct, where = np.unique(keys, axis=0, return_inverse=True)
        times = np.zeros(len(distinct))
        for row, (size, stride, gpus, message, tokens) in enumerate(distinct):
            if size > 1:
                times[row] = once_s(
                    traffic_phase(
                        record, shape, int(size), int(stride), int(gpus), float(message), float(tokens)
                    )
                )
        return times[where.reshape(-1)]

    return cost


def _tokens(record: Traffic) -> NDArray[np.float64]:
    return np.zeros_like(record.message_bytes) if record.tokens_per_rank is None else record.tokens_per_rank
