"""Storage traffic: many nodes to few servers, or back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class StorageFlows:
    """Client, server and bytes of every flow of one storage phase."""

    client: NDArray[np.int64]
    server: NDArray[np.int64]
    size_bytes: NDArray[np.float64]


def storage_flows(clients: int, servers: int, bytes_total: float, stripes: int = 4) -> StorageFlows:
    """`bytes_total` in equal parts per client, each striped over `stripes` servers, round robin.

    Client c uses servers c, c + 1, .. modulo `servers`, so load per server is even to one stripe.

    >>> storage_flows(4, 2, 8.0, stripes=1).server.tolist()
    [0, 1, 0, 1]
    """
    if clients < 1 or servers < 1:
        raise ValueError(f"storage needs clients and servers, given {clients} and {servers}")
    stripes = min(stripes, servers)
    client = np.repeat(np.arange(clients, dtype=np.int64), stripes)
    stripe = np.tile(np.arange(stripes, dtype=np.int64), clients)
    size = np.full(client.size, bytes_total / (clients * stripes))
    return StorageFlows(client, (client * stripes + stripe) % servers, size)
