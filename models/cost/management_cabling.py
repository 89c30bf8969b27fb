"""Links of the in-band and out-of-band networks, as the counts of `management_networks` place them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import ceil

from models.cost.chosen import Chosen
from models.cost.management_networks import ISL_PER_PAIR, LINKS_PER_LEAF_TO_CORE, Management
from models.scenario.schema import Scenario

Row = tuple[str, str, str, str, str, float, float, str]
IN_BAND_M, OUT_OF_BAND_M, ISL_M = 30.0, 10.0, 2.0  # assumption: no length is published


def management_rows(
    scenario: Scenario, of: Management, fabric_switches: list[str], appliances: list[str], chosen: Chosen
) -> Iterator[Row]:
    """Rows (a, port, z, port, cable, metres, Gbit/s, network) of both management networks."""
    if scenario.networks.in_band.enabled:
        yield from _in_band_rows(scenario, of)
    if scenario.networks.out_of_band.enabled and of.out_of_band_switches:
        yield from _out_of_band_rows(scenario, of, fabric_switches, appliances, chosen)


def _in_band_rows(scenario: Scenario, of: Management) -> Iterator[Row]:
    in_band, nodes = scenario.networks.in_band, scenario.cluster.nodes
    pairs = max(1, of.in_band_leaves // 2)
    ports = [0] * max(1, of.in_band_leaves)

    def leaf(number: int, side: int) -> tuple[str, str]:
        at = (2 * (number % pairs) + side % 2) % len(ports)
        ports[at] += 1
        return f"in-band-leaf{at}", f"p{ports[at]}"

    dealt = count()  # ports in turn over pairs and their two leaves, so that no leaf fills before another
    for node in range(nodes):
        for port in range(in_band.ports_per_node):
            z = leaf(*divmod(next(dealt), 2))
            yield f"node{node}", f"in-band{port}", *z, "cb_aoc_200", IN_BAND_M, 200.0, "in_band"
    for server in range(scenario.networks.management_servers):
        for port in range(2):
            yield (
                f"mgmt{server}",
                f"in-band{port}",
                *leaf(*divmod(next(dealt), 2)),
                "cb_aoc_100",
                IN_BAND_M,
                100.0,
                "in_band",
            )
    for port in range(in_band.nfs_ports):
        z = leaf(*divmod(next(dealt), 2))
        yield "nfs", f"p{port + 1}", *z, "cb_aoc_100", IN_BAND_M, 100.0, "in_band"
    if of.in_band_leaves > 1:
        for pair in range(pairs):
            for _ in range(ISL_PER_PAIR):
                a, z = leaf(pair, 0), leaf(pair, 1)
                yield *a, *z, "cb_dac_100", ISL_M, 100.0, "in_band"
    core_ports = [0] * max(1, of.in_band_cores)

    def core(number: int) -> tuple[str, str]:
        at = number % len(core_ports)
        core_ports[at] += 1
        return f"in-band-core{at}", f"p{core_ports[at]}"

    if of.in_band_cores:
        for number in range(of.in_band_leaves):
            for link in range(LINKS_PER_LEAF_TO_CORE):
                a = leaf(number // 2, number % 2)
                yield (
                    *a,
                    *core(number * LINKS_PER_LEAF_TO_CORE + link),
                    "cb_aoc_100",
                    IN_BAND_M,
                    100.0,
                    "in_band",
                )
    for uplink in range(in_band.uplinks):
        a = core(uplink) if of.in_band_cores else leaf(0, 0)
        yield *a, "owner-network", f"p{uplink + 1}", "cb_lc_sm", IN_BAND_M, 100.0, "in_band"


def _out_of_band_rows(
    scenario: Scenario, of: Management, fabric_switches: list[str], appliances: list[str], chosen: Chosen
) -> Iterator[Row]:
    per_switch = chosen["out_of_band_switch"].ports or 48
    racks = scenario.networks.racks
    ends = [
        *((f"node{n}", "bmc") for n in range(scenario.cluster.nodes)),
        *((name, "mgmt0") for name in fabric_switches),
        *((f"mgmt{n}", "bmc") for n in range(scenario.networks.management_servers)),
        *((name, "mgmt0") for name in appliances),
        *((f"in-band-leaf{n}", "mgmt0") for n in range(of.in_band_leaves)),
        *((f"in-band-core{n}", "mgmt0") for n in range(of.in_band_cores)),
        *((f"rack{n // max(1, racks.node_rack_pdus)}-pdu{n % max(1, racks.node_rack_pdus)}", "mgmt")
          for n in range(of.node_racks * racks.node_rack_pdus)),
        *((f"network-rack{n // max(1, racks.network_rack_pdus)}-pdu{n % max(1, racks.network_rack_pdus)}", "mgmt")
          for n in range(of.network_racks * racks.network_rack_pdus)),
    ]  # fmt: skip
    for at, (node, port) in enumerate(ends):
        switch, position = divmod(at, ceil(len(ends) / of.out_of_band_switches))
        assert position < per_switch
        yield node, port, f"oob{switch}", f"p{position + 1}", "cb_cat6", OUT_OF_BAND_M, 1.0, "out_of_band"
    for pair in range(len(appliances) // 2):
        a, z = appliances[2 * pair], appliances[2 * pair + 1]
        yield a, "back-to-back", z, "back-to-back", "cb_cat6", ISL_M, 1.0, "out_of_band"
    dealt = count(of.edge_ports)  # after the ports of the in-band network itself
    for switch in range(of.out_of_band_switches):
        for uplink in range(scenario.networks.out_of_band.uplinks_per_switch):
            leaf = next(dealt) % max(1, of.in_band_leaves)
            z_node = f"in-band-leaf{leaf}" if of.in_band_leaves else "owner-network"
            yield (
                f"oob{switch}", f"uplink{uplink + 1}", z_node, f"oob{switch}.{uplink + 1}", "cb_aoc_100",
                IN_BAND_M, 100.0, "out_of_band",
            )  # fmt: skip
