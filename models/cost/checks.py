"""Does it plug in? Errors (it cannot be built) and warnings (a buyer should know) of one network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from models.catalog.parts import Part
from models.cost.chosen import Chosen
from models.cost.fabric import Fabric, cage_ends
from models.cost.media import Media

PROTOCOL = {"ib": "InfiniBand", "ethernet": "Ethernet"}
LIDS_UNICAST = 49_151  # 0x0001-0xBFFF, opensm ib_types.h
SPLITS_MAX = 4  # 256 x 200G of 64 x 800G: docs.nvidia.com SN5000 data interfaces


@dataclass(frozen=True)
class Finding:
    """One thing found, with its network and tier in the text."""

    severity: Literal["error", "warning"]
    text: str


def fabric_findings(of: Fabric, chosen: Chosen, nic: Part) -> Iterator[Finding]:
    """Ports, speeds, lanes, cages, module shape, cage watts, technology and subnet limits of one network."""
    name = of.network
    for tier in of.size.tiers():
        used = tier.down_ports_used + tier.up_ports_used
        if used > tier.ports:
            yield Finding("error", f"{name}: {tier.name} needs {used} ports, {tier.ports} are there")
    yield from _media_findings(f"{name} host-leaf", of.host, nic, of.switch, chosen, of.link_gbit_per_s)
    for words, media in (("leaf-spine", of.trunk), ("spine-core", of.top)):
        if media is not None:
            lower = of.switch if words == "leaf-spine" else of.upper
            yield from _media_findings(f"{name} {words}", media, lower, of.upper, chosen, of.link_gbit_per_s)
    yield from subnet_findings(of, chosen)
    for switch in dict.fromkeys(part for part, _ in of.switch_counts()):
        if switch.technology not in (chosen.fabric, "both"):
            yield Finding(
                "error",
                f"{name}: {switch.id} is an {switch.technology} switch, the fabric is {chosen.fabric}",
            )
        ways = (switch.speed_gbit_per_s or 0) // of.link_gbit_per_s
        if ways > SPLITS_MAX:
            yield Finding(
                "warning",
                f"{name}: every port of {switch.id} is split {ways:g} ways; ask the vendor, published splits end "
                f"at {SPLITS_MAX}",
            )
    yield from _cage_count_findings(of)
    if name == "compute":
        yield from _nic_findings(chosen, nic, of)


def _cage_count_findings(of: Fabric) -> Iterator[Finding]:
    """Modules and cable ends that one switch would need against the cages it has."""
    for tier, groups in of.use.items():
        cages = of.switch_of(tier).cages
        for ports in groups:
            needed = sum(cage_ends(*of.media(tier), ports).values())
            if cages and needed > cages:
                yield Finding(
                    "error",
                    f"{of.network}: {tier} switches need {needed} cages for {ports.down} ports down and {ports.up} up, "
                    f"{of.switch_of(tier).id} has {cages}",
                )


def subnet_findings(of: Fabric, chosen: Chosen) -> Iterator[Finding]:
    """Local identifiers an InfiniBand subnet needs: one an end port, one a switch."""
    if chosen.fabric != "ib":
        return
    size = of.size
    lids = (size.host_leaf_links + of.management_ports) // size.copies + size.switches // size.copies
    if lids > LIDS_UNICAST:
        subnets = -(-lids // LIDS_UNICAST)
        yield Finding(
            "warning",
            f"{of.network}: {lids} LIDs exceed the {LIDS_UNICAST} of one InfiniBand subnet; it takes {subnets} subnets "
            "joined by a tier of InfiniBand routers, or independent planes; routers are not in this bill",
        )


def _media_findings(
    place: str, media: Media, low: Part, high: Part, chosen: Chosen, link_gbit_per_s: float
) -> Iterator[Finding]:
    own = () if chosen.optics is None else (chosen.optics.low, chosen.optics.high, chosen.optics.cable)
    for part in dict.fromkeys(p for p in (media.low, media.high, media.cable) if p is not None):
        if part.technology not in (chosen.fabric, "both"):
            speaks = PROTOCOL[chosen.fabric]
            chose = (
                "" if part.id in own else f"; the catalogue has no module for this place coded for {speaks}"
            )
            yield Finding(
                "warning",
                f"{place}: {part.id} is coded for {PROTOCOL[part.technology]}, the fabric is {speaks}: "
                f"it carries light, but ask the vendor whether switch and NIC take it{chose}",
            )
    if media.low is not None and media.high is not None:
        yield from _pair_findings(place, media.low, media.high, media.cable)
    for module, port, end in ((media.low, low, "lower"), (media.high, high, "upper")):
        if module is None:
            continue
        other = media.high if end == "lower" else media.low
        known = "" if module.id in own or other is None else _no_better(module, port, other, chosen)
        yield from _cage_findings(f"{place}, {end} end", module, port, known)
        lanes, needed = module.lane_gbit_per_s or 0, port.lane_gbit_per_s or 0
        # a port of 200G lanes carries links of one plane (400G and below) on 100G lanes
        if needed >= 200 and link_gbit_per_s >= 800 and 0 < lanes < needed:
            text = f"{module.id} runs {lanes:g}G lanes, {port.id} {needed:g}G lanes: no link"
            yield Finding("error", f"{place}, {end} end: {text}")


def _pair_findings(place: str, low: Part, high: Part, cable: Part) -> Iterator[Finding]:
    if low.lane_gbit_per_s != high.lane_gbit_per_s:
        yield Finding(
            "error",
            f"{place}: {low.id} runs {low.lane_gbit_per_s:g}G lanes, {high.id} {high.lane_gbit_per_s:g}G lanes",
        )
    if low.medium != high.medium:
        yield Finding("error", f"{place}: {low.id} is {low.medium}, {high.id} is {high.medium}")
    if cable.medium and cable.medium not in (low.medium, high.medium):
        yield Finding("error", f"{place}: {cable.id} is {cable.medium} fibre, the modules are {high.medium}")
    if cable.connector and not {low.connector, high.connector} <= set(cable.connector.split(" to ")):
        yield Finding(
            "error",
            f"{place}: {cable.id} ends in {cable.connector}, modules take {low.connector} and {high.connector}",
        )
    if (low.lane_gbit_per_s or 0) >= 200 and "multimode" in (low.medium, high.medium):
        yield Finding("error", f"{place}: 200G lanes have no multimode modules")


def _no_better(module: Part, port: Part, other: Part, chosen: Chosen) -> str:
    """Said of a module that was not named and does not fit the port's cage: whether the catalogue has one that does."""
    fitting = [
        part.id
        for part in chosen.catalogue.values()
        if part.category == "transceiver"
        and port.cage in part.cage.split(" or ")
        and part.technology in (chosen.fabric, "both")
        and (part.speed_gbit_per_s, part.lane_gbit_per_s, part.medium, part.connector)
        == (module.speed_gbit_per_s, other.lane_gbit_per_s, other.medium, other.connector)
    ]
    if fitting:
        return f"; name {' or '.join(fitting)}"
    return f"; the catalogue has no {port.cage} module that links to {other.id}"


