"""DCQCN parameter sets as data: rows of `catalog/congestion/dcqcn.csv`, scaled to a link rate where the source does."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from models.units import gbit_per_s_from_bytes_per_s

MBIT_BYTES_PER_S = 1e6 / 8.0


@dataclass(frozen=True)
class DcqcnSet:
    """One set at one link rate, SI units; 0 in byte_counter_bytes and cnp_interval_s means not used."""

    id: str
    label: str
    alpha_timer_s: float
    cut_interval_s: float
    increase_timer_s: float
    fast_recovery_stages: int
    g: float
    additive_bytes_per_s: float
    hyper_bytes_per_s: float
    min_rate_bytes_per_s: float
    kmin_bytes: float
    kmax_bytes: float
    pmax: float
    byte_counter_bytes: float
    cnp_interval_s: float
    confidence: str
    source: str


@cache
def _rows() -> dict[str, dict[str, str]]:
    text = resources.files("models.catalog").joinpath("congestion", "dcqcn.csv").read_text("utf-8")
    return {row["id"]: row for row in csv.DictReader(text.splitlines())}


def dcqcn_set_names() -> tuple[str, ...]:
    """Ids a technology may name as its parameter set."""
    return tuple(_rows())


def dcqcn_set(name: str, rate_bytes_per_s: float) -> DcqcnSet:
    """The set `name` at a link rate: thresholds and increase steps grow with C where the source scales them.

    Raises KeyError for an unknown name.

    >>> at_400g = dcqcn_set("hpcc_dcqcn", 50e9)
    >>> at_400g.kmin_bytes, at_400g.additive_bytes_per_s
    (1600000.0, 10000000.0)
    """
    row = _rows()[name]
    reference = float(row["reference_gbit_per_s"])
    scale = gbit_per_s_from_bytes_per_s(rate_bytes_per_s) / reference if reference else 1.0
    return DcqcnSet(
        id=name,
        label=row["label"],
        alpha_timer_s=float(row["alpha_timer_us"]) * 1e-6,
        cut_interval_s=float(row["cut_interval_us"]) * 1e-6,
        increase_timer_s=float(row["increase_timer_us"]) * 1e-6,
        fast_recovery_stages=int(row["fast_recovery_stages"]),
        g=float(row["g"]),
        additive_bytes_per_s=float(row["additive_mbit_per_s"]) * MBIT_BYTES_PER_S * scale,
        hyper_bytes_per_s=float(row["hyper_mbit_per_s"]) * MBIT_BYTES_PER_S * scale,
        min_rate_bytes_per_s=float(row["min_rate_mbit_per_s"]) * MBIT_BYTES_PER_S,
        kmin_bytes=float(row["kmin_kb"]) * 1e3 * scale,
        kmax_bytes=float(row["kmax_kb"]) * 1e3 * scale,
        pmax=float(row["pmax"]),
        byte_counter_bytes=float(row["byte_counter_bytes"]),
        cnp_interval_s=float(row["cnp_interval_us"]) * 1e-6,
        confidence=row["confidence"],
        source=row["source"],
    )
