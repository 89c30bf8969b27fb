"""A candidate copied with one thing changed: the usual question of a review meeting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from models.catalog.parts import parts
from models.catalog.technology import Technology, technology, technology_names
from models.scenario.load import from_mapping
from models.scenario.schema import Scenario

MECHANISMS: dict[str, tuple[str, ...]] = {
    "routing.kind": ("static", "ecmp", "flowlet", "adaptive", "spray", "planned"),
    "congestion_control.kind": ("dcqcn", "ib_cc", "receiver_driven", "spectrum_x", "dctcp", "cubic", "none"),
    "flow_control.kind": ("credits", "pfc", "none"),
    "in_network_reduction.kind": ("sharp", "none"),
}


@dataclass(frozen=True)
class Change:
    """One thing that can differ between a candidate and its copy."""

    key: str
    label: str

    def options(self, scenario: Scenario, name: str) -> tuple[str, ...]:
        """Values to choose from; empty where a number is asked for."""
        candidate = scenario.candidates[name]
        if self.key == "technology":
            return technology_names()
        if self.key.startswith("parts."):
            category = {"switch": "switch", "nic": "nic"}.get(self.key[6:], "transceiver")
            fabric = technology(candidate.technology).fabric
            sides = {"both", "ib" if fabric == "ib" else "ethernet"}
            found = parts()
            return tuple(k for k in found if found[k].category == category and found[k].technology in sides)
        return MECHANISMS.get(self.key, ())

    def number(self, scenario: Scenario, name: str) -> float:
        """The present value of a numeric key."""
        candidate = scenario.candidates[name]
        at: Any = technology(candidate.technology, candidate.overrides)
        for step in self.key.split("."):
            at = getattr(at, step)
        return float(getattr(at, "value", at))


CHANGEABLE: dict[str, Change] = {
    change.key: change
    for change in (
        Change("routing.kind", "Routing"),
        Change("congestion_control.kind", "Congestion control"),
        Change("in_network_reduction.kind", "In-network reduction"),
        Change("parts.switch", "Switch"),
        Change("parts.nic", "NIC"),
        Change("parts.switch_transceiver", "Switch transceiver"),
        Change("parts.nic_transceiver", "NIC transceiver"),
        Change("routing.queue_pairs", "Queue pairs per connection"),
        Change("technology", "Technology preset"),
        Change("flow_control.kind", "Flow control"),
    )
}


def with_copy(scenario: Scenario, name: str, key: str, value: Any) -> Scenario:
    """The scenario with a copy of candidate `name` in which `key` is `value`, named after the change.

    Raises InputError for a value that is not allowed.
    """
    # what was set stays set: a figure given in the file has no band, though it may equal the default
    mapping = scenario.model_dump(mode="json", exclude_unset=True)
    copy = dict(mapping["candidates"][name])
    if key == "technology":
        copy["technology"] = value
        if not _same_protocol(scenario.candidates[name].technology, value):
            # another protocol cannot run on these switches: the parts of a candidate that does, where there is one
            other = family_member(scenario, value) or _speaker(scenario, value)
            copy = {**mapping["candidates"][other], "technology": value} if other else copy
    elif key.startswith("parts."):
        copy["parts"] = {**copy.get("parts", {}), key[6:]: value}
    else:
        number: Any = value
        if isinstance(value, float) and value.is_integer() and not _is_sourced(scenario, name, key):
            number = int(value)
        copy["overrides"] = {**copy.get("overrides", {}), key: number}
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    label = technology(value).label if key == "technology" else f"{name} {shown}".replace("_", " ")
    label = "".join(c for c in label if c.isalnum() or c in "_. +/-")[:60]
    serial = 2
    while label in mapping["candidates"]:
        label = f"{label[:56]} {serial}"
        serial += 1
    mapping["candidates"] = {**mapping["candidates"], label: copy}
    return from_mapping(mapping, scenario.name)


def family_member(scenario: Scenario, preset: str) -> str | None:
    """The first candidate of the same fabric family as `preset`; None without one."""
    family = technology(preset).fabric
    names = (
        name for name, item in scenario.candidates.items() if technology(item.technology).fabric == family
    )
    return next(names, None)


def _speaker(scenario: Scenario, preset: str) -> str | None:
    """The first candidate whose switches speak the preset's protocol."""
    names = (name for name, item in scenario.candidates.items() if _same_protocol(item.technology, preset))
    return next(names, None)


def _same_protocol(a: str, b: str) -> bool:
    return (technology(a).fabric == "ib") == (technology(b).fabric == "ib")


def _is_sourced(scenario: Scenario, name: str, key: str) -> bool:
    at: Any = technology(scenario.candidates[name].technology)
    for step in key.split("."):
        at = getattr(at, step, None)
    return hasattr(at, "source") and not isinstance(at, Technology)
