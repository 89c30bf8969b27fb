"""Kernel efficiency and scale loss fitted on published steps, and how well they carry over.

Two kinds of number are fitted on rows without experts: one efficiency e per (GPU generation, software stack) and one
scale loss s for all. Mixtures of experts are predicted with them: what experts cost besides is a constant of the model.
A stack that was not fitted takes the mean of the fitted stacks of its family on its GPU generation, or, with none
there, that of other generations times the ratio of measured matrix-product ceilings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from models.evidence.records import weighted_quantile
from models.evidence.training_setup import StepRow
from models.workload.llm_step import scale_loss

MATMUL_SHARE = {
    "volta": 0.87,
    "ampere": 0.869,
    "hopper": 0.803,
    "blackwell": 0.776,
    "cdna3": 0.511,
    "cdna4": 0.622,
}
"""Best BF16 matrix product over peak, measured: A100 271/312, H100 794/989, B200 1745/2250, MI300X 668/1307,
MI355X 1565/2517 TFLOP/s. Source: Bekman, Machine Learning Engineering, table "Maximum Achievable Matmul FLOPS"
(Volta taken as Ampere)."""

SCALE_LOSSES = tuple(round(0.001 * i, 3) for i in range(31))


@dataclass(frozen=True)
class Fit:
    """Fitted efficiencies by (generation, stack), the stacks' families, and the scale loss per doubling."""

    efficiency: dict[tuple[str, str], float]
    family: dict[tuple[str, str], str]
    scale_loss: float

    def of(self, row: StepRow) -> float:
        """Efficiency for a row: its own stack's, else its family's (see the module).

        Raises KeyError when no stack of its family was fitted.
        """
        key = (row.gpu.generation, row.stack)
        if key in self.efficiency:
            return self.efficiency[key]
        return self.family_efficiency(row.gpu.generation, row.family)

    def family_efficiency(self, generation: str, family: str) -> float:
        """Geometric mean over the fitted stacks of a family, of this generation where there are any."""
        same = {k: e for k, e in self.efficiency.items() if self.family[k] == family}
        here = [log(e) for (where, _), e in same.items() if where == generation]
        if here:
            return exp(float(np.mean(here)))
        if not same:
            raise KeyError(f"no fitted stack of family {family}")
        share = [log(e / MATMUL_SHARE[where]) for (where, _), e in same.items()]
        return MATMUL_SHARE[generation] * exp(float(np.mean(share)))


@dataclass(frozen=True)
class Accuracy:
    """Absolute errors of a way of predicting, every source weighing the same, per cent."""

    rows: int
    sources: int
    median_pct: float
    p90_pct: float
    errors_pct: dict[str, float]  # signed, by row id


def implied_efficiency(row: StepRow, scale_loss_per_doubling: float) -> float:
    """The efficiency at which the model's step time is the measured one (Newton in 1/e, bracketed)."""
    wanted_s = row.measured_s / float(1.0 + scale_loss(row.layouts.gpus, scale_loss_per_doubling)[0])
    low, high = 0.3, 50.0  # 1 / e; step time rises with it, almost in proportion
    at = 2.0
    for _ in range(40):
        time_s = row.predicted_s(1.0 / at, 0.0)
        if abs(time_s / wanted_s - 1.0) < 1e-9:
            break
        low, high = (at, high) if time_s < wanted_s else (low, at)
        slope = (row.predicted_s(1.0 / (at * 1.001), 0.0) - time_s) / (0.001 * at)
        step = at + (wanted_s - time_s) / slope if slope > 0 else low
        at = step if low < step < high else (low + high) / 2.0
    return 1.0 / at


def fitted(rows: Sequence[StepRow]) -> Fit:
    """The fit on the rows without experts: per stack the geometric mean of the implied efficiencies, s by least squares.

    s makes the rows of a series (one model, see `series_of`) agree; every series weighs the same in it.
    """
    dense = dense_rows(rows)
    best = min(SCALE_LOSSES, key=lambda s: _spread(dense, s))
    return Fit(_stack_efficiencies(dense, best), {_key(r): r.family for r in dense}, best)


