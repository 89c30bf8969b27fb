"""Reads untrusted YAML: bounded, no aliases, no duplicate keys, and the line of every key.

Aliases are refused because a few of them expand to gigabytes; scenario files have no use for them.
"""

from __future__ import annotations

from typing import Any

import yaml

from models.scenario.faults import Fault, InputError, control_characters, shown

TEXT_BYTES_MAX = 1_000_000
DEPTH_MAX = 12
NODES_MAX = 50_000


def mapping_with_lines(text: str | bytes, file: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The top-level mapping of `text` and the 1-based line of each dotted key.

    Raises InputError for text that is too large, not UTF-8, not YAML, not a mapping, or uses aliases or
    duplicate keys.

    >>> mapping_with_lines("a:\\n  b: 1\\n", "x.yaml")
    ({'a': {'b': 1}}, {'a': 1, 'a.b': 2})
    """
    size = len(text)
    if size > TEXT_BYTES_MAX:
        raise InputError([Fault(file, "", "", f"too large; at most {TEXT_BYTES_MAX} bytes")])
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError([Fault(file, "", "", f"is not UTF-8 text (byte {error.start})")]) from error
    try:
        _bounded(text, file)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = mark.line + 1 if mark is not None else None
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        if "mapping values are not allowed" in problem:
            problem = "a second ': ' on one line; put text that holds ': ' in quotes, one key a line"
        raise InputError([Fault(file, "", "", f"is not valid YAML: {problem}", line)]) from error
    except RecursionError as error:
        raise InputError([Fault(file, "", "", f"is nested deeper than {DEPTH_MAX} levels")]) from error
    if not isinstance(node, yaml.MappingNode):
        raise InputError([Fault(file, "", "", "must be a mapping of keys to values (see scenarios/)", 1)])
    lines: dict[str, int] = {}
    faults: list[Fault] = []
    value = _value(node, "", file, lines, faults, 0)
    if faults:
        raise InputError(faults)
    return value, lines


def _bounded(text: str, file: str) -> None:
    """Raises InputError for aliases, too many entries or too deep nesting before anything is built from the text.

    Depth is watched event by event: the parser's own work on one line grows with the square of its open brackets.
    """
    depth = 0
    for events, event in enumerate(yaml.parse(text, Loader=yaml.SafeLoader)):
        at = event.start_mark.line + 1 if event.start_mark else None
        if isinstance(event, yaml.AliasEvent):
            raise InputError([Fault(file, "", f"*{event.anchor}", "YAML aliases are not allowed", at)])
        if events > NODES_MAX:
            raise InputError([Fault(file, "", "", f"has more than {NODES_MAX} entries", at)])
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEPTH_MAX + 1:
            raise InputError([Fault(file, "", "", f"is nested deeper than {DEPTH_MAX} levels", at)])


def _value(
    node: yaml.Node, path: str, file: str, lines: dict[str, int], faults: list[Fault], depth: int
) -> Any:
    line = node.start_mark.line + 1
    if depth > DEPTH_MAX:
        faults.append(Fault(file, path, "", f"is nested deeper than {DEPTH_MAX} levels", line))
        return None
    if node.tag.startswith(("tag:yaml.org,2002:python/", "!")):
        faults.append(Fault(file, path, node.tag[:60], "cannot be read: tags are not allowed", line))
        return None
    if isinstance(node, yaml.MappingNode):
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode) or not key_node.value:
                at = key_node.start_mark.line + 1
                faults.append(Fault(file, path, "", "holds a key that is no plain word", at))
                continue
            key = str(key_node.value)
            name = f"{path}.{key}" if path else key
            if key in result:
                faults.append(Fault(file, name, "", "is given twice", key_node.start_mark.line + 1))
                continue
            lines[name] = key_node.start_mark.line + 1
            result[key] = _value(value_node, name, file, lines, faults, depth + 1)
        return result
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(item, f"{path}.{i}", file, lines, faults, depth + 1) for i, item in enumerate(node.value)
        ]
    problem = _other_base(node)
    if problem:
        faults.append(Fault(file, path, str(node.value)[:60], problem, line))
        return None
    constructor = yaml.SafeLoader("")
    try:
        value = constructor.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError) as error:
        faults.append(
            Fault(file, path, str(node.value)[:60], f"cannot be read: {str(error).splitlines()[0]}", line)
        )
        return None
    finally:
        constructor.dispose()
    if isinstance(value, str):
        if control_characters(value):
            faults.append(
                Fault(file, path, shown(value), "holds control characters; allowed: plain text", line)
            )
        return _number_with_exponent(value)
    return value if value is None or isinstance(value, bool | int | float) else str(node.value)


def _other_base(node: yaml.Node) -> str:
    """Why a number would not be what it looks like: YAML 1.1 reads 010 as eight and 1:30 as ninety."""
    if node.tag not in {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}:
        return ""
    digits = str(node.value).lstrip("+-")
    if ":" in digits:
        return "YAML reads this as a number to base 60; write plain digits, or quote text"
    if len(digits) > 1 and digits[0] == "0" and digits[1] not in ".eE_":
        return "YAML reads this as a number to another base; write plain decimal digits"
    return ""


def _number_with_exponent(value: str) -> Any:
    """YAML 1.1 reads 15e12 as text; people mean the number."""
    head = value.lstrip("+-")
    if head[:1].isdigit() and "e" in head.lower() and all(c in "0123456789.eE+-" for c in value):
        try:
            return float(value)
        except ValueError:
            return value
    return value
