"""What do I pay for?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts, charts_cost
from models.compare.comparison import Comparison
from models.compare.cost_tables import cost_by_category, cost_totals, difference, prices_in_use
from models.units import usd_text
from views import answers, inputs, show
from views.frame import Case
from views.kept import kept

UNKNOWN = "price unknown"
SCOPES = {"networks": "Networks only", "cluster": "Whole cluster"}


def page(case: Case, question: str) -> None:
    """Cost by category, where two candidates differ, the bill, prices to edit."""
    answer = answers.quick_comparison(case.scenario)
    show.heading(sentence(answer), question)
    _breakdown(answer, case.colours, case.key)
    bill, prices = st.tabs(["Bill of materials", "Edit prices"])
    with bill:
        _bill(answer)
    with prices:
        _prices(answer)
    unknown = sorted(
        {text for cost in answer.costs.values() for text in cost.made.warnings if UNKNOWN in text}
    )
    if unknown:
        st.warning(f"Sums are lower bounds: {'; '.join(unknown)}.", icon=":material/help:")
    if case.scenario.prices:
        st.caption(f"{len(case.scenario.prices)} prices are set by this scenario. {answer.verdict.sentence}")
    with st.expander("Ownership, year by year"):
        show.table("ownership", answer.ownership, height=400)
    with st.expander("Assumptions"):
        e = case.scenario.economics
        st.markdown(
            f"- {e.years} years; running costs discounted at {charts.percent_text(e.discount_rate_fraction)} a year; "
            f"residual value {charts.percent_text(e.residual_value_fraction)}.\n"
            "- All lows happen together, and all highs: the whiskers are two worlds, not a confidence interval.\n"
            "- A server price that includes NICs is credited for them; the candidate's own NICs are billed.\n"
            "- Four networks: compute, storage, in-band, out-of-band. Energy of all IT with PUE; staff of the network only."
        )
        for cost in answer.costs.values():
            st.caption(f"{cost.candidate}: {cost.network_words}")
        show.terms("ownership cost", "tier", "rail", "oversubscription")


def sentence(answer: Comparison) -> str:
    """Who is cheapest to own and what share the network has."""
    ranked = sorted(answer.values, key=lambda v: v.yearly_usd)
    shares = [answer.costs[v.candidate].network_share_fraction for v in ranked]
    first = f"{ranked[0].candidate} is cheapest to own at {usd_text(ranked[0].yearly_usd)} a year"
    if len(ranked) > 1:
        second = charts.percent_text(ranked[1].yearly_usd / ranked[0].yearly_usd - 1)
        last = charts.percent_text(ranked[-1].yearly_usd / ranked[0].yearly_usd - 1)
        first += (
            f"; the others cost {second} to {last} more"
            if len(ranked) > 2
            else f"; {ranked[1].candidate} costs {second} more"
        )
    low, high = charts.percent_text(min(shares)), charts.percent_text(max(shares))
    span = low if low == high else f"{low} to {high}"
    return f"{first}. The networks are {span} of the purchase."


def _breakdown(answer: Comparison, colours: dict[str, str], key: tuple[str, ...]) -> None:
    scope = st.segmented_control(
        "Shown", list(SCOPES), format_func=SCOPES.__getitem__, label_visibility="collapsed", required=True,
        **inputs.held("cost-scope", "networks", SCOPES),
    )  # fmt: skip
    table = kept(
        ("cost", key, scope),
        lambda: cost_by_category(answer, "cluster" if scope == "cluster" else "networks"),
    )
    totals = cost_totals(table).sort_values("mid_usd")
    names = list(totals.candidate)
    years = answer.scenario.economics.years
    left, right = st.columns([3, 2], gap="medium")
    with left:
        what = "the four networks" if scope != "cluster" else "the whole cluster"
        show.chart(
            "cost_by_category",
            lambda: charts_cost.stacked(
                table,
                f"{names[0]} is cheapest: {usd_text(float(totals.mid_usd.iloc[0]))} over {years} years",
                f"{what[:1].upper() + what[1:]}, mid prices; whisker: all prices low to all prices high",
            ),
            key,
            scope,
        )
    with right:
        if len(names) > 1:
            a, b = st.columns(2)
            first = a.selectbox("From", names, **inputs.held("cost-from", names[0], names))
            second = b.selectbox("To", names, **inputs.held("cost-to", names[-1], names))
            if first == second:
                st.caption("Choose two different candidates to see where they differ.")
            else:
                show.chart(
                    "cost_difference",
                    lambda: charts_cost.waterfall(difference(table, first, second), colours),
                    key, scope, first, second,
                )  # fmt: skip
    show.table("cost_by_category", _wide(table), full=table.drop(columns="order"), height="content")


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    """Categories down, candidates across, the sum first: at four candidates nothing is cut."""
    order = list(table.drop_duplicates("category").sort_values("order").category)
    wide = table.pivot_table(index="category", columns="candidate", values="mid_usd", sort=False).reindex(
        order
    )
    wide = wide[list(dict.fromkeys(table.candidate))]
    text = wide.map(lambda v: charts.MISSING if pd.isna(v) else usd_text(v))
    total = pd.DataFrame([[usd_text(v) for v in wide.sum()]], index=["all"], columns=wide.columns)
    return pd.concat([total, text]).rename_axis("Category", axis=0).rename_axis(None, axis=1).reset_index()


def _bill(answer: Comparison) -> None:
    names = [value.candidate for value in answer.values]
    name = st.selectbox("Bill of materials of", names, **inputs.held("bill-of", names[0], names))
    bill = answer.bill[answer.bill.candidate == name]
    shown = pd.DataFrame(
        {
            "Network": bill.network,
            "Tier": bill.tier,
            "Part": bill.description,
            "Quantity": [charts.number_text(v, 6) for v in bill.quantity_total],
            "Unit": [_price_text(v, charts.MISSING) for v in bill.unit_price_mid_usd],
            "Sum": [_price_text(v, "unknown") for v in bill.extended_mid_usd],
            "Confidence": bill.price_confidence,
            "Source": bill.price_source,
        }
    )
    show.table(
        "bill_of_materials", shown, full=bill, height=420,
        columns={"Part": st.column_config.TextColumn(width=290), "Source": st.column_config.TextColumn(width=330)},
    )  # fmt: skip


def _price_text(value: object, missing: str) -> str:
    """USD of a bill's cell, which reads "unknown" where a price is missing."""
    return usd_text(float(value)) if isinstance(value, int | float) and not pd.isna(value) else missing


