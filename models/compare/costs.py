"""What each candidate costs: its bill, its ownership, and the yearly cost lines that draws move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from models.catalog.quotes import Quotes, catalogue_with_quotes
from models.compare.performance import Setup
from models.compare.result import ComparisonRow
from models.compare.value import CostLine, Value
from models.compare.verdict import Gap
from models.cost.bill_of_materials import bill_of_materials
from models.cost.cabling import CablingRow, cabling_rows
from models.cost.lines import Band, Bill, is_network
from models.cost.ownership import CLUSTER, Ownership, ownership
from models.cost.tables import bill_table, ownership_table, yearly_costs
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario

UNLINKED = "cannot be linked as written"
METHOD = "cost"  # the method column of rows that no performance method made


@dataclass(frozen=True)
class CandidateCost:
    """Cost of one candidate; bands are (low, mid, high)."""

    candidate: str
    fabric: str
    network_words: str
    lines: tuple[CostLine, ...]
    capital_usd: Band
    network_capital_usd: Band
    yearly_usd: Band
    network_usd: float  # networks' part of the yearly cost, mid
    usd_per_gpu_hour: Band
    power_w: float
    network_power_w: float
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    made: Bill
    own: Ownership

    @property
    def bill(self) -> pd.DataFrame:
        """Lines of the bill, columns of `bill_of_materials.csv`."""
        return bill_table(self.made)

    @property
    def ownership(self) -> pd.DataFrame:
        """Rows of `ownership.csv`."""
        return ownership_table(self.own)

    @property
    def network_share_fraction(self) -> float:
        """Networks' part of the cluster's capital, mid."""
        return self.network_capital_usd[1] / self.capital_usd[1] if self.capital_usd[1] else 0.0


def unlinked(bill: Bill) -> tuple[str, ...]:
    """What of a bill does not plug together, said as such."""
    return tuple(f"{UNLINKED}: {text}" for text in bill.errors)


def wired(scenario: Scenario, candidate: str) -> Scenario:
    """The scenario as the candidate is wired: with the candidate's own topology where it has one."""
    own = scenario.candidates[candidate].topology
    return scenario if own is None else scenario.model_copy(update={"topology": own})


def candidate_costs(
    scenario: Scenario, setups: Sequence[Setup], prices: str | None = None
) -> dict[str, CandidateCost]:
    """Costs of the candidates that `setups` name; `prices` is a CSV of quotes.

    Raises InputError for quotes that cannot be read and for parts that do not plug together.
    """
    quotes = catalogue_with_quotes(prices)
    return {on.name: _cost(scenario, on, quotes) for on in setups}


def named_candidates(scenario: Scenario, candidate: str | None) -> list[str]:
    """The candidate asked for, or all; InputError for a name that the scenario does not have."""
    if candidate is None:
        return list(scenario.candidates)
    if candidate not in scenario.candidates:
        known = ", ".join(scenario.candidates)
        raise InputError(
            [Fault(scenario.name, "--candidate", candidate, f"no such candidate; allowed: {known}")]
        )
    return [candidate]


