"""YAML file or text -> Scenario, or every fault at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from models.catalog.technology import Technology, technology, technology_names
from models.scenario.change import set_value, with_sections
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Candidate, Scenario
from models.scenario.yaml_text import TEXT_BYTES_MAX, mapping_with_lines

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"


def load(path: str | Path) -> Scenario:
    """The scenario in a file.

    Raises InputError naming file, line, key, value given and what is allowed, all faults at once.
    """
    path = Path(path)
    try:
        if path.stat().st_size > TEXT_BYTES_MAX:
            raise InputError(
                [
                    Fault(
                        str(path),
                        "",
                        f"{path.stat().st_size} bytes",
                        f"too large; at most {TEXT_BYTES_MAX} bytes",
                    )
                ]
            )
        text = path.read_bytes()
    except OSError as error:
        raise InputError([Fault(str(path), "", "", f"cannot be read: {error.strerror}")]) from error
    return loads(text, str(path))


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
        scenario = Scenario.model_validate(_plain(mapping))
    except ValidationError as error:
        faults.extend(_fault(entry, file, lines) for entry in error.errors() if not _other_form(entry))
    faults.extend(_catalogue_faults(mapping, file, lines))
    if faults or scenario is None:
        raise InputError(_once(faults))
    return scenario


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


def _plain(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return dict(mapping)


def _other_form(entry: Any) -> bool:
    """A model written out is no preset name: that the name's form does not fit is not worth a line."""
    return bool(entry["loc"]) and entry["loc"][-1] == "str" and isinstance(entry.get("input"), dict)


def _fault(entry: Any, file: str, lines: Mapping[str, int]) -> Fault:
    kinds = {
        "llm_training", "collective", "incast", "permutation", "bisection", "storage", "inference",
    }  # fmt: skip
    path = [str(part) for part in entry["loc"] if not str(part).startswith("function-")]
    if len(path) > 2 and path[0] == "workloads" and path[2] in kinds:
        del path[2]
    while path and path[-1] in {"int", "str", "float", "ModelShape", "literal['auto']", "literal['all']"}:
        path.pop()
    given = entry.get("input")
    shown = "" if isinstance(given, dict | list) or entry["type"] == "missing" else repr(given)[:80]
    return _placed(file, ".".join(path), shown, _problem(entry, path), lines)


def _placed(file: str, key: str, shown: str, problem: str, lines: Mapping[str, int]) -> Fault:
    """A fault whose text starts with "field = value" belongs to that field, not to the group around it."""
    found = re.match(r"(\w+) = (\S+?)(?:; |: | )(.+)", problem)
    if found and not shown:
        key, shown, problem = f"{key}.{found[1]}", found[2], found[3]
    return Fault(file, key, shown, problem, _line(key, lines))


def _problem(entry: Any, path: list[str]) -> str:
    context = entry.get("ctx", {})
    kind = entry["type"]
    if kind == "missing":
        known = f"; allowed: {', '.join(technology_names())}" if path[-1] == "technology" else ""
        return f"is missing{known}"
    if kind == "extra_forbidden":
        allowed = _keys_at(path[:-1])
        near = _nearest(path[-1], allowed)
        hint = f"; did you mean {near}?" if near else ""
        return f"unknown key{hint}; allowed here: {', '.join(allowed)}" if allowed else "unknown key"
    if kind == "value_error":
        return str(context.get("error", entry["msg"]))
    message = str(entry["msg"])
    if kind in {"union_tag_invalid", "union_tag_not_found"}:
        return f"unknown workload kind; allowed kind: {context.get('expected_tags', 'see docs')}"
    if "gpus" in path and kind in {"less_than_equal", "greater_than_equal"}:
        from models.scenario.schema import GPUS_MAX

        return f"allowed 1 .. {GPUS_MAX}"
    return message[0].lower() + message[1:]


def _keys_at(path: list[str]) -> list[str]:
    model: Any = Scenario
    for name in path:
        if isinstance(model, type) and issubclass(model, BaseModel) and name in model.model_fields:
            model = model.model_fields[name].annotation
            if getattr(model, "__origin__", None) is dict:
                model = get_args(model)[1]
                continue
        if not (isinstance(model, type) and issubclass(model, BaseModel)) and name not in {"workloads"}:
            candidates = [m for m in get_args(model) if isinstance(m, type) and issubclass(m, BaseModel)]
            if len(candidates) == 1:
                model = candidates[0]
    if isinstance(model, type) and issubclass(model, BaseModel):
        return sorted(model.model_fields)
    return []


def _nearest(name: str, allowed: list[str]) -> str:
    from difflib import get_close_matches

    return (get_close_matches(name, allowed, n=1, cutoff=0.6) or [""])[0]


def _line(key: str, lines: Mapping[str, int]) -> int | None:
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


