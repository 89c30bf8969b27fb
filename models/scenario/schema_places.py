"""Places in the schema: which type and which limits stand at the end of a path of keys.

Paths are pydantic's: between the keys an author wrote they name union members and tags, which are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel

Where = tuple[Any, ...]


def keys_at(where: Where, root: Any) -> list[str]:
    """Keys of the group at a place, sorted; empty where its names are free."""
    found = list(steps(where, root))
    groups = _groups(found[-1][1] if found else root)
    groups = (_tagged(groups, str(where[-1])) if where else []) or groups
    return sorted(groups[0].model_fields) if len(groups) == 1 else []


def steps(where: Where, root: Any) -> Iterator[tuple[str, Any, list[Any]]]:
    """Every step of a place that an author wrote, with the type and the limits found there."""
    annotation: Any = root
    for part in where:
        name = str(part)
        groups = _groups(annotation)
        tagged = _tagged(groups, name)
        if tagged and len(groups) > 1:
            annotation = tagged[0]
            continue
        field = next((g.model_fields[name] for g in groups if name in g.model_fields), None)
        if field is not None:
            annotation = field.annotation
            yield name, annotation, [*field.metadata, *_limits(annotation)]
            continue
        inner = _inside(annotation)
        if inner is not None and name != "[key]":
            annotation = inner
            yield name, annotation, _limits(annotation)
        elif groups and not name.startswith("function-") and not _is_form(name, groups):
            annotation = None
            yield name, annotation, []


def _tagged(groups: Sequence[type[BaseModel]], name: str) -> list[type[BaseModel]]:
    """The group whose `kind` is `name`."""
    kinds = ((group, group.model_fields.get("kind")) for group in groups)
    return [group for group, kind in kinds if kind is not None and name in get_args(kind.annotation)]


def _is_form(name: str, groups: Sequence[type[BaseModel]]) -> bool:
    """Whether a step names one form of a union, not a key."""
    return name in {group.__name__ for group in groups} or name in {"str", "int", "float"}


def _options(annotation: Any) -> Iterator[Any]:
    """The types a union or annotated type is made of."""
    if hasattr(annotation, "__metadata__"):
        yield from _options(get_args(annotation)[0])
    elif get_origin(annotation) in (dict, tuple, list) or not get_args(annotation) or _is_literal(annotation):
        yield annotation
    else:
        for inner in get_args(annotation):
            yield from _options(inner)


def _is_literal(annotation: Any) -> bool:
    return all(not isinstance(a, type) and not get_args(a) for a in get_args(annotation))


def _groups(annotation: Any) -> list[type[BaseModel]]:
    return [o for o in _options(annotation) if isinstance(o, type) and issubclass(o, BaseModel)]


def _inside(annotation: Any) -> Any:
    """What the entries of a mapping or list are; None where there are none."""
    for option in _options(annotation):
        if get_origin(option) is dict:
            return get_args(option)[1]
        if get_origin(option) in (list, tuple):
            return get_args(option)[0]
    return None


def _limits(annotation: Any) -> list[Any]:
    found: list[Any] = []
    for item in getattr(annotation, "__metadata__", ()):
        found += getattr(item, "metadata", [item])
    for inner in () if get_origin(annotation) in (dict, list, tuple) else get_args(annotation):
        found += _limits(inner)
    return found


def limits_at(where: Where, root: Any) -> list[Any]:
    """Limits (`ge`, `max_length`, ...) of the value at a place."""
    found = list(steps(where, root))
    return found[-1][2] if found else []
