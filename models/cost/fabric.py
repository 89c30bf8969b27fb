"""One switched network of the bill: switches, the modules in their cages, cables, ports that stay empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil

from models.catalog.parts import Part
from models.cost.lines import Item
from models.cost.media import Media
from models.topology.port_use import PortUse
from models.topology.size import NetworkSize


@dataclass(frozen=True)
class Fabric:
    """One switched network of the bill: its size, its media by tier and its management ports."""

    network: str
    size: NetworkSize
    switch: Part  # leaves
    upper: Part  # spines and cores
    link_gbit_per_s: float
    host: Media
    trunk: Media | None  # leaf-spine
    top: Media | None  # spine-core
    management_ports: int  # leaf ports held for subnet managers
    populated_host_ports: int  # leaf ports with a module for hosts, those of a node given up included
    host_modules: int
    host_cables: int
    told: tuple[str, ...]
    use: Mapping[str, tuple[PortUse, ...]] = field(
        default_factory=dict
    )  # by tier; empty: modules are counted over the whole tier

    def switch_of(self, tier: str) -> Part:
        """The switch model of a tier."""
        return self.switch if tier == "leaf" else self.upper

    def switch_counts(self) -> list[tuple[Part, int]]:
        """Switches by model."""
        counts: dict[str, tuple[Part, int]] = {}
        for tier in self.size.tiers():
            part = self.switch_of(tier.name)
            counts[part.id] = (part, counts.get(part.id, (part, 0))[1] + tier.switches)
        return list(counts.values())

    def media(self, tier: str) -> tuple[Media | None, Media | None]:
        """What the ports of a tier hold, downwards and upwards."""
        return {"leaf": (self.host, self.trunk), "spine": (self.trunk, self.top), "core": (self.top, None)}[
            tier
        ]


def cage_ends(down: Media | None, up: Media | None, ports: PortUse) -> dict[str, int]:
    """Cages of one switch by what sits in them: whole modules or cable ends, both sides sharing where alike."""
    links: dict[str, tuple[int, float]] = {}
    for media, count, end in ((down, ports.down, "high"), (up, ports.up, "low")):
        if media is None or not count:
            continue
        part, each = (media.high, media.links_per_high) if end == "high" else (media.low, media.links_per_low)
        if part is None and media.low is None and media.high is None:
            part, each = media.cable, max(1, int(media.links_per_cable))
        if part is not None:
            links[part.id] = (links.get(part.id, (0, 0))[0] + count, each)
    return {name: ceil(count / each - 1e-9) for name, (count, each) in links.items()}


def fabric_items(of: Fabric) -> Iterator[Item]:
    """Switches, modules, cables and unused ports of a switched network, NICs apart."""
    size, name, speed = of.size, of.network, of.link_gbit_per_s
    if of.host.low is not None:
        yield Item(name, "host", of.host.low.id, of.host_modules, speed_gbit_per_s=speed)
    yield Item(
        name, "host-leaf", of.host.cable.id, of.host_cables, speed_gbit_per_s=speed, notes=of.host.note
    )
    for tier in size.tiers():
        switch = of.switch_of(tier.name)
        radix = tier.ports // tier.switches
        yield Item(name, tier.name, switch.id, tier.switches, notes=f"radix {radix} at {speed:g} Gbit/s")
        yield from _modules(of, tier.name, tier.down_ports_used, tier.up_ports_used)
        held = of.management_ports if tier.name == "leaf" else 0
        unused = tier.ports_unused - held
        if unused > 0:
            yield Item(
                name, tier.name, switch.id, unused, category="unused_ports", speed_gbit_per_s=speed, free=True,
                description=f"{tier.name} ports without a cable, of {tier.ports}", power_w=(0.0, 0.0),
            )  # fmt: skip
    for place, media, links in (
        ("leaf-spine", of.trunk, size.leaf_spine_links), ("spine-core", of.top, size.spine_core_links),
    ):  # fmt: skip
        if media is not None and links:
            yield Item(
                name, place, media.cable.id, media.cables(links), speed_gbit_per_s=speed, notes=media.note
            )


def _modules(of: Fabric, tier: str, down_ports: int, up_ports: int) -> Iterator[Item]:
    """Modules in the cages of one tier, hosts' side and spines' side on one line where they are the same part."""
    down, up = of.media(tier)
    wanted: dict[str, int] = {}
    if tier in of.use:
        for ports in of.use[tier]:
            for name, count in cage_ends(down, up, ports).items():
                wanted[name] = wanted.get(name, 0) + count * ports.switches
    else:
        ports = PortUse(1, of.populated_host_ports if tier == "leaf" else down_ports, up_ports)
        wanted = cage_ends(down, up, ports)
    ends = {part.id for media in (down, up) if media is not None for part in (media.low, media.high) if part}
    switch = of.switch_of(tier)
    swallowed = switch.power_typical_w is None and switch.power_max_w is not None
    for name, count in wanted.items():
        if count and name in ends:
            yield Item(
                of.network, tier, name, count, speed_gbit_per_s=of.link_gbit_per_s,
                power_w=(0.0, 0.0) if swallowed else None,
                notes="watts are in the switch's maximum, its typical is not stated" if swallowed else "",
            )  # fmt: skip
