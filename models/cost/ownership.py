"""What a candidate's cluster costs to own: capital, power, space, support, licences, labour, year by year.

Low, mid and high are three worlds: all lows happen together. Year 0 is the purchase; running costs fall at the
end of years 1 .. N and are discounted with 1 / (1 + r)^t. Sums name what they contain in `denominator`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt

from models.catalog.parts import Catalogue, parts
from models.catalog.quotes import catalogue_with_overrides
from models.cost.lines import Band, Bill, BillLine, is_network
from models.cost.power import line_power_w, network_power_w, unknown_power
from models.scenario.load import candidate_technology
from models.scenario.schema import Scenario
from models.units import HOURS_PER_YEAR

STAFF_GPUS = 1024  # the staffing figure of a technology is for a cluster of this size
HORIZONS = (1, 3, 5)
CLUSTER = "cluster: servers, four networks, racks, energy, space, support, licences, network staff"


@dataclass(frozen=True)
class Flow:
    """Dollars of one category in one year, and the part of them that is the networks'."""

    year: int
    category: str  # capital | residual_value | power | space | support | licences | labour
    usd: Band
    network_usd: Band
    denominator: str


@dataclass(frozen=True)
class OwnershipRow:
    """One row of `ownership.csv`; `year` is a year number, or "total N" for sums over N years."""

    candidate: str
    year: str
    category: str
    low_usd: float
    mid_usd: float
    high_usd: float
    network_share_fraction: float | None
    denominator: str


@dataclass(frozen=True)
class Ownership:
    """Cash flows of one candidate and what follows from them."""

    candidate: str
    flows: tuple[Flow, ...]
    years: int
    discount_rate_fraction: float
    gpus: int
    used_fraction: float
    bisection_gbit_per_s: float
    compute_capital: Band
    it_w: float
    network_w: float
    warnings: tuple[str, ...]

    def discounted(self, years: int | None = None, network: bool = False) -> Band:
        """Present value (low, mid, high) of everything paid within `years`; the networks' part if `network`.

        The residual value counts only when `years` reaches the end of ownership.
        """
        last = self.years if years is None else years
        low, mid, high = 0.0, 0.0, 0.0
        for flow in self.flows:
            if flow.year <= last and not (flow.category == "residual_value" and last < self.years):
                factor = (1.0 + self.discount_rate_fraction) ** -flow.year
                band = flow.network_usd if network else flow.usd
                low, mid, high = low + band[0] * factor, mid + band[1] * factor, high + band[2] * factor
        return low, mid, high

    def yearly(self) -> Band:
        """Equal yearly cost (low, mid, high) with the present value of ownership, USD a year."""
        low, mid, high = self.discounted()
        factor = annuity_factor(self.discount_rate_fraction, self.years)
        return low / factor, mid / factor, high / factor

    def per_gpu_hour(self) -> Band:
        """USD per GPU and hour installed, in use or not."""
        low, mid, high = self.yearly()
        hours = self.gpus * HOURS_PER_YEAR
        return low / hours, mid / hours, high / hours

    def network_share(self) -> float:
        """Networks' part of the present value of ownership (mid)."""
        whole = self.discounted()[1]
        return self.discounted(network=True)[1] / whole if whole else 0.0


def annuity_factor(rate_fraction: float, years: int) -> float:
    """Sum of the discount factors of years 1 .. N, sum (1 + r)^-t = (1 - (1 + r)^-N) / r, N without interest.

    >>> round(annuity_factor(0.08, 5), 4), annuity_factor(0.0, 5)
    (3.9927, 5.0)
    """
    # term by term: the closed form loses all digits where r is tiny
    return sum((1.0 + rate_fraction) ** -year for year in range(1, years + 1))


