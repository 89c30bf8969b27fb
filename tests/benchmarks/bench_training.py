"""Training estimates a second and the layout search."""

from __future__ import annotations

from dataclasses import fields, replace
from time import perf_counter

import numpy as np

from models.catalog.gpus import gpus
from models.catalog.kernel_efficiency import kernel_efficiency
from models.catalog.llms import llms
from models.catalog.technology import technology
from models.infiniband.analytical import phase_times_s
from models.infiniband.link import link as infiniband_link
from models.scenario.schema import CableM, Failures, Placement, Topology
from models.topology.network import Network
from models.topology.size import network_size
from models.workload.llm_estimates import CommunicationCost, sizes_cost, step_estimates
from models.workload.llm_kernels import effective_efficiency
from models.workload.llm_layout import Layouts, counts
from models.workload.llm_search import best_layouts, layout_grid
from models.workload.plan_defaults import HIDDEN_FRACTIONS

GPUS, BATCH = 15360, 46080  # many divisors, so that there are many layouts
ESTIMATES, SEARCHED = 30_000, 10_000


def _cost() -> CommunicationCost:
    """Closed-form times on an InfiniBand network, nothing remembered from earlier runs."""
    gpu, topology = gpus()["H200"], Topology(kind="rail_optimized")
    network = Network(
        GPUS,
        gpu,
        8,
        8,
        topology,
        network_size(topology, GPUS // 8, 8, 64),
        CableM(),
        Placement(),
        Failures(),
        1,
    )
    link = infiniband_link(technology("infiniband_ndr"))
    return sizes_cost(lambda phase, sizes: phase_times_s(phase, sizes, network, link))


def _distinct(number: int) -> Layouts:
    """`number` different layouts of Llama-3 70B, context parallelism and part of the cluster varied too."""
    shape, one = llms()["llama3-70b"], counts(1)
    grids = []
    for cp in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16):
        for share in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 32):
            like = Layouts(
                one, one, one, counts(cp), one, one, one, batch_sequences=BATCH, sequence=8192 * 15
            )
            grids.append(layout_grid(shape, like, GPUS // share, 8))
    joined = {
        f.name: np.concatenate([getattr(grid, f.name) for grid in grids])
        for f in fields(Layouts)
        if isinstance(getattr(grids[0], f.name), np.ndarray)
    }
    every = replace(grids[0], **joined)
    chosen = np.random.default_rng(1).permutation(len(every.tp))[:number]
    return every.taken(chosen)


def rows() -> list[dict[str, object]]:
    """Timings with their limits."""
    shape, gpu = llms()["llama3-70b"], gpus()["H200"]
    e = kernel_efficiency(gpu.generation).efficiency
    every = _distinct(ESTIMATES)
    started = perf_counter()
    step_estimates(shape, every, gpu, e, HIDDEN_FRACTIONS, _cost())
    cold_rate = len(every.tp) / (perf_counter() - started)
    whole = every.taken(every.gpus == GPUS)
    many = whole.taken(np.arange(ESTIMATES) % len(whole.tp))
    draws = np.random.default_rng(1).uniform(0.9, 1.1, ESTIMATES)
    cost = _cost()
    started = perf_counter()
    step_estimates(
        shape, many, gpu, effective_efficiency(shape, many, gpu, e) * draws, HIDDEN_FRACTIONS, cost
    )
    rate = ESTIMATES / (perf_counter() - started)
    some = _distinct(SEARCHED)
    started = perf_counter()
    found = best_layouts(shape, some, gpu, e, HIDDEN_FRACTIONS, _cost())
    search_s = perf_counter() - started
    return [
        {
            "name": "training estimates",
            "value": rate,
            "unit": "1/s",
            "limit": 30_000,
            "ok": rate >= 30_000,
            "note": f"{len(whole.tp)} layouts of one cluster x draws of efficiency, closed-form communication; "
            f"{cold_rate:.0f}/s for {len(every.tp)} distinct layouts of 15 cluster sizes, load balance solved anew",
        },
        {
            "name": "layout search",
            "value": search_s,
            "unit": "s",
            "limit": 1.0,
            "ok": search_s <= 1.0,
            "note": f"{found.considered} distinct layouts, {found.fitting} fit into memory",
        },
    ]
