"""The answer at every cluster size: work per dollar, time, cost per GPU and scaling of each candidate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from models.compare.axes import Point
from models.compare.case import NO_ANSWER
from models.compare.costs import CandidateCost
from models.compare.fabrics import Method
from models.compare.sweep_points import PartFailed, Variations
from models.compare.value import CostLine, TimeBand, mid_time_s, value_draws, values
from models.compare.verdict import gap
from models.export import frame_of
from models.scenario.faults import Fault, InputError
from models.scenario.schema import GPUS_MAX, Scenario

SIZES = tuple(2**p for p in range(6, 15))  # 64 .. 16,384
DRAWS = 1024


@dataclass(frozen=True)
class SizeRow:
    """One candidate at one size; figures are None where it cannot be built, `reason` says why."""

    gpus: int
    candidate: str
    status: str  # ok | cannot be built
    reason: str
    relative_work_per_dollar: float | None  # best at this size = 1
    low: float | None
    high: float | None
    unit_time_s: float | None  # scored workloads, weighted
    yearly_usd_per_gpu: float | None
    scaling_efficiency_fraction: float | None
    tiers: int | None
    switches: int | None
    network_usd_per_gpu: float | None


def sizes_around(scenario: Scenario) -> list[int]:
    """Powers of two from 64 to 16,384, and the scenario's own size; whole nodes only."""
    node = scenario.cluster.gpus_per_node
    wanted = {round(size / node) * node for size in SIZES} | {scenario.cluster.gpus}
    return sorted(size for size in wanted if node <= size <= GPUS_MAX)


