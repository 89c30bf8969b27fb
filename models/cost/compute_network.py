"""Items of the compute network: tier by tier, both ends of every link, management ports, unused ports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from models.catalog.parts import Part
from models.cost.chosen import Chosen
from models.cost.lines import Item
from models.cost.media import FIBRE, Media, Rung, link_media
from models.scenario.schema import Scenario
from models.topology.size import NetworkSize

UFM_PORTS_PER_APPLIANCE = 2  # RA-11333-001 V11: four UFM ports, two appliances a fabric


@dataclass(frozen=True)
class Fabric:
    """One switched network of the bill: its size, its media by tier and its management ports."""

    network: str
    size: NetworkSize
    switch: Part
    link_gbit_per_s: float
    host: Media
    trunk: Media | None  # leaf-spine
    top: Media | None  # spine-core
    management_ports: int  # leaf ports held for subnet managers
    populated_host_ports: int  # leaf ports with a module for hosts, those of a node given up included
    told: tuple[str, ...]


def compute_fabric(scenario: Scenario, chosen: Chosen, size: NetworkSize) -> Fabric:
    """The compute network of the scenario's topology with the candidate's parts."""
    cluster, cables = scenario.cluster, scenario.topology.cable_m
    link = chosen.rate_gbit_per_s * size.port_rate_fraction
    switch, copper = chosen["switch"], scenario.networks.compute.copper == "auto"
    host_kind, named = _host_kind(chosen)
    packaged = switch.medium == "co-packaged optics"
    host, told = link_media(
        chosen.catalogue, host_kind, link, cables.host_leaf, chosen.fabric, named, copper, packaged
    )
    told = [f"host-leaf: {text}" for text in told]
    trunk, top = None, None
    if size.leaf_spine_links:
        trunk, more = _switch_media(chosen, link, cables.leaf_spine, copper, packaged)
        told += [f"leaf-spine: {text}" for text in more]
    if size.spine_core_links:
        top, more = _switch_media(chosen, link, cables.spine_core, copper, packaged)
        told += [f"spine-core: {text}" for text in more]
    wanted = scenario.networks.compute.ufm_ports if _has_ufm(scenario, chosen) else 0
    free = size.tiers()[0].ports_unused
    if size.leaf_up:
        free = size.copies * size.leaves_per_copy * size.leaf_down - size.host_leaf_links
    held = min(wanted, max(0, free))
    if held < wanted:
        told.append(
            f"{held} of {wanted} subnet-manager ports fit: {cluster.nodes} nodes fill the leaves; the reference "
            "design gives up one node for them, or the switch-embedded subnet manager serves"
        )
    # a node's worth of ports is given up for management and stays populated, as in the reference design
    slot = cluster.nics_per_node
    populated = size.host_leaf_links + min(free, ceil(held / slot) * slot)
    return Fabric("compute", size, switch, link, host, trunk, top, held, populated, tuple(told))


def fabric_items(of: Fabric) -> Iterator[Item]:
    """Switches, modules, cables and unused ports of a switched network, NICs apart."""
    size, name, speed = of.size, of.network, of.link_gbit_per_s
    links = size.host_leaf_links
    if of.host.low is not None:
        count = ceil(links / of.host.links_per_low - 1e-9)
        yield Item(name, "host", of.host.low.id, count, speed_gbit_per_s=speed)
    yield Item(
        name, "host-leaf", of.host.cable.id, of.host.cables(links), speed_gbit_per_s=speed, notes=of.host.note
    )
    tiers = {tier.name: tier for tier in size.tiers()}
    media = {"leaf": (of.host, of.trunk), "spine": (of.trunk, of.top), "core": (of.top, None)}
    for tier in tiers.values():
        yield Item(
            name, tier.name, of.switch.id, tier.switches, notes=f"radix {size.radix} at {speed:g} Gbit/s"
        )
        down, up = media[tier.name]
        down_ports = of.populated_host_ports if tier.name == "leaf" else tier.down_ports_used
        up_ports = tier.up_ports_used
        yield from _modules(of, tier.name, down, down_ports, up, up_ports)
        held = of.management_ports if tier.name == "leaf" else 0
        unused = tier.ports - tier.down_ports_used - up_ports - held
        if unused > 0:
            yield Item(
                name, tier.name, of.switch.id, unused, category="unused_ports", speed_gbit_per_s=speed, free=True,
                description=f"{tier.name} ports without a cable, of {tier.ports}", power_w=(0.0, 0.0),
            )  # fmt: skip
    if of.trunk is not None and size.leaf_spine_links:
        count = of.trunk.cables(size.leaf_spine_links)
        yield Item(name, "leaf-spine", of.trunk.cable.id, count, speed_gbit_per_s=speed, notes=of.trunk.note)
    if of.top is not None and size.spine_core_links:
        count = of.top.cables(size.spine_core_links)
        yield Item(name, "spine-core", of.top.cable.id, count, speed_gbit_per_s=speed, notes=of.top.note)


def subnet_manager_items(of: Fabric, scenario: Scenario, chosen: Chosen) -> Iterator[Item]:
    """UFM appliances, their modules and splitter fibres, for an InfiniBand network that asks for them."""
    if not _has_ufm(scenario, chosen):
        return
    ports = scenario.networks.compute.ufm_ports
    appliances = ceil(ports / UFM_PORTS_PER_APPLIANCE)
    yield Item(of.network, "management", "li_ufm_appl", appliances, category="appliance")
    if of.management_ports and of.host.low is not None:
        module = of.host.low.id if of.host.links_per_low == 1 else "tx_400_sr4_nv"
        yield Item(of.network, "management", module, of.management_ports, notes="UFM ports")
        fibres = ceil(of.management_ports / 2)
        yield Item(
            of.network, "management", "cb_mpo_split", fibres, notes="UFM, one splitter fibre an appliance"
        )


def link_kind(switch: Part, link_gbit_per_s: float, place: str) -> str:
    """Key of the media tables for a switch at a link rate; `place` is host or switch."""
    lane = switch.lane_gbit_per_s or 0
    speed = switch.speed_gbit_per_s or 0
    if lane >= 200:
        return f"xdr {place}"
    if (
        switch.cage == "OSFP"
        or speed > 400
        or (switch.cages and switch.ports and switch.cages < switch.ports)
    ):
        return f"twin {place}"
    nearest = min((400.0, 200.0, 100.0), key=lambda rate: abs(rate - link_gbit_per_s))
    return f"single {nearest:g}"


def _host_kind(chosen: Chosen) -> tuple[str, Rung | None]:
    kind = link_kind(chosen["switch"], chosen.rate_gbit_per_s, "host")
    named = chosen.optics
    if kind != "twin host" or (named is not None and not named.low):
        return kind, named
    nic = chosen["nic"]
    if chosen.host_cage_twin or (nic.speed_gbit_per_s or 0) >= 800:
        if named is not None and (chosen.catalogue[named.low].ports or 1) < 2:
            # the module named for a single port does not fill a twin cage
            flat = {"multimode": "tx_800_2sr4_flat_nv", "single-mode": "tx_800_2dr4_flat_nv"}
            named = replace(named, low=flat.get(chosen.catalogue[named.low].medium, named.low))
        return "twin host, twin", named
    if named is not None and chosen.catalogue[named.high].vendor == "third party":
        return "twin host, third party", named
    return ("twin host, QSFP112" if nic.cage == "QSFP112" else kind), named


def _switch_media(
    chosen: Chosen, link: float, length_m: float, copper: bool, packaged: bool
) -> tuple[Media, list[str]]:
    kind = link_kind(chosen["switch"], link, "switch")
    named = None
    if chosen.optics is not None:
        named = replace(chosen.optics, low=chosen.optics.high)
        third = f"{kind}, third party"
        if named.high and chosen.catalogue[named.high].vendor == "third party" and third in FIBRE:
            kind = third
    media, told = link_media(
        chosen.catalogue, kind, link, length_m, chosen.fabric, named, copper, packaged, symmetric=True
    )
    return (replace(media, low=None) if packaged else media), told


def _modules(
    of: Fabric, tier: str, down: Media | None, down_ports: int, up: Media | None, up_ports: int
) -> Iterator[Item]:
    """Modules in the cages of one tier, hosts' side and spines' side on one line where they are the same part."""
    wanted: dict[str, int] = {}
    if down is not None and down.high is not None:
        wanted[down.high.id] = ceil(down_ports / down.links_per_high - 1e-9)
    if up is not None and up.low is not None:
        wanted[up.low.id] = wanted.get(up.low.id, 0) + ceil(up_ports / up.links_per_low - 1e-9)
    swallowed = of.switch.power_typical_w is None and of.switch.power_max_w is not None
    for part_id, count in wanted.items():
        if count:
            yield Item(
                of.network, tier, part_id, count, speed_gbit_per_s=of.link_gbit_per_s,
                power_w=(0.0, 0.0) if swallowed else None,
                notes="watts are in the switch's maximum, its typical is not stated" if swallowed else "",
            )  # fmt: skip


def _has_ufm(scenario: Scenario, chosen: Chosen) -> bool:
    return chosen.fabric == "ib" and scenario.networks.compute.subnet_manager == "ufm"
