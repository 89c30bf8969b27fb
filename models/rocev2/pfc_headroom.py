"""PFC headroom of one port and lossless priority: what still arrives after XOFF was sent.

    P    = port MTU + cable + 2 gearbox + MAC and PHY + peer response + tile
    xoff = lossless MTU + P fill, rounded up to KiB; size = xoff + xon

Source: SONiC `sonic-swss/cfgmgr/buffer_headroom_mellanox.lua` and `platform/mellanox/asic_table.j2`; peer
response times IEEE 802.3 31B.3.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from models.units import KIB

CABLE_M_PER_S = 1.98e8
PEER_BYTES_PER_QUANTUM = 64.0
PEER_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}  # by Gbit/s


@dataclass(frozen=True)
class SwitchAsic:
    """What of the switch enters the headroom. `tile_s`: extra time of tiled pipelines, none before Spectrum-4."""

    name: str
    cell_bytes: float
    tile_s: float = 0.0
    mac_phy_bytes: float = 0.8 * KIB
    gearbox_bytes: float = 0.0
    pipeline_bytes: float = 19.0 * KIB  # xon


ASICS = {
    "spectrum-1": SwitchAsic("Spectrum-1", 96.0),
    "spectrum-2": SwitchAsic("Spectrum-2", 144.0),
    "spectrum-3": SwitchAsic("Spectrum-3", 144.0),
    "spectrum-4": SwitchAsic("Spectrum-4", 192.0, tile_s=120e-9),
    "spectrum-5": SwitchAsic("Spectrum-5", 192.0, tile_s=120e-9),
    "spectrum-6": SwitchAsic("Spectrum-6", 256.0, tile_s=120e-9, pipeline_bytes=42.0 * KIB),
}


@dataclass(frozen=True)
class Headroom:
    """Bytes to keep for one port and priority."""

    xoff_bytes: float
    xon_bytes: float
    size_bytes: float


def headroom(
    rate_gbit_per_s: int,
    cable_m: float,
    asic: SwitchAsic = ASICS["spectrum-4"],
    *,
    port_mtu_bytes: float = 9216.0,
    lossless_mtu_bytes: float = 1024.0,
    worst_case_cells: bool = False,
    eight_lanes: bool = False,
) -> Headroom:
    """Headroom of a port; `worst_case_cells`: all packets 64 B, each in a cell of its own.

    Raises ValueError for a speed without a peer response time.

    >>> headroom(400, 40).xoff_bytes / 1024, headroom(400, 40, worst_case_cells=True).xoff_bytes / 1024
    (105.0, 277.0)
    """
    fill = cell_fill(asic, lossless_mtu_bytes, worst_case_cells)
    path = _path_bytes(rate_gbit_per_s, cable_m, asic, port_mtu_bytes)
    xoff = ceil((lossless_mtu_bytes + path * fill) / KIB) * KIB
    xon = asic.pipeline_bytes * (2 if eight_lanes else 1)
    return Headroom(xoff, xon, xoff + xon + (port_mtu_bytes if eight_lanes else 0.0))


def cell_fill(asic: SwitchAsic, lossless_mtu_bytes: float, worst_case_cells: bool) -> float:
    """Memory a packet takes over its bytes: whole cells; 64 B packets in the worst case, else full ones.

    >>> cell_fill(ASICS["spectrum-4"], 1024, False), cell_fill(ASICS["spectrum-4"], 1024, True)
    (1.125, 3.0)
    """
    packet = 64.0 if worst_case_cells else lossless_mtu_bytes
    return ceil(packet / asic.cell_bytes) * asic.cell_bytes / packet


def _path_bytes(rate_gbit_per_s: int, cable_m: float, asic: SwitchAsic, port_mtu_bytes: float) -> float:
    if rate_gbit_per_s not in PEER_QUANTA:
        raise ValueError(f"rate_gbit_per_s: {rate_gbit_per_s} is none of {sorted(PEER_QUANTA)}")
    rate_bytes_per_s = rate_gbit_per_s * 1e9 / 8.0
    cable = 2.0 * cable_m / CABLE_M_PER_S * rate_bytes_per_s
    peer = PEER_QUANTA[rate_gbit_per_s] * PEER_BYTES_PER_QUANTUM
    tile = asic.tile_s * rate_bytes_per_s
    return port_mtu_bytes + cable + 2.0 * asic.gearbox_bytes + asic.mac_phy_bytes + peer + tile


def buffer_left_bytes(buffer_bytes: float, ports: int, lossless_priorities: int, each: Headroom) -> float:
    """Memory left to share once every port and lossless priority has its headroom; below 0: it does not fit.

    >>> buffer_left_bytes(160e6, 64, 1, headroom(800, 40)) > 100e6
    True
    """
    return buffer_bytes - ports * lossless_priorities * each.size_bytes


def longest_lossless_cable_m(
    rate_gbit_per_s: int,
    headroom_bytes: float,
    asic: SwitchAsic = ASICS["spectrum-4"],
    *,
    port_mtu_bytes: float = 9216.0,
    lossless_mtu_bytes: float = 1024.0,
    worst_case_cells: bool = False,
) -> float:
    """Longest cable that a given xoff headroom keeps lossless, in m; 0 when it does not even cover the rest.

    >>> round(longest_lossless_cable_m(400, headroom(400, 100).xoff_bytes)) >= 100
    True
    """
    fill = cell_fill(asic, lossless_mtu_bytes, worst_case_cells)
    fixed = _path_bytes(rate_gbit_per_s, 0.0, asic, port_mtu_bytes)
    room = (headroom_bytes - lossless_mtu_bytes) / fill - fixed
    return max(0.0, room * CABLE_M_PER_S / (2.0 * rate_gbit_per_s * 1e9 / 8.0))
