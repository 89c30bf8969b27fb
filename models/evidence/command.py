"""The `validate` command: errors by kind, fabric and size, as a table, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any, Literal

from models.evidence.command_text import table_text
from models.evidence.records import GROUP_KEYS, ROW_KEYS, records, row_records
from models.evidence.validation import missed_bounds, validate

RECORD_KEYS = (*GROUP_KEYS, "rows", "sources", "median_abs_pct_error", "p90_abs_pct_error")


def run(
    published: Path | None = None,
    packet: Path | None = None,
    bom: Path | None = None,
    output: Literal["table", "json", "csv"] = "table",
    rows: bool = False,
) -> int:
    """Prints the records of the sets named (all shipped ones when none is); 1 when a threshold is missed.

    `rows` adds every row after the records, unusable ones with their reason; each then says in `record` whether it is
    a group or a row. Raises InputError.
    """
    found = validate(published, packet, bom)
    table = records(found)
    shown: list[dict[str, Any]] = [{**record} for record in table]
    if rows:
        shown = [{"record": "group", **record} for record in table]
        shown += [{"record": "row", **record} for record in row_records(found)]
    if output == "json":
        print(json.dumps(shown, indent=1, allow_nan=False))
    elif output == "csv":
        sys.stdout.write(_csv_text(shown, rows))
    else:
        shipped = published is None and packet is None and bom is None
        print(table_text(table, found, shipped, rows))
    if not any(row.usable or row.bound for row in found):
        print(f"none of {len(found)} rows could be compared; --rows shows why", file=sys.stderr)
    missed = missed_bounds(found)
    for row in missed:
        print(f"{row.id}: predicted {row.prediction:g}, bound {row.value:g} {row.unit}", file=sys.stderr)
    return 1 if missed else 0


def _csv_text(shown: list[dict[str, Any]], rows: bool) -> str:
    keys = ("record", *RECORD_KEYS, *ROW_KEYS) if rows else RECORD_KEYS
    target = io.StringIO()
    writer = csv.DictWriter(target, keys, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(shown)
    return target.getvalue()
