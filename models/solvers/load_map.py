"""Heat map and flow rates of a traffic pattern on a network: what the Network page draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.solvers.head_of_line import head_of_line_rates
from models.solvers.load_balance_flows import pattern_flows
from models.solvers.max_min import link_loads, max_min_rates
from models.topology.graph import graph
from models.topology.link import Link
from models.topology.link_loads import link_load_table
from models.topology.mechanism import Mechanism
from models.topology.network import Network
from models.topology.routes import routes
from models.workload.phase import RankGroups


@dataclass(frozen=True, eq=False)
class LoadMap:
    """`links`: rows of `link_load_table`; flow_rates_bytes_per_s: payload rate of every flow, sorted."""

    links: pd.DataFrame
    flow_rates_bytes_per_s: NDArray[np.float64]
    flows: int


@lru_cache(maxsize=32)
def load_map(
    pattern: str,
    groups: RankGroups,
    network: Network,
    link: Link,
    routing: Mechanism,
    detail: str = "",
    head_of_line: bool = False,
) -> LoadMap:
    """Link loads and flow rates when the flows of `pattern` all run at once.

    Rates are max-min fair, or under head-of-line blocking (lossless links without congestion control). Raises
    CannotBuild when a flow cannot be routed.
    """
    built = graph(network, link.rate_bytes_per_s)
    found = pattern_flows(pattern, groups, network, network.seed, detail, pairs_max=300_000)
    table = routes(built, found.flows, routing, network.seed, found.forward)
    if head_of_line and len(found.flows):
        rates = head_of_line_rates(table.capacity, table.offsets, table.links)
    else:
        weight = found.flows.size[table.flow] * table.share
        rates = max_min_rates(table.capacity, table.offsets, table.links, weight)
    load = link_loads(table.offsets, table.links, rates, table.capacity.size)
    per_flow = np.bincount(table.flow, weights=rates, minlength=len(found.flows))
    payload = np.sort(per_flow * link.wire_efficiency_fraction)
    return LoadMap(link_load_table(table, load), payload, len(found.flows))
