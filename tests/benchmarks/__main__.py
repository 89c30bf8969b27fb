"""Runs rows() of every bench_*.py here, prints one table, exits 1 when a row misses its limit."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main(names: list[str]) -> int:
    """Exit code; `names` restricts the modules (bench_flows, or flows)."""
    failed = 0
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        if names and path.stem not in names and path.stem.removeprefix("bench_") not in names:
            continue
        print(f"\n{path.stem}")
        for row in import_module(f"tests.benchmarks.{path.stem}").rows():
            ok = bool(row["ok"])
            failed += not ok
            limit = "" if row["limit"] is None else f"at most {row['limit']:g}"
            mark = "ok" if ok else "MISSED"
            print(
                f"  {row['name']:<62} {row['value']:>10.4g} {row['unit']:<6} {limit:<16} {mark:<7} {row['note']}",
                flush=True,
            )
    print(f"\n{failed} row(s) missed" if failed else "\nall within their limits")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
