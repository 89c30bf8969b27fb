"""A published training step as the model sees it: layout, network, communication times, measured step time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module

import numpy as np

from models.catalog.gpus import GpuModel, gpus
from models.catalog.llms import LlmShape
from models.catalog.technology import technology
from models.evidence.published_setup import (
    FABRIC_FOLDERS,
    PRESETS,
    RADIX,
    Row,
    Unusable,
    fabric_link,
    gpu_id,
    number,
    text,
    whole,
)
from models.evidence.training_columns import (
    row_count,
    row_fabric,
    row_recompute,
    row_shape,
    row_weight_bytes,
    row_zero,
)
from models.evidence.training_stacks import Stack, stack_of
from models.scenario.schema import CableM, Failures, Placement, Topology
from models.topology.link import Link
from models.topology.network import Network
from models.topology.size import network_size
from models.workload.llm_compute import (
    compute_time_s,
    model_flops_per_token,
    multiplied_share,
    optimizer_time_s,
)
from models.workload.llm_estimates import CommunicationCost, phase_cost
from models.workload.llm_kernels import EXPERT_LAYER_BAND_S, overhead_time_s
from models.workload.llm_layout import Layouts, counts
from models.workload.llm_search import NoLayout, best_layouts, layout_grid
from models.workload.llm_step import Seconds, StepTerms, scale_loss, step_terms, step_time
from models.workload.llm_traffic import step_traffic

NIC_GBIT_PER_S = {
    "ampere": 200.0,
    "hopper": 400.0,
    "blackwell": 400.0,
    "cdna3": 400.0,
    "GB300": 800.0,
    "B300": 800.0,
}
"""One NIC per GPU, by GPU, else by generation. A100: MegaScale (NSDI 2024) section 2 and Selene, 8 x 200G a node; H100:
Llama 3 paper section 3.3, Eos, 8 x 400G; B200, GB300 (ConnectX-8) and MI300X: vendors' reference designs."""
SEARCH_EFFICIENCY = 0.5  # only ranks layouts; the fitted efficiency predicts


@dataclass(frozen=True)
class StepRow:
    """A row ready to be predicted: step time as a function of kernel efficiency and scale loss only."""

    id: str
    source: str
    model: str
    stack: str
    family: str
    fabric: str
    gpu: GpuModel
    experts: bool
    layouts: Layouts  # arrays of shape (1,)
    measured_s: float
    at_peak_s: Seconds  # compute time with kernels at peak, shape (1,)
    overhead_s: Seconds  # memory traffic, handling of experts
    overhead_band_s: tuple[Seconds, Seconds]
    terms: StepTerms
    times_s: Mapping[str, Seconds]
    note: str

    def predicted_s(
        self, efficiency: float, scale_loss_per_doubling: float, overhead_s: Seconds | None = None
    ) -> float:
        """Step time, s."""
        besides_s = self.overhead_s if overhead_s is None else overhead_s
        step = step_time(self.terms, self.at_peak_s / efficiency + besides_s, self.times_s)
        stretch = 1.0 + scale_loss(self.layouts.gpus, scale_loss_per_doubling)
        return float((step.total_s * stretch)[0])


def step_row(row: Row) -> StepRow:
    """The row with its layout (searched where it states none), network and communication times.

    Raises Unusable with the reason.
    """
    name = gpu_id(text(row, "gpu"))
    if name not in gpus():
        raise Unusable(f"GPU {text(row, 'gpu') or 'not stated'} is not in the GPU table")
    gpu = gpus()[name]
    shape = row_shape(row)
    stack = stack_of(text(row, "stack"))
    total = row_count(row, "gpus", "number of GPUs")
    if total % 8 and total > 8:
        raise Unusable(f"{total} GPUs are not whole nodes of 8")
    sequence = row_count(row, "sequence", "sequence length")
    batch = row_count(row, "global_batch_sequences", "global batch")
    fabric, note = row_fabric(row)
    cost = _cost(fabric, gpu, total)
    one = counts(1)
    like = Layouts(
        one,
        one,
        one,
        one,
        one,
        one,
        one,
        batch_sequences=batch,
        sequence=sequence,
        zero=row_zero(row),
        sequence_parallel=stack.scattered_pipeline,
        recompute=row_recompute(row),
        weight_bytes=row_weight_bytes(row),
    )
    layouts, searched = _layouts(row, shape, like, stack, gpu, total, cost)
    note = "; ".join(part for part in (note, searched) if part)
    traffic = step_traffic(shape, layouts)
    zero = np.zeros(1)
    return StepRow(
        id=text(row, "id"),
        source=text(row, "source"),
        model=text(row, "model"),
        stack=text(row, "stack"),
        family=stack.family,
        fabric=fabric,
        gpu=gpu,
        experts=shape.experts > 0,
        layouts=layouts,
        measured_s=_measured_s(row, shape, layouts, gpu),
        at_peak_s=compute_time_s(shape, layouts, gpu.peak_bf16_flops, 1.0) * multiplied_share(shape, layouts),
        overhead_s=overhead_time_s(shape, layouts, gpu),
        overhead_band_s=(
            overhead_time_s(shape, layouts, gpu, EXPERT_LAYER_BAND_S[0]),
            overhead_time_s(shape, layouts, gpu, EXPERT_LAYER_BAND_S[1]),
        ),
        terms=step_terms(
            traffic, layouts, stack.hidden_fractions, optimizer_time_s(shape, layouts, gpu), zero, 0.0
        ),
        times_s={t.name: t.count * cost(t, layouts, shape) for t in traffic},
        note=note,
    )