def bill_tables(
    scenario: Scenario, names: Sequence[str], prices: str | None
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Bill and ownership tables of the named candidates, and the warnings."""
    quotes = catalogue_with_quotes(prices)
    warnings = list(quotes.warnings)
    bills, owned = [], []
    for name in names:
        of = wired(scenario, name)
        bill = bill_of_materials(of, name, quotes.catalogue)
        own = ownership(of, name, bill, quotes.catalogue)
        bills.append(bill_table(bill))
        owned.append(ownership_table(own))
        warnings += [
            f"{name}: {text}" for text in (bill.built, *unlinked(bill), *bill.warnings, *own.warnings)
        ]
    tables = {
        "bill_of_materials": pd.concat(bills, ignore_index=True),
        "ownership": pd.concat(owned, ignore_index=True),
    }
    return tables, list(dict.fromkeys(warnings))


def cabling_plan(scenario: Scenario, names: Sequence[str], prices: str | None) -> Iterator[CablingRow]:
    """Every cable of the named candidates, one after another; node names say whose where there are several."""
    quotes = catalogue_with_quotes(prices)
    for name in names:
        prefix = f"{name}: " if len(names) > 1 else ""
        for row in cabling_rows(wired(scenario, name), name, quotes.catalogue):
            yield replace(row, a_node=prefix + row.a_node, z_node=prefix + row.z_node) if prefix else row


def cost_rows(
    scenario: Scenario,
    costs: Mapping[str, CandidateCost],
    ranked: Sequence[Value],
    against_best: Mapping[str, Gap | None],
) -> list[ComparisonRow]:
    """Rows of the comparison table that concern the whole cluster (workload column empty).

    `against_best` are the leads over the best, draw by draw; the best has none.
    """
    rows: list[ComparisonRow] = []
    by_name = {value.candidate: value for value in ranked}

    def add(
        cost: CandidateCost, metric: str, band: Band, unit: str, source: str, method: str = METHOD
    ) -> None:
        low, value, high = band
        row = (scenario.name, cost.candidate, cost.fabric, method, "", metric, value, unit, low, high, source)
        rows.append(ComparisonRow(*row))

    for cost in costs.values():
        bill = "bill of materials, catalogue prices and quotes"
        add(cost, "capital", cost.capital_usd, "USD", bill)
        add(cost, "network_capital", cost.network_capital_usd, "USD", bill)
        share = cost.network_share_fraction
        add(cost, "network_share", (share, share, share), "fraction", "networks over capital of the cluster")
        add(cost, "ownership_per_year", cost.yearly_usd, "USD/year", f"annuity of ownership; {CLUSTER}")
        add(
            cost,
            "usd_per_gpu_hour",
            cost.usd_per_gpu_hour,
            "USD/GPU-hour",
            "ownership over installed GPU-hours",
        )
        power = (cost.power_w,) * 3
        add(cost, "power", power, "W", "typical watts of all IT, optics included, before PUE")
        network_power = (cost.network_power_w,) * 3
        add(cost, "network_power", network_power, "W", "typical watts of the networks, optics included")
        value = by_name.get(cost.candidate)
        if value is not None:
            drawn = "Monte Carlo over prices, model error and method; seed of the scenario"
            work = (value.relative_work,) * 3
            add(cost, "relative_work", work, "1", "weighted work rate over the fastest candidate", "both")
            found = (value.low, value.work_per_dollar, value.high)
            add(cost, "work_per_dollar", found, "work per year / M USD per year", drawn, "both")
            lead = against_best[cost.candidate]
            relative = (1.0,) * 3 if lead is None else (1.0 + lead.low, value.relative, 1.0 + lead.high)
            paired = f"over the best candidate, draw by draw; {drawn}"
            add(cost, "work_per_dollar_relative", relative, "1", paired, "both")
            probability = (value.probability_best,) * 3
            add(cost, "probability_best", probability, "fraction", drawn, "both")
    return rows


def _moves_with(group: str, on: Setup) -> str:
    """What a yearly cost line moves with: staff is uncertain for each fabric on its own, the rest is shared."""
    return f"staff of {on.technology.fabric}" if group == "labour" else group


def _cost(scenario: Scenario, on: Setup, quotes: Quotes) -> CandidateCost:
    of = wired(scenario, on.name)
    bill = bill_of_materials(of, on.name, quotes.catalogue)
    own = ownership(of, on.name, bill, quotes.catalogue)
    return CandidateCost(
        candidate=on.name,
        fabric=on.technology.fabric,
        network_words=bill.built,
        lines=tuple(
            CostLine(_moves_with(line.group, on), line.low_usd, line.mid_usd, line.high_usd)
            for line in yearly_costs(bill, own)
        ),
        capital_usd=bill.capital(),
        network_capital_usd=bill.capital(is_network),
        yearly_usd=own.yearly(),
        network_usd=own.yearly()[1] * own.network_share(),
        usd_per_gpu_hour=own.per_gpu_hour(),
        power_w=own.it_w,
        network_power_w=own.network_w,
        errors=bill.errors,
        warnings=tuple(f"{on.name}: {text}" for text in (*unlinked(bill), *bill.warnings, *own.warnings))
        + quotes.warnings,
        made=bill,
        own=own,
    )
