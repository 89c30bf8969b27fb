"""Prices of one's own: a CSV of quotes or the scenario's `prices`, laid over the catalogue and named.

A quote file has the columns of the catalogue (or `price_usd_low, price_usd_mid, price_usd_high`); only
`id` and a price are needed. Optional: `currency` with `usd_per_currency`, and `expiry` (ISO date). A row
whose price cells are all empty says that the price is unknown.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date
from io import StringIO
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from models.catalog.parts import CATEGORIES, COLUMNS, Catalogue, Part, part_from_cells, parts
from models.scenario.faults import Fault, InputError

QUOTE_BYTES_MAX = 16 * 1024**2
# columns under other names: those of common price tables, and of deck templates
ALIASES = {
    "price_usd_low": "price_low", "price_usd_mid": "price_mid", "price_usd_high": "price_high",
    "speed_gbps": "speed_gbit_per_s", "power_w_typical": "power_typical_w", "power_w_max": "power_max_w",
    "port_latency_ns": "latency_ns", "source_kind": "confidence", "valid_until": "expiry",
}  # fmt: skip
CATEGORY_WORDS = {"license": "licence", "opex": "operation", "ratio": "reference"}
EXTRA = ("currency", "usd_per_currency", "expiry")
PRICES = ("price_low", "price_mid", "price_high")


class Override(Protocol):
    """A price set in a scenario."""

    @property
    def low(self) -> float | None: ...
    @property
    def mid(self) -> float: ...
    @property
    def high(self) -> float | None: ...
    @property
    def source(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def note(self) -> str: ...


@dataclass(frozen=True)
class Quotes:
    """A catalogue with quotes in it, and what the reader should know about them."""

    catalogue: Catalogue
    quoted: tuple[str, ...]  # ids whose price is the user's
    warnings: tuple[str, ...]


def catalogue_with_quotes(
    quotes: str | Path | bytes | None, base: Catalogue | None = None, today: date | None = None
) -> Quotes:
    """The catalogue with a file (path) or its bytes laid over it; the quotes win and are named as the source.

    `today` decides what has expired (default: the calendar); it changes warnings only. Raises InputError with
    every fault: file, row, column, value, what is allowed.
    """
    base = parts() if base is None else base
    if quotes is None:
        return Quotes(base, (), ())
    file, text = _text(quotes)
    reader = csv.DictReader(StringIO(text))
    names = _columns(list(reader.fieldnames or ()))
    faults = _header_faults(file, names)
    if faults:
        raise InputError(faults)
    reader.fieldnames = names
    table = dict(base)
    quoted: list[str] = []
    warnings: list[str] = []
    for row in reader:
        line = reader.line_num
        cells = {
            k: (v or "").strip()
            for k, v in row.items()
            if isinstance(k, str) and k and not isinstance(v, list)
        }
        found, problems = _quoted_part(cells, table, file, line)
        if None in row:
            problems.append(
                Fault(file, "", "", "more cells than columns; quote cells that hold a comma", line)
            )
        if found is not None and found.id in quoted:
            problems.append(Fault(file, "id", found.id, "is there twice", line))
        faults += problems
        if found is None:
            continue
        table[found.id] = found
        quoted.append(found.id)
        expiry = cells.get("expiry", "")
        if expiry and not problems and date.fromisoformat(expiry) < (today or date.today()):
            warnings.append(f"{file}:{line}: quote for {found.id} expired on {expiry}")
    if faults:
        raise InputError(faults)
    return Quotes(MappingProxyType(table), tuple(quoted), tuple(warnings))


def catalogue_with_overrides(base: Catalogue, overrides: Mapping[str, Override]) -> Catalogue:
    """`base` with the scenario's prices in it; each names the scenario (or its own `source`) as the source.

    Zero is a price: an existing fabric, server or contract costs nothing more.
    """
    table = dict(base)
    for part_id, given in overrides.items():
        table[part_id] = replace(
            table[part_id],
            price_low=given.mid if given.low is None else given.low,
            price_mid=given.mid,
            price_high=given.mid if given.high is None else given.high,
            is_band=True,
            source=given.source,
            price_date=given.date or "as in the scenario",
            confidence="scenario",
            notes="; ".join(text for text in (given.note, table[part_id].notes) if text),
        )
    return MappingProxyType(table)


def _text(quotes: str | Path | bytes) -> tuple[str, str]:
    file = "quotes" if isinstance(quotes, bytes) else Path(quotes).name
    try:
        raw = quotes if isinstance(quotes, bytes) else Path(quotes).read_bytes()
        if len(raw) > QUOTE_BYTES_MAX:
            raise InputError(
                [Fault(file, "", f"{len(raw)} bytes", f"too large; at most {QUOTE_BYTES_MAX} bytes")]
            )
        return file, raw.decode("utf-8-sig")
    except OSError as error:
        raise InputError([Fault(str(quotes), "", "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        raise InputError([Fault(file, "", "", "is not UTF-8 text; save the sheet as CSV UTF-8")]) from error


def _columns(header: list[str]) -> list[str]:
    names = [name.strip().lower() for name in header]
    if "source_kind" in names:  # there `confidence` is low, med or high
        names = ["certainty" if name == "confidence" else name for name in names]
    return [ALIASES.get(name, name) for name in names]


def _header_faults(file: str, names: list[str]) -> list[Fault]:
    if "id" not in names:
        return [Fault(file, "", "", "has no column id; needed: id, price_mid (low and high optional)", 1)]
    if not set(PRICES) & set(names):
        allowed = f"{', '.join(PRICES)} (or price_usd_...)"
        given = f"; given: {', '.join(name for name in names if name)}"
        return [
            Fault(file, "", "", f"has no price column; needed: id and at least one of {allowed}{given}", 1)
        ]
    known = {*COLUMNS, *EXTRA, "buffer_mb"}
    unknown = [name for name in names if name and name not in known]
    faults = []
    if unknown:
        words = "unknown column" if len(unknown) == 1 else "unknown columns"
        allowed = ", ".join([*COLUMNS, *EXTRA])
        faults.append(Fault(file, ", ".join(unknown), "", f"{words}; allowed: {allowed}", 1))
    faults += [
        Fault(file, n, "", "column is there twice", 1) for n in sorted(set(names)) if names.count(n) > 1 and n
    ]
    return faults


def _quoted_part(
    cells: dict[str, str], table: Mapping[str, Part], file: str, line: int
) -> tuple[Part | None, list[Fault]]:
    """The part a row quotes, or None with the faults."""
    part_id = cells.get("id", "")
    faults: list[Fault] = []
    if not any(cells.values()):
        return None, []
    if not part_id:
        return None, [Fault(file, "id", "", "is missing", line)]
    known = table.get(part_id)
    if known is None and not cells.get("category"):
        return None, [_unknown_id(part_id, table, file, line)]
    given = _numbers(cells, faults, file, line)
    prices = _prices(cells, given, faults, file, line)
    category = CATEGORY_WORDS.get(cells.get("category", ""), cells.get("category", ""))
    inside = cells.get("nic_included", "")
    if inside and inside.lower() != "none" and inside not in table:
        faults.append(Fault(file, "nic_included", inside, "no such part; a part id, or none", line))
    if category and category not in CATEGORIES:
        faults.append(Fault(file, "category", category, f"allowed: {', '.join(CATEGORIES)}", line))
    if faults:
        return None, faults
    if known is None:
        known = part_from_cells(
            {"id": part_id, "category": category, "unit": "USD each", "technology": "both"}
        )
    changes: dict[str, Any] = {n: v for n, v in given.items() if n not in PRICES and n in COLUMNS}
    texts = {f.name for f in fields(Part) if f.type == "str"} - {
        "id", "category", "source", "confidence", "price_date", "notes", "unit",
    }  # fmt: skip
    changes |= {name: cells[name] for name in texts if cells.get(name)}
    if cells.get("nic_included", "").lower() == "none":
        changes |= {"nic_included": "", "nics_included": None}
    if cells.get("unit") and not cells["unit"].lower().startswith("usd") and known.unit == "USD each":
        changes["unit"] = cells["unit"]
    notes = [cells.get("notes", "") or known.notes]
    if cells.get("expiry"):
        notes.insert(0, f"quote valid until {cells['expiry']}")
    if cells.get("currency", "").upper() not in {"", "USD"}:
        notes.insert(0, f"quoted in {cells['currency'].upper()} at {cells['usd_per_currency']} USD")
    source = cells.get("source", "")
    changes |= dict(zip(PRICES, prices, strict=True))
    changes["is_band"] = cells.get("is_band", "yes" if known.is_band else "no").lower() != "no"
    changes |= {
        "source": f"{file}: {source}" if source else file,
        "price_date": cells.get("price_date") or "not stated in the quote",
        "confidence": "quote",
        "notes": "; ".join(n for n in notes if n),
    }
    return replace(known, **changes), []


def _unknown_id(part_id: str, table: Mapping[str, Part], file: str, line: int) -> Fault:
    from difflib import get_close_matches

    near = get_close_matches(part_id, list(table), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}? " if near else ""
    return Fault(file, "id", part_id, f"no such part; {hint}a new part needs its category too", line)


def _numbers(cells: Mapping[str, str], faults: list[Fault], file: str, line: int) -> dict[str, Any]:
    """Numeric cells as numbers; blank cells are left out."""
    whole = {f.name for f in fields(Part) if str(f.type).startswith("int")}
    wanted = {f.name for f in fields(Part) if str(f.type).startswith("float")} | whole | {"usd_per_currency"}
    found: dict[str, Any] = {}
    for name in sorted(wanted & set(cells)):
        text = cells[name]
        if not text or text.lower() == "unknown":
            continue
        try:
            value = float(text)
        except ValueError:
            faults.append(
                Fault(file, name, text, "must be a plain number (no currency sign, no thousands mark)", line)
            )
            continue
        if not isfinite(value) or value < 0:
            faults.append(Fault(file, name, text, "must be a finite number that is not negative", line))
            continue
        found[name] = int(value) if name in whole else value
    if cells.get("expiry"):
        try:
            date.fromisoformat(cells["expiry"])
        except ValueError:
            faults.append(Fault(file, "expiry", cells["expiry"], "must be a date like 2026-12-31", line))
    return found


def _prices(
    cells: Mapping[str, str], given: Mapping[str, Any], faults: list[Fault], file: str, line: int
) -> tuple[float | None, float | None, float | None]:
    """(low, mid, high) in USD; all None when no price cell is filled."""
    currency, rate = cells.get("currency", "").upper(), given.get("usd_per_currency")
    if currency not in {"", "USD"} and rate is None:
        faults.append(
            Fault(
                file,
                "usd_per_currency",
                "",
                f"is missing: what is one {currency} in USD on the quote's day",
                line,
            )
        )
    factor = rate if rate is not None and currency not in {"", "USD"} else 1.0
    low, mid, high = (given[n] * factor if n in given else None for n in PRICES)
    if low is None and mid is None and high is None:
        return None, None, None
    if mid is None:
        mid = (low + high) / 2 if low is not None and high is not None else (low if low is not None else high)
    low, high = (mid if low is None else low), (mid if high is None else high)
    assert low is not None and mid is not None and high is not None
    is_band = cells.get("is_band", "yes").lower() != "no"
    if is_band and not low <= mid <= high:
        faults.append(
            Fault(file, "price_mid", f"{mid:g}", f"must lie between low {low:g} and high {high:g}", line)
        )
    return low, mid, high
