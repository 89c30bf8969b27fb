"""Time and bus bandwidth of one collective over message sizes, and the published points beside it."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from models.compare.fabrics import phase_times_function
from models.compare.performance import setup
from models.evidence.published import rows_of
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.topology.size import CannotBuild
from models.units import gbit_per_s_from_bytes_per_s
from models.workload.phase import Phase, RankGroups

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send_recv")
SIZES = tuple(2**p for p in range(10, 35))  # 1 KiB .. 16 GiB


def collective_over_sizes(
    scenario: Scenario,
    operation: str,
    ranks: int,
    progress: Callable[[str], None] = lambda text: None,
) -> pd.DataFrame:
    """Rows candidate x size in closed form: time, band, bus bandwidth, algorithm, binding limit.

    Raises InputError for a group that does not fit or that a network cannot route.
    """
    if not 2 <= ranks <= scenario.cluster.gpus:
        problem = f"allowed 2 .. {scenario.cluster.gpus}"
        raise InputError([Fault(scenario.name, "ranks", str(ranks), problem)])
    base = Phase(operation, operation, 1.0, RankGroups(ranks))  # type: ignore[arg-type]
    rows = []
    for name in scenario.candidates:
        progress(name)
        on = setup(scenario, name)
        times = phase_times_function(on.technology.fabric, "analytical")
        try:
            all_found = times(base, [float(size) for size in SIZES], on.network, on.link)
        except CannotBuild as error:
            raise InputError([Fault(scenario.name, f"candidates.{name}", operation, str(error))]) from error
        for size, found in zip(SIZES, all_found, strict=True):
            rows.append(
                {
                    "candidate": name,
                    "operation": operation,
                    "ranks": ranks,
                    "message_bytes": size,
                    "time_s": found.time_s,
                    "low_s": found.low_s,
                    "high_s": found.high_s,
                    "bus_bandwidth_bytes_per_s": found.bus_bandwidth_bytes_per_s,
                    "bus_low_bytes_per_s": found.bus_bandwidth_bytes_per_s * found.time_s / found.high_s,
                    "bus_high_bytes_per_s": found.bus_bandwidth_bytes_per_s * found.time_s / found.low_s,
                    "algorithm": found.algorithm,
                    "binding_limit": found.binding_limit,
                }
            )
    return pd.DataFrame(rows)


def published_points(scenario: Scenario, operation: str) -> pd.DataFrame:
    """Published bus bandwidths of the operation on the same GPU at a candidate's fabric and link rate."""
    fabrics: dict[tuple[str, float], str] = {}
    for name in scenario.candidates:
        on = setup(scenario, name)
        fabrics.setdefault(
            (on.technology.fabric, gbit_per_s_from_bytes_per_s(on.link.rate_bytes_per_s)), name
        )
    rows = []
    for row in rows_of(None):
        if row["kind"] != "collective" or row["operation"].replace("alltoall", "all_to_all") != operation:
            continue
        if row["metric"] != "busbw" or row["condition"] != "healthy" or not row["message_bytes"]:
            continue
        if row["gpu"] != scenario.cluster.gpu or not row["speed_gbps_per_nic"]:
            continue
        candidate = fabrics.get((row["fabric"], float(row["speed_gbps_per_nic"])))
        if candidate is None:
            continue
        rows.append(
            {
                "candidate": candidate,
                "message_bytes": float(row["message_bytes"]),
                "bus_bandwidth_bytes_per_s": float(row["value"]) * 1e9,
                "gpus": row["gpus"],
                "setting": row["algorithm_or_setting"],
                "source": row["source"],
                "id": row["id"],
                "partly_unknown": not row["gpus"] or "unknown" in row["topology"],
            }
        )
    columns = [
        "candidate",
        "message_bytes",
        "bus_bandwidth_bytes_per_s",
        "gpus",
        "setting",
        "source",
        "id",
        "partly_unknown",
    ]
    return pd.DataFrame(rows, columns=columns)


def collective_sentence(table: pd.DataFrame) -> str:
    """What to expect at a large and at a small message."""
    operation = str(table.operation.iloc[0]).replace("_", "-")
    large = table[table.message_bytes == 2**30].set_index("candidate").bus_bandwidth_bytes_per_s / 1e9
    small = table[table.message_bytes == 2**20].set_index("candidate").time_s * 1e6
    ranks = int(table.ranks.iloc[0])
    best, worst = str(large.idxmax()), str(large.idxmin())
    span = (
        f"{large[best]:.3g} GB/s on {best}"
        if best == worst
        else f"{large[best]:.3g} GB/s on {best} down to {large[worst]:.3g} on {worst}"
    )
    return (
        f"Expect {span} for 1 GiB {operation} over {ranks:,} GPUs; at 1 MiB latency rules: "
        f"{small.min():.3g} to {small.max():.3g} us."
    )
