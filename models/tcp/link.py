"""TCP over Ethernet link: wire efficiency, latency and the CPU that moves the data, in SI units."""

from __future__ import annotations

from models.catalog.technology import Technology
from models.topology.link import Link, technology_link
from models.units import bytes_per_s_from_gbit_per_s


def wire_efficiency(mtu_bytes: float, header_bytes: float = 90.0) -> float:
    """Payload over wire bytes of a full segment: M / (M + h).

    h = preamble 8 + Ethernet 14 + IPv4 20 + TCP 32 (timestamps) + FCS 4 + gap 12 = 90 B; M = MTU - 52.

    >>> round(wire_efficiency(8948), 3), round(wire_efficiency(1448), 3)
    (0.99, 0.941)
    """
    return mtu_bytes / (mtu_bytes + header_bytes)


def link(technology: Technology) -> Link:
    """The link of a TCP technology; cores x rate per core caps what a NIC can move."""
    figures, host = technology.link, technology.host
    if host.cores is None or host.gbit_per_s_per_core is None:
        raise ValueError(
            f"technology {technology.id}: host.cores and host.gbit_per_s_per_core are needed for tcp"
        )
    limit = bytes_per_s_from_gbit_per_s(host.cores.value * host.gbit_per_s_per_core.value)
    efficiency = wire_efficiency(figures.mtu_bytes.value, figures.header_bytes.value)
    return technology_link(technology, efficiency, limit)
