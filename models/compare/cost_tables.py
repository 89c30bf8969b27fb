"""Cost broken down for a reader: by category over the years, and where two candidates differ."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from models.catalog.parts import parts
from models.compare.comparison import Comparison
from models.cost.pricing import listed_price

Scope = Literal["networks", "cluster"]

# bill category -> what a reader calls it; categories paid per year come from the ownership table instead
WORDS = {
    "server": "servers",
    "nic_in_server": "servers",
    "switch": "switches",
    "nic": "NICs",
    "transceiver": "transceivers",
    "cable": "cables",
    "rack": "racks",
    "pdu": "racks",
    "appliance": "other hardware",
    "unused_ports": "other hardware",
    "installation": "installation",
}
PER_YEAR = ("licence", "support")
ORDER = (
    "servers", "switches", "NICs", "transceivers", "cables", "racks", "other hardware", "installation",
    "energy", "space", "support", "licences", "staff", "resale",
)  # fmt: skip
RUNNING = {
    "power": "energy", "space": "space", "support": "support", "licences": "licences", "labour": "staff",
    "residual_value": "resale",
}  # fmt: skip
SMALL_STEP_FRACTION = 0.1  # smaller differences are drawn as one step
NOT_NETWORK = ("servers", "facility")
PRICE_TABLE = (
    "part", "description", "category", "unit_price_low_usd", "unit_price_mid_usd", "unit_price_high_usd",
    "extended_mid_usd", "price_source", "price_confidence", "price_date", "candidates",
)  # fmt: skip
NOT_LISTED = ("support", "nic_in_server", "cooling_plant", "own", "unused_ports")


def cost_by_category(answer: Comparison, scope: Scope) -> pd.DataFrame:
    """Low, mid and high USD of each candidate and category over the scenario's years, running costs discounted.

    Scope "networks" holds the four networks alone, "cluster" everything. A price that is unknown is in no sum.
    """
    economics = answer.scenario.economics
    rate = economics.discount_rate_fraction
    parts: list[pd.DataFrame] = []
    bill = answer.bill[~answer.bill.category.isin(PER_YEAR)]
    if scope == "networks":
        bill = bill[~bill.network.isin(NOT_NETWORK)]
    parts.append(
        pd.DataFrame(
            {
                "candidate": bill.candidate,
                "category": [WORDS.get(str(c), "other hardware") for c in bill.category],
                **{
                    f"{end}_usd": pd.to_numeric(bill[f"extended_{end}_usd"], errors="coerce").fillna(0.0)
                    for end in ("low", "mid", "high")
                },
            }
        )
    )
    own = answer.ownership[answer.ownership.category.isin(list(RUNNING))]
    years = pd.to_numeric(own.year, errors="coerce")
    own = own[years.notna()]
    factor = (1.0 + rate) ** -years[years.notna()]
    if scope == "networks":
        factor = factor * own.network_share_fraction.fillna(0.0)
    parts.append(
        pd.DataFrame(
            {
                "candidate": own.candidate,
                "category": own.category.map(RUNNING),
                **{f"{end}_usd": own[f"{end}_usd"] * factor for end in ("low", "mid", "high")},
            }
        )
    )
    table = pd.concat(parts, ignore_index=True)
    total = (
        table.groupby(["candidate", "category"], sort=False)[["low_usd", "mid_usd", "high_usd"]]
        .sum()
        .reset_index()
    )
    total["order"] = total.category.map({name: i for i, name in enumerate(ORDER)})
    names = {value.candidate: i for i, value in enumerate(answer.values)}
    total = total[(total.high_usd != 0) | (total.low_usd != 0)]
    found = total.sort_values(
        ["candidate", "order"], key=lambda c: c.map(names) if c.name == "candidate" else c
    )
    return found.reset_index(drop=True)


def cost_totals(table: pd.DataFrame) -> pd.DataFrame:
    """Sum over categories; the lows and the highs of a candidate happen together."""
    return table.groupby("candidate", sort=False)[["low_usd", "mid_usd", "high_usd"]].sum().reset_index()


def difference(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """From the cost of `first` to that of `second`, category by category: rows of a waterfall."""
    mids = table.pivot_table(
        index="category", columns="candidate", values="mid_usd", aggfunc="sum", fill_value=0.0
    )
    for name in (first, second):
        if name not in mids:
            mids[name] = 0.0
    at = float(mids[first].sum())
    rows: list[dict[str, Any]] = [
        {"step": first, "start_usd": 0.0, "end_usd": at, "change_usd": at, "kind": "total"}
    ]
    changes = (mids[second] - mids[first]).sort_values(key=abs, ascending=False)
    least = SMALL_STEP_FRACTION * float(changes.abs().max())
    rest = float(changes[changes.abs() < least].sum())
    steps = [(str(name), float(change)) for name, change in changes.items() if abs(change) >= max(least, 0.5)]
    for category, change in [*steps, *([("all else", rest)] if abs(rest) >= 0.1 * least else [])]:
        rows.append(
            {
                "step": category,
                "start_usd": at,
                "end_usd": at + change,
                "change_usd": change,
                "kind": "change",
            }
        )
        at += change
    end = float(mids[second].sum())
    rows.append({"step": second, "start_usd": 0.0, "end_usd": end, "change_usd": end, "kind": "total"})
    return pd.DataFrame(rows)


def prices_in_use(answer: Comparison) -> pd.DataFrame:
    """Each part of the bills once: price, band, unit, source, confidence, who buys it and for how much.

    Prices are those a price of the scenario replaces: of one item or one year, discounts not taken off. What is
    no part, or priced by the bill itself (support, the plant, own lines), is not in it.
    """
    found: dict[str, dict[str, Any]] = {}
    catalogue = parts()
    for cost in answer.costs.values():
        seen: set[str] = set()
        for line in cost.made.lines:
            price = listed_price(line, answer.scenario, line.line in cost.made.per_year)
            if not line.part or line.category in NOT_LISTED or price is None or price[1] <= 0:
                continue
            unit = catalogue[line.part].unit if line.part in catalogue else "USD each"
            row = found.setdefault(
                line.part,
                {
                    "part": line.part,
                    "description": line.description + ("" if unit == "USD each" else f" ({unit})"),
                    "category": line.category,
                    "unit_price_low_usd": price[0],
                    "unit_price_mid_usd": price[1],
                    "unit_price_high_usd": price[2],
                    "extended_mid_usd": 0.0,
                    "price_source": line.price_source,
                    "price_confidence": line.price_confidence,
                    "price_date": line.price_date,
                    "candidates": 0,
                },
            )
            row["extended_mid_usd"] = max(row["extended_mid_usd"], line.extended_mid_usd or 0.0)
            row["candidates"] += line.part not in seen
            seen.add(line.part)
    table = pd.DataFrame(list(found.values()), columns=list(PRICE_TABLE))
    return table.sort_values("extended_mid_usd", ascending=False, kind="stable").reset_index(drop=True)
