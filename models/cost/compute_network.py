"""The compute network of a candidate: media of every tier by reach, management ports, subnet managers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from models.catalog.parts import Part
from models.cost.chosen import Chosen
from models.cost.fabric import Fabric
from models.cost.lines import Item
from models.cost.media import FIBRE, Media, OutOfReach, Rung, link_media, mixed_media
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.topology.port_use import port_use
from models.topology.size import NetworkSize, network_size

UFM_PORTS_PER_APPLIANCE = 2  # RA-11333-001 V11: four UFM ports, two appliances a fabric
PART_FILLED = 1.25  # assumption: above this a buyer should know
WHOLE_UNITS = "are bought whole"
PACKAGED = "co-packaged optics"


def compute_fabric(scenario: Scenario, chosen: Chosen, size: NetworkSize) -> Fabric:
    """The compute network of the scenario's topology with the candidate's parts.

    Raises InputError for cables longer than anything in the catalogue reaches.
    """
    cluster, cables = scenario.cluster, scenario.topology.cable_m
    link = chosen.rate_gbit_per_s * size.port_rate_fraction
    switch, copper = chosen["switch"], scenario.networks.compute.copper == "auto"
    upper = chosen.parts.get("spine_switch", switch) if size.tiers_count > 1 else switch
    host_kind, named = _host_kind(chosen)
    trunk, top, told = None, None, []
    try:
        at, length = "host_leaf", cables.host_leaf
        packaged = switch.medium == PACKAGED
        host, more = link_media(
            chosen.catalogue, host_kind, link, length, chosen.fabric, named, copper, packaged
        )
        told += [f"host-leaf: {text}" for text in more]
        if size.leaf_spine_links:
            at, length = "leaf_spine", cables.leaf_spine
            parallel = size.leaf_up * max(1, size.pods_per_copy) // size.spines_per_copy
            trunk, more = _switch_media(chosen, switch, upper, link, length, copper, parallel)
            told += [f"leaf-spine: {text}" for text in more]
        if size.spine_core_links:
            at, length = "spine_core", cables.spine_core
            top, more = _switch_media(chosen, upper, upper, link, length, copper, _core_parallel(size))
            told += [f"spine-core: {text}" for text in more]
    except OutOfReach as error:
        raise out_of_reach(scenario, chosen, f"topology.cable_m.{at}", length, error) from error
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
    told += _part_filled_units(scenario, size)
    # a node's worth of ports is given up for management and stays populated, as in the reference design
    slot = cluster.nics_per_node
    populated = size.host_leaf_links + min(free, ceil(held / slot) * slot)
    rails = cluster.nics_per_node
    cables_by_leaf = (
        use.switches * host.cables(use.down) for use in port_use(size, size.host_leaf_links, rails)["leaf"]
    )
    return Fabric(
        "compute", size, switch, upper, link, host, trunk, top, held, populated,
        host_modules=_host_modules(scenario, chosen, size, host), host_cables=sum(cables_by_leaf), told=tuple(told),
        use=port_use(size, populated, rails),
    )  # fmt: skip


def _part_filled_units(scenario: Scenario, size: NetworkSize) -> Iterator[str]:
    """What whole rail-optimised units cost a cluster that does not fill them."""
    if size.kind != "rail_optimized" or size.tiers_count == 1:
        return
    plain = scenario.topology.model_copy(update={"kind": "fat_tree"})
    cluster = scenario.cluster
    least = network_size(
        plain, cluster.nodes, cluster.nics_per_node, size.radix, upper_radix=size.upper_radix
    ).switches
    if size.switches > PART_FILLED * least:
        yield (
            f"rail-optimised units of {size.leaf_down} nodes {WHOLE_UNITS}: {size.switches} switches where an "
            f"any-to-any fat tree without rails takes {least}"
        )


def out_of_reach(
    scenario: Scenario, chosen: Chosen, key: str, length_m: float, error: OutOfReach
) -> InputError:
    """The fault of a cable that nothing in the catalogue reaches, under the key that asks for it."""
    if key.startswith("topology.") and scenario.candidates[chosen.name].topology is not None:
        key = f"candidates.{chosen.name}.{key}"
    return InputError([Fault(scenario.name, key, f"{length_m:g}", f"{chosen.name}: {error}")])


def subnet_manager_items(of: Fabric, scenario: Scenario, chosen: Chosen) -> Iterator[Item]:
    """UFM appliances, their modules and splitter fibres, for an InfiniBand network that asks for them."""
    if not _has_ufm(scenario, chosen):
        return
    ports = scenario.networks.compute.ufm_ports
    appliances = ceil(ports / UFM_PORTS_PER_APPLIANCE)
    yield Item(of.network, "management", "li_ufm_appl", appliances, category="appliance")
    if of.management_ports and of.host.low is not None:
        single = {"multimode": "tx_400_sr4_nv", "single-mode": "tx_400_dr4_nv"}
        module = of.host.low.id if of.host.links_per_low == 1 else single[of.host.low.medium]
        yield Item(of.network, "management", module, of.management_ports, notes="UFM ports")
        fibres = ceil(of.management_ports / 2)
        splitter = "cb_mpo_split" if of.host.low.medium == "multimode" else "cb_mpo_split_sm"
        yield Item(of.network, "management", splitter, fibres, notes="UFM, one splitter fibre an appliance")


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
    split = f"split {speed:g} to {link_gbit_per_s:g}"
    if place == "host" and split in FIBRE:
        return split
    native = max(link_gbit_per_s, speed) if place == "switch" else link_gbit_per_s
    nearest = min((400.0, 200.0, 100.0), key=lambda rate: abs(rate - native))
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
    chosen: Chosen, lower: Part, upper: Part, link: float, length_m: float, copper: bool, parallel: int
) -> tuple[Media, list[str]]:
    """Media between two switches; a co-packaged end has no module."""
    kind, above = (link_kind(part, link, "switch") for part in (lower, upper))
    if kind != above:
        media = mixed_media(chosen.catalogue, kind, above, link, length_m, chosen.fabric, parallel)
        told: list[str] = []
    else:
        named = None
        if chosen.optics is not None:
            named = replace(chosen.optics, low=chosen.optics.high)
            third = f"{kind}, third party"
            if named.high and chosen.catalogue[named.high].vendor == "third party" and third in FIBRE:
                kind = third
        media, told = link_media(
            chosen.catalogue,
            kind,
            link,
            length_m,
            chosen.fabric,
            named,
            copper,
            symmetric=True,
            parallel=parallel,
        )
    if PACKAGED in (lower.medium, upper.medium):
        media = replace(
            media,
            low=None if lower.medium == PACKAGED else media.low,
            high=None if upper.medium == PACKAGED else media.high,
        )
    return media, told


def _core_parallel(size: NetworkSize) -> int:
    """Links that join a spine and a core everywhere; 1 where the cables do not share out evenly."""
    if not size.cores_per_copy:
        return 1
    pod_leaves, rest = divmod(size.leaves_per_copy, size.pods_per_copy)
    each, over = divmod(pod_leaves * size.leaf_up, size.cores_per_copy)
    spine_up = pod_leaves * size.leaf_up * size.pods_per_copy // size.spines_per_copy
    return each if not rest and not over and spine_up % each == 0 else 1


def _host_modules(scenario: Scenario, chosen: Chosen, size: NetworkSize, host: Media) -> int:
    """Modules at the hosts' ends, whole for each NIC, or for each cage where NIC ports share one."""
    nodes, nics = scenario.cluster.nodes, scenario.cluster.nics_per_node
    planes = size.copies if size.kind == "multi_plane" else 1
    if chosen.host_cage_twin:
        return nodes * ceil(nics * planes / host.links_per_low)
    return nodes * nics * ceil(planes / host.links_per_low)


def _has_ufm(scenario: Scenario, chosen: Chosen) -> bool:
    return chosen.fabric == "ib" and scenario.networks.compute.subnet_manager == "ufm"
