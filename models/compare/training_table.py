"""Where the time of a unit of work goes, part by part, per candidate."""

from __future__ import annotations

import pandas as pd

from models.compare.comparison import Comparison

DIMENSIONS = {
    "tp": "exposed TP",
    "pp": "exposed PP",
    "dp": "exposed DP",
    "ep": "exposed EP",
    "cp": "exposed CP",
}
PARTS = (
    "compute",
    "optimizer",
    *DIMENSIONS.values(),
    "exposed, other",
    "bubble",
    "checkpoint stall",
    "stragglers",
)
NOT_NETWORK = ("compute", "optimizer")


def step_parts(answer: Comparison, workload: str) -> pd.DataFrame:
    """Rows candidate, method, part, time_s, order for the parts that are not zero on every candidate."""
    rows = []
    for item in answer.performance:
        if item.workload != workload:
            continue
        unit = item.unit
        named = {DIMENSIONS[d]: t for d, t in unit.exposed_by_dimension_s.items() if d in DIMENSIONS}
        other = sum(unit.exposed_s.values()) - sum(named.values())
        parts = {
            "compute": unit.compute_s,
            "optimizer": unit.optimizer_s,
            **named,
            "exposed, other": other if other > 1e-12 * unit.total_s else 0.0,
            "bubble": unit.bubble_s,
            "checkpoint stall": unit.stall_s,
            "stragglers": unit.scale_loss_s,
        }
        for part, time in parts.items():
            rows.append(
                {
                    "candidate": item.setup.name,
                    "method": item.method,
                    "part": part,
                    "time_s": time,
                    "order": PARTS.index(part),
                }
            )
    table = pd.DataFrame(rows, columns=["candidate", "method", "part", "time_s", "order"])
    used = table.groupby("part")["time_s"].transform("max") > 0
    return table[used].reset_index(drop=True)


def step_totals(parts: pd.DataFrame) -> pd.DataFrame:
    """Whole time, and the share no network can change, per candidate and method."""
    total = parts.groupby(["candidate", "method"], sort=False)["time_s"].sum().rename("total_s")
    fixed = parts[parts.part.isin(NOT_NETWORK)].groupby(["candidate", "method"], sort=False)["time_s"].sum()
    exposed = (
        parts[parts.part.str.startswith("exposed")]
        .groupby(["candidate", "method"], sort=False)["time_s"]
        .sum()
    )
    table = (
        pd.concat([total, fixed.rename("fixed_s"), exposed.rename("exposed_s")], axis=1)
        .fillna(0.0)
        .reset_index()
    )
    table["exposed_fraction"] = table.exposed_s / table.total_s
    return table


def step_sentence(parts: pd.DataFrame) -> str:
    """What share of a step the network takes, best and worst candidate."""
    totals = step_totals(parts).groupby("candidate", sort=False)[["total_s", "fixed_s", "exposed_s"]].mean()
    share = (totals.exposed_s / totals.total_s).sort_values()
    fixed = float((totals.fixed_s / totals.total_s).mean()) * 100
    low, high = share.iloc[0] * 100, share.iloc[-1] * 100
    if len(share) == 1:
        return f"Of a step {fixed:.0f} % is compute and {low:.2g} % is waiting for the network."
    return (
        f"Compute is {fixed:.0f} % of a step; waiting for the network takes {low:.2g} % on {share.index[0]} "
        f"and {high:.2g} % on {share.index[-1]}."
    )
