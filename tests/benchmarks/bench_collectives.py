"""A thousand message sizes of one collective at once, per fabric."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from models.infiniband.sharp import reduction
from models.solvers.collective_time import collective_times
from models.solvers.load_balance import LoadBalance, closed_form_balance
from models.topology.link import Link
from models.topology.network import Network
from models.workload.phase import Phase, RankGroups
from tests.solvers.collective_cases import ideal, link_of, network_of, phase_of

SIZES = np.geomspace(8, 2**34, 1000)
LIMIT_MS = 20.0


def rows() -> list[dict[str, Any]]:
    """Milliseconds for 1,000 sizes; the load balance of the routing is solved afresh on its first use."""
    table = []
    for name in ("infiniband_ndr", "rocev2_400g", "tcp_400g"):
        for operation, nodes in (("all_reduce", 64), ("all_to_all", 16)):
            link, network = link_of(name), network_of(nodes)
            phase = phase_of(operation, 0.0, RankGroups(8 * nodes))
            collective_times(phase, SIZES, network, link, ideal)
            taken = min(_milliseconds(phase, network, link) for _ in range(3))
            table.append(
                {
                    "name": f"1,000 sizes of {operation}, {8 * nodes} GPUs, {name}",
                    "value": taken,
                    "unit": "ms",
                    "limit": LIMIT_MS,
                    "ok": taken <= LIMIT_MS,
                    "note": "best of 3",
                }
            )
    return table


def _milliseconds(phase: Phase, network: Network, link: Link) -> float:
    start = perf_counter()

    def balance(pattern: str) -> LoadBalance:
        return closed_form_balance(pattern, phase, network, link.technology)

    granted = reduction(phase, network, link)[0] if link.technology.fabric == "ib" else None
    collective_times(phase, SIZES, network, link, balance, granted)
    return 1e3 * (perf_counter() - start)
