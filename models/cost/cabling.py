"""Point-to-point cabling of a candidate, one row a link, generated in order so that any size streams to a file.

Names and wiring are those of the topology's graph: cable j of a leaf ends at spine j // parallel of its pod, rails
and planes prefix the copy (`rail2/leaf3`). Rows are links: a twin copper cable or a splitter is on two rows.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from models.catalog.parts import Catalogue, parts
from models.catalog.quotes import catalogue_with_overrides
from models.cost.bill_of_materials import appliance_count, compute_size
from models.cost.chosen import Chosen, chosen_parts
from models.cost.compute_network import compute_fabric
from models.cost.fabric import Fabric
from models.cost.management_cabling import management_rows
from models.cost.management_networks import management
from models.cost.storage_network import appliance_cables, storage_fabric
from models.scenario.faults import Fault, InputError
from models.scenario.schema import CableM, Scenario
from models.topology.core_wiring import core_of_cable

ROWS_MAX = 20_000_000


@dataclass(frozen=True)
class CablingRow:
    """One row of `cabling.csv`."""

    a_node: str
    a_port: str
    z_node: str
    z_port: str
    cable_type: str
    length_m: float
    speed_gbit_per_s: float
    network: str


def cabling_rows(
    scenario: Scenario, candidate: str, catalogue: Catalogue | None = None
) -> Iterator[CablingRow]:
    """Every link of the four networks of `candidate`.

    Raises InputError before the first row when the network cannot be built or has more than 20 million links.
    """
    prices = catalogue_with_overrides(parts() if catalogue is None else catalogue, scenario.prices)
    chosen = chosen_parts(scenario, candidate, prices)
    size = compute_size(scenario, chosen)
    links = size.host_leaf_links + size.leaf_spine_links + size.spine_core_links
    if links > ROWS_MAX:
        problem = f"{links} links; a cabling plan is written for at most {ROWS_MAX}"
        raise InputError([Fault(scenario.name, "cluster.gpus", str(scenario.cluster.gpus), problem)])
    return _all_rows(scenario, chosen, compute_fabric(scenario, chosen, size))


def write_cabling(rows: Iterable[CablingRow], path: str | Path) -> int:
    """Writes `cabling.csv` row by row and returns how many; memory does not grow with the network."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(CablingRow)])
        for row in rows:
            writer.writerow(astuple(row))
            count += 1
    return count


def _all_rows(scenario: Scenario, chosen: Chosen, compute: Fabric) -> Iterator[CablingRow]:
    lengths = scenario.topology.cable_m
    yield from _host_rows(compute, scenario, lengths)
    yield from _trunk_rows(compute, lengths)
    yield from _held_rows(compute, _next_free(compute, scenario), lengths.host_leaf)
    fabrics = [compute]
    if scenario.networks.storage.enabled:
        storage = storage_fabric(scenario, chosen)
        yield from _storage_rows(storage, scenario)
        yield from _trunk_rows(storage, lengths)
        fabrics.append(storage)
    held = [pair for fabric in fabrics for pair in fabric.switch_counts()]
    appliances = [f"ufm{n}" for n in range(appliance_count(scenario, chosen, fabrics))]
    counts = management(scenario, chosen, held, len(appliances))
    names = [name for fabric in fabrics for name in _switch_names(fabric)]
    for row in management_rows(scenario, counts, names, appliances, chosen):
        yield CablingRow(*row)


def _place(of: Fabric, scenario: Scenario, node: int, nic: int) -> tuple[int, int, int]:
    """(copy, leaf, position under it) of NIC `nic` of a node; of plane 0 where there are planes."""
    size, nics = of.size, scenario.cluster.nics_per_node
    if size.kind == "rail_only":
        return (nic, *divmod(node, size.leaf_down))
    if size.kind == "rail_optimized" and size.leaves_per_copy > 1:
        unit, position = divmod(node, size.leaf_down)
        return 0, unit * nics + nic, position
    return (0, *divmod(node * nics + nic, size.leaf_down))


def _host_rows(of: Fabric, scenario: Scenario, lengths: CableM) -> Iterator[CablingRow]:
    size = of.size
    planes = size.copies if size.kind == "multi_plane" else 1
    for node in range(scenario.cluster.nodes):
        for nic in range(scenario.cluster.nics_per_node):
            copy, leaf, position = _place(of, scenario, node, nic)
            for plane in range(planes):
                port = f"nic{nic}" if planes == 1 else f"nic{nic}.{plane}"
                yield CablingRow(
                    f"node{node}", port, _name(of, copy + plane, "leaf", leaf), f"p{position + 1}",
                    of.host.cable.id, lengths.host_leaf, of.link_gbit_per_s, of.network,
                )  # fmt: skip


