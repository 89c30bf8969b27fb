"""What the models say of one published row: (prediction, low, high) in the row's unit, by kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module

from models.evidence.hosts import host_pcie_bytes_per_s, storage_demand_bytes_per_s
from models.evidence.published_setup import (
    FABRIC_FOLDERS,
    PLATEAU_BYTES,
    Row,
    Setup,
    Unusable,
    fabric_link,
    nic_speed,
    number,
    operation_name,
    row_fabric,
    row_setup,
    row_technology,
    sharp_on,
    text,
    whole,
)
from models.solvers.collective_all_to_all import moe_bytes
from models.solvers.collective_bands import band_factors
from models.topology.link import Link, path_latency_s
from models.workload.phase import Expert, Operation, Phase, PhaseTime, RankGroups

Figures = tuple[float, float, float]
OPERATIONS: dict[str, Operation] = {
    "all_reduce": "all_reduce",
    "allreduce": "all_reduce",
    "all_gather": "all_gather",
    "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
    "reduce": "reduce",
    "sendrecv": "send_recv",
    "send_recv": "send_recv",
    "alltoall": "all_to_all",
    "all_to_all": "all_to_all",
    "moe_dispatch": "moe_dispatch",
    "moe_combine": "moe_combine",
}
UNITS = {
    "GB/s": 1e9,
    "MB/s": 1e6,
    "Gb/s": 1e9 / 8,
    "Gbit/s": 1e9 / 8,
    "Mb/s": 1e6 / 8,
    "GiB/s": 2.0**30,
    "MiB/s": 2.0**20,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "ns": 1e-9,
}
NVLINK_MESSAGE_S = 3.33e-6  # 64 B between GPUs of a node, CPU side (arXiv 2505.09343, latency table)
EXPERTS_PER_TOKEN, HIDDEN, NODE_LIMIT = 8, 7168, 4  # DeepEP's documented test
TOKENS = {False: 4096, True: 128}
FP8_WITH_SCALES_BYTES = 1.031


def unit_factor(row: Row) -> float:
    """SI value of one of the row's units. Raises Unusable for a unit that is not known."""
    unit = text(row, "unit")
    if unit not in UNITS:
        raise Unusable(f"unit {unit!r} is not known")
    return UNITS[unit]


def metric_name(row: Row) -> str:
    """The record's metric of a row: busbw, time, bw or latency. Raises Unusable for another figure."""
    metric, kind = text(row, "metric").lower(), text(row, "kind")
    if kind == "p2p_lat" or metric.startswith("lat"):
        return "latency"
    if metric.startswith("busbw"):
        return "busbw"
    if metric in {"time", "t_avg", "t_typical", "t_median"}:
        return "time"
    if metric in {
        "bw",
        "bw_avg",
        "bw_min",
        "bw_max",
        "bw_peak",
        "rdma_bw",
        "nvlink_bw",
        "algbw",
        "throughput",
    }:
        return "bw"
    raise Unusable(f"metric {metric!r} is not predicted")


def _algorithms(row: Row, setup: Setup) -> str:
    """The algorithms a row's setting leaves, joined by |.

    "SHARP on" allows SHARP, it does not force it; NVLS inside the node with SHARP only where both are named.
    NCCL before 2.20 has no NVLSTree beyond two nodes.
    """
    setting = text(row, "algorithm_or_setting").lower().replace(" ", "_")
    version = re.search(r"nccl[ v]*(\d+)\.(\d+)", text(row, "config_notes").lower())
    old = version is not None and (int(version.group(1)), int(version.group(2))) < (2, 20)
    old = old or "no difference beyond 2 nodes" in text(row, "config_notes").lower()
    nvls_off = re.search(r"nvls (off|=\s*0)|without nvls", text(row, "config_notes").lower())
    if sharp_on(row) and setup.fabric == "ib":
        names = ["ring", "tree", "nvls_tree", "collnet"]
        if "nvls" in setting:
            names = ["collnet_nvls", "collnet"]
    elif re.search(r"nvls_?tree", setting):
        names = ["nvls_tree"]
    elif "nvls" in setting:
        names = ["nvls", "nvls_tree"]
    elif setting and (forced := re.fullmatch(r"(ring|tree|pat)?[_/,+]*(ll128|ll|simple)?", setting)):
        kinds = [forced[1]] if forced[1] else ["ring", "tree"]
        return "|".join(f"{kind}/{forced[2]}" if forced[2] else kind for kind in kinds)
    else:
        names = ["ring", "tree", "nvls", "nvls_tree", "pat"]
    if nvls_off or (old and setup.network.gpus > 2 * setup.network.domain_gpus):
        names = [name for name in names if not name.startswith("nvls")]
    return "|".join(names)


