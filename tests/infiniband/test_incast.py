"""InfiniBand incast by both methods: credits of long cables, routes, victims."""

from __future__ import annotations

import pytest

from models.compare.performance import setup
from models.infiniband.credits import credit_loop_s, link_bandwidth, whole_packets_bytes
from models.infiniband.incast import incast_wired, phase_time, vl_buffer_bytes
from models.infiniband.incast_analytical import analytical_time, link_limits_bytes_per_s
from models.scenario.load import SHIPPED, load, with_values
from models.topology.incast_wiring import incast_bound_s
from models.workload.phase import burst_of
from models.workload.phases import phases

NAME = "InfiniBand NDR"


def asked(fan_in=8, burst_bytes=2**22, host_m=None, spine_m=None, routing=None, seeds=3):
    keys = {
        "workloads.incast.fan_in": fan_in,
        "workloads.incast.burst_bytes": burst_bytes,
        "workloads.incast.seeds": seeds,
    }
    for key, value in (("host_leaf", host_m), ("leaf_spine", spine_m)):
        if value is not None:
            keys[f"topology.cable_m.{key}"] = value
    if routing:
        keys[f"candidates.{NAME}.overrides.routing.kind"] = routing
    scenario = with_values(load(SHIPPED / "llama3-70b-1024-h100.yaml"), keys)
    on = setup(scenario, NAME)
    return phases(scenario.workloads["incast"], scenario, "incast").phases[0], on.network, on.link


def figures(time):
    return {metric.name: metric.value for metric in time.metrics}


@pytest.mark.parametrize("host_m", [500.0, 2000.0])
def test_a_long_cable_to_the_receiver_carries_its_buffer_a_round_trip(host_m):
    phase, network, link = asked(host_m=host_m)
    held = whole_packets_bytes(vl_buffer_bytes(link), link.wire_packet_bytes)
    carried = link_bandwidth(held, float(credit_loop_s(host_m * 5e-9, 0.0)), link.rate_bytes_per_s)
    assert carried < 0.6 * link.rate_bytes_per_s
    bound_s = incast_bound_s(burst_of(phase), link) * link.rate_bytes_per_s / carried
    closed, solved = analytical_time(phase, network, link), phase_time(phase, network, link)
    assert closed.time_s == pytest.approx(bound_s, rel=0.05) and closed.time_s >= bound_s
    assert closed.time_s == pytest.approx(solved.time_s, rel=0.02)


def test_short_cables_are_full_and_kilometres_to_the_spine_are_shared_by_all_links():
    phase, network, link = asked()
    assert (
        link_limits_bytes_per_s(incast_wired(burst_of(phase), network, link), link) == link.rate_bytes_per_s
    ).all()
    far = asked(spine_m=2000.0)
    fabric = incast_wired(burst_of(far[0]), *far[1:])
    limits = link_limits_bytes_per_s(fabric, far[2])
    assert 0.1 < limits.min() / link.rate_bytes_per_s < 0.15
    closed, solved = analytical_time(*far), phase_time(*far)
    assert closed.time_s == pytest.approx(solved.time_s, rel=0.05)


@pytest.mark.parametrize("routing", ["adaptive", "static", "ecmp"])
@pytest.mark.parametrize("fan_in", [4, 32])
def test_methods_agree_on_the_last_burst_and_on_the_victim(routing, fan_in):
    at = asked(fan_in=fan_in, routing=routing)
    closed, solved = figures(analytical_time(*at)), figures(phase_time(*at))
    assert closed["fct_max"] == pytest.approx(solved["fct_max"], rel=0.02)
    assert closed["fct_mean"] == pytest.approx(solved["fct_mean"], rel=0.08)
    assert closed["victim_share"] == pytest.approx(solved["victim_share"], rel=0.3, abs=0.01)
    # few senders do not fill every buffer on the way
    assert closed["pause_time"] == pytest.approx(solved["pause_time"], rel=0.15 if fan_in > 4 else 0.5)
