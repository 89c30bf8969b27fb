"""YAML file or text -> Scenario, or every fault at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from models.catalog.technology import Technology, technology
from models.scenario.catalogue_faults import catalogue_faults
from models.scenario.change import set_value, with_sections
from models.scenario.faults import Fault, InputError
from models.scenario.gpu_counts import near_counts
from models.scenario.schema import Candidate, Scenario
from models.scenario.schema_faults import schema_faults
from models.scenario.yaml_text import TEXT_BYTES_MAX, mapping_with_lines

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"


def load(path: str | Path) -> Scenario:
    """The scenario in a file.

    Raises InputError naming file, line, key, value given and what is allowed, all faults at once.
    """
    path = Path(path)
    return loads(read(path), str(path))


def read(path: Path) -> bytes:
    """The bytes of a file, never more than a scenario may have; InputError where it cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(TEXT_BYTES_MAX + 1)
    except OSError as error:
        raise InputError([Fault(str(path), "", "", f"cannot be read: {error.strerror}")]) from error
    return text


def loads(text: str | bytes, file: str = "scenario") -> Scenario:
    """The scenario in YAML text; `file` names it in messages."""
    mapping, lines = mapping_with_lines(text, file)
    return from_mapping(mapping, file, lines)


def from_mapping(
    mapping: Mapping[str, Any], file: str = "scenario", lines: Mapping[str, int] | None = None
) -> Scenario:
    """The scenario in a plain mapping, checked against the schema and the catalogue."""
    lines = lines or {}
    faults: list[Fault] = []
    scenario: Scenario | None = None
    try:
        scenario = Scenario.model_validate(dict(mapping))
    except ValidationError as error:
        faults += [_with_counts(fault, mapping) for fault in schema_faults(error.errors(), file, lines)]
    faults += catalogue_faults(mapping, file, lines)
    if faults or scenario is None:
        raise InputError(list(dict.fromkeys(faults)))
    return scenario


def _with_counts(fault: Fault, mapping: Mapping[str, Any]) -> Fault:
    """The fault of GPUs that fill no nodes, with the counts that the layouts and batches allow too."""
    if fault.key != "cluster.gpus" or "nearest allowed: " not in fault.problem:
        return fault
    cluster = mapping["cluster"]
    near, with_layouts = near_counts(mapping, cluster["gpus"], cluster.get("gpus_per_node", 8))
    words = " or ".join(map(str, near))
    if not with_layouts or fault.problem.endswith(f": {words}"):
        return fault
    return replace(fault, problem=f"{fault.problem} as whole nodes, {words} with the training layouts too")


def dump(scenario: Scenario) -> str:
    """YAML text of a scenario; what was not set is left out, so the file stays what a person would write."""
    mapping = scenario.model_dump(mode="json", exclude_unset=True)
    mapping = {"schema_version": scenario.schema_version, **mapping}
    return str(yaml.safe_dump(mapping, sort_keys=False, allow_unicode=True, width=110))


def with_value(scenario: Scenario, key: str, value: Any) -> Scenario:
    """`scenario` with the dotted `key` set to `value`, validated again.

    Raises InputError for a key that does not exist or a value that is not allowed.
    """
    return with_values(scenario, {key: value})


def with_values(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """`scenario` with several dotted keys set at once."""
    quick = with_sections(scenario, values)
    if quick is not None:
        return quick
    # what was set stays set: a figure given in the file has no band, though it may equal the default
    mapping = scenario.model_dump(mode="json", exclude_unset=True)
    for key, value in values.items():
        set_value(mapping, key, value)
    return from_mapping(mapping, scenario.name)


def candidate_technology(candidate: Candidate) -> Technology:
    """The candidate's preset with its overrides applied."""
    return technology(candidate.technology, candidate.overrides)
