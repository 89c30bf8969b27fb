"""Lines of a bill of materials and their sums.

Watts of a line are for one item, both ends of an active cable together; spares are bought, not powered. Low, mid
and high are the same three worlds on every line: sums of lows are the low total. A price that is not known stays
None ("unknown") and is in no sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import fsum

Band = tuple[float, float, float]
NETWORKS = ("compute", "storage", "in_band", "out_of_band")
NETWORK_CATEGORIES = ("switch", "nic", "transceiver", "cable")


@dataclass(frozen=True)
class Item:
    """A quantity of one part at one place, before prices and spares."""

    network: str  # compute | storage | in_band | out_of_band | servers | facility
    tier: str
    part: str
    quantity: int
    category: str = ""  # default: the part's
    speed_gbit_per_s: float | None = None
    prices: Band | None = None  # USD each instead of the catalogue's
    per_year: bool = False
    description: str = ""
    vendor: str = ""
    source: str = ""
    date: str = ""
    notes: str = ""
    power_w: tuple[float | None, float | None] | None = None  # typical, max instead of the part's
    free: bool = False  # listed, not bought


@dataclass(frozen=True)
class BillLine:
    """One row of `bill_of_materials.csv`."""

    line: int
    candidate: str
    network: str
    tier: str
    category: str
    vendor: str
    part: str
    description: str
    speed_gbit_per_s: float | None
    quantity_base: int
    spares_fraction: float
    quantity_spares: int
    quantity_total: int
    unit_price_low_usd: float | None
    unit_price_mid_usd: float | None
    unit_price_high_usd: float | None
    extended_low_usd: float | None
    extended_mid_usd: float | None
    extended_high_usd: float | None
    price_date: str
    price_source: str
    price_confidence: str
    rack_units: float | None
    power_typical_w: float | None
    power_max_w: float | None
    optics_in_power: str
    reach_m: float | None
    lead_time_weeks_low: float | None
    lead_time_weeks_high: float | None
    notes: str

    @property
    def extended(self) -> Band | None:
        """(low, mid, high) USD of the line, None when unknown."""
        if self.extended_low_usd is None or self.extended_mid_usd is None or self.extended_high_usd is None:
            return None
        return self.extended_low_usd, self.extended_mid_usd, self.extended_high_usd


@dataclass(frozen=True)
class Bill:
    """Every line of one candidate, what was built in words, and what a buyer should be told."""

    candidate: str
    built: str
    lines: tuple[BillLine, ...]
    per_year: frozenset[int]  # line numbers paid over `years`, not at the start
    years: int
    gpus: int
    nodes: int
    bisection_gbit_per_s: float
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown: tuple[int, ...] = field(default=())  # line numbers without a price

    def total(self, keep: Callable[[BillLine], bool] = lambda _: True) -> Band:
        """(low, mid, high) USD of the lines that `keep` accepts: their sum to the cent.

        Lines of unknown price are not in it.
        """
        return summed(line.extended for line in self.lines if keep(line))

    def capital(self, keep: Callable[[BillLine], bool] = lambda _: True) -> Band:
        """(low, mid, high) USD paid at the start: all lines but those paid per year."""
        return self.total(lambda line: line.line not in self.per_year and keep(line))

    def quantity(self, network: str, tier: str, part: str) -> int:
        """Items of a part at a place, without spares; ports that stay empty are no items."""
        return sum(
            line.quantity_base
            for line in self.lines
            if (line.network, line.tier, line.part) == (network, tier, part)
            and line.category != "unused_ports"
        )


def is_network(line: BillLine) -> bool:
    """Whether a line belongs to one of the four networks (not servers, not racks)."""
    return line.network in NETWORKS


def summed(bands: Iterable[Band | None]) -> Band:
    """Sum of bands to the cent; None is left out."""
    known = [band for band in bands if band is not None]
    return (
        round(fsum(b[0] for b in known), 2),
        round(fsum(b[1] for b in known), 2),
        round(fsum(b[2] for b in known), 2),
    )
