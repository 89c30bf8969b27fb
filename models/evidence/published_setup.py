"""The set-up of a published row: which GPU, NICs, network and technology it was measured on.

Nothing is guessed: a row whose GPU, NIC speed or node count is unknown raises `Unusable` with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module

from models.catalog.gpus import GpuModel, gpus
from models.catalog.technology import Technology, technology
from models.scenario.schema import Failures, Placement, Topology
from models.topology.link import Link
from models.topology.network import Network
from models.topology.size import CannotBuild, network_size

FABRIC_FOLDERS = {"ib": "infiniband", "roce": "rocev2", "spectrum_x": "rocev2", "tcp": "tcp"}
PRESETS: dict[str, tuple[tuple[float, str], ...]] = {
    "ib": ((200, "infiniband_hdr"), (400, "infiniband_ndr"), (800, "infiniband_xdr")),
    "roce": ((200, "rocev2_200g"), (400, "rocev2_400g"), (800, "rocev2_800g")),
    "spectrum_x": ((400, "spectrum_x_400g"), (800, "spectrum_x_800g")),
    "tcp": ((800, "tcp_400g"),),
}
NIC_SPEEDS = (10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0)
SLOW_ETHERNET_HOP_US = 0.3  # up to 100 Gbit/s: Spectrum SN2700 300 ns, IBM/tulips 269 ns a traversal
RADIX = 64  # ports of the switches such clusters are built with, at the speed of the NIC
PLATEAU_BYTES = 8 * 1024.0**3  # where a source gives a plateau, or a threshold for large sizes
Row = Mapping[str, str]


class Unusable(ValueError):
    """The row cannot be compared; the text says why."""


@dataclass(frozen=True)
class Setup:
    """What a row was measured on."""

    fabric: str
    network: Network
    link: Link
    ranks: int


def text(row: Row, key: str) -> str:
    """A cell, stripped; empty when the column is absent."""
    return (row.get(key) or "").strip()


def number(row: Row, key: str, needed: str = "") -> float | None:
    """A cell as a number; None when empty. Raises Unusable for other text, or when `needed` names what lacks."""
    cell = text(row, key)
    if not cell:
        if needed:
            raise Unusable(f"{needed} not stated")
        return None
    try:
        value = float(cell)
    except ValueError as error:
        raise Unusable(f"{key} = {cell!r} is not a number") from error
    if not abs(value) < 1e300:
        raise Unusable(f"{key} = {cell!r} is not a finite number")
    return value


def whole(row: Row, key: str, needed: str = "") -> int | None:
    """A cell as a count."""
    value = number(row, key, needed)
    if value is None:
        return None
    if value != int(value) or value < 0:
        raise Unusable(f"{key} = {value:g} is not a count")
    return int(value)


def operation_name(row: Row) -> str:
    """First word of a row's operation as the tables spell it.

    >>> operation_name({"operation": "Reduce-Scatter in place"}), operation_name({"operation": "all_gather_perf"})
    ('reduce_scatter', 'all_gather')
    """
    words = text(row, "operation").lower().split()
    return re.sub(r"[-/]", "_", words[0]).removesuffix("_perf") if words else ""


def gpu_id(name: str) -> str:
    """Id in the GPU table of a name as sources write it, the name itself when the table has none.

    >>> gpu_id("A100-40GB"), gpu_id("H100 SXM5 80GB"), gpu_id("NVIDIA GB200"), gpu_id("B100")
    ('A100', 'H100', 'GB200', 'B100')
    """
    known = gpus()
    cleaned = re.sub(r"^(NVIDIA|AMD|Instinct)[ _-]+", "", name.strip(), flags=re.IGNORECASE)
    first = re.split(r"[ _/-]", cleaned, maxsplit=1)[0].upper()
    return first if first in known else cleaned


def nic_speed(row: Row) -> float | None:
    """Speed of one NIC, Gbit/s; None when not stated. Raises Unusable for a speed no NIC has."""
    speed = number(row, "speed_gbps_per_nic")
    if speed is not None and speed not in NIC_SPEEDS:
        allowed = ", ".join(f"{known:g}" for known in NIC_SPEEDS)
        raise Unusable(f"NIC speed {speed:g} Gbit/s is not known; known: {allowed}")
    return speed


def sharp_on(row: Row) -> bool:
    """Whether a row says that SHARP was on; NVLink SHARP of a single domain is NVLS, not this."""
    setting, notes = text(row, "algorithm_or_setting").lower(), text(row, "config_notes").lower()
    if re.search(r"(no|without|off)[ _-]*sharp|sharp[ _=-]*(off|disabled|0)|nvlink sharp", setting):
        return False
    stated = re.search(r"\b(with|using) sharp|sharp (on\b|enabled)", notes) is not None
    return "sharp" in setting or "collnet" in setting or stated


def row_technology(row: Row, fabric: str, speed: float) -> Technology:
    """The preset nearest to a row's fabric and speed, at the row's speed; SHARP only where the row names it."""
    topology = text(row, "topology").lower()
    preset = next((name for limit, name in PRESETS[fabric] if speed <= limit), PRESETS[fabric][-1][1])
    if fabric == "roce" and re.search(
        r"schedul|ddc|spray|adaptive|planned", topology + text(row, "config_notes")
    ):
        preset = "rocev2_spray_400g"
    overrides: dict[str, object] = {"link.rate_gbit_per_s": speed}
    if fabric == "roce" and re.search(r"schedul|ddc|planned", topology):
        overrides["routing.kind"] = "planned"  # cells over all links, admitted by credits: no imbalance
    if fabric == "ib":
        overrides["in_network_reduction.kind"] = "sharp" if sharp_on(row) else "none"
    elif speed <= 100 and fabric in {"roce", "tcp"}:
        overrides["link.hop_latency_us"] = SLOW_ETHERNET_HOP_US
    mtu = re.search(r"\bMTU (\d+)", f"{text(row, 'algorithm_or_setting')}; {text(row, 'config_notes')}")
    if mtu and fabric in {"ib", "roce", "spectrum_x"}:
        overrides["link.mtu_bytes"] = float(mtu.group(1))
    return technology(preset, overrides)


def fabric_link(technology: Technology) -> Link:
    """The link of a technology, made by its own fabric's folder."""
    link: Link = import_module(f"models.{FABRIC_FOLDERS[technology.fabric]}.link").link(technology)
    return link


