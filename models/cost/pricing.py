"""Items to priced lines: catalogue band, discount, spares rounded up per part, sums to the cent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import ceil

from models.catalog.parts import Catalogue, Part
from models.cost.lines import NETWORK_CATEGORIES, NETWORKS, Band, BillLine, Item
from models.scenario.schema import Scenario

PER_END = ("AOC", "AEC", "active copper", "splitter")


def priced_lines(
    items: Iterable[Item], catalogue: Catalogue, scenario: Scenario, candidate: str, first: int = 1
) -> tuple[list[BillLine], set[int]]:
    """(lines, numbers of those paid per year); spares are shared out so that each part rounds up once."""
    lines: list[BillLine] = []
    per_year: set[int] = set()
    running: dict[str, int] = defaultdict(int)
    for number, item in enumerate(items, start=first):
        part = catalogue.get(item.part)
        category = item.category or (part.category if part is not None else "own")
        spared = item.network in NETWORKS and not item.free
        fraction = spares_fraction(scenario, category, catalogue) if spared else 0.0
        before = running[item.part]
        running[item.part] += item.quantity if fraction else 0
        spares = _spares(running[item.part], fraction) - _spares(before, fraction) if fraction else 0
        lines.append(_line(number, item, part, category, fraction, spares, scenario, candidate))
        if item.per_year:
            per_year.add(number)
    return lines, per_year


def listed_price(line: BillLine, scenario: Scenario, per_year: bool) -> Band | None:
    """The price that a line's unit price was made from: one year of a yearly one, discounts not taken off.

    It is what a price set in the scenario replaces; None when unknown.
    """
    prices = line.unit_price_low_usd, line.unit_price_mid_usd, line.unit_price_high_usd
    if any(price is None for price in prices):
        return None
    factor = 1.0 - _discount(line.network, line.category, line.vendor, scenario)
    factor *= scenario.economics.years if per_year else 1
    low, mid, high = (round((price or 0.0) / factor, 2) for price in prices)
    return low, mid, high


def spares_fraction(scenario: Scenario, category: str, catalogue: Catalogue) -> float:
    """Share of spare items bought for a category: the scenario's, else mid of the catalogue's `op_spares_...` row."""
    row = catalogue.get(f"op_spares_{category}")
    default = row.prices[1] / 100.0 if row is not None and row.prices is not None else 0.0
    return scenario.economics.spares_fraction.get(category, default)


def _spares(quantity: int, fraction: float) -> int:
    return ceil(quantity * fraction - 1e-9)


def _discount(network: str, category: str, vendor: str, scenario: Scenario) -> float:
    """Share off the price: the network's discount and the vendor's own, one after the other."""
    if network not in NETWORKS or category not in NETWORK_CATEGORIES:
        return 0.0
    kept = 1.0 - scenario.economics.network_discount_fraction
    kept *= 1.0 - scenario.networks.vendor_discount_fraction.get(vendor, 0.0)
    return 1.0 - kept


def _unit_prices(item: Item, part: Part | None, off: float, years: int) -> Band | None:
    if item.free:
        return 0.0, 0.0, 0.0
    band = item.prices
    if band is None and part is not None and item.category not in ("support",):
        band = part.prices
    if band is None:
        return None
    factor = (1.0 - off) * (years if item.per_year else 1)
    return round(band[0] * factor, 2), round(band[1] * factor, 2), round(band[2] * factor, 2)


def _watts(item: Item, part: Part | None) -> tuple[float | None, float | None]:
    if item.power_w is not None:
        return item.power_w
    if part is None or part.category in ("operation",):
        return None, None
    ends = 2.0 if part.category == "cable" and any(word in part.model for word in PER_END) else 1.0
    typical, most = part.power_typical_w, part.power_max_w
    return (None if typical is None else ends * typical), (None if most is None else ends * most)


def _line(
    number: int,
    item: Item,
    part: Part | None,
    category: str,
    fraction: float,
    spares: int,
    scenario: Scenario,
    candidate: str,
) -> BillLine:
    vendor = item.vendor or (part.vendor if part is not None else "unknown")
    off = _discount(item.network, category, vendor, scenario)
    years = scenario.economics.years
    unit = _unit_prices(item, part, off, years)
    total = item.quantity + spares
    extended = None if unit is None else tuple(round(total * price, 2) for price in unit)
    notes = [item.notes]
    if item.per_year:
        notes.append(f"unit price is for {years} years")
    if off:
        notes.append(f"{100 * off:.3g} % discount off the source's price")
    if part is not None and not item.free and not item.description:
        notes.append(part.notes)
    watts = _watts(item, part)
    known = part is not None and not item.free
    return BillLine(
        line=number,
        candidate=candidate,
        network=item.network,
        tier=item.tier,
        category=category,
        vendor=vendor,
        part=item.part,
        description=item.description or (part.model if part is not None else ""),
        speed_gbit_per_s=item.speed_gbit_per_s or (part.speed_gbit_per_s if part is not None else None),
        quantity_base=item.quantity,
        spares_fraction=fraction,
        quantity_spares=spares,
        quantity_total=total,
        unit_price_low_usd=unit[0] if unit else None,
        unit_price_mid_usd=unit[1] if unit else None,
        unit_price_high_usd=unit[2] if unit else None,
        extended_low_usd=extended[0] if extended else None,
        extended_mid_usd=extended[1] if extended else None,
        extended_high_usd=extended[2] if extended else None,
        price_date=item.date or (part.price_date if part is not None else ""),
        price_source=_source(item, part),
        price_confidence=_confidence(item, part, unit is None),
        rack_units=part.rack_units if known and part is not None else None,
        power_typical_w=watts[0],
        power_max_w=watts[1],
        optics_in_power=part.optics_in_power if known and part is not None else "",
        reach_m=part.reach_m if known and part is not None else None,
        lead_time_weeks_low=part.lead_time_weeks_low if known and part is not None else None,
        lead_time_weeks_high=part.lead_time_weeks_high if known and part is not None else None,
        notes="; ".join(note for note in notes if note),
    )


def _source(item: Item, part: Part | None) -> str:
    if item.free:
        return "not bought: ports that stay empty"
    return item.source or (part.source if part is not None else "none")


def _confidence(item: Item, part: Part | None, unknown: bool) -> str:
    if unknown:
        return "unknown"
    if item.free:
        return "counted"
    if item.category == "own" or part is None:
        return "scenario"
    if item.source.startswith("economics."):
        return "scenario"
    return part.confidence
