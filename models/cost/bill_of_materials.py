"""Bill of materials of one candidate: four networks tier by tier, servers, racks, licences, support.

Counts follow the cluster, the topology and the parts' ports; nothing of the workload enters, and no price changes a
count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from models.catalog.parts import Catalogue, Part, parts
from models.catalog.quotes import catalogue_with_overrides
from models.cost.checks import fabric_findings
from models.cost.chosen import Chosen, chosen_parts
from models.cost.compute_network import WHOLE_UNITS, compute_fabric, subnet_manager_items
from models.cost.fabric import Fabric, fabric_items
from models.cost.lines import NETWORKS, Band, Bill, BillLine, Item, summed
from models.cost.management_networks import management, management_items
from models.cost.power import line_power_w
from models.cost.pricing import priced_lines
from models.cost.servers_and_services import facility_items, licence_items, server_items, support_items
from models.cost.storage_network import storage_fabric, storage_items
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.topology.network import switch_radices
from models.topology.size import CannotBuild, NetworkSize, network_size


def bill_of_materials(scenario: Scenario, candidate: str, catalogue: Catalogue | None = None) -> Bill:
    """Every line of candidate `candidate`, priced from `catalogue` (default: shipped) and the scenario's prices.

    Raises InputError when parts are unknown or the switches cannot build the network. What can be built but
    should be known is in `Bill.errors` (does not plug together) and `Bill.warnings`.
    """
    shipped = parts() if catalogue is None else catalogue
    prices = catalogue_with_overrides(shipped, scenario.prices)
    chosen = chosen_parts(scenario, candidate, prices)
    size = compute_size(scenario, chosen)
    compute = compute_fabric(scenario, chosen, size)
    fabrics = [compute]
    if scenario.networks.storage.enabled:
        fabrics.append(_storage(scenario, chosen))
    lines, per_year = priced_lines(_items(scenario, chosen, fabrics), prices, scenario, candidate)
    more, yearly = _services(scenario, chosen, lines, len(lines) + 1)
    lines += more
    per_year |= yearly
    unknown = tuple(line.line for line in lines if line.extended is None)
    findings = [f for fabric in fabrics for f in fabric_findings(fabric, chosen, _host_port(fabric, chosen))]
    told = [*chosen.told, *(text for fabric in fabrics for text in fabric.told)]
    warnings = [
        *told,
        *(f.text for f in findings if f.severity == "warning"),
        *_unknown_texts(lines),
    ]
    return Bill(
        candidate=candidate,
        built=built_words(size, compute),
        lines=tuple(lines),
        per_year=frozenset(per_year),
        years=scenario.economics.years,
        gpus=scenario.cluster.gpus,
        nodes=scenario.cluster.nodes,
        bisection_gbit_per_s=bisection_gbit_per_s(scenario, chosen, size),
        errors=tuple(dict.fromkeys(f.text for f in findings if f.severity == "error")),
        warnings=tuple(dict.fromkeys(warnings)),
        unknown=unknown,
    )


def compute_size(scenario: Scenario, chosen: Chosen) -> NetworkSize:
    """Size of the compute network with the candidate's switch; InputError when it cannot be built."""
    switch, upper, cluster = chosen["switch"], chosen.parts.get("spine_switch"), scenario.cluster
    key = f"candidates.{chosen.name}.parts.switch"
    try:
        radix, upper_radix = switch_radices(scenario.topology, chosen.rate_gbit_per_s, switch, upper)
        return network_size(
            scenario.topology, cluster.nodes, cluster.nics_per_node, radix, upper_radix=upper_radix
        )
    except CannotBuild as error:
        raise InputError([Fault(scenario.name, key, switch.id, str(error))]) from error


def built_words(size: NetworkSize, of: Fabric) -> str:
    """What was built, in words and counts, so that it is never quietly another network."""
    tiers = ", ".join(f"{tier.switches} {tier.name}" for tier in size.tiers())
    taper = "non-blocking" if size.oversubscription <= 1 else f"{size.oversubscription:.3g}:1 at the leaves"
    ports = f"{size.radix} ports"
    if of.upper.id != of.switch.id and size.tiers_count > 1:
        ports = f"{size.radix} ({of.switch.id}) and {size.upper_radix} ports ({of.upper.id})"
    if size.switches == 1:
        return f"one switch of {ports} at {of.link_gbit_per_s:g} Gbit/s joins every NIC; non-blocking"
    built = f"{size.words}; {taper}; {size.switches} switches of {ports} at {of.link_gbit_per_s:g} Gbit/s: {tiers}"
    return "; ".join([built, *(text for text in of.told if WHOLE_UNITS in text)])