@lru_cache(maxsize=64)
def _cost(fabric: str, gpu: GpuModel, total: int) -> CommunicationCost:
    """Closed-form phase times on a rail-optimised network of one NIC per GPU."""
    rate = NIC_GBIT_PER_S.get(gpu.id, NIC_GBIT_PER_S.get(gpu.generation))
    if rate is None:
        raise Unusable(f"NIC speed of {gpu.id} clusters not stated")
    preset = next((name for speed, name in PRESETS[fabric] if speed >= rate), PRESETS[fabric][-1][1])
    tech = technology(preset)
    link: Link = fabric_link(tech)
    per_node = min(8, total)
    size = network_size(Topology(kind="rail_optimized"), total // per_node, per_node, RADIX)
    net = Network(
        total,
        replace(gpu, domain_gpus=_domain(gpu, total)),
        per_node,
        per_node,
        Topology(kind="rail_optimized"),
        size,
        CableM(),
        Placement(),
        Failures(),
        1,
    )
    evaluate = import_module(f"models.{FABRIC_FOLDERS[fabric]}.analytical").phase_time
    return phase_cost(lambda phase: float(evaluate(phase, net, link).time_s))


def _domain(gpu: GpuModel, total: int) -> int:
    """GPUs a job uses of a scale-up domain: of a rack the largest power of two that cuts the job evenly (64 of 72).

    Jobs are placed so that groups of 2, 4 .. 64 do not straddle racks (Megatron-Bridge: segments of 16 trays of 4).
    """
    size = gpu.domain_gpus
    if size > 8:
        size = 8
        while 2 * size <= gpu.domain_gpus and total % (2 * size) == 0:
            size *= 2
    return size


def _layouts(
    row: Row, shape: LlmShape, like: Layouts, stack: Stack, gpu: GpuModel, total: int, cost: CommunicationCost
) -> tuple[Layouts, str]:
    tp, pp, cp = whole(row, "tp"), whole(row, "pp"), whole(row, "cp") or 1
    if not tp or not pp:
        try:
            grid = layout_grid(shape, like, total, min(8, total))
            found = best_layouts(shape, grid, gpu, SEARCH_EFFICIENCY, stack.hidden_fractions, cost, keep=1)
        except NoLayout as error:
            raise Unusable(f"layout not stated and none found: {error}") from error
        best = found.layouts
        return best, (
            f"layout not stated; best of {found.fitting}: tp {best.tp[0]}, pp {best.pp[0]}, "
            f"virtual stages {best.virtual_stages[0]}, micro-batch {best.micro_batch[0]}"
        )
    if total % (tp * pp * cp):
        raise Unusable(f"tp x pp x cp = {tp * pp * cp} does not divide {total} GPUs")
    dp = whole(row, "dp") or total // (tp * pp * cp)
    if tp * pp * cp * dp != total:
        raise Unusable(f"tp x pp x cp x dp = {tp * pp * cp * dp}, the row has {total} GPUs")
    virtual = whole(row, "virtual_stages")
    if not virtual:
        virtual = -(-shape.layers // pp) if stack.layer_per_chunk and pp > 1 else 1
    layouts = replace(
        like,
        tp=counts(tp),
        pp=counts(pp),
        dp=counts(dp),
        cp=counts(cp),
        ep=counts(whole(row, "ep") or 1),
        virtual_stages=counts(virtual),
        micro_batch=counts(whole(row, "micro_batch") or 1),
    )
    return layouts, "" if text(row, "micro_batch") else "micro-batch not stated, 1 taken"


def _measured_s(row: Row, shape: LlmShape, layouts: Layouts, gpu: GpuModel) -> float:
    """The step time stated, or the one its TFLOP/s (recomputation counted) or its MFU (not counted) amounts to."""
    stated = number(row, "step_s")
    if stated:
        return stated
    flops = float(layouts.batch_sequences) * layouts.sequence * model_flops_per_token(shape, layouts.sequence)
    per_gpu, mfu = number(row, "tflops_per_gpu"), number(row, "mfu_percent")
    total = float(layouts.gpus[0])
    if per_gpu:
        return flops * (4.0 / 3.0 if layouts.recompute == "full" else 1.0) / (total * per_gpu * 1e12)
    if mfu:
        return flops / (total * gpu.peak_bf16_flops * mfu / 100.0)
    raise Unusable("neither step time, TFLOP/s nor MFU stated")
