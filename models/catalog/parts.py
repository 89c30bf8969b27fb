"""Parts and prices: rows of `parts/*.csv`, each with unit, band, date, source and confidence.

Switches, NICs, transceivers, cables, servers, GPUs, licences and running costs can be bought;
`references.csv` holds published ratios and derived figures, kept apart: they are not prices of one thing.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from types import MappingProxyType

Catalogue = Mapping[str, "Part"]
FILES = (
    "switches", "nics", "transceivers", "cables", "servers", "gpus", "licences", "operations", "references",
)  # fmt: skip
CONFIDENCES = ("read in source", "from memory", "vendor claim", "derived", "quote", "scenario")
CATEGORIES = (
    "switch", "nic", "transceiver", "cable", "server", "gpu", "licence", "operation", "reference",
)  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One catalogue row; None where the source states nothing (never zero in its place).

    Prices are in `unit` (mostly USD each). `is_band` False: low, mid and high are different things side by
    side, not a range. `ports` count at `speed_gbit_per_s`, one direction; for transceivers and cables they
    are the links one item carries. Typical watts of a switch exclude optics, maximum watts include them,
    unless `optics_in_power` says otherwise.
    """

    id: str
    category: str
    vendor: str
    model: str
    technology: str  # ib | ethernet | both
    speed_gbit_per_s: float | None
    lane_gbit_per_s: float | None
    ports: int | None
    ports_at_400g: int | None
    cages: int | None  # pluggable cages; a twin-port cage holds two ports
    asic: str
    reach_m: float | None
    unit: str
    is_band: bool
    price_low: float | None
    price_mid: float | None
    price_high: float | None
    price_date: str
    source: str
    confidence: str  # read in source | from memory | vendor claim | derived | quote | scenario
    certainty: str  # low | med | high
    power_typical_w: float | None
    power_max_w: float | None
    optics_in_power: str
    rack_units: float | None
    weight_kg: float | None
    cage: str  # form factor a port takes, or a module or cable end fits
    form: str  # finned | flat (OSFP only)
    connector: str
    medium: (
        str  # multimode | single-mode | passive copper | active copper | active fibre | co-packaged optics
    )
    cage_limit_w: float | None
    latency_ns: float | None
    buffer_bytes: float | None
    lead_time_weeks_low: float | None
    lead_time_weeks_high: float | None
    nic_included: str  # part id of the NICs inside a server's price
    nics_included: int | None
    nic_ports_per_cage: int | None
    notes: str

    @property
    def prices(self) -> tuple[float, float, float] | None:
        """(low, mid, high) in `unit`, or None when the price is unknown or the row is no band."""
        if self.price_low is None or self.price_mid is None or self.price_high is None or not self.is_band:
            return None
        return self.price_low, self.price_mid, self.price_high


COLUMNS = tuple(f.name for f in fields(Part))


def part_rows() -> Iterator[tuple[str, dict[str, str]]]:
    """(file name, row of text cells) for every shipped row."""
    folder = resources.files("models.catalog").joinpath("parts")
    for name in FILES:
        text = folder.joinpath(f"{name}.csv").read_text("utf-8")
        for row in csv.DictReader(text.splitlines()):
            yield f"{name}.csv", row


def part_from_cells(cells: Mapping[str, str]) -> Part:
    """The Part of one row of text cells; ValueError for a number that is none."""
    given: dict[str, object] = {}
    for field in fields(Part):
        text = cells.get(field.name, "").strip()
        kind = str(field.type)
        if kind.startswith("int"):
            given[field.name] = int(float(text)) if text else None
        elif kind.startswith("float"):
            given[field.name] = float(text) if text else None
        elif kind == "bool":
            given[field.name] = text.lower() in {"yes", "true", "1"}
        else:
            given[field.name] = text
    return Part(**given)  # type: ignore[arg-type]


@cache
def parts() -> Catalogue:
    """All shipped rows by id.

    >>> parts()["sw_qm9700"].ports, parts()["sw_sn5600"].ports_at_400g, parts()["sw_qm9700"].prices
    (64, 128, (30000.0, 38000.0, 50000.0))
    """
    table: dict[str, Part] = {}
    for file, row in part_rows():
        if row["id"] in table:
            raise ValueError(f"{file}: {row['id']} is there twice")
        table[row["id"]] = part_from_cells(row)
    return MappingProxyType(table)


def part_names() -> frozenset[str]:
    """Ids a scenario may name."""
    return frozenset(parts())
