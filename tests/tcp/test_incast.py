"""TCP incast by both methods: ramp-up, tiny bursts, one sender, timeouts, and the victim's own slow start."""

from __future__ import annotations

import pytest

from models.compare.performance import setup
from models.scenario.load import SHIPPED, load, with_values
from models.tcp.incast import phase_time
from models.tcp.incast_analytical import analytical_time
from models.tcp.slow_start import (
    delivered_bytes,
    port_queues_bytes,
    shared_port_time_s,
    slow_start_rounds,
    slow_start_time_s,
)
from models.topology.incast_wiring import incast_wiring
from models.workload.phases import phases

NAME = "Ethernet TCP 400G"


def asked(fan_in, burst_bytes, changes=None):
    keys = {
        "workloads.incast.fan_in": fan_in,
        "workloads.incast.burst_bytes": burst_bytes,
        "workloads.incast.seeds": 2,
    } | (changes or {})
    scenario = with_values(load(SHIPPED / "llama3-70b-1024-h100.yaml"), keys)
    on = setup(scenario, NAME)
    return phases(scenario.workloads["incast"], scenario, "incast").phases[0], on.network, on.link


def figures(time):
    return {metric.name: metric.value for metric in time.metrics}


@pytest.mark.parametrize("fan_in", [1, 2, 8])
@pytest.mark.parametrize("burst_bytes", [2**12, 2**16, 2**18, 2**20, 2**22])
def test_methods_agree_from_one_packet_and_one_sender_on(fan_in, burst_bytes):
    at = asked(fan_in, burst_bytes)
    closed, solved = figures(analytical_time(*at)), figures(phase_time(*at))
    assert solved["drops"] == 0 and closed["timeouts"] == 0
    assert closed["fct_max"] == pytest.approx(solved["fct_max"], rel=0.05)
    assert closed["victim_share"] == pytest.approx(solved["victim_share"], rel=0.12)


def test_a_single_packet_takes_one_path_and_both_hosts():
    at = asked(1, 4096)
    _, network, link = at
    one_way_s = incast_wiring(network, link).path_latency_s + link.host_pair_latency_s
    for method in (analytical_time, phase_time):
        assert one_way_s < method(*at).time_s < one_way_s + 2e-6, "an acknowledgement is no part of it"


def test_a_short_incast_sees_the_victim_in_slow_start():
    at = asked(8, 4096)
    closed = figures(analytical_time(*at))
    ten = 10 * at[2].packet_bytes
    ended_s = closed["fct_max"] + incast_wiring(at[1], at[2]).path_latency_s
    assert closed["victim_goodput"] == pytest.approx(ten / ended_s, rel=1e-6)


def test_first_windows_over_the_share_wait_for_a_timeout():
    small = {f"candidates.{NAME}.overrides.flow_control.switch_buffer_mb": 2.0}
    closed = analytical_time(*asked(64, 2**20, small))
    solved = phase_time(*asked(64, 2**20, small))
    rto_s = asked(64, 2**20)[2].technology.loss_recovery.timeout_ms.value * 1e-3
    assert closed.time_s > rto_s and solved.time_s > rto_s
    assert figures(closed)["timeouts"] == 1 and figures(solved)["timeouts"] > 0


def test_slow_start_sums_its_windows_and_inverts():
    windows = slow_start_rounds(1e4, 1e-4, 1e9)
    assert windows == [1e4, 2e4, 4e4, 8e4, 1.6e5]
    for size in (5e3, 1e4, 2.5e4, 1e5, 1e6):
        time_s = slow_start_time_s(size, windows, 1e-4, 1e9)
        assert delivered_bytes(time_s, windows, 1e-4, 1e9) == pytest.approx(size)
    capped = slow_start_rounds(1e4, 1e-4, 1e9, most_bytes=2e4)
    assert capped == [1e4, 2e4]
    assert slow_start_time_s(1e6, capped, 1e-4, 1e9) == pytest.approx(1e-4 + (1e6 - 1e4) / 2e8)


def test_a_port_is_never_faster_than_its_line_nor_than_one_sender():
    windows = slow_start_rounds(1e4, 1e-4, 1e9)
    for senders in (1, 3, 30):
        for size in (1e4, 1e5, 1e6):
            time_s = shared_port_time_s(senders, size, windows, 1e-4, 1e9, 1e9)
            assert time_s >= max(senders * size / 1e9, slow_start_time_s(size, windows, 1e-4, 1e9)) * (
                1 - 1e-9
            )
            queues = port_queues_bytes(senders, size, windows, 1e-4, 1e9, 1e9)
            assert all(0 <= queue <= senders * size for queue in queues)
    assert max(port_queues_bytes(1, 1e6, windows, 1e-4, 1e9, 1e9)) == 0, (
        "one sender cannot overrun its own rate"
    )
