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
    "NVLink in the node",
    *DIMENSIONS.values(),
    "exposed, other",
    "bubble",
    "checkpoint stall",
    "stragglers",
)
INSIDE = "NVLink in the node"  # exposed communication that no fabric changes
NOT_NETWORK = ("compute", "optimizer", INSIDE)


def step_parts(answer: Comparison, workload: str) -> pd.DataFrame:
    """Rows candidate, method, part, time_s, order for the parts that are not zero on every candidate."""
    rows = []
    for item in answer.performance:
        if item.workload != workload:
            continue
        unit = item.unit
        within = {name: t for name, t in unit.exposed_s.items() if item.times[name].binding_limit == "nvlink"}
        named = {DIMENSIONS[d]: t for d, t in unit.exposed_by_dimension_s.items() if d in DIMENSIONS}
        dimensions = {phase.name: phase.dimension for phase in item.plan.phases}
        for name, time in within.items():
            part = DIMENSIONS.get(dimensions[name], "")
            if part in named:
                named[part] = max(0.0, named[part] - time)
        inside = sum(within.values())
        other = sum(unit.exposed_s.values()) - sum(named.values()) - inside
        parts = {
            "compute": unit.compute_s,
            "optimizer": unit.optimizer_s,
            INSIDE: inside,
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
    """Whole time, what no fabric can change of it, and what waits for the fabric, per candidate and method."""
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
    """What share of a step compute, NVLink and the fabric take, the latter on the best and the worst candidate."""
    totals = step_totals(parts).groupby("candidate", sort=False)[["total_s", "exposed_s"]].mean()
    share = (totals.exposed_s / totals.total_s).sort_values()
    whole = float(totals.total_s.sum())
    by_part = parts.groupby("part")["time_s"].sum() / parts.method.nunique() / whole * 100
    fixed = by_part.reindex(["compute", "optimizer"]).sum()
    inside = float(by_part.get(INSIDE, 0.0))
    start = f"Compute is {fixed:.0f} % of a step" + (
        f", NVLink in the node {inside:.2g} %" if inside >= 0.05 else ""
    )
    low, high = share.iloc[0] * 100, share.iloc[-1] * 100
    if len(share) == 1:
        return f"{start}; waiting for the fabric takes {low:.2g} %."
    return f"{start}; waiting for the fabric takes {low:.2g} % on {share.index[0]} and {high:.2g} % on {share.index[-1]}."
