"""How far measured times of healthy systems lie from the model: bands by kind and size."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

from models.units import GIB, MIB


@dataclass(frozen=True)
class Band:
    """Factors on a modelled time that hold about 90 % of unseen healthy rows."""

    kind: str
    size: str
    hardware: str
    low_factor: float
    high_factor: float
    source: str


@cache
def bands() -> tuple[Band, ...]:
    """All rows of the band table."""
    text = resources.files("models.catalog").joinpath("error_bands.csv").read_text("utf-8")
    return tuple(
        Band(
            row["kind"],
            row["size"],
            row["hardware"],
            float(row["low_factor"]),
            float(row["high_factor"]),
            row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def band_kind(operation: str) -> str:
    """The row of the band table an operation falls under."""
    if operation.startswith("moe"):
        return "moe"
    return {"all_to_all": "all_to_all", "alltoall": "all_to_all", "send_recv": "send_recv"}.get(
        operation, "collective"
    )


def size_name(message_bytes: float) -> str:
    """large (>= 1 GiB), medium (16 MiB - 1 GiB) or small."""
    if message_bytes >= GIB:
        return "large"
    return "medium" if message_bytes >= 16 * MIB else "small"


# Hardware with published rows behind the constants; a test holds this against the shipped measurements.
MEASURED_GPUS = frozenset({"A100", "H100", "H200", "H800", "B200", "GB200", "GB300", "MI300X", "MI355X"})
MEASURED_NIC_BYTES_PER_S = 50e9  # up to 400 Gbit/s


def hardware_class(gpu: str, rate_bytes_per_s: float, network: bool = True) -> str:
    """known or new: whether published rows of this GPU, and of NICs as fast, stand behind the constants.

    >>> hardware_class("H100", 50e9), hardware_class("B300", 50e9), hardware_class("B200", 100e9)
    ('known', 'new', 'new')
    """
    slow_enough = not network or rate_bytes_per_s <= MEASURED_NIC_BYTES_PER_S
    return "known" if gpu in MEASURED_GPUS and slow_enough else "new"


def band_factors(operation: str, message_bytes: float, hardware: str = "known") -> tuple[float, float]:
    """Factors (low, high) on the modelled time of an operation.

    >>> low, high = band_factors("all_reduce", 2**31)
    >>> low < 1.0 < high
    True
    """
    kind, size = band_kind(operation), size_name(message_bytes)
    for row in bands():
        if (row.kind, row.size, row.hardware) == (kind, size, hardware):
            return row.low_factor, row.high_factor
    raise KeyError(f"no band for {kind}, {size}, {hardware}")
