"""Credit-flow runs of the BookSim reference, rerun with the credit solver: one row per quantity and run.

The reference (`credit_booksim_summary.csv`, BookSim 2, commit 28f43299, 'anynet' with table routing): 100
Gb/s, flits of 64 B (5.12 ns), packets of 64 flits without header, one virtual channel of
`buffer_flits_per_port`, internal speed-up 2, every link 195 cycles, credits the same, greedy sources.
Goodputs come in steps of 1/1875 of the rate for one packet: the runs count packets over 120,000 cycles, after
a warm-up of 10,000; then sources stop and the network drains (`sim_cycles`). The model does the same, so both
count the same whole packets.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from models.evidence.records import ValidationRow
from models.solvers.credits import CreditFlows, CreditLinks, CreditResult, CreditRules, credit_result
from models.units import bytes_per_s_from_gbit_per_s, gbit_per_s_from_bytes_per_s

FLIT_BYTES = 64
PACKET_BYTES = 64 * FLIT_BYTES
RATE_BYTES_PER_S = bytes_per_s_from_gbit_per_s(100)
CYCLE_S = FLIT_BYTES / RATE_BYTES_PER_S
LINK_CYCLES = 195
WARMUP_CYCLES = 10_000
MEASURED_CYCLES = 120_000
COLUMNS = (
    "run_id",
    "experiment",
    "buffer_flits_per_port",
    "senders_on_victim_path",
    "senders_other_spine",
    "senders_local_leaf",
)
# reference column -> (metric, group of flows in the model)
METRICS = {
    "incast_goodput_gbps": ("goodput", "incast"),
    "mean_gbps_local": ("flow_goodput", "local"),
    "mean_gbps_on_victim_path": ("flow_goodput", "on_victim_path"),
    "mean_gbps_other_spine": ("flow_goodput", "other_spine"),
    "mean_gbps_local_leaf": ("flow_goodput", "local_leaf"),
    "victim_goodput_gbps": ("victim_goodput", "victim"),
    "net_latency_us": ("latency", "all"),
}


def credit_run(
    on_victim_path: int, other_spine: int, local_leaf: int, buffer_flits: float, victim: bool, seed: int = 1
) -> tuple[CreditResult, dict[str, np.ndarray]]:
    """The credit solver on one reference set-up, and the flows of each group by index.

    `victim`: two leaves and two spines, hot receiver and victim receiver in the second leaf; otherwise one
    switch with `on_victim_path` senders. Raises ValueError for a set-up that cannot be built.
    """
    senders = on_victim_path + other_spine + local_leaf + int(victim)
    if on_victim_path + other_spine + local_leaf < 1:
        raise ValueError("no senders")
    hot, cold = senders, senders + 1
    up, down = (senders + 2, senders + 4), (senders + 3, senders + 5)
    paths: list[tuple[int, ...]] = []
    group: list[int] = []
    names = ["on_victim_path", "other_spine", "local_leaf", "victim"] if victim else ["local"]
    sizes = [on_victim_path, other_spine, local_leaf, 1] if victim else [senders]
    for g, size in enumerate(sizes):
        for _ in range(size):
            host = len(paths)
            spine = 1 if names[g] == "other_spine" else 0
            middle = (up[spine], down[spine]) if victim and names[g] != "local_leaf" else ()
            paths.append((host, *middle, cold if names[g] == "victim" else hot))
            group.append(g)
    count = senders + 6
    tier = np.zeros(count, np.int64)
    tier[list(up)] = 1
    tier[list(down)] = 2
    tier[[hot, cold]] = 3
    delay_s = np.full(count, LINK_CYCLES * CYCLE_S)
    links = CreditLinks(
        np.full(count, RATE_BYTES_PER_S), delay_s, delay_s, np.full(count, buffer_flits * FLIT_BYTES), tier
    )
    flows = CreditFlows(
        tuple((path,) for path in paths),
        np.full(len(paths), -1, np.int64),
        np.zeros(len(paths)),
        np.array(group, np.int64),
    )
    rules = CreditRules(
        packet_payload_bytes=PACKET_BYTES,
        header_bytes=0,
        warmup_s=WARMUP_CYCLES * CYCLE_S,
        stop_s=(WARMUP_CYCLES + MEASURED_CYCLES) * CYCLE_S,
        drain=True,
        seed=seed,
    )
    number = np.array(group)
    members = {name: np.flatnonzero(number == g) for g, name in enumerate(names) if sizes[g]}
    members["all"] = np.arange(len(paths))
    members["incast"] = np.array([i for i in range(len(paths)) if paths[i][-1] == hot])
    return credit_result(links, flows, rules), members


def predictions(row: dict[str, Any], seed: int = 1) -> dict[str, float]:
    """Model value for every reference column of one run, in the reference's units (Gbit/s, us)."""
    k, o, j = (int(row[name]) for name in COLUMNS[3:])
    victim = str(row["experiment"]) == "victim"
    outcome, members = credit_run(k, o, j, float(row["buffer_flits_per_port"]), victim, seed)
    rate = gbit_per_s_from_bytes_per_s(1.0) * outcome.goodput_bytes_per_s
    found = {}
    for column, (metric, group) in METRICS.items():
        flows = members.get(group)
        if flows is None:
            continue
        if metric == "latency":
            found[column] = float(np.average(outcome.latency_s[flows], weights=outcome.packets[flows]) * 1e6)
        else:
            found[column] = float(rate[flows].sum() if metric == "goodput" else rate[flows].mean())
    return found


def credit_rows(path: str | Path, seed: int = 1) -> list[ValidationRow]:
    """Rows of a `credit_booksim_summary.csv`: prediction beside the reference, or the reason why not.

    The model is deterministic here, so `low` = `high` = prediction. Grouped by `records.records`.
    """
    frame = pd.read_csv(path)
    missing = [name for name in COLUMNS if name not in frame.columns]
    rows: list[ValidationRow] = []
    for raw in frame.to_dict("records"):
        row = {str(key): value for key, value in raw.items()}
        present = {c: float(row[c]) for c in METRICS if c in row and pd.notna(row[c]) and float(row[c])}
        reason = f"columns missing: {', '.join(missing)}" if missing else ""
        model: dict[str, float] = {}
        if not reason:
            try:
                model = predictions(row, seed)
            except (ValueError, KeyError) as fault:
                reason = str(fault)
        for column, value in present.items():
            metric, group = METRICS[column]
            prediction = model.get(column)
            rows.append(
                ValidationRow(
                    set="packet",
                    kind="credit",
                    fabric="ib",
                    metric=metric,
                    band="credits",
                    id=f"{row.get('run_id', '')}:{group}",
                    value=value,
                    unit="us" if metric == "latency" else "Gbit/s",
                    source="booksim2",
                    prediction=prediction,
                    low=prediction,
                    high=prediction,
                    usable=prediction is not None,
                    reason=reason or ("" if prediction is not None else "no such flows in the run"),
                )
            )
    return rows
