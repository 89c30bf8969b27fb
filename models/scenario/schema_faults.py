"""Faults of the schema in the words of a scenario's author: which key, what was given, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from models.catalog.technology import technology_names
from models.scenario.faults import Fault, shown
from models.scenario.number_words import written_out
from models.scenario.schema import NAME_WORDS, Scenario
from models.scenario.schema_places import Where, keys_at, limits_at, steps
from models.scenario.workloads import KINDS

TYPE_WORDS: Mapping[str, str] = {
    "int_type": "a whole number", "int_from_float": "a whole number", "int_parsing_size": "a smaller number",
    "float_type": "a number", "bool_type": "true or false", "string_type": "text", "list_type": "a list",
    "tuple_type": "a list", "dict_type": "a group of keys", "model_type": "a group of keys",
    "model_attributes_type": "a group of keys",
}  # fmt: skip
BOUNDS = frozenset({"greater_than_equal", "greater_than", "less_than_equal", "less_than"})
COUNTED = frozenset({"too_long", "too_short"})
TEXT = frozenset({"string_too_short", "string_too_long", "string_pattern_mismatch"})


def schema_faults(
    entries: Iterable[Any], file: str, lines: Mapping[str, int], root: Any = Scenario, prefix: str = ""
) -> list[Fault]:
    """Faults of pydantic's `entries` about a `root`, the forms of one value (a number or `auto`) joined in one fault.

    `prefix` is the dotted key of the root where it is part of something larger.
    """
    forms: dict[str, list[str]] = {}
    hints: dict[str, str] = {}
    faults: dict[tuple[str, str], Fault] = {}
    for entry in entries:
        if _other_form(entry):
            continue
        fault = placed(file, prefix + _key(entry, root), _given(entry), "", lines)
        words, is_form = _problem(entry, root)
        if is_form:
            forms.setdefault(fault.key, []).append(words)
            hints[fault.key] = _number_words(entry, root, fault.key) or hints.get(fault.key, "")
        else:
            fault = placed(file, fault.key, fault.given, words, lines)
        known = faults.get((fault.key, fault.given))
        if known is None or (fault.problem and not known.problem):
            faults[fault.key, fault.given] = fault
    return [
        _with_forms(fault, forms.get(fault.key, []), hints.get(fault.key, "")) for fault in faults.values()
    ]


def _number_words(entry: Any, root: Any, key: str) -> str:
    """The range of a value that should have been a number, and how to write the one that was meant."""
    if TYPE_WORDS.get(entry["type"], "").partition(" number")[1] == "":
        return ""
    reach = _range(tuple(entry["loc"]), root, {})
    example = written_out(key.rpartition(".")[2], entry.get("input"))
    return "".join(f"; {words}" for words in (reach and f"allowed {reach}", example) if words)


def _with_forms(fault: Fault, forms: Sequence[str], hint: str) -> Fault:
    """The fault with every form its value may take: `auto` beside the range of the numbers."""
    words = list(dict.fromkeys(forms))
    if "a number" in words and "a whole number" in words:
        words.remove("a whole number")
    if fault.problem.startswith("allowed"):
        return replace(fault, problem=" or ".join([fault.problem, *words]))
    return fault if fault.problem else replace(fault, problem="must be " + " or ".join(words) + hint)


def placed(file: str, key: str, given: str, problem: str, lines: Mapping[str, int]) -> Fault:
    """A fault whose text starts with "field = value" belongs to that field, not to the group around it."""
    found = re.match(r"([\w.]+) = (\S+?)(?:; |: | )(.+)", problem)
    if found and not given:
        key, given, problem = f"{key}.{found[1]}" if key else found[1], found[2], found[3]
    return Fault(file, key, given, problem, line_of(key, lines))


def line_of(key: str, lines: Mapping[str, int]) -> int | None:
    """Line of a dotted key, or of the nearest group around it."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key)


