"""Faults that the schema cannot see: names and figures the catalogue has to know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from models.catalog.gpus import gpu_names, gpus
from models.catalog.llms import llm_names
from models.catalog.parts import CATEGORIES, Part, part_names, parts
from models.catalog.technology import Technology, technology, technology_names
from models.scenario.faults import Fault, shown
from models.scenario.part_roles import ROLES, SPEAKING_ROLES
from models.scenario.part_words import no_part
from models.scenario.schema_faults import line_of, nearest, schema_faults

# what a preset is; a scenario says it with `technology`, and the billed parts follow it
FIXED = {"fabric": "the fabric", "id": "the id", "label": "the label"}
# role -> category of what speaks the protocol; modules and cables only carry it
SPARE_CATEGORIES = (*CATEGORIES, "appliance", "own")


def catalogue_faults(mapping: Mapping[str, Any], file: str, lines: Mapping[str, int]) -> list[Fault]:
    """Unknown or impossible presets, parts, GPUs, servers, models, prices and technology overrides."""
    found: list[Fault] = []
    for key, given, problem in _refusals(mapping):
        found.append(Fault(file, key, given, problem, line_of(key, lines)))
    for name, candidate in _groups(mapping, "candidates"):
        found += _override_faults(f"candidates.{name}", candidate, file, lines)
    return found


Refusal = tuple[str, str, str]  # key, given, problem


def _refusals(mapping: Mapping[str, Any]) -> Iterator[Refusal]:
    cluster = mapping.get("cluster")
    if isinstance(cluster, Mapping):
        yield from _cluster(cluster)
    for name, workload in _groups(mapping, "workloads"):
        model = workload.get("model")
        if isinstance(model, str) and model not in llm_names():
            yield f"workloads.{name}.model", shown(model), f"unknown model; allowed: {', '.join(llm_names())}"
    for name, candidate in _groups(mapping, "candidates"):
        yield from _candidate(f"candidates.{name}", candidate)
    prices = mapping.get("prices")
    for part in prices if isinstance(prices, Mapping) else ():
        if part not in part_names():
            yield f"prices.{part}", "", no_part(str(part))
    economics = mapping.get("economics")
    spares = economics.get("spares_fraction") if isinstance(economics, Mapping) else None
    for category in spares if isinstance(spares, Mapping) else ():
        if category not in SPARE_CATEGORIES:
            near = nearest(str(category), SPARE_CATEGORIES)
            allowed = ", ".join(SPARE_CATEGORIES)
            yield f"economics.spares_fraction.{category}", "", f"unknown category{near}; allowed: {allowed}"


def _groups(mapping: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = mapping.get(section)
    for name, item in found.items() if isinstance(found, Mapping) else ():
        if isinstance(item, Mapping):
            yield str(name), item


def _cluster(cluster: Mapping[str, Any]) -> Iterator[Refusal]:
    gpu, server = cluster.get("gpu"), cluster.get("server")
    known = isinstance(gpu, str) and gpu in gpu_names()
    if isinstance(gpu, str) and not known:
        yield "cluster.gpu", shown(gpu), f"unknown GPU; allowed: {', '.join(gpu_names())}"
    if not isinstance(server, str):
        return
    if server not in part_names():
        yield "cluster.server", shown(server), no_part(server, "server")
    elif parts()[server].category != "server":
        yield "cluster.server", shown(server), f"is a {parts()[server].category}, not a server"
    elif isinstance(gpu, str) and known:
        problem = _other_server(gpu, parts()[server])
        if problem:
            yield "cluster.server", shown(server), problem


def _other_server(gpu: str, server: Part) -> str:
    """Why a server cannot hold the GPU: its name says another one. GPUs without a server row may borrow any."""
    own = gpus()[gpu].server_part
    if not own:
        return ""
    named = [name for name in gpu_names() if re.search(rf"\b{name}\b", server.model)]
    return "" if not named or gpu in named else f"is a server of {named[0]}, not of {gpu}; its own is {own}"


def _candidate(key: str, candidate: Mapping[str, Any]) -> Iterator[Refusal]:
    preset = candidate.get("technology")
    known = isinstance(preset, str) and preset in technology_names()
    if isinstance(preset, str) and not known:
        allowed = ", ".join(technology_names())
        yield f"{key}.technology", shown(preset), f"unknown technology; allowed: {allowed}"
    chosen = candidate.get("parts")
    for role, part in chosen.items() if isinstance(chosen, Mapping) else ():
        problem = _part_problem(str(role), part, str(preset) if known else "")
        if problem:
            yield f"{key}.parts.{role}", shown(part), problem


def _part_problem(role: str, part: Any, preset: str) -> str:
    """Why a part cannot have a role in a candidate; empty where it can."""
    if role not in ROLES:
        return f"unknown role{nearest(role, list(ROLES))}; allowed: {', '.join(ROLES)}"
    if not isinstance(part, str):
        return ""  # the schema says so
    if part not in part_names():
        return no_part(part, ROLES[role])
    found = parts()[part]
    if found.category != ROLES[role]:
        return f"is a {found.category}, not a {ROLES[role]}"
    if found.category == "switch" and not (found.ports and found.speed_gbit_per_s):
        return "states no ports or no port speed"
    return _other_protocol(found, preset) if preset and role in SPEAKING_ROLES else ""


def _other_protocol(part: Part, preset: str) -> str:
    """Why a switch or NIC cannot run the preset: it speaks the other protocol only."""
    side = "ib" if technology(preset).fabric == "ib" else "ethernet"
    if part.technology in (side, "both"):
        return ""
    words = {"ib": "InfiniBand", "ethernet": "Ethernet"}
    known = [p.id for p in parts().values() if p.category == part.category and p.technology in (side, "both")]
    what = {"switch": "a switch", "nic": "a NIC"}[part.category]
    return (
        f"is {what} for {words[part.technology]} only, {preset} runs on {words[side]}; "
        f"allowed: {', '.join(known)}"
    )


def _override_faults(
    key: str, candidate: Mapping[str, Any], file: str, lines: Mapping[str, int]
) -> list[Fault]:
    preset, overrides = candidate.get("technology"), candidate.get("overrides")
    if not (isinstance(preset, str) and preset in technology_names() and isinstance(overrides, Mapping)):
        return []
    fixed = [
        Fault(
            file,
            f"{key}.overrides.{name}",
            shown(overrides[name]),
            f"{FIXED[name]} cannot be overridden; choose another technology",
            line_of(f"{key}.overrides.{name}", lines),
        )
        for name in FIXED
        if name in overrides
    ]
    fixed += [
        Fault(file, at, "", "is an empty group of keys; give a value or leave it out", line_of(at, lines))
        for name, value in overrides.items()
        if value == {} and (at := f"{key}.overrides.{name}")
    ]
    try:
        technology(preset, overrides)
    except ValidationError as error:
        return fixed + schema_faults(error.errors(), file, lines, Technology, f"{key}.overrides.")
    return fixed