def _trunk_rows(of: Fabric, lengths: CableM) -> Iterator[CablingRow]:
    """Leaf-spine and spine-core links of every copy."""
    size = of.size
    if of.trunk is None or not size.spines_per_copy:
        return
    pods = max(1, size.pods_per_copy)
    per_pod, spines = -(-size.leaves_per_copy // pods), -(-size.spines_per_copy // pods)
    for copy in range(size.copies):
        spine_ports: dict[int, int] = defaultdict(int)
        for leaf in range(size.leaves_per_copy):
            pod = leaf // per_pod
            for cable in range(size.leaf_up):
                spine = pod * spines + cable * spines // size.leaf_up
                spine_ports[spine] += 1
                yield CablingRow(
                    _name(of, copy, "leaf", leaf), f"p{size.leaf_down + cable + 1}",
                    _name(of, copy, "spine", spine), f"p{spine_ports[spine]}",
                    of.trunk.cable.id, lengths.leaf_spine, of.link_gbit_per_s, of.network,
                )  # fmt: skip
        if size.groups:
            yield from _global_rows(of, copy, lengths)
        elif size.cores_per_copy:
            yield from _core_rows(of, copy, spine_ports, lengths)


def _core_rows(of: Fabric, copy: int, spine_ports: dict[int, int], lengths: CableM) -> Iterator[CablingRow]:
    size = of.size
    assert of.top is not None
    core_ports: dict[int, int] = defaultdict(int)
    pods, per_pod = size.pods_per_copy, -(-size.leaves_per_copy // size.pods_per_copy)
    spines = -(-size.spines_per_copy // pods)
    over = per_pod * size.leaf_up % size.cores_per_copy
    for pod in range(pods):
        members = [s for s in range(pod * spines, (pod + 1) * spines) if spine_ports[s]]
        pod_cables = sum(spine_ports[s] for s in members)
        ends = core_of_cable(np.arange(pod_cables), pod, pod_cables, size.cores_per_copy, pod * over)
        q = 0
        for spine in members:
            down = spine_ports[spine]
            for cable in range(down):
                core = int(ends[q])
                q += 1
                core_ports[core] += 1
                yield CablingRow(
                    _name(of, copy, "spine", spine), f"p{down + cable + 1}",
                    _name(of, copy, "core", core), f"p{core_ports[core]}",
                    of.top.cable.id, lengths.spine_core, of.link_gbit_per_s, of.network,
                )  # fmt: skip


def _global_rows(of: Fabric, copy: int, lengths: CableM) -> Iterator[CablingRow]:
    """Cables between every pair of Dragonfly+ groups, dealt over the spines in turn."""
    size = of.size
    assert of.top is not None
    groups, spines = size.groups, size.spines_per_copy // size.groups
    leaves = size.leaves_per_copy // groups
    each = size.spine_core_links // (groups * (groups - 1) // 2)
    used, down = [0] * groups, leaves * size.leaf_up // spines

    def end(group: int) -> tuple[str, str]:
        at = used[group]
        used[group] += 1
        return _name(of, copy, "spine", group * spines + at % spines), f"p{down + at // spines + 1}"

    for first in range(groups):
        for second in range(first + 1, groups):
            for _ in range(each):
                a, z = end(first), end(second)
                yield CablingRow(*a, *z, of.top.cable.id, lengths.spine_core, of.link_gbit_per_s, of.network)


def _storage_rows(of: Fabric, scenario: Scenario) -> Iterator[CablingRow]:
    """Nodes, appliances, management servers and subnet managers on the storage leaves, dealt in turn."""
    storage = scenario.networks.storage
    leaves = of.size.leaves_per_copy
    names = [
        *((f"node{n}", f"storage{p}", of.host.cable.id)
          for n in range(scenario.cluster.nodes) for p in range(storage.ports_per_node)),
        *((f"appliance-cable{n}", "split", "cb_aoc_400_2x200" if of.link_gbit_per_s >= 400 else "cb_aoc_200")
          for n in range(appliance_cables(storage, scenario.cluster.nodes))),
        *((f"mgmt{n}", "storage0", "cb_aoc_200") for n in range(storage.management_ports)),
        *((f"ufm{2 + n // 2}", f"p{n % 2 + 1}", "cb_mpo_split") for n in range(of.management_ports)),
    ]  # fmt: skip
    for at, (node, port, cable) in enumerate(names):
        leaf, position = at % leaves, at // leaves
        yield CablingRow(
            node, port, _name(of, 0, "leaf", leaf), f"p{position + 1}", cable, storage.cable_m,
            of.link_gbit_per_s, "storage",
        )  # fmt: skip


def _next_free(of: Fabric, scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Free host-side ports of the leaves, last leaf first, for subnet managers."""
    size = of.size
    used: dict[tuple[int, int], int] = defaultdict(int)
    for node in range(scenario.cluster.nodes):
        for nic in range(scenario.cluster.nics_per_node):
            copy, leaf, _ = _place(of, scenario, node, nic)
            used[copy, leaf] += 1
    for copy in range(size.copies):
        for leaf in reversed(range(size.leaves_per_copy)):
            for position in range(used[copy, leaf], size.leaf_down):
                yield _name(of, copy, "leaf", leaf), f"p{position + 1}"


def _held_rows(of: Fabric, free: Iterator[tuple[str, str]], length_m: float) -> Iterator[CablingRow]:
    for number, (leaf, port) in zip(range(of.management_ports), free, strict=False):
        yield CablingRow(
            f"ufm{number // 2}", f"p{number % 2 + 1}", leaf, port, "cb_mpo_split", length_m,
            of.link_gbit_per_s, of.network,
        )  # fmt: skip


def _switch_names(of: Fabric) -> list[str]:
    size = of.size
    kinds = (("leaf", size.leaves_per_copy), ("spine", size.spines_per_copy), ("core", size.cores_per_copy))
    return [_name(of, c, kind, n) for c in range(size.copies) for kind, count in kinds for n in range(count)]


def _name(of: Fabric, copy: int, kind: str, number: int) -> str:
    name = f"{kind}{number}" if of.network == "compute" else f"{of.network}-{kind}{number}"
    prefix = {"rail_only": "rail", "multi_plane": "plane"}.get(of.size.kind)
    return f"{prefix}{copy}/{name}" if prefix else name
