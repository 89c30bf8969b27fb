"""Published switch and cable counts against the counting rule: `validate --bom`.

Each row of a file is a design. It is sized on whole scalable units (`nodes_per_scalable_unit`) where it is
published so, `extra_leaf_ports` (management) are cables at the leaves, and cables are counted in units of
`cable_unit_gbit_per_s`: an 800G cable of a twin-plane design holds two 400G links. `spine_radix`, where it is given,
counts the ports of another switch model above the leaves. Blank cells are not checked.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from io import StringIO
from math import ceil, isclose
from pathlib import Path
from typing import Any, Literal

from models.evidence.records import Hardware, ValidationRow, records
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Topology
from models.topology.size import CannotBuild, NetworkSize, network_size

Kind = Literal["fat_tree", "rail_optimized", "rail_only", "dragonfly_plus"]
KINDS: dict[str, Kind] = {
    "any_to_any": "fat_tree", "fat_tree": "fat_tree", "multi_plane": "fat_tree", "": "fat_tree",
    "clos": "fat_tree", "leaf_spine": "fat_tree",
    "rail_optimized": "rail_optimized", "rail_only": "rail_only", "dragonfly_plus": "dragonfly_plus",
}  # fmt: skip
FABRICS = {"ib": "ib", "infiniband": "ib", "ethernet": "roce", "roce": "roce", "both": "ib"}
CHECKED = (
    ("leaf", "leaf", "switches"),
    ("spine", "spine", "switches"),
    ("core", "core", "switches"),
    ("node_leaf_cables", "cables", "cables"),
    ("leaf_spine_cables", "cables", "cables"),
    ("spine_core_cables", "cables", "cables"),
)  # column, metric, unit


@dataclass(frozen=True)
class Design:
    """What a row says is to be built; link rate and radix belong together (ports at that rate)."""

    network: str
    nodes: int
    nics_per_node: int
    sized_nodes: int  # whole scalable units
    radix: int
    spine_radix: int  # 0: the same
    planes: int
    link_gbit_per_s: float
    cable_unit_gbit_per_s: float
    extra_leaf_ports: int
    oversubscription: float


def design(row: Mapping[str, str]) -> Design:
    """The design of one row; ValueError names the cell that is missing or no number."""
    nodes, gpus = _number(row, "nodes"), _number(row, "gpus")
    if nodes is None and gpus is None:
        raise ValueError("nodes and gpus are both blank")
    # 104,858 GPUs in 13,107 nodes are eight a node, a misprinted 9,216 in 1,296 are too
    nics = 8 if not nodes or gpus is None else max(1, ceil(gpus / nodes - 0.01))
    nodes = ceil((gpus or 0) / nics) if nodes is None else nodes
    radix, link = _number(row, "switch_radix"), _number(row, "link_gbit_per_s")
    if radix is None or link is None:
        raise ValueError("switch_radix or link_gbit_per_s is blank")
    extra = int(_number(row, "extra_leaf_ports") or 0)
    unit_nodes, units = _number(row, "nodes_per_scalable_unit"), _number(row, "scalable_units")
    sized = nodes + ceil(extra / nics)
    if unit_nodes:
        sized = max(nodes, unit_nodes * (units or ceil(sized / unit_nodes)))
    return Design(
        network=row.get("network", "").strip().lower().replace("-", "_").replace("optimised", "optimized"),
        nodes=int(nodes),
        nics_per_node=nics,
        sized_nodes=int(sized),
        radix=int(radix),
        spine_radix=int(_number(row, "spine_radix") or 0),
        planes=int(_number(row, "planes") or 1),
        link_gbit_per_s=link,
        cable_unit_gbit_per_s=_number(row, "cable_unit_gbit_per_s") or link,
        extra_leaf_ports=extra,
        oversubscription=_number(row, "oversubscription") or 1.0,
    )


def design_size(of: Design) -> NetworkSize:
    """Size of one plane of the design, on whole units; CannotBuild or ValueError says why it is none."""
    if of.network not in KINDS:
        raise ValueError(f"network = {of.network}; allowed: {', '.join(k for k in KINDS if k)}")
    topology = Topology(kind=KINDS[of.network], oversubscription=of.oversubscription)
    return network_size(topology, of.sized_nodes, of.nics_per_node, of.radix, upper_radix=of.spine_radix)


def design_counts(of: Design) -> dict[str, float]:
    """Predicted figures by column of the reference file.

    >>> row = dict(nodes="127", gpus="1016", switch_radix="64", link_gbit_per_s="400", network="any_to_any",
    ...            extra_leaf_ports="4", nodes_per_scalable_unit="32", scalable_units="4")
    >>> counts = design_counts(design(row))
    >>> counts["leaf"], counts["spine"], counts["node_leaf_cables"], counts["leaf_spine_cables"]
    (32.0, 16.0, 1020.0, 1024.0)
    """
    size = design_size(of)
    tiers = {tier.name: tier.switches * of.planes for tier in size.tiers()}
    per_cable = of.link_gbit_per_s / of.cable_unit_gbit_per_s
    host_links = of.nodes * of.nics_per_node * of.planes + of.extra_leaf_ports
    return {
        "leaf": float(tiers["leaf"]),
        "spine": float(tiers.get("spine", 0)),
        "core": float(tiers.get("core", 0)),
        "node_leaf_cables": host_links * per_cable,
        "leaf_spine_cables": size.leaf_spine_links * of.planes * per_cable,
        "spine_core_cables": size.spine_core_links * of.planes * per_cable,
    }


def bom_rows(path: str | Path | None = None) -> list[ValidationRow]:
    """One row per figure of the file (default: the shipped one); InputError for a file of another form."""
    name, table = _table(path)
    known = {_class(row) for row in _table(None)[1]} if path is not None else None
    rows: list[ValidationRow] = []
    for number, row in enumerate(table, start=2):
        rows.extend(_figures(row, number, name, "known" if known is None or _class(row) in known else "new"))
    return rows


def bom_records(path: str | Path | None = None) -> tuple[list[dict[str, Any]], list[ValidationRow]]:
    """(records by metric and design, rows); a published zero has no percentage: a row, but no record."""
    rows = bom_rows(path)
    return records(rows), rows


def _figures(row: Mapping[str, str], number: int, file: str, hardware: Hardware) -> Iterator[ValidationRow]:
    reason, counts = "", None
    try:
        built = design(row)
        counts = design_counts(built)
    except (CannotBuild, ValueError) as fault:
        reason = str(fault)
    for column, metric, unit in CHECKED:
        try:
            value = _number(row, column)
        except ValueError as fault:
            raise InputError([Fault(file, column, row[column], str(fault), number)]) from fault
        if value is None:
            continue
        predicted = None if counts is None else counts[column]
        why = reason
        if not why and value == 0:
            why = "published 0, predicted 0" if predicted == 0 else f"published 0, predicted {predicted:g}"
        yield ValidationRow(
            set="bom",
            kind="bom",
            fabric=FABRICS.get(row.get("technology", "").strip().lower(), row.get("technology", "")),
            metric=metric,
            band=row.get("design", "") or f"line {number}",
            id=f"{row.get('design', '')}:{row.get('nodes', '') or row.get('gpus', '')}:{column}",
            value=value,
            unit=unit,
            source=row.get("source", ""),
            hardware=hardware,
            prediction=predicted,
            usable=not why,
            reason=why,
        )


def exact(row: ValidationRow) -> bool:
    """Whether the prediction equals the published figure, a published zero included."""
    return row.prediction is not None and isclose(row.prediction, row.value, rel_tol=0, abs_tol=1e-9)


def _class(row: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(row.get(key, "").strip() for key in ("technology", "link_gbit_per_s", "switch_radix"))


def _number(row: Mapping[str, str], column: str) -> float | None:
    text = (row.get(column) or "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{column} = {text}: must be a number or blank") from None
    if not 0 <= value < 1e9:
        raise ValueError(f"{column} = {text}: must lie in 0 .. 1e9")
    return value


def _table(path: str | Path | None) -> tuple[str, list[dict[str, str]]]:
    name = "bom_reference.csv" if path is None else str(path)
    try:
        if path is None:
            text = resources.files("models.evidence").joinpath(name).read_text("utf-8")
        else:
            text = Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([Fault(name, "", "", f"cannot be read: {error}")]) from error
    reader = csv.DictReader(StringIO(text))
    needed = {"switch_radix", "link_gbit_per_s"}
    missing = sorted(needed - set(reader.fieldnames or ()))
    if missing:
        raise InputError([Fault(name, "", "", f"columns missing: {', '.join(missing)}", 1)])
    return name, [{k: v or "" for k, v in row.items() if k} for row in reader]
