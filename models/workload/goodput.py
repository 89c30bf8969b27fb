"""Time a job loses to checkpoints and failures, and what is left of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

CHECKPOINT_BYTES_PER_PARAMETER = 13.0
"""BF16 weights and FP32 master and moments, some savings; MLPerf Storage v2: 912 GB for 70B, 5.29 TB for 405B."""

HOST_COPY_BYTES_PER_S = {
    3: 12.0e9,
    4: 25.0e9,
    5: 50.0e9,
    6: 100.0e9,
}  # one GPU to host memory, by PCIe generation
GPU_FAILURES_PER_GPU_HOUR = 1.8e-5  # Llama 3 paper, Table 5: (419 - 35) events in 16,384 GPUs x 54 d
LINK_FAILURES_PER_LINK_HOUR = 7.8e-7  # Alibaba HPN, section 2.3: 0.057 % of NIC-switch links a month
SWITCH_FAILURES_PER_SWITCH_HOUR = 7.0e-7  # Alibaba HPN, section 2.3: 0.051 % of leaf switches a month
RESTART_S = 15.0 * 60.0  # detect, reschedule, load; 5-30 min (MegaScale: catch-up within 15 min)
FAILURE_BAND = 3.6  # Meta RSC: a 1,024-GPU job failed 3.6 x as often as the per-node rate says


@dataclass(frozen=True)
class Goodput:
    """Share of a job's time that makes progress, with the checkpoint interval it rests on."""

    fraction: float
    interval_s: float
    mtbf_s: float
    stall_s: float
    restart_s: float


def checkpoint_bytes(params: float) -> float:
    """Bytes of one checkpoint.

    >>> round(checkpoint_bytes(70.55e9) / 1e9)
    917
    """
    return CHECKPOINT_BYTES_PER_PARAMETER * params


def checkpoint_stall_s(params: float, gpus: int, pcie_generation: int) -> float:
    """Time GPUs wait for an asynchronous checkpoint: their share's copy to host memory, s.

    *Assumptions*: the write from host to storage overlaps with training (storage.py says how long it takes);
    all GPUs hold equal shares.
    """
    return checkpoint_bytes(params) / gpus / HOST_COPY_BYTES_PER_S[min(6, max(3, pcie_generation))]


def job_mtbf_s(gpus: int, links: int = 0, switches: int = 0, multiplier: float = 1.0) -> float:
    """Mean time between failures that stop a synchronous job: 1 / (sum of rates), s.

    `links` are single-homed NIC links (a lost one stops the job), `switches` leaves. `multiplier` scales all
    rates. 16,384 GPUs of Llama 3: one stop in about 3 h.

    >>> round(job_mtbf_s(16384, 16384) / 3600, 1)
    3.3
    """
    per_hour = multiplier * (
        gpus * GPU_FAILURES_PER_GPU_HOUR
        + links * LINK_FAILURES_PER_LINK_HOUR
        + switches * SWITCH_FAILURES_PER_SWITCH_HOUR
    )
    return 3600.0 / per_hour if per_hour > 0 else float("inf")


def young_daly_interval_s(stall_s: float, mtbf_s: float) -> float:
    """Checkpoint interval that loses least: sqrt(2 delta M). Source: Young 1974; Daly 2006, first order.

    >>> young_daly_interval_s(2.0, 10_000.0)
    200.0
    """
    return sqrt(2.0 * stall_s * mtbf_s)


def goodput(
    stall_s: float, mtbf_s: float, restart_s: float = RESTART_S, interval_s: float | None = None
) -> Goodput:
    """Share of time that makes progress: 1 - delta / tau - (tau / 2 + R) / M, at least 0.

    `interval_s` tau defaults to Young and Daly's. *Assumptions*: failures are independent and rare (tau << M).

    >>> round(goodput(2.0, 10_800.0, restart_s=600.0).fraction, 3)
    0.925
    """
    tau = young_daly_interval_s(stall_s, mtbf_s) if interval_s is None else interval_s
    lost = (stall_s / tau if tau > 0 else 0.0) + (tau / 2.0 + restart_s) / mtbf_s
    return Goodput(max(0.0, 1.0 - lost), tau, mtbf_s, stall_s, restart_s)


def ingest_bytes_per_s(tokens_per_s: float, bytes_per_token: float = 4.0) -> float:
    """Training data a job reads; tokens take 2-4 B each, so language models ask little of storage.

    >>> ingest_bytes_per_s(1.0e6)
    4000000.0
    """
    return tokens_per_s * bytes_per_token
