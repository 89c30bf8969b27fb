"""What a RoCE technology does in an incast: sender law, marking thresholds, gate, admission."""

from __future__ import annotations

from dataclasses import replace

from models.catalog.technology import dynamic_threshold
from models.rocev2.dcqcn_sets import DcqcnSet, dcqcn_set
from models.solvers.queues_types import Gate, Marking, SenderLaw
from models.topology.incast_wiring import spreads_packets
from models.topology.link import Link

LONGEST_TIMEOUT_S = 0.02  # a run follows timeouts no longer than this; outcomes with losses say so
ADMITTED_SENDERS = 2  # receiver-driven admission: bursts in flight at once (assumption)


def laws(link: Link) -> tuple[SenderLaw, Marking, Gate]:
    """Sender law, marking and gate of the link's technology."""
    technology = link.technology
    flow, control = technology.flow_control, technology.congestion_control
    alpha = dynamic_threshold(flow)
    one_path = not spreads_packets(link)  # out of order packets would look like losses
    go_back = technology.loss_recovery.kind == "go_back_n" and one_path
    lossy = flow.kind != "pfc"
    gate = Gate(
        "drop" if lossy else "pfc",
        alpha=alpha,
        recovery="go_back_n" if go_back else "selective_repeat",
        retransmit_timeout_s=min(technology.loss_recovery.timeout_ms.value * 1e-3, LONGEST_TIMEOUT_S),
        loss_fraction=technology.loss_recovery.loss_fraction.value if lossy else 0.0,
    )
    if control.kind not in ("dcqcn", "spectrum_x"):
        return SenderLaw("none"), Marking(), gate
    figures = control_set(link)
    law = SenderLaw(
        "dcqcn",
        alpha_timer_s=figures.alpha_timer_s,
        cut_interval_s=figures.cut_interval_s,
        increase_timer_s=figures.increase_timer_s,
        fast_recovery_stages=figures.fast_recovery_stages,
        g=figures.g,
        additive_bytes_per_s=figures.additive_bytes_per_s,
        hyper_bytes_per_s=figures.hyper_bytes_per_s,
        min_rate_bytes_per_s=figures.min_rate_bytes_per_s,
        cnp_interval_s=figures.cnp_interval_s,
        byte_counter_bytes=figures.byte_counter_bytes,
    )
    return law, Marking(figures.kmin_bytes, figures.kmax_bytes, figures.pmax), gate


def control_set(link: Link) -> DcqcnSet:
    """The parameter set of the link's technology at its rate, with the thresholds a scenario sets in its place.

    Kmax is raised to Kmin where a scenario puts Kmin above it: marking then is a step.
    """
    control = link.technology.congestion_control
    figures = dcqcn_set(control.parameter_set or "hpcc_dcqcn", link.rate_bytes_per_s)
    kmin = figures.kmin_bytes if control.kmin_kb is None else control.kmin_kb.value * 1e3
    kmax = figures.kmax_bytes if control.kmax_kb is None else control.kmax_kb.value * 1e3
    pmax = figures.pmax if control.pmax is None else control.pmax.value
    return replace(figures, kmin_bytes=kmin, kmax_bytes=max(kmin, kmax), pmax=pmax)


def admits(link: Link) -> bool:
    """Whether the receiver lets only a few senders send at a time."""
    return link.technology.congestion_control.kind == "receiver_driven"
