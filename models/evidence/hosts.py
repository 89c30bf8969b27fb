"""What limits the hosts of point-to-point and storage rows: PCIe slots, demand of emulated accelerators."""

from __future__ import annotations

import re
from math import inf

from models.catalog.gpus import gpus
from models.evidence.published_setup import Row, Unusable, gpu_id, text
from models.solvers.collective_constants import constants
from models.solvers.collective_rates import pcie_rate_bytes_per_s

# Generation, lanes, slots a NIC can use at once. GB10: two x4 slots behind one 200G NIC (capetron/gb10-cluster-guide)
HOSTS: dict[str, tuple[int, int, int]] = {"GB10": (5, 4, 2), "A30": (4, 16, 1), "L40S": (4, 16, 1)}

# MLPerf Storage v1.0: bytes a sample, batch, seconds of emulated compute a batch, utilisation a run must reach
MLPERF_STORAGE: dict[str, tuple[float, int, float, float]] = {
    "unet3d-h100": (146_600_628, 7, 0.323, 0.90),
    "unet3d-a100": (146_600_628, 7, 0.636, 0.90),
    "cosmoflow-h100": (2_828_486, 1, 0.00350, 0.70),
    "cosmoflow-a100": (2_828_486, 1, 0.00551, 0.70),
    "resnet50-h100": (114_660, 400, 0.224, 0.90),
    "resnet50-a100": (114_660, 400, 0.435, 0.90),
}


def host_pcie_bytes_per_s(row: Row, words: str) -> float:
    """PCIe ceiling of a row's NIC; infinite where the host is not stated (a NIC sits in a slot that fits it)."""
    name = gpu_id(text(row, "gpu"))
    library = constants("")
    if name in HOSTS:
        generation, lanes, slots = HOSTS[name]
        links = slots if slots > 1 and "both halves" in words else 1
        return pcie_rate_bytes_per_s(generation, library, lanes, links)
    if name in gpus():
        return pcie_rate_bytes_per_s(gpus()[name].pcie_generation, library)
    return inf


def storage_demand_bytes_per_s(operation: str, unit: float) -> float:
    """What `N` emulated accelerators of an MLPerf Storage run ask for at the utilisation a run must reach.

    N x samples/s x bytes x utilisation. The benchmark prints MiB/s as MB/s, so a row in MB/s is taken as MiB/s.
    Raises Unusable when the accelerators are not stated.

    >>> round(storage_demand_bytes_per_s("unet3d-h100 12acc", 1e6) / 1e6)
    32723
    """
    model = re.search(r"(unet3d|cosmoflow|resnet50)-(h100|a100)", operation.lower())
    count = re.search(r"(\d+) ?acc", operation.lower())
    if model is None or count is None:
        raise Unusable("accelerators not stated: demand or storage sets the rate, not the network")
    sample, batch, compute_s, utilisation = MLPERF_STORAGE[model.group(0)]
    printed = 1e6 / 2.0**20 if unit == 1e6 else 1.0
    return int(count.group(1)) * sample * batch / compute_s * utilisation * printed
