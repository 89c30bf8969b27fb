"""Fit of the few constants of the collective model that published rows identify, and its honest error.

Least squares on log(prediction / value) with weight 1/sqrt(rows of the source), soft-L1 loss, Gaussian priors
on the logarithms. `python -m models.evidence.fit` prints values with their spread, the error in sample and
leave-one-source-out. The table `catalog/collectives.csv` holds the values; nothing is fitted at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from models.evidence.published import published_rows, rows_of
from models.evidence.published_predictions import collective_phase, metric_name, unit_factor
from models.evidence.published_setup import Row, Setup
from models.evidence.records import ValidationRow, abs_error_quantiles
from models.solvers.collective_constants import constants
from models.solvers.collective_time import collective_time
from models.solvers.load_balance import LoadBalance, closed_form_balance
from models.workload.phase import Phase

Floats = NDArray[np.float64]
NETWORK = "network_efficiency"  # of the technology presets, fitted together with the library's constants


@dataclass(frozen=True)
class Prior:
    """A constant to fit: its prior value (SI units) and the prior's spread in the logarithm."""

    name: str
    scope: str
    value: float
    spread: float


EFFICIENCY, TIME = 0.10, log(2.0)
PRIORS = (
    Prior(NETWORK, "", 0.97, 0.03),
    Prior("network_factor", "cdna3", 1.0, EFFICIENCY),
    Prior("ring_efficiency", "hopper", 0.97, EFFICIENCY),
    Prior("ring_efficiency", "blackwell", 0.97, EFFICIENCY),
    Prior("ring_efficiency", "cdna3", 0.85, EFFICIENCY),
    Prior("nvls_efficiency", "hopper", 0.85, EFFICIENCY),
    Prior("nvls_efficiency", "blackwell", 0.74, EFFICIENCY),
    Prior("nvls_rack_efficiency", "", 0.74, EFFICIENCY),
    Prior("nvls_tree_efficiency", "", 0.95, EFFICIENCY),
    Prior("collnet_efficiency", "", 0.85, EFFICIENCY),
    Prior("ring_hop_efficiency", "hopper", 0.95, EFFICIENCY),
    Prior("rack_ring_rate", "", 500e9, 0.3),
    Prior("rack_ring_step", "", 2e-6, TIME),
    Prior("nvls_base", "", 25e-6, TIME),
    Prior("nvls_ramp_per_rank", "", 12e-6, TIME),
    Prior("nvls_rack_ramp", "", 600e-6, TIME),
    Prior("moe_network_efficiency", "", 0.9, EFFICIENCY),
    Prior("moe_nvlink_efficiency", "", 0.9, EFFICIENCY),
    Prior("moe_low_latency_base", "", 30e-6, TIME),
    Prior("moe_low_latency_network_efficiency", "", 0.9, EFFICIENCY),
    Prior("moe_low_latency_nvlink_efficiency", "", 1.0, EFFICIENCY),
)


@dataclass(frozen=True)
class Case:
    """A usable collective row, ready to be predicted with other constants."""

    row: ValidationRow
    phase: Phase
    setup: Setup
    metric: str
    factor: float

    def prediction(self, logs: Floats) -> float:
        """Predicted figure in the row's unit for logarithms of the constants in the order of PRIORS."""
        generation = self.setup.network.gpu.generation
        changes = {
            prior.name: exp(value)
            for prior, value in zip(PRIORS, logs.tolist(), strict=True)
            if prior.scope in {"", generation} and prior.name != NETWORK
        }
        link = replace(self.setup.link, network_efficiency_fraction=exp(float(logs[0])))
        setup, granted = self.setup, None
        if link.technology.fabric == "ib":
            from models.infiniband.sharp import reduction

            granted, _ = reduction(self.phase, setup.network, link)

        @cache
        def balance(pattern: str) -> LoadBalance:
            return closed_form_balance(pattern, self.phase, setup.network, link.technology)

        found = collective_time(
            self.phase, setup.network, link, balance, granted, constants(generation, changes)
        )
        if self.metric in {"time", "latency"}:
            return found.time_s / self.factor
        return found.bus_bandwidth_bytes_per_s / self.factor


@dataclass(frozen=True)
class Fit:
    """Fitted logarithms in the order of PRIORS, their posterior spread, and the cases' Jacobian there."""

    logs: Floats
    spread: Floats
    residuals: Floats  # log(prediction / value)
    jacobian: Floats


def cases(rows: Sequence[Row] | None = None) -> list[Case]:
    """The usable collective rows of a file, of the shipped one by default."""
    raw = list(rows_of(None) if rows is None else rows)
    shown = {row.id: row for row in published_rows() if row.usable and row.kind == "collective"}
    found = []
    for row in raw:
        if row["id"] in shown:
            phase, setup = collective_phase(row)
            found.append(Case(shown[row["id"]], phase, setup, metric_name(row), unit_factor(row)))
    return found


def shipped_logs() -> Floats:
    """Logarithms of the values in the shipped tables, in the order of PRIORS."""
    values = [
        0.972 if prior.name == NETWORK else constants(prior.scope or "hopper")[prior.name] for prior in PRIORS
    ]
    logs: Floats = np.log(np.array(values))
    return logs


