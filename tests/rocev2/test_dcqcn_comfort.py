"""Where the DCQCN equations say anything: by their own figures, and against packets inside and outside."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from models.rocev2.dcqcn import dcqcn_fluid, fixed_point, stability_advice
from models.rocev2.dcqcn_comfort import MARKED_INTERVALS, comfortable_flows, equations_domain
from models.rocev2.dcqcn_sets import dcqcn_set, dcqcn_set_names
from models.solvers.queues import run
from models.solvers.queues_fabrics import incast_flows, star
from models.solvers.queues_types import Gate, Marking, PacketFormat, Recording, SenderLaw

SLOW_TIMERS = {"hpcc_dcqcn_paper", "zhu2015"}  # 50 us; every other shipped set has timers of 1 to 4 us


@pytest.mark.parametrize("name", dcqcn_set_names())
@pytest.mark.parametrize("gbit", [100, 400])
def test_sets_with_slow_timers_are_inside_and_all_others_outside(name, gbit):
    fluid = dcqcn_fluid(dcqcn_set(name, gbit * 1e9 / 8), gbit * 1e9 / 8)
    domains = [equations_domain(fluid, flows) for flows in (2, 8, 32)]
    assert {domain.holds for domain in domains} == {name in SLOW_TIMERS}
    assert (comfortable_flows(fluid) > 0) == (name in SLOW_TIMERS)
    for domain in domains:  # nothing is near the line: its exact place does not matter
        assert not MARKED_INTERVALS / 2.5 < domain.marked_intervals < 2.5 * MARKED_INTERVALS
        assert domain.holds == (not domain.reason)


def test_few_packets_a_flow_end_the_domain_and_the_advice():
    fluid = dcqcn_fluid(dcqcn_set("zhu2015", 5e9), 5e9)
    most = comfortable_flows(fluid)
    assert equations_domain(fluid, most).holds and not equations_domain(fluid, most + 1).holds
    advice = stability_advice(fluid, 85e-6, largest=most + 40)
    assert advice.looked_to == most and f"not decided beyond N = {most}" in advice.text
    assert advice.unstable_at(8) is True and advice.unstable_at(most) is False
    assert advice.unstable_at(most + 1) is None


def test_no_advice_outside_instead_of_a_wrong_one():
    advice = stability_advice(dcqcn_fluid(dcqcn_set("vendor_default", 50e9), 50e9), 10e-6)
    assert not advice.decided and not advice.unstable and advice.unstable_at(8) is None
    assert advice.text == f"not decided: {advice.outside}" and "alpha timer of 1 us" in advice.outside
    slow = dataclasses.replace(
        dcqcn_set("vendor_default", 50e9), alpha_timer_s=55e-6, cut_interval_s=50e-6, increase_timer_s=55e-6
    )
    assert stability_advice(dcqcn_fluid(slow, 50e9), 10e-6, largest=8).decided


def _mean_queue_bytes(name: str, flows: int, duration_s: float) -> float:
    """Mean queue over the second half of a run packet by packet, 100G, one switch."""
    figures = dcqcn_set(name, 12.5e9)
    network = star(senders=flows, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=32 * 2**20)
    law = SenderLaw(
        "dcqcn", alpha_timer_s=figures.alpha_timer_s, cut_interval_s=figures.cut_interval_s,
        increase_timer_s=figures.increase_timer_s, fast_recovery_stages=figures.fast_recovery_stages, g=figures.g,
        additive_bytes_per_s=figures.additive_bytes_per_s, hyper_bytes_per_s=figures.hyper_bytes_per_s,
        min_rate_bytes_per_s=figures.min_rate_bytes_per_s,
    )  # fmt: skip
    sent = incast_flows(network, senders=flows, bytes_per_flow=np.inf)
    found = run(
        network, sent, law, Gate("pfc"), Marking(figures.kmin_bytes, figures.kmax_bytes, figures.pmax), seed=1,
        packet=PacketFormat(payload_bytes=1000, header_bytes=36), stop_s=duration_s,
        recording=Recording(watch_links=(network.links - 1,), sample_from_s=duration_s / 2),
    )  # fmt: skip
    return found.queue.mean_bytes


def test_queue_of_packets_is_near_the_fixed_point_inside_and_not_outside():
    def ratio(name, flows, duration_s):
        fluid = dcqcn_fluid(dcqcn_set(name, 12.5e9), 12.5e9, 1036.0)
        return _mean_queue_bytes(name, flows, duration_s) / fixed_point(fluid, flows).queue_bytes

    inside = [ratio("hpcc_dcqcn_paper", flows, 0.03) for flows in (4, 8)]
    outside = [ratio("hpcc_dcqcn", 4, 0.06), ratio("conweave_params", 4, 0.06)]
    assert all(0.75 < value < 1.3 for value in inside), inside
    assert all(value < 0.65 for value in outside), outside
