"""InfiniBand against Ethernet, like for like: the ratio predicted beside the ratio measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from models.catalog.gpus import gpus
from models.evidence.published import rows_of, validation_row
from models.evidence.published_predictions import collective_phase, phase_time
from models.evidence.published_setup import Row, Unusable, gpu_id, text
from models.workload.phase import bus_bandwidth_factor

AVERAGED_SIZES = tuple(
    float(2**power) for power in range(20, 35)
)  # 1 MiB - 16 GiB: list not stated by the source
LIMIT_POINTS = 3.0


@dataclass(frozen=True)
class Pair:
    """Ratio InfiniBand / Ethernet of one figure, percentage points apart."""

    infiniband_id: str
    ethernet_id: str
    what: str
    predicted_ratio: float
    measured_ratio: float
    same_source: bool

    @property
    def difference_points(self) -> float:
        """Predicted less measured ratio, percentage points."""
        return 100.0 * (self.predicted_ratio - self.measured_ratio)


def pairs(rows: Sequence[Row] | None = None) -> list[Pair]:
    """Like-for-like pairs: same operation, algorithms, nodes, size, GPU generation, and NIC rate per node.

    Rows that average over sizes are compared on the mean over 1 MiB - 16 GiB. Rows of different sources are
    paired too, marked as such: sites differ by about 2 % on their own.
    """
    table = list(rows_of(None) if rows is None else rows)
    found = [row for row in table if _comparable(row)]
    by_key: dict[tuple[str, ...], dict[str, list[Row]]] = {}
    for row in found:
        side = "ib" if row["fabric"] == "ib" else "ethernet"
        by_key.setdefault(_key(row), {"ib": [], "ethernet": []})[side].append(row)
    return list(_paired(by_key))


def _comparable(row: Row) -> bool:
    if text(row, "kind") != "collective" or text(row, "fabric") not in {"ib", "roce", "spectrum_x"}:
        return False
    if text(row, "condition") not in {"", "healthy", "average_of_sizes"}:
        return False
    return text(row, "metric") in {"busbw", "busbw_avg"} and gpu_id(text(row, "gpu")) in gpus()


def _key(row: Row) -> tuple[str, ...]:
    per_node = float(text(row, "speed_gbps_per_nic") or 0) * float(text(row, "nics_per_node") or 0)
    names = ("operation", "algorithm_or_setting", "gpus_per_node", "nodes", "message_bytes", "metric")
    return (
        *(text(row, name) for name in names),
        _algorithms_left(row),
        gpus()[gpu_id(text(row, "gpu"))].generation,
        f"{per_node:g}",
    )


def _algorithms_left(row: Row) -> str:
    """The algorithms a row's setting and library version leave; a run without NVLS is no pair of one with it."""
    try:
        return collective_phase(row)[0].algorithm
    except Unusable:
        return ""


def _paired(by_key: dict[tuple[str, ...], dict[str, list[Row]]]) -> Iterator[Pair]:
    for key, sides in by_key.items():
        for ib, ethernet in product(sides["ib"], sides["ethernet"]):
            try:
                predicted = _prediction(ib) / _prediction(ethernet)
            except Unusable:
                continue
            yield Pair(
                text(ib, "id"),
                text(ethernet, "id"),
                f"{key[0]}, {key[3]} nodes, {key[4] or 'mean over sizes'}",
                predicted,
                float(text(ib, "value")) / float(text(ethernet, "value")),
                text(ib, "source") == text(ethernet, "source"),
            )


def _prediction(row: Row) -> float:
    if text(row, "metric") == "busbw" and text(row, "message_bytes"):
        compared = validation_row(row)
        if compared.prediction is None:
            raise Unusable(compared.reason)
        return compared.prediction
    phase, setup = collective_phase(row)
    factor = bus_bandwidth_factor(phase.operation, phase.groups.size)
    rates = []
    for size in AVERAGED_SIZES:
        rates.append(factor * size / phase_time(replace(phase, message_bytes=size), setup).time_s)
    return sum(rates) / len(rates)