def collective_figures(row: Row) -> Figures:
    """Bus bandwidth, algorithm bandwidth or time of a collective or a mixture-of-experts exchange."""
    name = operation_name(row)
    if name not in OPERATIONS:
        raise Unusable(f"operation {text(row, 'operation')!r} is not modelled")
    operation = OPERATIONS[name]
    setup, metric, factor = row_setup(row), metric_name(row), unit_factor(row)
    phase = (
        _moe_phase(row, operation, setup) if operation.startswith("moe") else _phase(row, operation, setup)
    )
    found = phase_time(phase, setup)
    if metric in {"time", "latency"}:
        return found.time_s / factor, found.low_s / factor, found.high_s / factor
    if metric == "bw" and not operation.startswith("moe"):
        rate = phase.message_bytes / found.time_s
    else:
        rate = found.bus_bandwidth_bytes_per_s
    return tuple(rate * found.time_s / time / factor for time in (found.time_s, found.high_s, found.low_s))  # type: ignore[return-value]


def collective_phase(row: Row) -> tuple[Phase, Setup]:
    """The phase a collective's row ran, and where. Raises Unusable."""
    name = operation_name(row)
    if name not in OPERATIONS:
        raise Unusable(f"operation {text(row, 'operation')!r} is not modelled")
    operation, setup = OPERATIONS[name], row_setup(row)
    if operation.startswith("moe"):
        return _moe_phase(row, operation, setup), setup
    return _phase(row, operation, setup), setup


def phase_time(phase: Phase, setup: Setup) -> PhaseTime:
    """The analytical time of a phase on a row's set-up."""
    folder = FABRIC_FOLDERS[setup.link.technology.fabric]
    time: PhaseTime = import_module(f"models.{folder}.analytical").phase_time(
        phase, setup.network, setup.link
    )
    return time


def _phase(row: Row, operation: Operation, setup: Setup) -> Phase:
    size = number(row, "message_bytes")
    algorithm = (
        _algorithms(row, setup) if operation in {"all_reduce", "all_gather", "reduce_scatter"} else "auto"
    )
    message = PLATEAU_BYTES if size is None else size
    return Phase(text(row, "id"), operation, message, RankGroups(setup.ranks), algorithm=algorithm)


def _moe_phase(row: Row, operation: Operation, setup: Setup) -> Phase:
    notes = (
        f"{text(row, 'algorithm_or_setting')}; {text(row, 'operation')}; {text(row, 'config_notes')}".lower()
    )
    quick = "low-latency" in notes or "low latency" in notes
    figures = {
        key: int(match.group(1)) if (match := re.search(pattern, notes)) else usual
        for key, pattern, usual in (
            ("tokens", r"(\d+) tokens", TOKENS[quick]),
            ("hidden", r"hidden (\d+)", HIDDEN),
            ("top", r"top-?(\d+)(?! groups)", EXPERTS_PER_TOKEN),
        )
    }
    size = FP8_WITH_SCALES_BYTES if operation == "moe_dispatch" and "bf16" not in notes else 2.0
    expert = Expert(figures["tokens"], figures["top"], figures["hidden"], NODE_LIMIT, size, quick)
    return Phase(text(row, "id"), operation, moe_bytes(expert), RankGroups(setup.ranks), expert=expert)


