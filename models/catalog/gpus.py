"""GPU table: what a GPU computes, remembers and how its node is wired inside."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class GpuModel:
    """One row of the GPU table; rates per GPU and direction, SI units."""

    id: str
    vendor: str
    generation: str  # volta | ampere | hopper | blackwell | cdna3 | cdna4
    peak_bf16_flops: float
    peak_fp8_flops: float
    memory_bytes: float
    memory_bandwidth_bytes_per_s: float
    scale_up_bytes_per_s: float  # NVLink or xGMI, one direction
    domain_gpus: int  # GPUs of one scale-up domain (8-GPU node, 72-GPU rack)
    switch_reduction: bool  # NVLink SHARP (NVLS)
    pcie_generation: int
    server_part: str
    power_w: float
    source: str
    confidence: str


@cache
def gpus() -> dict[str, GpuModel]:
    """All rows by id."""
    text = resources.files("models.catalog").joinpath("gpus.csv").read_text("utf-8")
    table = {}
    for row in csv.DictReader(text.splitlines()):
        table[row["id"]] = GpuModel(
            id=row["id"],
            vendor=row["vendor"],
            generation=row["generation"],
            peak_bf16_flops=float(row["peak_bf16_tflops"]) * 1e12,
            peak_fp8_flops=float(row["peak_fp8_tflops"] or row["peak_bf16_tflops"]) * 1e12,
            memory_bytes=float(row["memory_gb"]) * 1e9,
            memory_bandwidth_bytes_per_s=float(row["memory_gb_per_s"]) * 1e9,
            scale_up_bytes_per_s=float(row["scale_up_gb_per_s"]) * 1e9,
            domain_gpus=int(row["domain_gpus"]),
            switch_reduction=row["switch_reduction"] == "yes",
            pcie_generation=int(row["pcie_generation"]),
            server_part=row["server_part"],
            power_w=float(row["power_w"]),
            source=row["source"],
            confidence=row["confidence"],
        )
    return table


def gpu_names() -> tuple[str, ...]:
    """Ids of the GPUs a scenario may name."""
    return tuple(gpus())
