"""What is sent: phases over groups of ranks, and what a method returns for one.

A phase knows no fabric. The same phases go to every candidate and to both methods.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Operation = Literal[
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "broadcast",
    "reduce",
    "send_recv",
    "moe_dispatch",
    "moe_combine",
    "incast",
    "permutation",
    "bisection",
    "storage",
    "kv_transfer",
]


@dataclass(frozen=True)
class RankGroups:
    """`groups` disjoint groups of `size` ranks; neighbours in a group are `stride` ranks apart.

    Ranks are numbered 0 .. size * groups - 1. Every Cartesian layout is of this form: with rank order
    tp-dp-pp, the TP groups have stride 1, the DP groups stride tp, the PP groups stride tp * dp.
    """

    size: int
    groups: int = 1
    stride: int = 1

    def __post_init__(self) -> None:
        if self.size < 1 or self.groups < 1 or self.stride < 1 or self.groups % self.stride:
            raise ValueError(f"no layout: size {self.size}, groups {self.groups}, stride {self.stride}")

    @property
    def ranks(self) -> int:
        """Ranks in all groups together."""
        return self.size * self.groups

    def members(self) -> NDArray[np.int64]:
        """Rank numbers, shape (groups, size).

        >>> RankGroups(size=2, groups=4, stride=4).members().tolist()
        [[0, 4], [1, 5], [2, 6], [3, 7]]
        """
        group = np.arange(self.groups, dtype=np.int64)
        block, offset = np.divmod(group, self.stride)
        first = block * self.size * self.stride + offset
        return first[:, None] + np.arange(self.size, dtype=np.int64)[None, :] * self.stride


@dataclass(frozen=True)
class Burst:
    """Extra figures of an incast phase."""

    fan_in: int
    burst_bytes: int
    victim: bool
    seeds: int
    seed: int


@dataclass(frozen=True)
class Expert:
    """Extra figures of a mixture-of-experts exchange."""

    tokens_per_rank: int
    top_k: int
    hidden: int
    node_limit: int  # 0 = none
    bytes_per_element: float
    low_latency: bool


@dataclass(frozen=True)
class StorageTransfer:
    """Extra figures of a storage phase: many nodes to few servers or back."""

    servers: int
    server_rate_bytes_per_s: float
    device_rate_bytes_per_s: float
    direction: Literal["checkpoint_write", "read"]


@dataclass(frozen=True)
class Phase:
    """One communication of a unit of work (a training step, one collective, one incast).

    message_bytes follows the nccl-tests size S: the whole buffer of a rank (all-gather and reduce-scatter:
    the gathered buffer; all-to-all: what one rank sends in total; send_recv, permutation: one message).
    """

    name: str
    operation: Operation
    message_bytes: float
    groups: RankGroups
    count: float = 1.0
    dimension: Literal["", "tp", "pp", "dp", "ep", "cp"] = ""
    algorithm: str = "auto"
    dtype: str = "bf16"
    hidden_fraction: float = 0.0
    pattern: str = ""
    burst: Burst | None = None
    expert: Expert | None = None
    storage: StorageTransfer | None = None


def burst_of(phase: Phase) -> Burst:
    """The burst of an incast phase; raises ValueError for a phase without one."""
    if phase.burst is None:
        raise ValueError(f"phase {phase.name}: an incast needs its burst")
    return phase.burst


@dataclass(frozen=True)
class Metric:
    """One figure with its band; `source` names method, formula or reference it rests on."""

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    source: str = ""


@dataclass(frozen=True)
class PhaseTime:
    """What a method says of one execution of a phase.

    time_s is one execution; low_s and high_s carry the method's own band. `binding_limit` says what stops it
    from being faster: nvlink | nic | pcie | latency | ramp | fabric | switch | cpu | storage | none.
    """

    time_s: float
    low_s: float
    high_s: float
    algorithm: str
    binding_limit: str
    bus_bandwidth_bytes_per_s: float = 0.0
    metrics: tuple[Metric, ...] = ()
    notes: tuple[str, ...] = ()
    series: dict[str, NDArray[np.float64]] = field(default_factory=dict, compare=False, repr=False)


def bus_bandwidth_factor(operation: str, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it (doc/PERFORMANCE.md).

    >>> bus_bandwidth_factor("all_reduce", 8), bus_bandwidth_factor("all_gather", 8)
    (1.75, 0.875)
    """
    if ranks <= 1:
        return 0.0 if operation in {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"} else 1.0
    if operation == "all_reduce":
        return 2.0 * (ranks - 1) / ranks
    if operation in {"reduce_scatter", "all_gather", "all_to_all"}:
        return (ranks - 1) / ranks
    return 1.0
