"""Where the delay equations of DCQCN may be trusted, and why not where they may not.

The equations replace what one flow does at random by its mean. Two means carry the result:

alpha   Each interval tau' with a mark lifts alpha by g, each without lowers it by g alpha: alpha remembers 1/g
        intervals and alpha*/g of them held a mark. A cut takes alpha at the instant of a mark, so it is biased up by
        about g: the mean describes it only when alpha* >> g. Sets with intervals near 50 us have alpha*/g of 14 to 60;
        with the 1 us of vendor defaults it is below 2, every cut is as deep as its own luck, and the equations show
        limit cycles that the state machine does not have.
marks   tau R* packets of a flow pass in one cut interval; below a few, packets come one at a time and a flow cannot
        be seen as a rate.

Equations: Zhu, Ghobadi, Misra, Padhye, "ECN or Delay", CoNEXT 2016. Outside this domain the packet-grain solver answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.rocev2.dcqcn_fixed_point import DcqcnFluid, fixed_point

MARKED_INTERVALS = 5.0  # assumption: alpha is then within about a fifth of its mean at a cut
PACKETS_IN_CUT_INTERVAL = 4.0  # assumption


@dataclass(frozen=True)
class DcqcnDomain:
    """Whether the equations describe N flows; `reason` says what fails and is empty where they do."""

    holds: bool
    reason: str
    marked_intervals: float  # alpha* / g
    packets_in_cut_interval: float  # tau C / N


def equations_domain(fluid: DcqcnFluid, flows: int) -> DcqcnDomain:
    """Whether the delay equations hold for N flows: alpha*/g >= 5 and tau C / N >= 4.

    >>> from models.rocev2.dcqcn import dcqcn_fluid
    >>> from models.rocev2.dcqcn_sets import dcqcn_set
    >>> equations_domain(dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9), 10).holds
    True
    >>> equations_domain(dcqcn_fluid(dcqcn_set("vendor_default", 50e9), 50e9), 8).reason
    'alpha timer of 1 us: 0.18 marked intervals in the memory of alpha, at least 5 needed'
    """
    packets = fluid.capacity / flows * fluid.cut_s
    try:
        marked = fixed_point(fluid, flows).alpha / fluid.g
    except ValueError as error:
        return DcqcnDomain(False, str(error), float("nan"), packets)
    if marked < MARKED_INTERVALS:
        reason = (
            f"alpha timer of {fluid.alpha_s * 1e6:g} us: {marked:.2g} marked intervals in the memory of alpha, "
            f"at least {MARKED_INTERVALS:g} needed"
        )
        return DcqcnDomain(False, reason, marked, packets)
    if packets < PACKETS_IN_CUT_INTERVAL:
        reason = (
            f"{flows} flows: {packets:.2g} packets of a flow in a cut interval of {fluid.cut_s * 1e6:g} us, "
            f"at least {PACKETS_IN_CUT_INTERVAL:g} needed"
        )
        return DcqcnDomain(False, reason, marked, packets)
    return DcqcnDomain(True, "", marked, packets)


def comfortable_flows(fluid: DcqcnFluid) -> int:
    """Most flows for which the equations hold; 0 where they hold for none.

    >>> from models.rocev2.dcqcn import dcqcn_fluid
    >>> from models.rocev2.dcqcn_sets import dcqcn_set
    >>> comfortable_flows(dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9))
    62
    >>> comfortable_flows(dcqcn_fluid(dcqcn_set("vendor_default", 50e9), 50e9))
    0
    """
    most = int(fluid.capacity * fluid.cut_s / PACKETS_IN_CUT_INTERVAL)
    return most if most >= 2 and equations_domain(fluid, 2).holds else 0
