"""The storage network: a tapered two-tier tree (three tiers or none where the size asks for it).

Rule, checked on the 127-node DGX SuperPOD H100 (16 switches, 240 leaf-spine links): leaves = ports / (k/2),
uplinks per leaf = ports per leaf / taper (rounded up to a number that divides well), spines = the smallest divisor of
the uplinks that is >= leaves / 2, so that the taper can be removed later without new spines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from models.cost.chosen import Chosen
from models.cost.compute_network import PACKAGED, link_kind, out_of_reach, subnet_manager_items
from models.cost.fabric import Fabric, fabric_items
from models.cost.lines import Item
from models.cost.media import OutOfReach, Rung, link_media
from models.scenario.networks import Storage
from models.scenario.schema import Scenario
from models.topology.size import CannotBuild, NetworkSize, radix_at
from models.topology.tree_size import pod_spines, smallest_divisor_at_least

APPLIANCE_CABLES_PER_UNIT = 12  # 48 for four units of 32 nodes, RA-11333-001 V11
UNIT_NODES = 32


def appliance_cables(storage: Storage, nodes: int) -> int:
    """Leaf ports that are split to two storage-appliance ports each."""
    if storage.appliance_cables is not None:
        return storage.appliance_cables
    return APPLIANCE_CABLES_PER_UNIT * ceil(nodes / UNIT_NODES)


def tapered_size(ports: int, radix: int, taper: float, words: str) -> NetworkSize:
    """Size of a tapered tree for `ports` edge ports with switches of `radix`.

    >>> size = tapered_size(310, 64, 4 / 3, "storage")
    >>> size.leaves_per_copy, size.spines_per_copy, size.leaf_spine_links
    (10, 6, 240)
    >>> tapered_size(310, 128, 4 / 3, "storage").spines_per_copy
    3
    """
    if ports <= radix:
        return _size(words, ports, radix, radix, 0, 1, 0, 0)
    leaves = ceil(ports / (radix // 2))
    up = max(1, ceil(ceil(ports / leaves) / taper - 1e-9))
    if leaves / 2 <= up and leaves <= radix:
        # a count of uplinks without a fitting divisor (47) takes a few more, not a spine for each uplink
        up = next(
            u
            for u in range(up, 2 * up + 1)
            if smallest_divisor_at_least(u, leaves / 2) <= 2 * ceil(leaves / 2)
        )
        spines = smallest_divisor_at_least(up, leaves / 2)
        return _size(words, ports, radix, radix // 2, up, leaves, spines, 0)
    if ceil(leaves / (radix // 2)) > radix:
        raise CannotBuild(f"a storage network of {ports} ports exceeds three tiers of {radix}-port switches")
    pods, spines = pod_spines(leaves, up, radix)
    return _size(words, ports, radix, radix // 2, up, leaves, pods * spines, ceil(leaves * up / radix), pods)


def storage_fabric(scenario: Scenario, chosen: Chosen) -> Fabric:
    """Size and media of the storage network; CannotBuild when the switches cannot carry it."""
    storage, nodes = scenario.networks.storage, scenario.cluster.nodes
    switch = chosen["storage_switch"]
    link = min(storage.port_gbit_per_s, switch.speed_gbit_per_s or 0.0)
    radix = radix_at(switch.ports or 0, switch.speed_gbit_per_s or 0.0, link)
    node_ports = nodes * storage.ports_per_node
    has_ufm = chosen.fabric == "ib" and scenario.networks.compute.subnet_manager == "ufm"
    held = scenario.networks.compute.ufm_ports if has_ufm else 0
    appliances = appliance_cables(storage, nodes)
    edge = node_ports + appliances + storage.management_ports + held
    words = f"storage network, taper {storage.oversubscription:.3g}:1"
    size = replace(tapered_size(edge, radix, storage.oversubscription, words), host_leaf_links=edge - held)
    host_kind = link_kind(switch, link, "host")
    named_high = chosen.optics.high if chosen.optics is not None else ""
    third = bool(named_high) and chosen.catalogue[named_high].vendor == "third party"
    if host_kind == "twin host":
        host_kind = "twin host, third party" if third else "twin host, QSFP112"
    trunk_kind = link_kind(switch, link, "switch")
    named = None
    if third and host_kind.startswith("twin"):
        named = Rung("tx_400_sr4_3p", "tx_800_sr8_3p", "cb_mpo_mm")
    trunk, packaged = None, switch.medium == PACKAGED
    key, length = "networks.storage.cable_m", storage.cable_m
    try:
        host, told = link_media(
            chosen.catalogue, host_kind, link, length, chosen.fabric, named, False, packaged
        )
        if size.leaf_spine_links:
            key, length = "topology.cable_m.leaf_spine", scenario.topology.cable_m.leaf_spine
            if third and trunk_kind == "twin switch":
                trunk_kind += ", third party"
            trunk, more = link_media(
                chosen.catalogue, trunk_kind, link, length, chosen.fabric, None, copper=False, symmetric=True
            )
            trunk = replace(trunk, low=None, high=None) if packaged else trunk
            told += more
    except OutOfReach as error:
        raise out_of_reach(scenario, chosen, key, length, error) from error
    reach = chosen.catalogue[_appliance_cable(link)].reach_m or 0.0
    if appliances and storage.cable_m > reach:
        told.append(
            f"{_appliance_cable(link)} to the appliances ends at {reach:g} m, not {storage.cable_m:g} m"
        )
    slot = storage.ports_per_node
    return Fabric(
        "storage", size, switch, switch, link, host, trunk, trunk if size.spine_core_links else None, held,
        node_ports + ceil(held / slot) * slot, host_modules=ceil(node_ports / host.links_per_low),
        host_cables=host.cables(node_ports), told=tuple(f"storage: {text}" for text in told),
    )  # fmt: skip


def _appliance_cable(link_gbit_per_s: float) -> str:
    return "cb_aoc_400_2x200" if link_gbit_per_s >= 400 else "cb_aoc_200"


def storage_items(of: Fabric, scenario: Scenario, chosen: Chosen) -> Iterator[Item]:
    """Items of the storage network: node ports with modules, appliance and management ports with own cables."""
    storage, nodes = scenario.networks.storage, scenario.cluster.nodes
    yield from fabric_items(of)
    appliances = appliance_cables(storage, nodes)
    if appliances:
        cable = _appliance_cable(of.link_gbit_per_s)
        yield Item("storage", "appliance", cable, appliances, notes="storage appliances, two ports a cable")
    if storage.management_ports:
        yield Item(
            "storage", "management", "cb_aoc_200", storage.management_ports, notes="management servers"
        )
    yield from subnet_manager_items(of, scenario, chosen)


def _size(
    words: str,
    ports: int,
    radix: int,
    down: int,
    up: int,
    leaves: int,
    spines: int,
    cores: int,
    pods: int = 1,
) -> NetworkSize:
    return NetworkSize(
        kind="fat_tree",
        words=words,
        endpoints=ports,
        radix=radix,
        copies=1,
        leaf_down=down,
        leaf_up=up,
        leaves_per_copy=leaves,
        spines_per_copy=spines,
        cores_per_copy=cores,
        pods_per_copy=pods,
        host_leaf_links=ports,
        leaf_spine_links=leaves * up,
        spine_core_links=leaves * up if cores else 0,
        port_rate_fraction=1.0,
    )
