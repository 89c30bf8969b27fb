"""Servers and NICs (never counted twice), licences in their own unit, support, installation, cooling plant."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from models.catalog.choices import roles_inside, support_row, switch_licence
from models.catalog.parts import Part
from models.cost.chosen import NO_SERVER, Chosen
from models.cost.lines import Band, Item
from models.scenario.schema import Scenario


def server_items(scenario: Scenario, chosen: Chosen) -> Iterator[Item]:
    """Servers at their quoted price, the NICs inside it taken off, and the candidate's NICs at full price.

    The sum is the quote plus what the candidate's NICs cost more (or less) than those inside. The credit moves
    with the low, mid and high price of the NIC inside and belongs to the server's vendor.
    """
    cluster, server, nic = scenario.cluster, chosen.server, chosen["nic"]
    nics = cluster.nodes * cluster.nics_per_node
    if server is None:
        yield Item(
            "servers", "node", NO_SERVER, cluster.nodes, category="server",
            description=f"server for {cluster.gpus_per_node} x {cluster.gpu}: none in the catalogue",
        )  # fmt: skip
    else:
        count = servers_count(scenario, server)
        inside = server.nic_included
        words = f"price holds {server.nics_included} x {inside}" if inside else "NICs not in the price"
        yield Item("servers", "node", server.id, count, notes=words)
        owned = server.prices is not None and server.prices[1] == 0
        if inside and not (owned and inside != nic.id):  # an owned server gives no money back for its NICs
            yield _credit(count * (server.nics_included or 0), server, chosen, nic)
    differs = server is None or server.nic_included != nic.id
    yield Item(
        "compute", "host", nic.id, nics, speed_gbit_per_s=chosen.rate_gbit_per_s,
        notes="" if server is None or not server.nic_included else
        (f"the server's price holds {server.nic_included}: taken off in its own line" if differs
         else "inside the server's price: taken off in its own line, so not counted twice"),
    )  # fmt: skip
    yield from _other_nics(scenario, chosen)


def servers_count(scenario: Scenario, server: Part) -> int:
    """Servers to buy: one a node, or one rack for its GPUs where the part is a rack of trays."""
    per_server = server.ports or scenario.cluster.gpus_per_node
    if server.nics_included and per_server > scenario.cluster.gpus_per_node:
        return ceil(scenario.cluster.gpus / per_server)
    return scenario.cluster.nodes


def licence_items(scenario: Scenario, chosen: Chosen, switches: list[tuple[Part, int]]) -> Iterator[Item]:
    """Licences by their unit: managed node for UFM, switch for network operating systems."""
    if chosen.fabric == "ib":
        if scenario.networks.compute.subnet_manager == "ufm":
            yield Item(
                "compute",
                "licence",
                "li_ufm",
                scenario.cluster.nodes,
                per_year=True,
                notes="unit: managed node-year",
            )
        else:
            yield Item("compute", "licence", "li_opensm", 1, notes="embedded subnet manager")
        return
    counted: dict[str, int] = {}
    for part, count in switches:
        if licence := switch_licence(part.vendor):
            counted[licence] = counted.get(licence, 0) + count
    for licence, count in counted.items():
        yearly = "year" in chosen.catalogue[licence].unit
        yield Item(
            "compute",
            "licence",
            licence,
            count,
            per_year=yearly,
            notes="unit: switch-year" if yearly else "unit: switch",
        )


def support_items(scenario: Scenario, chosen: Chosen, switch_usd: dict[str, Band | None]) -> Iterator[Item]:
    """Support per switch vendor: a share of the vendor's switch prices each year; None stays unknown."""
    share = scenario.economics.network_support_fraction_per_year
    for vendor, band in switch_usd.items():
        row = chosen.catalogue[support_row(vendor)]
        percent = row.prices if share is None else (100.0 * share,) * 3
        prices: Band | None = None
        if band is not None and percent is not None:
            low, mid, high = (round(usd * p / 100.0, 2) for usd, p in zip(band, percent, strict=True))
            prices = (low, mid, high)
        yield Item(
            "compute", "support", row.id, 1, category="support", prices=prices, per_year=True, vendor=vendor,
            description=f"{row.model}, {vendor} switches of all networks",
            source=row.source if share is None else "economics.network_support_fraction_per_year",
            notes=f"{percent[1] if percent else 0:g} % of the switches' price a year",
        )  # fmt: skip
    if scenario.economics.server_support_fraction_per_year and chosen.server is not None:
        count = servers_count(scenario, chosen.server)
        fraction = scenario.economics.server_support_fraction_per_year
        price = chosen.server.prices
        yield Item(
            "servers", "support", chosen.server.id, count, category="support", per_year=True,
            prices=None if price is None else (price[0] * fraction, price[1] * fraction, price[2] * fraction),
            description=f"support of {chosen.server.model}", source="economics.server_support_fraction_per_year",
        )  # fmt: skip


