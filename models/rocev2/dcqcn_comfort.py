"""Where the delay equations of DCQCN may be trusted.

The equations treat timer events as continuous and marks as small within an interval. They were checked against packet
runs with timers near 50 us (Zhu et al., CoNEXT 2016); with the 1 us timers of vendor defaults they show limit cycles
that the state machine does not have, and the packet-grain solver has to answer instead.
"""

from __future__ import annotations

from models.rocev2.dcqcn import DcqcnFluid

COMFORT_TIMER_S = 10e-6  # assumption: between the 50 us that were checked and the 1 to 4 us that fail
COMFORT_PACKETS = 4.0  # assumption: packets of one flow, at its fair share, in one timer interval


def comfortable_flows(fluid: DcqcnFluid) -> int:
    """Most flows for which the equations hold: each still sends four packets a timer interval; 0 for short timers.

    >>> from models.rocev2.dcqcn import dcqcn_fluid
    >>> from models.rocev2.dcqcn_sets import dcqcn_set
    >>> comfortable_flows(dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9))
    62
    >>> comfortable_flows(dcqcn_fluid(dcqcn_set("vendor_default", 50e9), 50e9))
    0
    """
    shortest_s = min(fluid.alpha_s, fluid.cut_s)
    if shortest_s < COMFORT_TIMER_S:
        return 0
    return int(fluid.capacity * shortest_s / COMFORT_PACKETS)
