"""RoCEv2 link: wire efficiency and latency of the preset, in SI units."""

from __future__ import annotations

from models.catalog.technology import Technology
from models.topology.link import Link, technology_link


def wire_efficiency(mtu_bytes: float, header_bytes: float = 82.0) -> float:
    """Payload over wire bytes of a full packet: M / (M + h).

    h = preamble 8 + Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4 + FCS 4 + gap 12 = 82 B; a VLAN tag adds
    4, IPv6 20, MACsec 32.

    >>> round(wire_efficiency(4096), 4), round(wire_efficiency(1024), 4)
    (0.9804, 0.9259)
    """
    return mtu_bytes / (mtu_bytes + header_bytes)


def link(technology: Technology) -> Link:
    """The link of a RoCEv2 technology; the host moves no data, so only wire and PCIe limit it."""
    figures = technology.link
    return technology_link(technology, wire_efficiency(figures.mtu_bytes.value, figures.header_bytes.value))
