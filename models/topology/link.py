"""The figures of a fabric's links, as every solver sees them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from models.catalog.technology import Technology
from models.units import bytes_per_s_from_gbit_per_s


@dataclass(frozen=True)
class Link:
    """One NIC port and one switch hop of a fabric, SI units, one direction.

    Made by each fabric's own `link.py` from its technology preset; `technology` stays attached so that a
    result can be traced to the preset and its overrides.
    """

    technology: Technology
    rate_bytes_per_s: float  # line rate of one NIC port
    wire_efficiency_fraction: float  # payload over wire bytes of a full packet
    packet_bytes: float  # payload of a full packet
    wire_packet_bytes: float
    host_pair_latency_s: float
    application_latency_s: float
    hop_latency_s: float
    network_efficiency_fraction: float  # what the collective library reaches of the payload rate
    step_latency_factor: float
    host_limit_bytes_per_s: float  # CPU-bound transports; infinite for RDMA

    @property
    def goodput_bytes_per_s(self) -> float:
        """Payload rate of one NIC port on an idle path."""
        return min(self.rate_bytes_per_s * self.wire_efficiency_fraction, self.host_limit_bytes_per_s)


def technology_link(
    technology: Technology, wire_efficiency_fraction: float, host_limit_bytes_per_s: float = inf
) -> Link:
    """The Link of a preset, given what its own fabric says of wire efficiency and host limit."""
    figures, host = technology.link, technology.host
    return Link(
        technology=technology,
        rate_bytes_per_s=bytes_per_s_from_gbit_per_s(figures.rate_gbit_per_s.value),
        wire_efficiency_fraction=wire_efficiency_fraction,
        packet_bytes=figures.mtu_bytes.value,
        wire_packet_bytes=figures.mtu_bytes.value + figures.header_bytes.value,
        host_pair_latency_s=figures.host_pair_latency_us.value * 1e-6,
        application_latency_s=figures.application_latency_us.value * 1e-6,
        hop_latency_s=figures.hop_latency_us.value * 1e-6,
        network_efficiency_fraction=host.network_efficiency_fraction.value,
        step_latency_factor=host.step_latency_factor.value,
        host_limit_bytes_per_s=host_limit_bytes_per_s,
    )


def path_latency_s(link: Link, hops: int, cable_m: float = 0.0) -> float:
    """One-way latency of a small message over `hops` switches, serialisation apart.

    host pair + hops x hop latency + 5 ns/m on what the cables of the path exceed 5 m a link.

    >>> from models.catalog.technology import technology
    >>> from models.infiniband.link import link
    >>> round(path_latency_s(link(technology("infiniband_ndr")), 3) * 1e6, 2)
    1.85
    """
    links = hops + 1
    beyond_m = max(0.0, cable_m - 5.0 * links)
    return link.host_pair_latency_s + hops * link.hop_latency_s + 5.0e-9 * beyond_m
