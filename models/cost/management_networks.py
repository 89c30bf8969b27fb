"""In-band and out-of-band management networks and the racks: the counting of the 127-node reference design.

In-band (8 SN4600C): leaves in pairs that share every node, two inter-switch copper links a pair, four links from
each leaf to two cores, uplinks at the cores. Out-of-band (8 SN2201): copper to every node, switch, appliance and PDU,
switches in pairs, two 100G uplinks each. Racks: 32 of four nodes and 6 for the network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from models.catalog.parts import Part
from models.cost.chosen import Chosen
from models.cost.lines import Item
from models.scenario.schema import Scenario

LINKS_PER_LEAF_TO_CORE = 4
ISL_PER_PAIR = 2
RACK_UNITS = 48
RACK_UNITS_UNKNOWN = 2.0  # assumption for a switch that states none


@dataclass(frozen=True)
class Management:
    """Counts of the two management networks and the racks, which depend on each other."""

    in_band_leaves: int
    in_band_cores: int
    edge_ports: int
    out_of_band_switches: int
    copper: tuple[tuple[str, int], ...]  # what is attached, how many cables
    node_racks: int
    network_racks: int
    pdus: int


def management(
    scenario: Scenario, chosen: Chosen, fabric_switches: list[tuple[Part, int]], appliances: int
) -> Management:
    """Counts for `fabric_switches` of the compute and storage networks and `appliances` (UFM)."""
    networks, nodes = scenario.networks, scenario.cluster.nodes
    in_band, oob, racks = networks.in_band, networks.out_of_band, networks.racks
    per_rack = _nodes_per_rack(chosen.server, racks.nodes_per_rack)
    whole_rack = chosen.server is not None and (chosen.server.rack_units or 0) > RACK_UNITS / 2
    node_racks = 0 if not racks.enabled or whole_rack else ceil(nodes / per_rack)
    fabric_count = sum(count for _, count in fabric_switches)
    oob_switches, leaves, cores, network_racks, pdus, edge = 0, 0, 0, 0, 0, 0
    copper: tuple[tuple[str, int], ...] = ()
    for _ in range(
        8
    ):  # uplinks need in-band ports, switches need racks, racks bring PDUs: settles in two rounds
        before = (oob_switches, leaves, cores, network_racks)
        if in_band.enabled:
            edge = nodes * in_band.ports_per_node + 2 * networks.management_servers + in_band.nfs_ports
            leaves, cores = _in_band(edge + oob_switches * oob.uplinks_per_switch, in_band.uplinks, chosen)
        if racks.enabled:
            held = [
                *fabric_switches,
                (chosen["in_band_switch"], leaves + cores),
                (chosen["out_of_band_switch"], oob_switches),
                (chosen["management_server"], networks.management_servers),
            ]
            network_racks = _network_racks(held, racks.network_rack_w)
            pdus = node_racks * racks.node_rack_pdus + network_racks * racks.network_rack_pdus
        if oob.enabled:
            copper = (
                ("nodes", nodes), ("fabric switches", fabric_count),
                ("management servers and appliances", networks.management_servers + appliances),
                ("in-band switches", leaves + cores), ("PDUs", pdus),
            )  # fmt: skip
            per_switch = chosen["out_of_band_switch"].ports or 48
            oob_switches = 2 * ceil(ceil(sum(count for _, count in copper) / per_switch) / 2)
        if before == (oob_switches, leaves, cores, network_racks):
            break
    return Management(leaves, cores, edge, oob_switches, copper, node_racks, network_racks, pdus)


def management_items(of: Management, scenario: Scenario, chosen: Chosen, appliances: int) -> Iterator[Item]:
    """Items of the in-band and out-of-band networks, management servers, racks and PDUs."""
    networks, nodes = scenario.networks, scenario.cluster.nodes
    in_band = networks.in_band
    if networks.management_servers:
        yield Item("servers", "management", chosen["management_server"].id, networks.management_servers)
    if in_band.enabled:
        pairs = of.in_band_leaves // 2
        switch = chosen["in_band_switch"]
        yield Item("in_band", "leaf", switch.id, of.in_band_leaves)
        if of.in_band_cores:
            yield Item("in_band", "core", switch.id, of.in_band_cores)
        yield Item(
            "in_band", "host-leaf", "cb_aoc_200", nodes * in_band.ports_per_node,
            notes="the reference runs these at the switch's port rate",
        )  # fmt: skip
        if networks.management_servers:
            yield Item("in_band", "management", "cb_aoc_100", 2 * networks.management_servers)
        if in_band.nfs_ports:
            yield Item("in_band", "nfs", "cb_aoc_100", in_band.nfs_ports)
        if in_band.uplinks:
            yield Item("in_band", "uplink", "tx_100_cwdm4", in_band.uplinks, notes="own end only")
            yield Item("in_band", "uplink", "cb_lc_sm", in_band.uplinks)
        if pairs:
            yield Item("in_band", "inter-switch", "cb_dac_100", ISL_PER_PAIR * pairs)
        if of.in_band_cores:
            yield Item("in_band", "leaf-core", "cb_aoc_100", LINKS_PER_LEAF_TO_CORE * of.in_band_leaves)
    if networks.out_of_band.enabled and of.out_of_band_switches:
        yield Item("out_of_band", "leaf", chosen["out_of_band_switch"].id, of.out_of_band_switches)
        for what, count in of.copper:
            if count:
                yield Item("out_of_band", what, "cb_cat6", count)
        if appliances:
            yield Item("out_of_band", "UFM back-to-back", "cb_cat6", ceil(appliances / 2))
        uplinks = of.out_of_band_switches * networks.out_of_band.uplinks_per_switch
        if uplinks:
            yield Item("out_of_band", "uplink", "cb_aoc_100", uplinks)
    if networks.racks.enabled:
        if of.node_racks:
            yield Item("facility", "node racks", "op_rack", of.node_racks, category="rack")
            count = of.node_racks * networks.racks.node_rack_pdus
            yield Item("facility", "node racks", "op_pdu", count, category="pdu")
        if of.network_racks:
            yield Item("facility", "network racks", "op_rack", of.network_racks, category="rack")
            count = of.network_racks * networks.racks.network_rack_pdus
            yield Item("facility", "network racks", "op_pdu", count, category="pdu")


def _in_band(edge: int, uplinks: int, chosen: Chosen) -> tuple[int, int]:
    """(leaves, cores): leaves in pairs, each pair taking both ports of its nodes."""
    ports = chosen["in_band_switch"].ports or 64
    usable = ports - LINKS_PER_LEAF_TO_CORE - ISL_PER_PAIR
    if edge + uplinks <= ports:
        return 1, 0
    leaves = 2 * ceil(edge / 2 / usable)
    cores = 2 * ceil((leaves * LINKS_PER_LEAF_TO_CORE + uplinks) / 2 / ports)
    return leaves, cores


def _nodes_per_rack(server: Part | None, wanted: int) -> int:
    units = server.rack_units if server is not None else None
    return max(1, min(wanted, int(RACK_UNITS // units))) if units else wanted


def _network_racks(held: list[tuple[Part, int]], rack_w: float) -> int:
    """Racks by watts and by height, whichever needs more."""
    watts = sum((part.power_max_w or part.power_typical_w or 0.0) * count for part, count in held)
    units = sum((part.rack_units or RACK_UNITS_UNKNOWN) * count for part, count in held)
    return max(ceil(watts / rack_w), ceil(units / RACK_UNITS))
