"""Faults found after loading, placed where their key stands in the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.scenario.faults import Fault, InputError, shown
from models.scenario.load import read
from models.scenario.schema_faults import line_of
from models.scenario.yaml_text import mapping_with_lines


def placed_faults(error: InputError, files: Iterable[str]) -> tuple[Fault, ...]:
    """The faults of `error`; those that name a scenario of `files` name its file, line and the value given there.

    A layout that does not divide is seen long after the file was read; whoever mends it looks for the line all the
    same. Files that cannot be read again leave the faults as they are.
    """
    faults = error.faults
    for file in dict.fromkeys(files):
        try:
            mapping, lines = mapping_with_lines(read(Path(file)), file)
        except InputError:
            continue
        name = mapping.get("name")
        faults = tuple(_placed(f, file, mapping, lines) if f.file == name else f for f in faults)
    return faults


def _placed(fault: Fault, file: str, mapping: Mapping[str, Any], lines: Mapping[str, int]) -> Fault:
    given = fault.given
    if not given and fault.key in lines:
        value = _value(mapping, fault.key)
        given = "" if isinstance(value, Mapping | list) else shown(value)
    return replace(fault, file=file, line=line_of(fault.key, lines), given=given)


def _value(mapping: Mapping[str, Any], key: str) -> Any:
    """The value of a dotted key; names may hold dots, so the longest one that is there counts."""
    if key in mapping:
        return mapping[key]
    for name in sorted(mapping, key=len, reverse=True):
        inner = mapping[name]
        if key.startswith(f"{name}.") and isinstance(inner, Mapping):
            return _value(inner, key[len(name) + 1 :])
    return None