def row_fabric(row: Row) -> str:
    """Fabric of a row. Raises Unusable for one that is not modelled."""
    fabric = text(row, "fabric").lower()
    if fabric not in {*FABRIC_FOLDERS, "nvlink"}:
        raise Unusable(f"fabric {fabric!r} is not modelled" if fabric else "fabric not stated")
    return fabric


def row_gpu(row: Row) -> GpuModel:
    """GPU of a row. Raises Unusable when it is not in the table."""
    name = text(row, "gpu")
    if not name:
        raise Unusable("GPU not stated")
    known = gpus()
    if gpu_id(name) not in known:
        raise Unusable(f"GPU {name!r} is not in the GPU table")
    model = known[gpu_id(name)]
    if model.domain_gpus > 8 and re.search(r"(no|without|disab\w+) mnnvl|mnnvl (off|disab\w*)", _notes(row)):
        return replace(model, domain_gpus=4)
    return model


def _notes(row: Row) -> str:
    return f"{text(row, 'topology')}; {text(row, 'config_notes')}".lower()


def row_setup(row: Row) -> Setup:
    """GPU, network and link of a collective's row. Raises Unusable when something is missing or unknown."""
    fabric, gpu = row_fabric(row), row_gpu(row)
    per_node = whole(row, "gpus_per_node", "GPUs per node")
    nodes, ranks = whole(row, "nodes"), whole(row, "gpus")
    if not per_node:
        raise Unusable("no GPUs in the nodes")
    if nodes is None and ranks is None:
        raise Unusable("number of nodes not stated")
    nodes = nodes if nodes is not None else -(-(ranks or 0) // per_node)
    ranks = ranks if ranks is not None else nodes * per_node
    if ranks < 2 or nodes < 1 or ranks > nodes * per_node:
        raise Unusable(f"{ranks} GPUs do not fit {nodes} nodes of {per_node}")
    domains = -(-nodes * per_node // max(gpu.domain_gpus, per_node))
    if fabric == "nvlink":
        if domains > 1:
            raise Unusable(f"{ranks} GPUs exceed one NVLink domain of {gpu.domain_gpus}")
        speed, nics, wire = 400.0, per_node, "ib"
    else:
        stated = nic_speed(row)
        if stated is None:
            raise Unusable("NIC speed not stated")
        speed, wire = stated, fabric
        nics = whole(row, "nics_per_node", "NICs per node") or 0
        if nics < 1:
            raise Unusable("NICs per node not stated")
    link = fabric_link(row_technology(row, wire, speed))
    return Setup(fabric, row_network(row, gpu, nodes, per_node, nics), link, ranks)


def row_network(row: Row, gpu: GpuModel, nodes: int, per_node: int, nics: int) -> Network:
    """The network a row describes: rail-optimised unless its topology says fat tree or leaf and spine."""
    words = text(row, "topology").lower()
    kind = "fat_tree" if re.search(r"fat tree|leaf-spine|switches", words) else "rail_optimized"
    topology = Topology.model_validate({"kind": kind})
    radix = RADIX
    if re.search(r"leaf-spine|\bswitches\b", words) and nodes > 1:
        radix = min(RADIX, max(2, nodes * nics // 2))  # the source says that there is more than one leaf
    try:
        size = network_size(topology, nodes, nics, radix)
    except CannotBuild as error:
        raise Unusable(str(error)) from error
    return Network(
        gpus=nodes * per_node,
        gpu=gpu,
        gpus_per_node=per_node,
        nics_per_node=nics,
        topology=topology,
        size=size,
        cable_m=topology.cable_m,
        placement=Placement(),
        failures=Failures(),
        seed=1,
    )