def facility_items(scenario: Scenario, chosen: Chosen, it_w: float, optical_links: int) -> Iterator[Item]:
    """Installation of optical links and, only if asked, the power and cooling plant."""
    if optical_links:
        yield Item("compute", "installation", "op_install", optical_links, category="installation")
    if scenario.economics.include_cooling_plant:
        row = chosen.catalogue["op_dc_build"]
        given = "usd_per_mw_build" in scenario.economics.model_fields_set or row.prices is None
        per_mw = (scenario.economics.usd_per_mw_build,) * 3
        if not given and row.prices is not None:
            per_mw = (row.prices[0] * 1e6, row.prices[1] * 1e6, row.prices[2] * 1e6)
        yield Item(
            "facility", "plant", row.id, ceil(it_w / 1000.0), category="cooling_plant",
            prices=(per_mw[0] / 1000, per_mw[1] / 1000, per_mw[2] / 1000),
            description="data-centre build, power and cooling plant, per kW of IT",
            source="economics.usd_per_mw_build" if given else row.source,
        )  # fmt: skip
    for own in scenario.networks.own_lines:
        low = own.mid if own.low is None else own.low
        high = own.mid if own.high is None else own.high
        yield Item(
            own.network, "own", "", own.quantity, category=own.category, prices=(low, own.mid, high),
            per_year=own.per_year, description=own.description, vendor=own.vendor, source=own.source,
            date=own.date or "as in the scenario",
        )  # fmt: skip


def _credit(count: int, server: Part, chosen: Chosen, nic: Part) -> Item:
    inside = chosen.catalogue[server.nic_included]
    price = inside.prices
    typical = None if inside.power_typical_w is None else -inside.power_typical_w
    most = None if inside.power_max_w is None else -inside.power_max_w
    differ = "the same NICs are billed" if inside.id == nic.id else f"{nic.id} pays the difference"
    return Item(
        "servers", "node", inside.id, count, category="nic_in_server",
        prices=None if price is None else (-price[0], -price[1], -price[2]),
        description=f"{inside.model} inside the price of {server.id}, taken off", vendor=server.vendor,
        source=inside.source, date=inside.price_date, power_w=(typical, most),
        notes=f"{differ} on the NIC line of the compute network; low and high move with that NIC's price",
    )  # fmt: skip


def _other_nics(scenario: Scenario, chosen: Chosen) -> Iterator[Item]:
    """Storage and in-band NICs, where the server's price does not hold them."""
    inside = roles_inside(chosen.server.id) if chosen.server is not None else frozenset[str]()
    nodes, networks = scenario.cluster.nodes, scenario.networks
    for network, enabled, ports in (
        ("storage", networks.storage.enabled, networks.storage.ports_per_node),
        ("in_band", networks.in_band.enabled, networks.in_band.ports_per_node),
    ):
        if enabled and f"{network}_nic" not in inside:
            nic = chosen[f"{network}_nic"]
            yield Item(network, "host", nic.id, nodes * ceil(ports / (nic.ports or 1)))
