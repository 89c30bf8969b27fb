"""Share of the peak that a training step's kernels reach, per GPU generation and software stack."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class KernelEfficiency:
    """Arithmetic efficiency: executed operations over dense BF16 peak, memory traffic of the layout's shapes apart.

    workload/llm_kernels.py adds that traffic. The band covers the rows a value was fitted on.
    """

    generation: str
    stack: str
    default: bool
    efficiency: float
    low: float
    high: float
    source: str
    confidence: str


@cache
def kernel_efficiencies() -> tuple[KernelEfficiency, ...]:
    """All rows of the table."""
    text = resources.files("models.catalog").joinpath("kernel_efficiency.csv").read_text("utf-8")
    return tuple(
        KernelEfficiency(
            generation=row["generation"],
            stack=row["stack"],
            default=row["default"] == "yes",
            efficiency=float(row["efficiency"]),
            low=float(row["low"]),
            high=float(row["high"]),
            source=row["source"],
            confidence=row["confidence"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def kernel_efficiency(generation: str, stack: str | None = None) -> KernelEfficiency:
    """The row of a stack, or the generation's default.

    Raises KeyError when the table has none.

    >>> kernel_efficiency("hopper").stack, kernel_efficiency("ampere").stack
    ('modern', 'modern')
    """
    for row in kernel_efficiencies():
        if row.generation == generation and (row.default if stack is None else row.stack == stack):
            return row
    raise KeyError(f"{generation}, {stack or 'default'}")


def scale_loss_per_doubling() -> float:
    """Extra step time per doubling of the job beyond 256 GPUs (stragglers, jitter), a share.

    Fitted on training_steps.csv (models/evidence/training_fit.py); single sources give 0.0 to 0.02.
    """
    return 0.012