def bisection_gbit_per_s(scenario: Scenario, chosen: Chosen, size: NetworkSize) -> float:
    """Bandwidth between two halves of the GPUs, Gbit/s one direction: N C / (2 r), physics of fat trees.

    Rail-only networks count their rails: traffic between rails crosses NVLink inside nodes.
    """
    nics = scenario.cluster.nodes * scenario.cluster.nics_per_node
    return nics * chosen.rate_gbit_per_s / (2.0 * max(1.0, size.oversubscription))


def _storage(scenario: Scenario, chosen: Chosen) -> Fabric:
    try:
        return storage_fabric(scenario, chosen)
    except CannotBuild as error:
        raise InputError(
            [Fault(scenario.name, "networks.storage", chosen["storage_switch"].id, str(error))]
        ) from error


def _host_port(fabric: Fabric, chosen: Chosen) -> Part:
    """What the host end of a network plugs into; a DGX has twin flat cages, its storage ports QSFP112."""
    if fabric.network == "storage":
        return replace(
            chosen["storage_nic"], cage="" if chosen.host_cage_twin else chosen["storage_nic"].cage
        )
    return chosen["nic"]


def appliance_count(scenario: Scenario, chosen: Chosen, fabrics: list[Fabric]) -> int:
    """Subnet-manager appliances of all InfiniBand networks."""
    items = [item for fabric in fabrics for item in subnet_manager_items(fabric, scenario, chosen)]
    return sum(item.quantity for item in items if item.category == "appliance")


def _items(scenario: Scenario, chosen: Chosen, fabrics: list[Fabric]) -> Iterator[Item]:
    compute = fabrics[0]
    yield from server_items(scenario, chosen)
    yield from fabric_items(compute)
    yield from subnet_manager_items(compute, scenario, chosen)
    for storage in fabrics[1:]:
        yield from storage_items(storage, scenario, chosen)
    switches = [pair for fabric in fabrics for pair in fabric.switch_counts()]
    appliances = appliance_count(scenario, chosen, fabrics)
    counts = management(scenario, chosen, switches, appliances)
    yield from management_items(counts, scenario, chosen, appliances)
    yield from licence_items(scenario, chosen, switches)


def _services(
    scenario: Scenario, chosen: Chosen, lines: list[BillLine], first: int
) -> tuple[list[BillLine], set[int]]:
    """Support as a share of the switch lines, installation, plant and the owner's own lines."""
    bands: dict[str, list[Band | None]] = {}
    for line in lines:
        if line.category == "switch" and line.network in NETWORKS:
            bands.setdefault(line.vendor, []).append(line.extended)
    by_vendor = {vendor: None if None in found else summed(found) for vendor, found in bands.items()}
    optical = sum(
        line.quantity_base
        for line in lines
        if line.category == "cable"
        and chosen.catalogue[line.part].medium in ("multimode", "single-mode", "active fibre")
    )
    watts = line_power_w(lines)
    items = [*support_items(scenario, chosen, by_vendor), *facility_items(scenario, chosen, watts, optical)]
    return priced_lines(items, chosen.catalogue, scenario, chosen.name, first)


def _unknown_texts(lines: list[BillLine]) -> Iterator[str]:
    """One warning per part without a price, and what share of the total it would be at the shipped price."""
    unknown = [line for line in lines if line.extended is None]
    if not unknown:
        return
    known = summed(line.extended for line in lines)[1]
    pieces = sum(line.quantity_total for line in unknown)
    for line in unknown:
        reference = parts().get(line.part)
        price = (
            reference.prices[1]
            if reference is not None and reference.prices and line.category != "support"
            else None
        )
        share = ""
        if price is not None:
            guess = price * line.quantity_total
            share = f"; at the shipped price it would be {100 * guess / (known + guess):.2g} % of the total"
        yield (
            f"price unknown: {line.quantity_total} x {line.part or line.description} ({line.network}, {line.tier}){share}"
        )
    yield (
        f"{len(unknown)} of {len(lines)} lines ({100 * len(unknown) / len(lines):.2g} % of the lines, {pieces} pieces) have "
        "no price: totals are lower bounds without them"
    )