def in_sample(rows: Sequence[StepRow]) -> Accuracy:
    """Errors on the rows the fit has seen."""
    fit = fitted(rows)
    return accuracy(dense_rows(rows), lambda row: row.predicted_s(fit.of(row), fit.scale_loss))


def leave_one_source_out(rows: Sequence[StepRow], experts: bool = False) -> Accuracy:
    """Errors on each source with everything fitted on the others: rows without experts, or those with."""
    fits = {s: fitted([r for r in rows if r.source != s]) for s in {r.source for r in rows}}
    counted = [row for row in rows if row.experts == experts]
    return accuracy(
        counted, lambda row: row.predicted_s(fits[row.source].of(row), fits[row.source].scale_loss)
    )


def calibrated(rows: Sequence[StepRow]) -> Accuracy:
    """Errors on a series' other rows when its smallest job sets the efficiency; s from the other sources."""
    loss = {s: fitted([r for r in rows if r.source != s]).scale_loss for s in {r.source for r in rows}}
    efficiency, others = {}, []
    for members in series_of(dense_rows(rows)):
        first = min(members, key=lambda row: int(row.layouts.gpus[0]))
        e = implied_efficiency(first, loss[first.source])
        for row in members:
            if row is not first:
                efficiency[row.id] = e
                others.append(row)
    return accuracy(others, lambda row: row.predicted_s(efficiency[row.id], loss[row.source]))


def dense_rows(rows: Sequence[StepRow]) -> list[StepRow]:
    """The rows without experts."""
    return [row for row in rows if not row.experts]


def series_of(rows: Sequence[StepRow]) -> list[list[StepRow]]:
    """The rows by series: one model on one stack of one source, at one batch in tokens or, alone there, one per GPU."""
    same_batch: dict[tuple[str, ...], list[StepRow]] = defaultdict(list)
    same_share: dict[tuple[str, ...], list[StepRow]] = defaultdict(list)
    for row in rows:
        tokens = row.layouts.batch_sequences * row.layouts.sequence
        same_batch[(row.source, row.stack, row.gpu.id, row.model, f"{tokens}")].append(row)
    for key, members in list(same_batch.items()):
        if len(members) == 1:
            share = int(key[-1]) / int(members[0].layouts.gpus[0])
            same_share[(*key[:-1], f"{share:.6g}")].append(members[0])
    return [m for m in same_batch.values() if len(m) > 1] + list(same_share.values())


def accuracy(rows: Sequence[StepRow], predicted_s: Callable[[StepRow], float]) -> Accuracy:
    """Errors of a way of predicting."""
    per_source: dict[str, int] = defaultdict(int)
    for row in rows:
        per_source[row.source] += 1
    errors = {row.id: 100.0 * (predicted_s(row) / row.measured_s - 1.0) for row in rows}
    absolute = [abs(errors[row.id]) for row in rows]
    weights = [1.0 / per_source[row.source] for row in rows]
    return Accuracy(
        rows=len(rows),
        sources=len(per_source),
        median_pct=weighted_quantile(absolute, weights, 0.5),
        p90_pct=weighted_quantile(absolute, weights, 0.9),
        errors_pct=errors,
    )


def _key(row: StepRow) -> tuple[str, str]:
    return row.gpu.generation, row.stack


def _stack_efficiencies(rows: Sequence[StepRow], scale_loss: float) -> dict[tuple[str, str], float]:
    logs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        logs[_key(row)].append(log(implied_efficiency(row, scale_loss)))
    return {key: exp(float(np.mean(values))) for key, values in logs.items()}


def _spread(rows: Sequence[StepRow], scale_loss: float) -> float:
    """Variance of the implied efficiencies within each series, summed."""
    return sum(
        float(np.var([log(implied_efficiency(row, scale_loss)) for row in members]))
        for members in series_of(rows)
        if len(members) > 1
    )
