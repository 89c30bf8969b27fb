"""Credit flow control of an InfiniBand link: what one buffer can carry, and incast on a lossless fabric.

    incast = credit_incast(32, 2**20, rate_bytes_per_s=50e9, propagation_s=25e-9, vl_buffer_bytes=65536)
    incast.result.completion_s, incast.victim_goodput_fraction, incast.slowdown

The closed forms (`link_bandwidth`, `longest_link_m`, `victim_goodput`) are the analytical twins of the
packet-grain solver (`solvers/credits.py`). Sources: IBTA vol 1, 7.9; victim law checked against BookSim 2 and
ns-3 runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.infiniband.congestion_control import CongestionControl, marking_rule
from models.solvers.credits import CreditFlows, CreditLinks, CreditResult, CreditRules, credit_result
from models.solvers.incast_fabric import IncastFabric, IncastRouting, incast_fabric
from models.units import PROPAGATION_S_PER_M

Floats = NDArray[np.float64]
CREDIT_BLOCK_BYTES = 64
ADVERTISED_LIMIT_BYTES = 2048 * CREDIT_BLOCK_BYTES  # base encoding: 128 KiB per lane
HEADER_BYTES = 30.0  # LRH 8 + BTH 12 + ICRC 4 + VCRC 2 + delimiters 2, rounded to the wire word
HOP_LATENCY_S = 0.30e-6  # switch, FEC and short cable, InfiniBand NDR class
UPDATE_S = 0.10e-6  # assumption: wait for and serialisation of the credit update packet
FIXED_LOOP_S = 0.6e-6  # assumption of the worked example: packet time, update and transceivers
# a packet at the head of a blocked queue is dropped after 4.096 us x 2^lifetime: leaf 0x10, else 0x12 (opensm osm_base.h)
HEAD_OF_QUEUE_S = (4.096e-6 * 2**0x10, 4.096e-6 * 2**0x12)


def credit_round_trip_s(
    cable_m: float, packet_bytes: float, rate_bytes_per_s: float, fixed_s: float = 0.0
) -> float:
    """Time from using a credit to having it back: 2 L 5 ns/m + packet / C + fixed.

    >>> round(credit_round_trip_s(100, 4096, 50e9) * 1e6, 3)
    1.082
    """
    return 2 * cable_m * PROPAGATION_S_PER_M + packet_bytes / rate_bytes_per_s + fixed_s


def credit_loop_s(cable_s: Floats, hop_s: Floats) -> Floats:
    """Credit round trip of cut-through links: 2 d + the switch at the far end + the update, s.

    A packet that goes on at once gives its credit back when it starts to leave; one that is stored first takes its own
    time too (`credit_round_trip_s`). cable_s, hop_s [links]: one-way delay of the cable and of the switch.
    """
    return np.asarray(2.0 * cable_s + hop_s + UPDATE_S)


def whole_packets_bytes(buffer_bytes: float, packet_bytes: float) -> float:
    """What a buffer holds in whole packets, bytes; one packet at least: a lane of less could send nothing.

    >>> whole_packets_bytes(65536, 4126)
    61890
    """
    return max(1, int(buffer_bytes // packet_bytes)) * packet_bytes


def link_bandwidth(buffer_bytes: float, round_trip_s: float, rate_bytes_per_s: float) -> float:
    """Bandwidth of a lane in bytes/s: min(C, B / RTT); the buffer that fills the link is C RTT.

    >>> link_bandwidth(131072, 2.62144e-6, 50e9) / 50e9
    1.0
    >>> round(link_bandwidth(65536, 2.62144e-6, 50e9) / 50e9, 3)
    0.5
    """
    return min(rate_bytes_per_s, buffer_bytes / round_trip_s)


def longest_link_m(buffer_bytes: float, rate_bytes_per_s: float, fixed_s: float = FIXED_LOOP_S) -> float:
    """Longest cable at full rate: (B / C - fixed) / (2 x 5 ns/m), 0 when even a short one is too long.

    >>> round(longest_link_m(131072, 50e9)), round(longest_link_m(131072, 100e9))
    (202, 71)
    """
    return max(0.0, (buffer_bytes / rate_bytes_per_s - fixed_s) / (2 * PROPAGATION_S_PER_M))


def victim_goodput(
    rate_bytes_per_s: float,
    hot_goodput_bytes_per_s: float,
    ports: int,
    flows_on_victim_port: int,
    victim_limit_bytes_per_s: float | None = None,
) -> float:
    """Goodput of a flow that shares its path into a switch with k hot flows, in bytes/s: G / (P_in k).

    The hot port serves its P_in ingress ports in turn, and the FIFO gives the victim what one of the k hot
    flows beside it gets; never more than C / (k + 1) or the victim's own limit. k = 0: not held up.
    *Assumptions* Hot flows always have data; one lane; no congestion control.

    >>> round(victim_goodput(12.5e9, 96.39e9 / 8, 2, 7) * 8 / 1e9, 3)
    6.885
    """
    limit = rate_bytes_per_s if victim_limit_bytes_per_s is None else victim_limit_bytes_per_s
    if flows_on_victim_port == 0:
        return limit
    k = flows_on_victim_port
    return min(limit, rate_bytes_per_s / (k + 1), hot_goodput_bytes_per_s / (ports * k))


@dataclass(frozen=True, eq=False)
class CreditIncast:
    """An incast on a lossless fabric; times from the first byte sent to the last byte at the receiver's port."""

    fabric: IncastFabric
    result: CreditResult
    ideal_s: float  # serialisation bound at the hot port plus the longest path
    line_goodput_bytes_per_s: float  # payload rate of an idle link

    @property
    def slowdown(self) -> float:
        """Last completion over the serialisation bound."""
        return float(np.nanmax(self.result.completion_s[: self.fabric.fan_in])) / self.ideal_s

    @property
    def victim_goodput_fraction(self) -> float | None:
        """Victim's goodput while the incast lasts, of an idle link's; None without a victim."""
        if self.fabric.victim is None:
            return None
        return float(self.result.goodput_bytes_per_s[self.fabric.victim]) / self.line_goodput_bytes_per_s

    @property
    def victim_law_fraction(self) -> float | None:
        """The closed form for the same victim: G / (P_in k) of an idle link's goodput."""
        if self.fabric.victim is None:
            return None
        line = self.line_goodput_bytes_per_s
        return victim_goodput(line, line, self.fabric.shared_ports, self.fabric.flows_on_victim_port) / line


