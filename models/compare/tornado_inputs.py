"""Inputs of the tornado: which scenario keys go to which low and high, and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.catalog.parts import parts
from models.catalog.technology import Sourced, Technology
from models.compare.axes import Value
from models.scenario.load import candidate_technology
from models.scenario.schema import Scenario
from models.workload.llm_training import hidden_fractions, workload_kernels

ASSUMED = "assumption"
OVERLAP_STEP = 0.15  # published overlaps of like stacks differ by this much
QUEUE_PAIRS = (
    1,
    16,
)  # NCCL_IB_QPS_PER_CONNECTION as run in the field: 1 is the default, 16 what ECMP tuning uses
DCQCN_SETS = ("hpcc_dcqcn_paper", "vendor_default")
YEARS = (3, 5)
DISCOUNT = (0.05, 0.12)
FIGURES = (
    "link.host_pair_latency_us", "link.hop_latency_us", "host.network_efficiency_fraction", "host.step_latency_factor",
    "routing.imbalance_fraction", "in_network_reduction.streaming_fraction", "loss_recovery.loss_fraction",
    "flow_control.dynamic_threshold", "host.cores", "host.gbit_per_s_per_core",
)  # fmt: skip
WORDS = {  # of keys whose own name says less than the trade does
    "gbit_per_s_per_core": "Gbit/s a core moves", "cores": "CPU cores a NIC may use",
    "network_efficiency_fraction": "share of the link NCCL reaches", "host_pair_latency_us": "latency of a pair of hosts",
    "hop_latency_us": "latency of a hop", "step_latency_factor": "latency of a collective's step",
    "imbalance_fraction": "imbalance of adaptive routing", "streaming_fraction": "share of the link SHARP reaches",
    "loss_fraction": "packet loss", "queue_pairs": "queue pairs of a connection", "granted": "SHARP granted",
    "dynamic_threshold": "buffer threshold", "usd_per_kwh": "price of a kWh", "pue": "PUE",
    "space_usd_per_kw_month": "rent of a kW and month", "discount_rate_fraction": "discount rate",
}  # fmt: skip
BALANCED = frozenset({"adaptive", "spray", "flowlet", "planned"})


@dataclass(frozen=True)
class Input:
    """One input at its two ends, everything else as the scenario has it."""

    name: str
    kind: str  # model | workload | economics
    key: str
    low: Value
    mid: Value
    high: Value
    unit: str
    source: str
    candidate: str = ""  # "" = all


def inputs(scenario: Scenario) -> list[Input]:
    """All inputs with a band: figures of each candidate's technology, workloads, economics."""
    found = [item for name in scenario.candidates for item in _technology_inputs(scenario, name)]
    return [*found, *_workload_inputs(scenario), *_economic_inputs(scenario)]


def _words(key: str) -> str:
    return WORDS.get(key, key.replace("_", " "))


def _technology_inputs(scenario: Scenario, candidate: str) -> Iterator[Input]:
    technology = candidate_technology(scenario.candidates[candidate])
    start = f"candidates.{candidate}.overrides."

    def made(path: str, low: Value, mid: Value, high: Value, source: str) -> Input:
        words = _words(path.rpartition(".")[2])
        unit = next((u for u in ("us", "fraction", "usd") if path.endswith("_" + u)), "1")
        return Input(f"{words}, {candidate}", "model", start + path, low, mid, high, unit, source, candidate)

    for path in FIGURES:
        section, _, name = path.partition(".")
        figure = getattr(getattr(technology, section), name)
        if not isinstance(figure, Sourced) or figure.band[0] == figure.band[1]:
            continue
        if path == "routing.imbalance_fraction" and technology.routing.kind not in BALANCED:
            continue
        if path == "in_network_reduction.streaming_fraction" and not technology.in_network_reduction.granted:
            continue
        low, high = figure.band
        yield made(path, low, figure.value, high, f"{figure.source} ({figure.confidence})")
    if technology.routing.kind == "ecmp":
        pairs = technology.routing.queue_pairs
        fewest, most = min(QUEUE_PAIRS[0], pairs), max(QUEUE_PAIRS[1], pairs)
        yield made(
            "routing.queue_pairs", fewest, pairs, most, "NCCL_IB_QPS_PER_CONNECTION in the field: 1 to 16"
        )
    if technology.in_network_reduction.kind == "sharp":
        granted = technology.in_network_reduction.granted
        source = "NVIDIA SHARP release notes: one job a switch in exclusive lock mode"
        yield made("in_network_reduction.granted", False, granted, True, source)
    yield from _congestion_input(technology, start, candidate)


def _congestion_input(technology: Technology, start: str, candidate: str) -> Iterator[Input]:
    """DCQCN off and on, and its parameter sets from slow to quick timers."""
    control = technology.congestion_control
    if control.kind == "dcqcn":
        name, key = f"congestion control, {candidate}", start + "congestion_control.kind"
        source = "Meta SIGCOMM 2024 ran 400G training without DCQCN"
        yield Input(name, "model", key, "none", "dcqcn", "dcqcn", "kind", source, candidate)
        name, key = f"DCQCN parameter set, {candidate}", start + "congestion_control.parameter_set"
        low, high = DCQCN_SETS
        source = "HPCC run.py (50 us timers) and NIC vendor default with SONiC lossless profile"
        yield Input(name, "model", key, low, control.parameter_set or high, high, "set", source, candidate)


def _workload_inputs(scenario: Scenario) -> Iterator[Input]:
    for name, workload in scenario.workloads.items():
        if workload.kind != "llm_training" or (workload.weight <= 0 and len(scenario.workloads) > 1):
            continue
        sizes = {"tp": workload.tp, "pp": workload.pp, "ep": workload.ep, "cp": workload.cp, "dp": 2}
        for dimension, hidden in hidden_fractions(workload).items():
            if sizes[dimension] < 2:
                continue
            yield Input(
                f"overlap of {dimension.upper()} traffic, {name}", "workload", f"workloads.{name}.overlap.{dimension}",
                round(max(0.0, hidden - OVERLAP_STEP), 12), hidden, round(min(1.0, hidden + OVERLAP_STEP), 12),
                "fraction", f"{ASSUMED}: plus and minus {OVERLAP_STEP}",
            )  # fmt: skip
        row = workload_kernels(workload, scenario)
        if workload.kernel_efficiency is None and row.low < row.high:
            yield Input(
                f"kernel efficiency, {name}", "workload", f"workloads.{name}.kernel_efficiency",
                row.low, row.efficiency, row.high, "fraction", f"{row.source} ({row.confidence})",
            )  # fmt: skip


def _economic_inputs(scenario: Scenario) -> Iterator[Input]:
    economics = scenario.economics

    def made(field: str, low: float, high: float, unit: str, source: str) -> Input:
        mid = getattr(economics, field)
        low, high = min(low, mid), max(high, mid)
        return Input(_words(field), "economics", f"economics.{field}", low, mid, high, unit, source)

    for field, row, unit in (
        ("usd_per_kwh", "op_elec", "USD/kWh"), ("pue", "op_pue", "1"), ("space_usd_per_kw_month", "op_colo", "USD/kW/month"),
    ):  # fmt: skip
        part = parts()[row]
        if part.prices is not None:
            yield made(field, part.prices[0], part.prices[2], unit, part.source)
    yield made("years", *YEARS, "years", ASSUMED)
    yield made("discount_rate_fraction", *DISCOUNT, "fraction", ASSUMED)
