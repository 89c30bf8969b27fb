"""One scenario from another by dotted keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
from models.scenario.workloads import Workload

QUICK = frozenset({"cluster", "topology", "placement", "failures", "economics", "networks"})
NAMED = (".model", ".gpu", ".server")  # values that the catalogue has to know


def set_value(mapping: dict[str, Any], key: str, value: Any) -> None:
    """Sets the dotted `key` of a plain scenario mapping; InputError where a value stands in its way."""
    names = key.split(".")
    at = mapping
    index = 0
    while index < len(names) - 1:
        name = names[index]
        # candidate and override names may hold dots: prefer the longest existing one
        for end in range(len(names) - 1, index, -1):
            joined = ".".join(names[index:end])
            if isinstance(at.get(joined), dict):
                name, index = joined, end - 1
                break
        if name == "overrides":
            at.setdefault("overrides", {})[".".join(names[index + 1 :])] = value
            return
        if name == "prices" and at is mapping:
            at.setdefault("prices", {})
        at = at.setdefault(name, {})
        if not isinstance(at, dict):
            raise InputError([Fault("--axis", key, str(value), f"{name} is a value, not a group of keys")])
        index += 1
    at[names[-1]] = value


def with_sections(scenario: Scenario, values: Mapping[str, Any]) -> Scenario | None:
    """`scenario` with dotted keys set, only the sections they are in validated again; None where that is not enough.

    Not enough: keys of candidates and prices, names the catalogue must know, and values that are refused, whose
    faults the full way words.
    """
    sections: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        section, _, rest = key.partition(".")
        if not rest or key.endswith(NAMED) or section not in QUICK | {"workloads"}:
            return None
        if section == "workloads":
            name = next((n for n in scenario.workloads if rest.startswith(f"{n}.") and "." not in n), None)
            if name is None:
                return None
            section = f"workloads.{name}"
            found = sections.setdefault(section, _set_fields(scenario.workloads[name]))
            set_value(found, rest.removeprefix(f"{name}."), value)
        else:
            set_value(sections.setdefault(section, _set_fields(getattr(scenario, section))), rest, value)
    update: dict[str, Any] = {}
    try:
        for section, mapping in sections.items():
            if section.startswith("workloads."):
                workloads = update.setdefault("workloads", dict(scenario.workloads))
                workloads[section.removeprefix("workloads.")] = _workload().validate_python(mapping)
            else:
                update[section] = type(getattr(scenario, section)).model_validate(mapping)
    except ValidationError:
        return None
    return scenario.model_copy(update=update)


def _set_fields(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", exclude_unset=True)
    return found


@cache
def _workload() -> TypeAdapter[Any]:
    return TypeAdapter(Workload)