def cluster_size_table(
    scenario: Scenario,
    sizes: Sequence[int],
    methods: Sequence[Method] = ("analytical",),
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Rows of SizeRow, sizes ascending; a size that cannot be built is a row with its reason.

    Raises InputError when no candidate has an answer at any size.
    """
    variations = Variations(scenario, ["cluster.gpus"], methods)
    rows: list[SizeRow] = []
    first_rate: dict[str, float] = {}
    for size in sizes:
        progress(f"{size:,} GPUs")
        rows.extend(_size_rows(variations, size, first_rate))
    if all(row.status != "ok" for row in rows):
        raise InputError(
            [Fault(scenario.name, "cluster.gpus", "", rows[0].reason if rows else "no size to try")]
        )
    return frame_of(rows, SizeRow)


def _size_rows(variations: Variations, size: int, first_rate: dict[str, float]) -> list[SizeRow]:
    point: Point = {"cluster.gpus": size}
    scenario = variations.scenario
    times: dict[str, Sequence[TimeBand]] = {}
    costs: dict[str, CandidateCost] = {}
    reasons: dict[str, str] = {}
    bands = variations.bands(point)
    for name in scenario.candidates:
        try:
            if name not in bands:
                raise PartFailed(variations.reason(point, name) or NO_ANSWER)
            costs[name] = variations.cost(point, name)
            times[name] = bands[name]
        except PartFailed as error:
            reasons[name] = error.failure.reason
    lines: dict[str, Sequence[CostLine]] = {name: cost.lines for name, cost in costs.items()}
    relative: dict[str, tuple[float, float, float]] = {}
    if times:
        drawn = value_draws(times, lines, scenario.seed, draws=DRAWS)
        ranked = values(times, lines, drawn)
        mids = {value.candidate: value.work_per_dollar for value in ranked}
        for value in ranked:
            behind = gap(value.candidate, ranked[0].candidate, drawn.work_per_dollar, mids)
            relative[value.candidate] = (1 + behind.mid, 1 + behind.low, 1 + behind.high)
    rows = []
    for name in scenario.candidates:
        if name in reasons:
            empty = (None,) * 9
            rows.append(SizeRow(size, name, "cannot be built", reasons[name], *empty))
            continue
        mid, low, high = relative[name]
        weight = sum(band.weight for band in times[name])
        unit_time = sum(band.weight * mid_time_s(band) for band in times[name]) / weight
        built = variations.setup(point, name).network.size
        rate = _work_per_s_per_gpu(variations, point, name, size)
        efficiency = None if rate is None else rate / first_rate.setdefault(name, rate)
        cost = costs[name]
        rows.append(
            SizeRow(
                size, name, "ok", "", mid, low, high, unit_time, cost.yearly_usd[1] / size, efficiency,
                built.tiers_count, built.switches, cost.network_usd / size,
            )
        )  # fmt: skip
    return rows


def _work_per_s_per_gpu(variations: Variations, point: Point, name: str, size: int) -> float | None:
    """Tokens per second and GPU of the scored training run; None where something else is scored."""
    scored = list(variations.scored(point))
    if len(scored) != 1 or variations.scenario.workloads[scored[0]].kind != "llm_training":
        return None
    job = variations.plan(point, scored[0], name).job
    found = [
        job.work_per_unit / variations.time(point, name, scored[0], m).unit.total_s
        for m in variations.methods
    ]
    return float(np.mean(found)) / size


def _rows(table: pd.DataFrame) -> list[Any]:
    return list(table.itertuples(index=False))


@dataclass(frozen=True)
class Turn:
    """Between two neighbouring sizes something changes."""

    gpus_before: int
    gpus: int
    kind: str  # best | tiers
    text: str


def turns(table: pd.DataFrame) -> list[Turn]:
    """Where the best candidate changes, and where networks need another tier."""
    known = table[table.status == "ok"]
    found: list[Turn] = []
    best = known.loc[known.groupby("gpus")["relative_work_per_dollar"].idxmax()].sort_values("gpus")
    for before, after in pairwise(_rows(best)):
        if before.candidate != after.candidate:
            text = f"{after.candidate} overtakes {before.candidate}"
            found.append(Turn(int(before.gpus), int(after.gpus), "best", text))
    steps: dict[tuple[int, int, int], list[str]] = {}
    for name, group in known.sort_values("gpus").groupby("candidate", sort=False):
        for before, after in pairwise(_rows(group)):
            if after.tiers > before.tiers:
                steps.setdefault((int(before.gpus), int(after.gpus), int(after.tiers)), []).append(str(name))
    for (low, high, tiers), names in steps.items():
        others = [name for name in known.candidate.unique() if name not in names]
        who = (
            "all"
            if not others
            else f"all but {others[0]}"
            if len(others) == 1 < len(names)
            else ", ".join(names)
        )
        found.append(Turn(low, high, "tiers", f"{who}: {tiers} tiers"))
    return sorted(found, key=lambda turn: (turn.gpus, turn.kind))


def size_sentence(table: pd.DataFrame) -> str:
    """The answer over sizes in a sentence.

    >>> rows = [(64, "a", 1.0, 1.0, 1), (64, "b", 0.9, 0.95, 1), (128, "a", 0.9, 0.95, 1), (128, "b", 1.0, 1.0, 1)]
    >>> t = pd.DataFrame(rows, columns=["gpus", "candidate", "relative_work_per_dollar", "high", "tiers"])
    >>> size_sentence(t.assign(status="ok"))
    'a gives most work per dollar up to 64 GPUs, b from 128 on; sure at 2 of 2 sizes.'
    """
    known = table[table.status == "ok"]
    best = known.loc[known.groupby("gpus")["relative_work_per_dollar"].idxmax()].sort_values("gpus")
    runs: list[tuple[str, int, int]] = []
    for row in _rows(best):
        if runs and runs[-1][0] == row.candidate:
            runs[-1] = (runs[-1][0], runs[-1][1], int(row.gpus))
        else:
            runs.append((str(row.candidate), int(row.gpus), int(row.gpus)))
    sure = 0
    for _, group in known.groupby("gpus"):
        others = group[group.relative_work_per_dollar < group.relative_work_per_dollar.max()]
        sure += bool((others["high"] < 1.0).all()) and len(others) > 0
    sizes = known.gpus.nunique()
    how = f"sure at {sure} of {sizes} sizes" if sure else "within the uncertainty at every size"
    if len(runs) == 1:
        return f"{runs[0][0]} gives most work per dollar at every size from {runs[0][1]:,} to {runs[0][2]:,} GPUs; {how}."
    if len(runs) == 2:
        return f"{runs[0][0]} gives most work per dollar up to {runs[0][2]:,} GPUs, {runs[1][0]} from {runs[1][1]:,} on; {how}."
    text = ", ".join(
        f"{name} {low:,}-{high:,}" if low != high else f"{name} at {low:,}" for name, low, high in runs
    )
    return f"Most work per dollar by GPUs: {text}; {how}."