def _prices(answer: Comparison) -> None:
    table = kept(("prices", answer.scenario.model_dump_json()), lambda: prices_in_use(answer))
    given = set(answer.scenario.prices)
    shown = pd.DataFrame(
        {
            "part": table.part,
            "Part": table.description,
            "USD": table.unit_price_mid_usd,
            "Band": [
                f"{charts.number_text(a)}{charts.THIN_SPACE}-{charts.THIN_SPACE}{charts.number_text(b)}"
                for a, b in zip(table.unit_price_low_usd, table.unit_price_high_usd, strict=True)
            ],
            "Set": ["yours" if part in given else "" for part in table.part],
            "Confidence": table.price_confidence,
            "Date": table.price_date,
            "Source": table.price_source,
        }
    )
    version = hash(tuple(zip(shown.part, shown.USD, strict=True)))
    st.markdown("Prices: edit a cell, the answer follows")
    st.data_editor(
        shown, hide_index=True, height=420, width="stretch", key=f"prices-{version}",
        disabled=["part", "Part", "Band", "Set", "Confidence", "Date", "Source"],
        on_change=_price_changed, args=(f"prices-{version}", tuple(shown.part)),
        column_config={
            "part": None,
            "USD": st.column_config.NumberColumn(min_value=0.0, format="localized", help="Price of one, USD."),
        },
    )  # fmt: skip
    show.csv("prices", table)
    if given:
        st.button("Back to catalogue prices", on_click=_catalogue_prices, key="catalogue-prices")
    st.caption("An edit becomes part of the scenario: save it as YAML on the left, or share the link.")


def _price_changed(widget: str, parts: tuple[str, ...]) -> None:
    edits = st.session_state[widget]["edited_rows"]
    for row, cells in edits.items():
        price = cells.get("USD")
        if price is not None:
            inputs.set_key(f"prices.{parts[int(row)]}", float(price))


def _catalogue_prices() -> None:
    inputs.set_ask(inputs.ask().unchanged("prices"))