def _residuals(of: Sequence[Case], logs: Floats) -> Floats:
    return np.array([log(case.prediction(logs) / case.row.value) for case in of])


def _jacobian(of: Sequence[Case], logs: Floats, residuals: Floats, step: float = 0.01) -> Floats:
    columns = []
    for i in range(len(logs)):
        moved = logs.copy()
        moved[i] += step
        columns.append((_residuals(of, moved) - residuals) / step)
    return np.stack(columns, axis=1)


def _source_weights(of: Sequence[Case]) -> Floats:
    count: dict[str, int] = {}
    for case in of:
        count[case.row.source] = count.get(case.row.source, 0) + 1
    return np.array([1.0 / sqrt(count[case.row.source]) for case in of])


def _step(
    logs: Floats, residuals: Floats, jacobian: Floats, weights: Floats, noise: float
) -> tuple[Floats, Floats]:
    """One Gauss-Newton step with priors; rows far off weigh less (soft-L1). Returns new logs and spread."""
    prior = np.log(np.array([prior.value for prior in PRIORS]))
    strength = 1.0 / np.array([prior.spread for prior in PRIORS]) ** 2
    robust = weights**2 / noise**2 / np.sqrt(1.0 + (residuals / noise) ** 2)
    normal = jacobian.T @ (robust[:, None] * jacobian) + np.diag(strength)
    gradient = jacobian.T @ (robust * residuals) + strength * (logs - prior)
    moved: Floats = logs - np.linalg.solve(normal, gradient)
    return moved, np.sqrt(np.diag(np.linalg.inv(normal)))


def fit(of: Sequence[Case], iterations: int = 6, noise: float = 0.02) -> Fit:
    """The fitted constants; `noise` is the spread within which rows count fully."""
    logs, spread = shipped_logs(), np.zeros(len(PRIORS))
    weights = _source_weights(of)
    residuals = _residuals(of, logs)
    jacobian = _jacobian(of, logs, residuals)
    for _ in range(iterations):
        logs, spread = _step(logs, residuals, jacobian, weights, noise)
        residuals = _residuals(of, logs)
        jacobian = _jacobian(of, logs, residuals)
    return Fit(logs, spread, residuals, jacobian)


def leave_one_source_out(of: Sequence[Case], noise: float = 0.02, iterations: int = 3) -> list[ValidationRow]:
    """Every row predicted with constants that its source had no part in.

    Starts from the priors, not from the shipped values, and relinearises once per source.
    """
    prior = np.log(np.array([prior.value for prior in PRIORS]))
    at_prior = _residuals(of, prior)
    jacobian = _jacobian(of, prior, at_prior)
    rows = []
    for source in dict.fromkeys(case.row.source for case in of):
        kept = np.array([case.row.source != source for case in of])
        others = [case for case, keep in zip(of, kept, strict=True) if keep]
        weights = _source_weights(others)
        logs, residuals = prior, at_prior[kept]
        for _ in range(iterations):
            logs, _spread = _step(logs, residuals, jacobian[kept], weights, noise)
            residuals = _residuals(others, logs)
        for case, keep in zip(of, kept, strict=True):
            if not keep:
                rows.append(replace(case.row, prediction=case.prediction(logs)))
    return rows


def summary(rows: Sequence[ValidationRow]) -> dict[str, tuple[int, float, float]]:
    """Rows, median and 90th percentile of the absolute error, by operation class and size band."""
    groups: dict[str, list[ValidationRow]] = {}
    for row in rows:
        kind = "moe" if row.operation.startswith("moe") else "collective"
        groups.setdefault(kind if kind == "moe" else f"{kind} {row.band}", []).append(row)
    table = {}
    for name, members in sorted(groups.items()):
        median, p90 = abs_error_quantiles(members, 0.5, 0.9)
        table[name] = (len(members), median, p90)
    return table


def main() -> None:
    """Prints fitted values beside the shipped ones, and errors in sample and leave-one-source-out."""
    of = cases()
    found = fit(of)
    for prior, shipped, value, spread in zip(
        PRIORS, np.exp(shipped_logs()), np.exp(found.logs), found.spread, strict=True
    ):
        identified = "identified" if spread < 0.5 * prior.spread else "prior"
        print(
            f"{prior.name:36}{prior.scope:10} shipped {shipped:10.4g} fitted {value:10.4g} "
            f"+- {100 * spread:4.1f} %  {identified}"
        )
    fitted = [replace(c.row, prediction=c.prediction(found.logs)) for c in of]
    for title, rows in (
        ("shipped values, in sample", [case.row for case in of]),
        ("fitted values, in sample", fitted),
        ("leave one source out", leave_one_source_out(of)),
    ):
        print(title)
        for name, (number, median, p90) in summary(rows).items():
            print(f"  {name:28}{number:4} rows  median {median:5.1f} %  p90 {p90:5.1f} %")


if __name__ == "__main__":
    main()