def _cage_findings(place: str, module: Part, port: Part, known: str) -> Iterator[Finding]:
    if module.cage and port.cage and port.cage not in module.cage.split(" or "):
        yield Finding(
            "warning", f"{place}: {module.id} is {module.cage}, {port.id} takes {port.cage} modules{known}"
        )
    elif module.form and port.form and module.form != port.form:
        yield Finding(
            "error", f"{place}: {module.id} is {module.form}-top, {port.id} takes {port.form}-top modules"
        )
    watts = module.power_max_w or module.power_typical_w
    if watts is not None and port.cage_limit_w is not None and watts > port.cage_limit_w:
        yield Finding(
            "error",
            f"{place}: {module.id} draws {watts:g} W, a cage of {port.id} allows {port.cage_limit_w:g} W",
        )


def _nic_findings(chosen: Chosen, nic: Part, of: Fabric) -> Iterator[Finding]:
    if nic.technology not in (chosen.fabric, "both"):
        yield Finding("error", f"compute: {nic.id} is for {nic.technology}, the fabric is {chosen.fabric}")
    if (nic.speed_gbit_per_s or 0) < chosen.rate_gbit_per_s:
        yield Finding(
            "error",
            f"compute: {nic.id} has {nic.speed_gbit_per_s:g} Gbit/s, links run at {chosen.rate_gbit_per_s:g}",
        )
    if nic.id == "nic_cx8" and chosen.fabric == "ethernet" and of.link_gbit_per_s >= 800:
        yield Finding(
            "error",
            "compute: nic_cx8 on Ethernet is 2 x 400GbE, not 1 x 800GbE: use topology.kind multi_plane, planes 2",
        )