def ownership(
    scenario: Scenario, candidate: str, bill: Bill, catalogue: Catalogue | None = None
) -> Ownership:
    """Cash flows of `candidate` with its bill; `catalogue` is the one the bill was priced from.

    *Assumptions*: typical watts all year; network staff of the technology is for 1,024 GPUs and grows with the
    square root of the cluster (assumption); space rent per kW excludes energy; PUE carries cooling energy.
    """
    prices = catalogue_with_overrides(parts() if catalogue is None else catalogue, scenario.prices)
    economics = scenario.economics
    it_w, network_w = line_power_w(bill.lines), network_power_w(bill.lines)
    warnings = [f"{part}: no watts known, not in the power" for part in unknown_power(bill.lines)]
    return Ownership(
        candidate=candidate,
        flows=tuple(_flows(scenario, candidate, bill, prices, it_w, network_w)),
        years=economics.years,
        discount_rate_fraction=economics.discount_rate_fraction,
        gpus=bill.gpus,
        used_fraction=economics.utilisation_fraction,
        bisection_gbit_per_s=bill.bisection_gbit_per_s,
        compute_capital=bill.capital(lambda line: line.network == "compute"),
        it_w=it_w,
        network_w=network_w,
        warnings=tuple(warnings),
    )


def staff(scenario: Scenario, candidate: str) -> Band:
    """Network staff (low, mid, high), people: the scenario's figure, or the technology's scaled by size."""
    if scenario.economics.network_staff is not None:
        return (scenario.economics.network_staff,) * 3
    figure = candidate_technology(scenario.candidates[candidate]).operations.network_staff
    scale = sqrt(scenario.cluster.gpus / STAFF_GPUS)
    low, high = figure.band
    return low * scale, figure.value * scale, high * scale


def energy_usd_per_w_year(scenario: Scenario, prices: Catalogue) -> Band:
    """Energy of one watt of IT for a year, PUE included (low, mid, high)."""
    given = "usd_per_kwh" in scenario.economics.model_fields_set
    band = _catalogue_band(prices, "op_elec", scenario.economics.usd_per_kwh, given)
    return _scaled(band, HOURS_PER_YEAR / 1000.0 * scenario.economics.pue)


def space_usd_per_w_year(scenario: Scenario, prices: Catalogue) -> Band:
    """Space rent of one watt of IT for a year (low, mid, high)."""
    given = "space_usd_per_kw_month" in scenario.economics.model_fields_set
    band = _catalogue_band(prices, "op_colo", scenario.economics.space_usd_per_kw_month, given)
    return _scaled(band, 12.0 / 1000.0)


def _flows(
    scenario: Scenario, candidate: str, bill: Bill, prices: Catalogue, it_w: float, network_w: float
) -> Iterator[Flow]:
    economics, years = scenario.economics, scenario.economics.years
    capital, network_capital = bill.capital(), bill.capital(is_network)
    words = "capital of the cluster: servers, four networks, racks, installation"
    if economics.include_cooling_plant:
        words += ", power and cooling plant"
    yield Flow(0, "capital", capital, network_capital, words)
    people = staff(scenario, candidate)
    labour = _scaled(people, economics.staff_usd_per_year)
    energy, space = energy_usd_per_w_year(scenario, prices), space_usd_per_w_year(scenario, prices)
    for year in range(1, years + 1):
        yield Flow(
            year, "power", _scaled(energy, it_w), _scaled(energy, network_w), "power of all IT, PUE included"
        )
        yield Flow(
            year, "space", _scaled(space, it_w), _scaled(space, network_w), "space of all IT by its watts"
        )
        for category in ("support", "licences"):
            keep = _keeps(category)
            whole = _yearly(bill, keep)
            part = _yearly(bill, lambda line, keep=keep: keep(line) and is_network(line))  # type: ignore[misc]
            yield Flow(year, category, whole, part, f"{category} of servers and networks")
        yield Flow(year, "labour", labour, labour, "network staff; other staff is not in this bill")
        if year == years and economics.residual_value_fraction:
            share = -economics.residual_value_fraction
            yield Flow(
                year, "residual_value", _scaled(capital, share), _scaled(network_capital, share), words
            )


def _keeps(category: str) -> Callable[[BillLine], bool]:
    if category == "support":
        return lambda line: line.category == "support"
    return lambda line: line.category != "support"


def _yearly(bill: Bill, keep: Callable[[BillLine], bool]) -> Band:
    return _scaled(bill.total(lambda line: line.line in bill.per_year and keep(line)), 1.0 / bill.years)


def _catalogue_band(prices: Catalogue, row: str, value: float, given: bool) -> Band:
    """The scenario's figure without a band when it is set there, else the catalogue's band."""
    band = prices[row].prices
    return (value, value, value) if given or band is None else band


def _scaled(band: Band, factor: float) -> Band:
    return band[0] * factor, band[1] * factor, band[2] * factor
