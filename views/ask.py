"""What the reader asked for: a scenario, the keys changed in it, candidates switched off, what the pages are set to; and
its form in the URL."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from models.compare.link_speed import SPEEDS_GBIT_PER_S, at_speed
from models.scenario.faults import Fault, InputError
from models.scenario.load import SHIPPED, load, loads, with_values
from models.scenario.schema import Scenario
from models.scenario.yaml_text import TEXT_BYTES_MAX

FIRST_SCENARIO = "llama3-70b-1024-h100"
LINK_TEXT_MAX = 12_000  # characters of packed YAML that browsers and chat tools still carry in a link
CHANGES_MAX = 200
VIEWS_MAX = 60
VIEW_TEXT_MAX = 300


@dataclass(frozen=True)
class Ask:
    """The whole state that decides what a page shows. `text` is the YAML of an own scenario, "" for a shipped one.

    `view`: inputs of the pages (operation, candidate shown, ...) that are not at their default, by widget name.
    """

    name: str = FIRST_SCENARIO
    text: str = ""
    changes: tuple[tuple[str, Any], ...] = ()
    off: tuple[str, ...] = ()
    nic_gbit_per_s: int = 0  # 0 = as the scenario says
    view: tuple[tuple[str, Any], ...] = ()

    def changed(self, key: str, value: Any) -> Ask:
        """The same with one dotted key set."""
        return replace(self, changes=(*(c for c in self.changes if c[0] != key), (key, value)))

    def unchanged(self, *keys: str) -> Ask:
        """The same with changes of these keys, and of keys below them, taken back."""
        kept = (c for c in self.changes if not any(c[0] == key or c[0].startswith(key + ".") for key in keys))
        return replace(self, changes=tuple(kept))

    def viewed(self, widget: str, value: Any, default: Any) -> Ask:
        """The same with one input of a page set; at its default it leaves the link."""
        rest = tuple(item for item in self.view if item[0] != widget)
        return replace(self, view=rest if value == default else (*rest, (widget, value)))


def shipped_names() -> tuple[str, ...]:
    """Names of the shipped scenarios, the first answer first."""
    names = sorted(path.stem for path in SHIPPED.glob("*.yaml"))
    return tuple(sorted(names, key=lambda name: name != FIRST_SCENARIO))


@lru_cache(maxsize=64)
def base_scenario(name: str, text: str) -> Scenario:
    """The scenario before changes.

    Raises InputError for an unknown name or faulty text.
    """
    if text:
        return loads(text, f"{name}.yaml")
    if name not in shipped_names():
        raise InputError(
            [
                Fault(
                    "link",
                    "scenario",
                    repr(name)[:80],
                    f"no such scenario; shipped: {', '.join(shipped_names())}",
                )
            ]
        )
    return load(SHIPPED / f"{name}.yaml")


def whole_scenario(ask: Ask) -> Scenario:
    """The scenario with its changes and with all its candidates.

    Raises InputError for a key or value that is not allowed.
    """
    return _whole(ask.name, ask.text, json.dumps(ask.changes), ask.nic_gbit_per_s)


@lru_cache(maxsize=128)
def _whole(name: str, text: str, changes: str, nic_gbit_per_s: int) -> Scenario:
    scenario = base_scenario(name, text)
    if nic_gbit_per_s:
        scenario = at_speed(scenario, nic_gbit_per_s)
    pairs = json.loads(changes)
    return with_values(scenario, dict(pairs)) if pairs else scenario


def scenario_of(ask: Ask) -> Scenario:
    """The scenario that is compared: changes applied, candidates that are switched off left out."""
    whole = whole_scenario(ask)
    on = {name: item for name, item in whole.candidates.items() if name not in ask.off}
    return (
        whole if not on or len(on) == len(whole.candidates) else whole.model_copy(update={"candidates": on})
    )


def query_of(ask: Ask) -> dict[str, list[str]]:
    """Query parameters of a link that shows the same page again.

    >>> query_of(Ask().changed("cluster.gpus", 2048))
    {'scenario': ['llama3-70b-1024-h100'], 'set': ['cluster.gpus:2048']}
    """
    query = {"scenario": [ask.name]}
    if ask.text:
        query["yaml"] = [packed(ask.text)]
    if ask.changes:
        query["set"] = [_pair(key, value) for key, value in ask.changes]
    if ask.nic_gbit_per_s:
        query["nic"] = [str(ask.nic_gbit_per_s)]
    if ask.off:
        query["off"] = list(ask.off)
    if ask.view:
        query["view"] = [_pair(key, value) for key, value in ask.view]
    return query


def address_of(ask: Ask) -> dict[str, list[str]]:
    """Query parameters of the address bar: none while the first answer is shown."""
    return query_of(ask) if ask != Ask() else {}


def fits_link(ask: Ask) -> bool:
    """Whether an own scenario is small enough to travel in a link."""
    return not ask.text or len(packed(ask.text)) <= LINK_TEXT_MAX


def ask_of(query: Mapping[str, Sequence[str]]) -> Ask:
    """What a link asks for.

    Raises InputError for a link that cannot be read.
    """
    name = (list(query.get("scenario", ())) or [FIRST_SCENARIO])[0][:200]
    text = unpacked(query["yaml"][0]) if query.get("yaml") else ""
    changes = _pairs(list(query.get("set", ()))[:CHANGES_MAX], "set", "cluster.gpus:2048")
    view = _pairs(
        [item for item in query.get("view", ()) if len(item) <= VIEW_TEXT_MAX][:VIEWS_MAX],
        "view", "operation:all_gather",
    )  # fmt: skip
    nic = (list(query.get("nic", ())) or ["0"])[0]
    if not nic.isdigit() or int(nic) not in (0, *SPEEDS_GBIT_PER_S):
        allowed = ", ".join(str(speed) for speed in SPEEDS_GBIT_PER_S)
        raise InputError([Fault("link", "nic", repr(nic)[:20], f"allowed: {allowed} (Gbit/s)")])
    return Ask(name, text, changes, tuple(list(query.get("off", ()))[:64]), int(nic), view)


def _pairs(items: Sequence[str], name: str, example: str) -> tuple[tuple[str, Any], ...]:
    pairs = []
    for item in items:
        key, colon, value = item.partition(":")
        if not colon or not key:
            raise InputError(
                [Fault("link", name, repr(item)[:80], f"must read key:value, such as {example}")]
            )
        pairs.append((key, _value(value)))
    return tuple(pairs)


def _pair(key: str, value: Any) -> str:
    return f"{key}:{value if _plain(value) else json.dumps(value)}"


def packed(text: str) -> str:
    """Text made short enough for a link."""
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def unpacked(code: str) -> str:
    """Text of `packed`; bounded, so that a small link cannot grow into a large text.

    >>> unpacked(packed("name: a"))
    'name: a'
    """
    try:
        raw = base64.urlsafe_b64decode(code + "=" * (-len(code) % 4))
        text = zlib.decompressobj().decompress(raw, TEXT_BYTES_MAX + 1)
        if len(text) > TEXT_BYTES_MAX:
            raise InputError([Fault("link", "yaml", "", f"too large; at most {TEXT_BYTES_MAX} bytes")])
        return text.decode()
    except (ValueError, zlib.error) as error:
        raise InputError(
            [Fault("link", "yaml", "", "the scenario in this link is damaged or cut off")]
        ) from error


def _plain(value: Any) -> bool:
    """Whether text can stand in the link without quotes and still read back as text."""
    return isinstance(value, str) and _value(value) == value


def _value(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if not isinstance(value, float) or value == value else text
