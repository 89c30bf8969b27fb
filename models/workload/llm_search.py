"""The best layout of a job: a slower network deserves its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.catalog.gpus import GpuModel
from models.catalog.llms import LlmShape
from models.workload.llm_estimates import CommunicationCost, step_estimates
from models.workload.llm_kernels import effective_efficiency
from models.workload.llm_layout import Counts, Layouts
from models.workload.llm_memory import memory
from models.workload.llm_step import StepTime

MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 12, 16)
VIRTUAL_STAGES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)


class NoLayout(ValueError):
    """No layout fits; the text says what stood in the way."""


@dataclass(frozen=True)
class RankedLayouts:
    """Layouts that fit, fastest first, with their step times; arrays of shape (kept,)."""

    layouts: Layouts
    total_s: NDArray[np.float64]
    memory_bytes: NDArray[np.float64]
    considered: int
    fitting: int


def layout_grid(shape: LlmShape, fixed: Layouts, gpus: int, domain_gpus: int) -> Layouts:
    """Every valid tp x pp x dp x virtual stages x micro-batch on `gpus` GPUs, arrays of shape (n,).

    `fixed` gives batch, sequence, ZeRO, recomputation, and cp and ep (its first entries). TP stays inside a
    scale-up domain; interleaving only where it divides the layers evenly.

    >>> from models.catalog.llms import llms
    >>> from models.workload.llm_layout import counts
    >>> one = counts(1)
    >>> like = Layouts(one, one, one, one, one, one, one, batch_sequences=64, sequence=8192)
    >>> grid = layout_grid(llms()["llama3-8b"], like, gpus=16, domain_gpus=8)
    >>> bool(((grid.gpus == 16) & (64 % (grid.dp * grid.micro_batch) == 0)).all()), len(grid.tp) > 20
    (True, True)
    """
    cp, ep = int(fixed.cp[0]), int(fixed.ep[0])
    sizes = np.array([n for n in range(1, gpus + 1) if gpus % n == 0], dtype=np.int64)
    tp_choices = sizes[(sizes <= domain_gpus) & (shape.heads % sizes == 0)]
    pp_choices = sizes[sizes <= shape.layers]
    mesh = np.meshgrid(
        tp_choices,
        pp_choices,
        np.array(VIRTUAL_STAGES, dtype=np.int64),
        np.array(MICRO_BATCHES, dtype=np.int64),
        indexing="ij",
    )
    tp, pp, virtual, micro = (axis.reshape(-1) for axis in mesh)
    inner = tp * pp * cp
    dp = np.maximum(1, gpus // inner)
    stages = pp * virtual
    valid = (gpus % inner == 0) & (inner <= gpus) & (fixed.batch_sequences % (dp * micro) == 0)
    valid &= (virtual == 1) | ((pp > 1) & (stages <= shape.layers) & (shape.layers % stages == 0))
    if fixed.sequence_parallel:
        valid &= (fixed.sequence // cp) % tp == 0
    grid = replace(
        fixed,
        tp=tp,
        pp=pp,
        dp=dp,
        cp=_filled(tp, cp),
        ep=_filled(tp, ep),
        virtual_stages=virtual,
        micro_batch=micro,
    )
    valid &= grid.expert_space % ep == 0
    return grid.taken(valid)


def best_layouts(
    shape: LlmShape,
    grid: Layouts,
    gpu: GpuModel,
    arithmetic_efficiency: float,
    hidden_fractions: Mapping[str, float],
    cost: CommunicationCost,
    scale_loss_per_doubling: float = 0.0,
    keep: int = 10,
    with_memory_traffic: bool = True,
) -> RankedLayouts:
    """The fastest layouts of `grid` that fit into GPU memory.

    `arithmetic_efficiency` is the kernel table's; memory traffic of each layout's shapes comes on top, or not
    (`with_memory_traffic` False) for an efficiency that holds as it is.

    Raises NoLayout when the grid is empty or nothing fits.
    """
    if not len(grid.tp):
        raise NoLayout("no layout divides GPUs, heads, layers and batch")
    need = memory(shape, grid).total
    fits = need <= gpu.memory_bytes
    if not fits.any():
        raise NoLayout(
            f"no layout fits: the smallest needs {float(need.min()) / 1e9:.1f} GB per GPU, "
            f"{gpu.id} has {gpu.memory_bytes / 1e9:.0f} GB"
        )
    fitting = grid.taken(fits)
    step: StepTime = step_estimates(
        shape,
        fitting,
        gpu,
        effective_efficiency(shape, fitting, gpu, arithmetic_efficiency)
        if with_memory_traffic
        else arithmetic_efficiency,
        hidden_fractions,
        cost,
        scale_loss_per_doubling,
    )
    # equal times: the one with least model parallelism, so that the answer does not depend on the grid's order
    order = np.lexsort((fitting.micro_batch, fitting.pp, fitting.tp, step.total_s))[:keep]
    return RankedLayouts(
        layouts=fitting.taken(order),
        total_s=step.total_s[order],
        memory_bytes=need[fits][order],
        considered=len(grid.tp),
        fitting=int(fits.sum()),
    )


def _filled(like: Counts, value: int) -> Counts:
    return np.full_like(like, value)
