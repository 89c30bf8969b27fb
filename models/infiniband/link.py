"""InfiniBand link: wire efficiency and latency of the preset, in SI units."""

from __future__ import annotations

from models.catalog.technology import Technology
from models.topology.link import Link, technology_link


def wire_efficiency(mtu_bytes: float, header_bytes: float = 26.0) -> float:
    """Payload over wire bytes of a full packet: M / (M + h).

    h = LRH 8 + BTH 12 + ICRC 4 + VCRC 2 = 26 B inside a subnet; 40 B more with a global route header.
    Source: UCX `ib_device.h`.

    >>> round(wire_efficiency(4096), 4), round(wire_efficiency(4096, 66), 4)
    (0.9937, 0.9841)
    """
    return mtu_bytes / (mtu_bytes + header_bytes)


def link(technology: Technology) -> Link:
    """The link of an InfiniBand technology; the host moves no data, so only wire and PCIe limit it."""
    figures = technology.link
    return technology_link(technology, wire_efficiency(figures.mtu_bytes.value, figures.header_bytes.value))