def credit_incast(
    fan_in: int,
    burst_bytes: float,
    rate_bytes_per_s: float,
    propagation_s: float,
    vl_buffer_bytes: float,
    packet_bytes: float = 4096.0,
    *,
    header_bytes: float = HEADER_BYTES,
    leaves: int = 4,
    spines: int = 4,
    pods: int = 1,
    fabric_propagation_s: float | None = None,
    hop_latency_s: float = HOP_LATENCY_S,
    credit_update_s: float = UPDATE_S,
    routing: IncastRouting = "hash",
    adaptive: bool = False,
    queueing: Literal["fifo", "per_output"] = "fifo",
    victim: bool = True,
    victim_bytes: float | None = None,
    victim_on_own_lane: bool = False,
    congestion_control: CongestionControl | None = None,
    start_spread_s: float = 0.0,
    time_limit_s: float | None = None,
    seed: int = 1,
) -> CreditIncast:
    """`fan_in` senders of `burst_bytes` each to one receiver, and a victim flow to its neighbour.

    Fabric, receivers and victim as `solvers.incast_fabric`; `adaptive` picks the shortest output queue among
    all paths a packet at a time. The victim sends without end unless `victim_bytes`; the run ends with the
    bursts (and the victim's bytes). Two lanes share the input buffer in halves. Starts spread evenly at
    random over
    `start_spread_s`. Groups of the time series: 0 incast, 1 victim; tiers of the stalls: sender's node (0
    host, 1 leaf, 2 spine, 3 core). Raises ValueError for impossible input.
    """
    if burst_bytes < 1:
        raise ValueError(f"burst_bytes: {burst_bytes} must be at least 1")
    fabric = incast_fabric(
        fan_in=fan_in,
        rate_bytes_per_s=rate_bytes_per_s,
        propagation_s=propagation_s,
        leaves=leaves,
        spines=spines,
        pods=pods,
        fabric_propagation_s=fabric_propagation_s,
        victim=victim,
        routing="spray" if adaptive else routing,
        seed=seed,
    )
    network = fabric.network
    flows = len(fabric.paths)
    payload = np.full(flows, int(burst_bytes), np.int64)
    lane = np.zeros(flows, np.int64)
    group = np.zeros(flows, np.int64)
    starts = np.zeros(flows)
    if start_spread_s > 0:
        starts[:fan_in] = np.random.default_rng([seed, 1]).uniform(0.0, start_spread_s, fan_in)
    own_lane = victim_on_own_lane and fabric.victim is not None
    if fabric.victim is not None:
        payload[fabric.victim] = -1 if victim_bytes is None else int(victim_bytes)
        group[fabric.victim] = 1
        lane[fabric.victim] = int(own_lane)
    into_switch = network.tier[network.to_node] > 0
    buffer_bytes = vl_buffer_bytes / (2 if own_lane else 1)
    links = CreditLinks(
        rate_bytes_per_s=network.rate_bytes_per_s,
        forward_s=network.propagation_s + np.where(into_switch, hop_latency_s, 0.0),
        credit_s=network.propagation_s + credit_update_s,
        buffer_bytes=np.full(network.links, buffer_bytes),
        tier=network.tier[network.from_node],
    )
    watch = (fabric.hot_link, *((fabric.victim_link,) if victim else ()))
    rules = CreditRules(
        packet_payload_bytes=int(packet_bytes),
        header_bytes=int(header_bytes),
        queueing=queueing,
        path_choice="adaptive" if adaptive else ("spray" if routing == "spray" else "first"),
        marking=marking_rule(congestion_control, buffer_bytes),
        stop_s=time_limit_s,
        watch=watch,
        seed=seed,
    )
    result = credit_result(links, CreditFlows(fabric.paths, payload, starts, group, lane), rules)
    packets = -(-int(burst_bytes) // int(packet_bytes))
    wire_bytes = fan_in * (burst_bytes + packets * header_bytes)
    longest = max(float(links.forward_s[list(paths[0])].sum()) for paths in fabric.paths[:fan_in])
    return CreditIncast(
        fabric=fabric,
        result=result,
        ideal_s=wire_bytes / rate_bytes_per_s + longest,
        line_goodput_bytes_per_s=rate_bytes_per_s * packet_bytes / (packet_bytes + header_bytes),
    )
