"""Speed of the credit solver (warm, one core, CPU time) against BookSim and against the limits it promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from models.evidence.packet_credit import credit_run
from models.infiniband.credits import credit_incast
from models.rocev2.dcqcn import dcqcn_fluid, stability_advice
from models.rocev2.dcqcn_sets import dcqcn_set
from models.units import MIB
from tests.benchmarks.measure import cpu_seconds, row

USUAL = {"rate_bytes_per_s": 50e9, "propagation_s": 25e-9, "vl_buffer_bytes": 65536}
# CPU seconds of BookSim 2 on a like machine: senders on the victim's path, on another spine, in the leaf;
# flits
BOOKSIM_CPU_S = {
    (2, 0, 0, 512): 0.121528,
    (16, 0, 0, 1024): 0.512362,
    (32, 0, 0, 2048): 1.19598,
    (3, 5, 0, 512): 0.558863,
    (7, 9, 0, 1024): 0.853986,
    (5, 3, 8, 2048): 0.876896,
}


def rows() -> list[dict[str, Any]]:
    """One row a case, in seconds; the BookSim row is a ratio (its note), as time over the reference's."""
    table = [
        _row("incast 32:1 of 1 MiB, leaf-spine with victim", 0.05, lambda: credit_incast(32, MIB, **USUAL)),
        _row("incast 64:1 of 8 MiB, one switch", 0.25, lambda: _star(64, 8 * MIB)),
        _row(
            "incast 1,000:1 of 1 MiB, three tiers",
            5.0,
            lambda: credit_incast(1000, MIB, **USUAL, leaves=8, spines=8, pods=4),
        ),
        _row("stability advice, 63 flow counts", 2.0, _advice),
    ]
    ratios = []
    for (k, o, j, flits), cpu_s in BOOKSIM_CPU_S.items():
        ratios.append(
            cpu_s / cpu_seconds(lambda k=k, o=o, j=j, f=flits: credit_run(k, o, j, f, bool(o or j)))
        )
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    note = f"BookSim takes {mean:.0f} times as long (geometric mean of {len(ratios)})"
    worst = min(ratios)
    table.append(
        {
            "name": "credit runs over BookSim's CPU time",
            "value": 1.0 / mean,
            "unit": "1",
            "limit": 0.01,
            "ok": mean >= 100 and worst >= 35,
            "note": f"{note}, at least {worst:.0f}",
        }
    )
    return table


def _star(fan_in: int, burst_bytes: float) -> object:
    return credit_incast(fan_in, burst_bytes, **USUAL, leaves=1, victim=False)


def _advice() -> object:
    return stability_advice(dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9), 85e-6)


def _row(name: str, limit_s: float, call: Callable[[], object]) -> dict[str, Any]:
    return row(name, cpu_seconds(call), "s", limit_s)
