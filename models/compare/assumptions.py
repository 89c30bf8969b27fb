"""Every parameter behind an answer as one searchable table: value, unit, source, confidence, changed or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import BaseModel

from models.catalog.gpus import gpus
from models.catalog.technology import Sourced
from models.compare.comparison import Comparison
from models.export import frame_of
from models.scenario.load import candidate_technology
from models.scenario.schema import Scenario

UNITS = {
    "_gbit_per_s": "Gbit/s", "_bytes_per_s": "bytes/s", "_usd_per_kwh": "USD/kWh", "_usd_per_year": "USD/year",
    "_usd_per_kw_month": "USD/kW/month", "_usd": "USD", "_bytes": "bytes", "_us": "us", "_ms": "ms", "_s": "s",
    "_m": "m", "_mb": "MB", "_kib": "KiB", "_w": "W", "_fraction": "fraction", "_tflops": "TFLOP/s", "_gb": "GB",
    "_gb_per_s": "GB/s",
}  # fmt: skip


@dataclass(frozen=True)
class AssumptionRow:
    """One parameter."""

    group: str
    parameter: str
    value: str
    unit: str
    low: str
    high: str
    source: str
    confidence: str
    changed: bool


def unit_of(name: str) -> str:
    """Unit that a name's suffix states.

    >>> unit_of("link.hop_latency_us"), unit_of("cluster.gpus"), unit_of("usd_per_kwh"), unit_of("topology.cable_m.leaf_spine")
    ('us', '', 'USD/kWh', 'm')
    """
    *above, last = name.split(".")
    for part in (last, *above[-1:]):
        found = [suffix for suffix in UNITS if f"_{part}".endswith(suffix)]
        if found:
            return UNITS[max(found, key=len)]
    return ""


def assumption_table(answer: Comparison, shipped: Scenario) -> pd.DataFrame:
    """Scenario keys, technology figures of each candidate, the GPU and the prices; `shipped` tells what was changed."""
    rows = [*_scenario_rows(answer.scenario, shipped)]
    for name, candidate in answer.scenario.candidates.items():
        rows.extend(_technology_rows(name, candidate_technology(candidate), ""))
    gpu = gpus()[answer.scenario.cluster.gpu]
    for key, value in vars(gpu).items():
        if key not in ("source", "confidence", "id"):
            rows.append(_row(f"GPU {answer.scenario.cluster.gpu}", key, value, gpu.source, gpu.confidence))
    seen: set[str] = set()
    for line in answer.bill.itertuples(index=False):
        part, price = str(line.part), str(line.unit_price_mid_usd)
        if part in seen or price in ("unknown", "nan") or line.category == "nic_in_server":
            continue
        seen.add(part)
        rows.append(
            AssumptionRow(
                "prices", f"{part}: {line.description}", _text(price), "USD", _text(line.unit_price_low_usd),
                _text(line.unit_price_high_usd), str(line.price_source), str(line.price_confidence),
                part in answer.scenario.prices,
            )
        )  # fmt: skip
    return frame_of(rows, AssumptionRow)


def _scenario_rows(scenario: Scenario, shipped: Scenario) -> Iterator[AssumptionRow]:
    before = dict(_leaves(shipped.model_dump(mode="json")))
    default_keys = dict(_leaves(scenario.model_dump(mode="json", exclude_defaults=True)))
    written = set(default_keys) | dict(_leaves(shipped.model_dump(mode="json", exclude_unset=True))).keys()
    for key, value in _leaves(scenario.model_dump(mode="json")):
        if key.startswith(("name", "question", "schema_version", "prices.")):
            continue
        changed = before.get(key, value) != value or (key not in before and key in default_keys)
        source = "changed here" if changed else "scenario file" if key in written else "the default"
        yield AssumptionRow("scenario", key, _text(value), unit_of(key), "", "", source, "scenario", changed)


def _technology_rows(candidate: str, model: BaseModel, path: str) -> Iterator[AssumptionRow]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        key = f"{path}.{name}" if path else name
        if isinstance(value, Sourced):
            low = "" if value.low is None else _text(value.low)
            high = "" if value.high is None else _text(value.high)
            changed = value.confidence == "scenario"
            yield AssumptionRow(
                candidate,
                key,
                _text(value.value),
                unit_of(key),
                low,
                high,
                value.source,
                value.confidence,
                changed,
            )
        elif isinstance(value, BaseModel):
            yield from _technology_rows(candidate, value, key)
        elif value not in (None, "", ()) and name not in ("id", "source", "notes"):
            source = str(getattr(model, "source", "technology preset"))
            shown = ", ".join(value) if isinstance(value, tuple) else value
            yield AssumptionRow(candidate, key, _text(shown), "", "", "", source, "preset", False)


def _row(group: str, key: str, value: object, source: str, confidence: str) -> AssumptionRow:
    return AssumptionRow(group, key, _text(value), unit_of(key), "", "", source, confidence, False)


def _leaves(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in mapping.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(value, name + ".")
        elif value not in (None, [], ()):
            yield name, value


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
