"""The memory of a candidate's switch as PFC uses it: headroom a port for a cable, and what is left to share."""

from __future__ import annotations

from models.catalog.parts import parts
from models.catalog.technology import dynamic_threshold
from models.compare.incast_checks import Checked
from models.rocev2.pfc import SharedBuffer
from models.rocev2.pfc_headroom import ASICS, PEER_QUANTA, Headroom, SwitchAsic, headroom
from models.topology.network import switch_radices
from models.units import gbit_per_s_from_bytes_per_s

LOSSLESS_PRIORITIES = 1  # one class for RDMA; a second would double the headroom
CABLE_CLASS_M = 40.0  # SONiC default cable class, where a technology states none
# start of a switch's model name -> its ASIC; others are taken as Spectrum-4, whose cells and pipeline are published
SPECTRUM_ASICS = {"SN4": "spectrum-3", "SN5": "spectrum-4", "SN6": "spectrum-6"}
HEADROOM_SOURCE = "SONiC buffer_headroom_mellanox.lua; IEEE 802.3 31B.3.7"


def switch_ports(of: Checked) -> int:
    """Ports of the leaf switch at the NIC's rate."""
    chosen = of.on.candidate.parts
    part, above = parts()[chosen["switch"]], parts().get(chosen.get("spine_switch", ""))
    rate = gbit_per_s_from_bytes_per_s(of.on.link.rate_bytes_per_s)
    return switch_radices(of.on.network.topology, rate, part, above)[0]


def port_headroom(of: Checked, cable_m: float, worst_case_cells: bool = False) -> Headroom | None:
    """Headroom of a port for a cable; None at a speed whose response time is not published."""
    rate = round(gbit_per_s_from_bytes_per_s(of.on.link.rate_bytes_per_s))
    if rate not in PEER_QUANTA:
        return None
    packet = of.on.link.wire_packet_bytes
    return headroom(
        rate, cable_m, switch_asic(of), lossless_mtu_bytes=packet, worst_case_cells=worst_case_cells
    )


def switch_asic(of: Checked) -> SwitchAsic:
    """ASIC whose cells and pipeline enter the headroom."""
    model = parts()[of.on.candidate.parts["switch"]].model
    name = next((asic for start, asic in SPECTRUM_ASICS.items() if model.startswith(start)), "spectrum-4")
    return ASICS[name]


def asic_words(of: Checked) -> str:
    """What is to be said of the ASIC: nothing where its figures are its own."""
    model = parts()[of.on.candidate.parts["switch"]].model
    if model.startswith(tuple(SPECTRUM_ASICS)):
        return ""
    return f" {model} is taken as Spectrum-4, whose cells and pipeline are published."


def shared_buffer(of: Checked) -> tuple[SharedBuffer | None, float]:
    """(memory as one lossless class may use it, headroom a port); None where the headroom leaves nothing."""
    flow = of.on.technology.flow_control
    each = port_headroom(of, sized_cable_m(of))
    kept = 0.0 if each is None else each.size_bytes
    alpha = dynamic_threshold(flow)
    try:
        return SharedBuffer(flow.switch_buffer_mb.value * 1e6, switch_ports(of), kept, alpha), kept
    except ValueError:
        return None, kept


def sized_cable_m(of: Checked) -> float:
    """Cable length the technology's headroom is sized for, m."""
    figure = of.on.technology.flow_control.headroom_cable_m
    return CABLE_CLASS_M if figure is None else max(0.0, figure.value)