def nearest(name: str, allowed: Sequence[str]) -> str:
    """A hint at the allowed name that `name` may mean, empty where none is near."""
    found = get_close_matches(name, allowed, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


def _other_form(entry: Any) -> bool:
    """A model written out is no preset name: that the name's form does not fit is not worth a line."""
    return bool(entry["loc"]) and entry["loc"][-1] == "str" and isinstance(entry.get("input"), dict)


def _key(entry: Any, root: Any) -> str:
    where = entry["loc"][:-2] if entry["loc"][-1:] == ("[key]",) else entry["loc"]
    names = [name for name, _, _ in steps(where, root)]
    if entry["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        names.append("kind")
    return ".".join(names)


def _given(entry: Any) -> str:
    given, kind = entry.get("input"), entry["type"]
    if kind in COUNTED and isinstance(given, dict | list | tuple):
        return f"{len(given)} {'entry' if len(given) == 1 else 'entries'}"
    if kind == "union_tag_invalid" and isinstance(given, dict):
        return shown(given.get("kind"))
    return (
        "" if kind in {"missing", "union_tag_not_found"} or isinstance(given, dict | list) else shown(given)
    )


def _problem(entry: Any, root: Any) -> tuple[str, bool]:
    """What is allowed, and whether that is one form of several the value may take."""
    kind, context, where = entry["type"], entry.get("ctx", {}), tuple(entry["loc"])
    if kind == "missing":
        known = f"; allowed: {', '.join(technology_names())}" if where[-1] == "technology" else ""
        return f"is missing{known}", False
    if kind == "extra_forbidden":
        allowed = keys_at(where[:-1], root)
        if not allowed:
            return "unknown key", False
        return f"unknown key{nearest(str(where[-1]), allowed)}; allowed here: {', '.join(allowed)}", False
    if kind == "value_error":
        return str(context.get("error", entry["msg"])), False
    if kind == "union_tag_invalid":
        return f"unknown workload kind; allowed: {context['expected_tags'].replace(chr(39), '')}", False
    if kind == "union_tag_not_found":
        return f"is missing: it says which kind of workload this is; allowed: {', '.join(KINDS)}", False
    if where[0] == "prices" and len(where) == 2 and kind == "model_type":
        return "a number or a group of keys", True
    if kind in TYPE_WORDS:
        return TYPE_WORDS[kind], True
    if kind == "literal_error":
        return str(context["expected"]), True
    if kind == "finite_number":
        return "a finite number", True
    if kind in BOUNDS:
        return f"allowed {_range(where, root, context)}", False
    if kind in COUNTED:
        return f"allowed {_count(context, where, root)}", False
    if kind in TEXT:
        return f"allowed: {_text(where, root)}", False
    message = str(entry["msg"])
    return message[0].lower() + message[1:], False


def _limit(limits: Iterable[Any], name: str) -> Any:
    return next((getattr(item, name) for item in limits if getattr(item, name, None) is not None), None)


def _range(where: Where, root: Any, context: Mapping[str, Any]) -> str:
    limits = limits_at(where, root)
    ends = {name: context.get(name, _limit(limits, name)) for name in ("ge", "gt", "le", "lt")}
    low = "" if ends["ge"] is None else f"{ends['ge']:.12g}"
    low = low or ("" if ends["gt"] is None else f"above {ends['gt']:.12g}")
    high = "" if ends["le"] is None else f"{ends['le']:.12g}"
    high = high or ("" if ends["lt"] is None else f"below {ends['lt']:.15g}")
    if low and high:
        return f"{low} .. {high}"
    if high:
        return high if ends["le"] is None else f"at most {high}"
    return low if ends["ge"] is None else f"at least {low}"


def _count(context: Mapping[str, Any], where: Where, root: Any) -> str:
    limits = limits_at(where, root)
    low = context.get("min_length", _limit(limits, "min_length"))
    high = context.get("max_length", _limit(limits, "max_length"))
    return f"{low or 0} .. {high}" if high is not None else f"at least {low}"


def _text(where: Where, root: Any) -> str:
    if str(where[-1]) == "[key]" or where == ("name",):
        return NAME_WORDS
    limits = limits_at(where, root)
    return f"{_limit(limits, 'min_length') or 0} to {_limit(limits, 'max_length')} characters"