def bandwidth_figures(row: Row) -> Figures:
    """Point-to-point bandwidth: min(C M/(M + h), PCIe ceiling of the slots in use).

    Sockets: what the cores of one stream move. A source that adds up several flows says how many.
    """
    factor, link = unit_factor(row), _pair_link(row)
    words = (
        f"{text(row, 'operation')}; {text(row, 'algorithm_or_setting')}; {text(row, 'config_notes')}".lower()
    )
    rate = min(link.goodput_bytes_per_s, host_pcie_bytes_per_s(row, words))
    host = link.technology.host
    if "single stream" in words and host.gbit_per_s_per_core is not None:
        rate = min(rate, host.gbit_per_s_per_core.value * 1e9 / 8)
    rate *= _flows(words)
    size = number(row, "message_bytes") or PLATEAU_BYTES
    low, high = band_factors("send_recv", size)
    return rate / factor, rate / high / factor, rate / low / factor


def _flows(words: str) -> int:
    counts = {"two": 2, "three": 3, "four": 4, "six": 6, "eight": 8}
    stated = re.search(r"aggregate of (\w+) flows", words)
    if stated:
        return counts.get(stated.group(1)) or (int(stated.group(1)) if stated.group(1).isdigit() else 1)
    return 2 if re.search(r"\bbidirectional\b|_bw -b\b", words) else 1


def _pair_link(row: Row) -> Link:
    fabric = row_fabric(row)
    if fabric == "nvlink":
        raise Unusable("point-to-point over NVLink is not predicted")
    speed = nic_speed(row)
    if speed is None:
        raise Unusable("NIC speed not stated")
    return fabric_link(row_technology(row, fabric, speed))


def latency_figures(row: Row) -> Figures:
    """One-way latency: host pair + hops x hop + S/C, twice the serialisation above 256 B for host-staged MPI.

    CPU-side application figures and sockets add the application's share.
    """
    factor, fabric = unit_factor(row), row_fabric(row)
    size = number(row, "message_bytes") or 0.0
    low, high = band_factors("send_recv", size)
    if fabric == "nvlink":
        seconds = NVLINK_MESSAGE_S + size / 100e9
    else:
        link = _pair_link(row)
        words = f"{text(row, 'operation')}; {text(row, 'topology')}; {text(row, 'config_notes')}".lower()
        hops = _hops(words)
        seconds = path_latency_s(link, hops)
        staged = size > 256 and re.search(r"mpi|osu", words) is not None
        seconds += size / link.goodput_bytes_per_s * (2 if staged else 1)
        if fabric == "tcp" or re.search(r"cpu-side|application|end-to-end", words):
            seconds += link.application_latency_s
    return seconds / factor, seconds * low / factor, seconds * high / factor


def _hops(words: str) -> int:
    if re.search(r"cross[- ]leaf|cross[- ]rack|cross[- ]pod|different leaf|3 hops|two switches", words):
        return 3
    if re.search(r"direct cable|back-to-back|back to back", words):
        return 0
    if re.search(r"same leaf|\bpair\b|one switch|same rack|single switch", words):
        return 1
    return 3 if re.search(r"cluster|fat tree|clos", words) else 1


def storage_figures(row: Row) -> Figures:
    """Throughput of clients that read: min(NICs of the clients, demand of their emulated accelerators)."""
    factor, link = unit_factor(row), _pair_link(row)
    clients = whole(row, "nodes", "number of clients") or 0
    nics = whole(row, "nics_per_node", "NICs per client") or 0
    wire = clients * nics * link.goodput_bytes_per_s
    rate = min(wire, storage_demand_bytes_per_s(text(row, "operation"), factor))
    low, high = band_factors("send_recv", PLATEAU_BYTES)
    return rate / factor, rate / high / factor, rate / low / factor


def incast_figures(row: Row) -> Figures:
    """No published incast row states fan-in, burst and thresholds together; packet references do."""
    raise Unusable("fan-in, burst size and switch settings not stated")


def training_figures(row: Row) -> Figures:
    """Steps are compared in the training steps' own table, which states the layout."""
    raise Unusable("layout (TP, PP, DP, batch) not stated in this table")


FIGURES: dict[str, Callable[[Row], Figures]] = {
    "collective": collective_figures,
    "p2p_bw": bandwidth_figures,
    "p2p_lat": latency_figures,
    "storage": storage_figures,
    "incast": incast_figures,
    "training_step": training_figures,
}
