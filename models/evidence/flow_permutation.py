"""The flow-level solver against packet-simulated permutations on the same paths.

Links: host up and down, leaf uplinks and spine downlinks of the run's own leaf-spine network. Acknowledgements
(48 B a 1,036 B packet, strict priority) load the reverse direction over the spine the file names, or the data's
own spine where it names none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.solvers.head_of_line import rates_beside_acknowledgements
from models.solvers.max_min import max_min_rates

PAYLOAD_BYTES, WIRE_BYTES, ACK_BYTES = 1000, 1036, 48
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PermutationRun:
    """One packet run and what the flow-level solver says: goodputs in Gbit/s, errors in per cent of the mean."""

    run_id: str
    cc_set: str
    load_balancing: str
    leaf_shift: bool
    ack_paths_known: bool
    goodput_mean_gbit_per_s: float
    max_min_error_pct: float
    max_min_ack_error_pct: float
    head_of_line_error_pct: float
    max_min_flow_error_pct: float  # median over flows of the absolute error, acknowledgements counted
    head_of_line_flow_error_pct: float


def packet_rate_gbit_per_s(link_gbit_per_s: float) -> float:
    """Line rate of a simulator whose packet times are whole nanoseconds.

    >>> round(packet_rate_gbit_per_s(100), 3)
    99.855
    """
    return WIRE_BYTES * 8 / round(WIRE_BYTES * 8 / link_gbit_per_s)


def permutation_runs(
    summary: pd.DataFrame, flows: pd.DataFrame, ack_spines: pd.DataFrame | None = None
) -> list[PermutationRun]:
    """Every run of a reference folder, predicted; columns as in `permutation_summary.csv` and its companions."""
    found = []
    for row in summary.to_dict("records"):
        own = flows[flows["run_id"] == row["run_id"]]
        acks = ack_spines[ack_spines["run_id"] == row["run_id"]] if ack_spines is not None else None
        found.append(permutation_run(row, own, acks))
    return found


def permutation_run(row: Mapping[Any, Any], flows: pd.DataFrame, acks: pd.DataFrame | None) -> PermutationRun:
    """One run: rates by max-min, max-min with acknowledgements, head-of-line with acknowledgements."""
    leaves, hosts, spines = (int(str(row[key])) for key in ("leaves", "hosts_per_leaf", "spines"))
    rate = packet_rate_gbit_per_s(float(str(row["link_gbps"])))
    payload = float(str(row.get("cfg_payload_B", PAYLOAD_BYTES)))
    header = WIRE_BYTES - PAYLOAD_BYTES
    src, dst = flows["src"].to_numpy(), flows["dst"].to_numpy()
    spine = flows["spine"].to_numpy()
    known = acks is not None and len(acks) == len(flows)
    back = acks.sort_values("flow")["ack_spine"].to_numpy() if known and acks is not None else spine
    sprayed = not str(row["load_balancing"]).startswith("ecmp")
    capacity = np.full(2 * leaves * hosts + 2 * leaves * spines, rate)
    if sprayed:
        # every leaf's uplinks and downlinks are one bundle each
        capacity = np.concatenate([capacity[: 2 * leaves * hosts], np.full(2 * leaves, rate * spines)])
        spine, back, spines = np.zeros_like(src), np.zeros_like(src), 1
    offsets, links = _paths(src, dst, spine, leaves, hosts, spines)
    ack_offsets, ack_links = _paths(dst, src, back, leaves, hosts, spines)
    share = payload / (payload + header)
    plain = max_min_rates(capacity, offsets, links) * share
    beside = [
        rates_beside_acknowledgements(
            capacity,
            offsets,
            links,
            ack_offsets,
            ack_links,
            ACK_BYTES / (payload + header),
            head_of_line=blocked,
        )
        * share
        for blocked in (False, True)
    ]
    measured = flows["goodput_gbps"].to_numpy(dtype=np.float64)
    shift = all(len(set((dst // hosts)[src // hosts == leaf])) == 1 for leaf in range(leaves))
    return PermutationRun(
        run_id=str(row["run_id"]),
        cc_set=str(row["cc_set"]),
        load_balancing=str(row["load_balancing"]),
        leaf_shift=shift,
        ack_paths_known=known,
        goodput_mean_gbit_per_s=float(measured.mean()),
        max_min_error_pct=_mean_error(plain, measured),
        max_min_ack_error_pct=_mean_error(beside[0], measured),
        head_of_line_error_pct=_mean_error(beside[1], measured),
        max_min_flow_error_pct=_flow_error(beside[0], measured),
        head_of_line_flow_error_pct=_flow_error(beside[1], measured),
    )


def _paths(
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    spine: NDArray[np.int64],
    leaves: int,
    hosts: int,
    spines: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    total = leaves * hosts
    up, down = 2 * total + src // hosts * spines + spine, 2 * total + (leaves + dst // hosts) * spines + spine
    rows: Sequence[NDArray[np.int64]] = (src, up, down, total + dst)
    offsets = np.arange(0, 4 * src.size + 1, 4, dtype=np.int64)
    return offsets, np.stack(rows, axis=1).ravel().astype(np.int32)


def _mean_error(predicted: Floats, measured: Floats) -> float:
    return float((predicted.mean() / measured.mean() - 1.0) * 100.0)


def _flow_error(predicted: Floats, measured: Floats) -> float:
    return float(np.median(np.abs(predicted / measured - 1.0)) * 100.0)
