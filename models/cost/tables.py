"""Ownership as rows and as yearly cost lines that move together; bills as tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields

import pandas as pd

from models.cost.lines import NETWORKS, Band, Bill, BillLine
from models.cost.ownership import CLUSTER, HORIZONS, Ownership, OwnershipRow, annuity_factor
from models.units import HOURS_PER_YEAR

PRICE_COLUMNS = tuple(
    f"{what}_{end}_usd" for what in ("unit_price", "extended") for end in ("low", "mid", "high")
)


@dataclass(frozen=True)
class YearlyCost:
    """Equal yearly cost of what moves as one: all lines of a vendor (a discount), or one kind of running cost."""

    group: str
    low_usd: float
    mid_usd: float
    high_usd: float


def bill_table(bill: Bill) -> pd.DataFrame:
    """`bill_of_materials.csv`: one row a line; a price that is not known reads "unknown", never zero."""
    names = [field.name for field in fields(BillLine)]
    table = pd.DataFrame([asdict(line) for line in bill.lines], columns=names)
    for name in PRICE_COLUMNS:
        if table[name].isna().any():
            table[name] = [("unknown" if pd.isna(v) else v) for v in table[name]]
    return table


def ownership_rows(own: Ownership) -> Iterator[OwnershipRow]:
    """Yearly flows, then sums over 1, 3, 5 and N years: discounted total, per GPU, GPU-hour and Gbit/s."""
    for flow in own.flows:
        share = flow.network_usd[1] / flow.usd[1] if flow.usd[1] else None
        low, mid, high = flow.usd
        yield _row(own, str(flow.year), flow.category, (low, mid, high), share, flow.denominator)
    for years in sorted({*(h for h in HORIZONS if h <= own.years), own.years}):
        total, share = own.discounted(years), None
        network = own.discounted(years, network=True)
        share = network[1] / total[1] if total[1] else None
        name = f"total {years}"
        hours = own.gpus * HOURS_PER_YEAR * annuity_factor(own.discount_rate_fraction, years)
        yield _row(own, name, "total_discounted", total, share, CLUSTER)
        yield _row(own, name, "network_discounted", network, 1.0, "four networks with their running costs")
        yield _row(own, name, "usd_per_gpu", _over(total, own.gpus), share, f"{own.gpus} GPUs; {CLUSTER}")
        yield _row(
            own, name, "usd_per_gpu_hour", _over(total, hours), share, "GPU-hours installed, discounted alike"
        )
        used = hours * own.used_fraction
        words = f"GPU-hours in use ({own.used_fraction:.3g} of installed), discounted alike"
        yield _row(own, name, "usd_per_used_gpu_hour", _over(total, used), share, words)
    per_bisection = _over(own.compute_capital, own.bisection_gbit_per_s)
    words = f"capital of the compute network over {own.bisection_gbit_per_s:g} Gbit/s of bisection"
    yield _row(own, "0", "usd_per_gbit_per_s_bisection", per_bisection, 1.0, words)
    capital = next(flow for flow in own.flows if flow.category == "capital")
    words = f"{own.gpus} GPUs; capital of the four networks"
    yield _row(own, "0", "network_usd_per_gpu", _over(capital.network_usd, own.gpus), 1.0, words)


def ownership_table(own: Ownership) -> pd.DataFrame:
    """`ownership.csv`."""
    names = [field.name for field in fields(OwnershipRow)]
    return pd.DataFrame([asdict(row) for row in ownership_rows(own)], columns=names)


def yearly_costs(bill: Bill, own: Ownership) -> tuple[YearlyCost, ...]:
    """Yearly cost split by what moves together; their mids sum to `own.yearly()`.

    Capital (less residual value), support and licences belong to the vendor's group; power, space and labour are
    groups of their own.
    """
    factor = annuity_factor(own.discount_rate_fraction, own.years)
    kept = 1.0
    for flow in own.flows:
        if flow.category == "residual_value":
            capital = next(f for f in own.flows if f.category == "capital").usd[1]
            share = flow.usd[1] / capital if capital else 0.0
            kept += share * (1.0 + own.discount_rate_fraction) ** -flow.year
    groups: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for line in bill.lines:
        if line.extended is None:
            continue
        weight = 1.0 / bill.years if line.line in bill.per_year else kept / factor
        _add(groups[line.vendor], line.extended, weight)
    for flow in own.flows:
        if flow.year == 1 and flow.category in ("power", "space", "labour"):
            _add(groups[flow.category], flow.usd, 1.0)
    return tuple(YearlyCost(name, *sums) for name, sums in groups.items())


def network_bands(bill: Bill) -> dict[str, dict[str, Band]]:
    """Capital (low, mid, high) by network and category, for stacked bars; keys are those of the lines."""
    table: dict[str, dict[str, Band]] = {}
    for line in bill.lines:
        if line.extended is not None and line.line not in bill.per_year:
            found = table.setdefault(line.network, {})
            low, mid, high = found.get(line.category, (0.0, 0.0, 0.0))
            more = line.extended
            found[line.category] = (low + more[0], mid + more[1], high + more[2])
    order = [*NETWORKS, *(name for name in table if name not in NETWORKS)]
    return {name: table[name] for name in order if name in table}


def _add(sums: list[float], band: Band, weight: float) -> None:
    for at in range(3):
        sums[at] += band[at] * weight


def _over(band: Band, by: float) -> Band:
    return (band[0] / by, band[1] / by, band[2] / by) if by else (0.0, 0.0, 0.0)


def _row(
    own: Ownership, year: str, category: str, band: Band, share: float | None, words: str
) -> OwnershipRow:
    digits = 2 if abs(band[1]) >= 1000 else 6
    low, mid, high = (round(value, digits) for value in band)
    return OwnershipRow(own.candidate, year, category, low, mid, high, share, words)