def _catalogue_faults(mapping: Mapping[str, Any], file: str, lines: Mapping[str, int]) -> list[Fault]:
    """Names the schema cannot check: presets, parts, GPUs, models and technology overrides."""
    from models.catalog.gpus import gpu_names
    from models.catalog.llms import llm_names

    faults: list[Fault] = []

    def refuse(key: str, given: Any, problem: str) -> None:
        faults.append(Fault(file, key, repr(given)[:80], problem, _line(key, lines)))

    cluster = mapping.get("cluster")
    gpu = cluster.get("gpu") if isinstance(cluster, Mapping) else None
    if isinstance(gpu, str) and gpu not in gpu_names():
        refuse("cluster.gpu", gpu, f"unknown GPU; allowed: {', '.join(gpu_names())}")
    if isinstance(gpu, str) and gpu in gpu_names() and isinstance(cluster, Mapping):
        problem = _other_server(gpu, cluster.get("server"))
        if problem:
            refuse("cluster.server", cluster.get("server"), problem)
    workloads = mapping.get("workloads")
    for name, workload in workloads.items() if isinstance(workloads, Mapping) else ():
        model = workload.get("model") if isinstance(workload, Mapping) else None
        if isinstance(model, str) and model not in llm_names():
            refuse(f"workloads.{name}.model", model, f"unknown model; allowed: {', '.join(llm_names())}")
    candidates = mapping.get("candidates")
    for name, candidate in candidates.items() if isinstance(candidates, Mapping) else ():
        if isinstance(candidate, Mapping):
            faults.extend(_candidate_faults(f"candidates.{name}", candidate, file, lines))
    faults.extend(_price_faults(mapping.get("prices"), file, lines))
    return faults


def _other_server(gpu: str, server: Any) -> str:
    """Why a server cannot hold the GPU: its name says another one. GPUs without a server row may borrow any."""
    from models.catalog.gpus import gpu_names, gpus
    from models.catalog.parts import parts

    part = parts().get(server) if isinstance(server, str) else None
    own = gpus()[gpu].server_part
    if part is None or part.category != "server" or not own:
        return ""
    named = [name for name in gpu_names() if re.search(rf"\b{name}\b", part.model)]
    return "" if not named or gpu in named else f"is a server of {named[0]}, not of {gpu}; its own is {own}"


def _candidate_faults(
    key: str, candidate: Mapping[str, Any], file: str, lines: Mapping[str, int]
) -> list[Fault]:
    from models.catalog.parts import part_names

    faults: list[Fault] = []
    preset = candidate.get("technology")
    if isinstance(preset, str):
        if preset not in technology_names():
            problem = f"unknown technology; allowed: {', '.join(technology_names())}"
            return [
                Fault(file, f"{key}.technology", repr(preset), problem, _line(f"{key}.technology", lines))
            ]
        overrides = candidate.get("overrides")
        try:
            technology(preset, overrides if isinstance(overrides, Mapping) else {})
        except ValidationError as error:
            for entry in error.errors():
                where = ".".join(str(part) for part in entry["loc"])
                name = f"{key}.overrides.{where}" if where else f"{key}.overrides"
                problem = str(entry.get("ctx", {}).get("error", entry["msg"]))
                if entry["type"] == "extra_forbidden":
                    problem = f"unknown key; allowed here: {', '.join(_technology_keys(entry['loc'][:-1]))}"
                given = "" if isinstance(entry["input"], dict) else repr(entry["input"])[:80]
                faults.append(_placed(file, name, given, problem, lines))
    parts = candidate.get("parts")
    for role, part in parts.items() if isinstance(parts, Mapping) else ():
        if isinstance(part, str) and part not in part_names():
            near = _nearest(part, sorted(part_names()))
            hint = f"; did you mean {near}?" if near else ""
            name = f"{key}.parts.{role}"
            faults.append(
                Fault(file, name, repr(part), f"no such part in the catalogue{hint}", _line(name, lines))
            )
    return faults


def _technology_keys(path: Any) -> list[str]:
    model: Any = Technology
    for name in path:
        model = model.model_fields[name].annotation
        options = [model, *get_args(model)]
        model = next(m for m in options if isinstance(m, type) and issubclass(m, BaseModel))
    return sorted(model.model_fields)


def _price_faults(prices: Any, file: str, lines: Mapping[str, int]) -> list[Fault]:
    from models.catalog.parts import part_names

    faults = []
    for part in prices if isinstance(prices, Mapping) else ():
        if part not in part_names():
            near = _nearest(str(part), sorted(part_names()))
            hint = f"; did you mean {near}?" if near else ""
            key = f"prices.{part}"
            faults.append(Fault(file, key, "", f"no such part in the catalogue{hint}", _line(key, lines)))
    return faults


def _once(faults: list[Fault]) -> list[Fault]:
    return list(dict.fromkeys(faults))
