"""PFC closed forms against published numbers, and against the packet-grain queue solver."""

from __future__ import annotations

import numpy as np
import pytest

from models.compare.performance import setup, workload_time
from models.rocev2 import pfc
from models.rocev2.pfc_headroom import (
    ASICS,
    Headroom,
    buffer_left_bytes,
    headroom,
    longest_lossless_cable_m,
)
from models.scenario.load import load, with_values

# xoff in KiB, large packets / worst-case cells, port MTU 9216, lossless MTU 1024, Spectrum-4
HEADROOM_KIB = {
    100: {5: (43, 111), 40: (47, 124), 100: (56, 146), 300: (83, 220)},
    200: {5: (49, 128), 40: (59, 154), 100: (75, 199), 300: (131, 347)},
    400: {5: (86, 226), 40: (105, 277), 100: (138, 366), 300: (249, 662)},
    800: {5: (95, 251), 40: (134, 354), 100: (200, 532), 300: (422, 1124)},
}


@pytest.mark.parametrize(
    ("rate", "cable_m", "usual", "worst"),
    [(rate, m, *pair) for rate, row in HEADROOM_KIB.items() for m, pair in row.items()],
)
def test_headroom_table(rate, cable_m, usual, worst):
    assert headroom(rate, cable_m).xoff_bytes == usual * 1024
    assert headroom(rate, cable_m, worst_case_cells=True).xoff_bytes == worst * 1024


def test_older_asic_needs_about_what_its_static_table_says():
    for cable_m, xoff in ((5, 30720), (40, 38912), (300, 104448)):
        found = headroom(100, cable_m, ASICS["spectrum-1"])
        assert 0.7 < found.xoff_bytes / xoff < 1.6
    assert headroom(100, 5, ASICS["spectrum-1"]).xon_bytes == 19456


def test_size_counts_pipeline_and_eight_lanes():
    narrow, wide = headroom(400, 5), headroom(400, 5, eight_lanes=True)
    assert narrow.size_bytes == narrow.xoff_bytes + 19 * 1024
    assert wide.size_bytes == wide.xoff_bytes + 38 * 1024 + 9216
    assert headroom(400, 5, ASICS["spectrum-6"]).xon_bytes == 42 * 1024


def test_longest_cable_turns_the_table_round():
    for rate, row in HEADROOM_KIB.items():
        for cable_m, (usual, worst) in row.items():
            for kib, cells in ((usual, False), (worst, True)):
                longest = longest_lossless_cable_m(rate, kib * 1024, worst_case_cells=cells)
                assert cable_m <= longest
                assert headroom(rate, longest + 20, worst_case_cells=cells).xoff_bytes > kib * 1024
    assert longest_lossless_cable_m(400, 1000) == 0
    with pytest.raises(ValueError, match="123"):
        headroom(123, 5)


def test_buffer_check():
    assert buffer_left_bytes(1e6, 10, 2, Headroom(40e3, 20e3, 60e3)) == -200e3


@pytest.mark.parametrize(("gbit", "us"), [(10, 3355.4), (40, 838.8), (100, 335.5), (400, 83.9), (800, 41.9)])
def test_quanta(gbit, us):
    assert pfc.longest_pause_s(gbit * 1e9 / 8) * 1e6 == pytest.approx(us, abs=0.06)


def test_thresholds_of_the_dcqcn_paper():
    check = pfc.ecn_before_pfc(12e6, 32, 22.4e3, 8, 5e3)
    assert check.pfc_limit_bytes == pytest.approx(24.47e3, rel=1e-3)
    assert check.ecn_limit_bytes == pytest.approx(21.75e3, rel=1e-3)
    assert check.holds and "before PFC pauses" in check.text
    late = pfc.ecn_before_pfc(12e6, 32, 22.4e3, 8, 200e3)
    assert not late.holds and "PFC can pause before" in late.text
    assert pfc.ecn_before_pfc(12e6, 32, 22.4e3, 8, 100e3, lossless_priorities=1).holds


def test_nothing_left_to_share_is_refused():
    with pytest.raises(ValueError, match="leaves nothing"):
        pfc.SharedBuffer(1e6, ports=64, headroom_bytes=50e3)


@pytest.mark.parametrize("fan_in", [2, 4, 8])
def test_closed_forms_agree_with_the_queue_solver(fan_in):
    """Lasting incast, PFC only: queue n T and pause share 1 - 1/N."""
    from models.solvers.queues import run
    from models.solvers.queues_fabrics import incast_flows, star
    from models.solvers.queues_types import Gate, Marking, PacketFormat, Recording, SenderLaw

    rate, delay_s, memory = 12.5e9, 1e-6, 4 * 2**20
    network = star(senders=fan_in, rate_bytes_per_s=rate, propagation_s=delay_s, buffer_bytes=memory)
    stop_s = 4e-3
    outcome = run(
        network,
        incast_flows(network, senders=fan_in, bytes_per_flow=np.inf),
        SenderLaw("none"),
        Gate("pfc", alpha=1 / 8),
        Marking(np.inf, np.inf, 1.0),
        packet=PacketFormat(1000, 36, 48),
        stop_s=stop_s,
        recording=Recording(watch_links=(network.links - 1,)),
    )
    headroom_bytes = pfc.simple_headroom_bytes(rate, delay_s)
    buffer = pfc.SharedBuffer(memory, fan_in + 1, headroom_bytes)
    settled = outcome.queue.samples_bytes[len(outcome.queue.samples_bytes) // 2 :]
    held = fan_in * (pfc.RESERVE_BYTES + pfc.steady_threshold_bytes(buffer, fan_in))
    assert float(settled.mean()) == pytest.approx(held, rel=0.15)
    first_s = pfc.first_pause_s(buffer, rate, fan_in)
    share = outcome.link_pause_s[:fan_in].mean() / (stop_s - first_s)
    assert share == pytest.approx(pfc.pause_fraction(fan_in), rel=0.03)


def test_pause_time_of_a_burst_agrees_with_the_queue_solver():
    from models.solvers.queues import run
    from models.solvers.queues_fabrics import incast_flows, star
    from models.solvers.queues_types import Gate, Marking, PacketFormat, SenderLaw

    network = star(senders=8, rate_bytes_per_s=12.5e9, propagation_s=1e-6, buffer_bytes=4 * 2**20)
    outcome = run(
        network,
        incast_flows(network, senders=8, bytes_per_flow=4 * 2**20),
        SenderLaw("none"),
        Gate("pfc", alpha=1 / 8),
        Marking(np.inf, np.inf, 1.0),
        packet=PacketFormat(1000, 36, 48),
    )
    buffer = pfc.SharedBuffer(4 * 2**20, 9, 37500)
    expected = pfc.pause_time_s(buffer, 12.5e9, 8, 4 * 2**20 * 1.036)
    assert outcome.link_pause_s[:8].mean() == pytest.approx(expected, rel=0.03)


def test_pause_time_of_a_burst_needs_a_burst_beyond_the_threshold():
    buffer = pfc.SharedBuffer(4 * 2**20, 9, 37500)
    assert pfc.pause_time_s(buffer, 12.5e9, 8, 100e3) == 0.0
    times = [pfc.pause_time_s(buffer, 12.5e9, 8, size) for size in (1e6, 2e6, 8e6)]
    assert times == sorted(times) and times[0] > 0
    assert pfc.first_pause_s(buffer, 12.5e9, 1) == np.inf


def test_a_resume_never_goes_ahead_of_its_pause() -> None:
    """Ports served one after the other once released at an earlier time what another had paused: this run never ended."""
    scenario = with_values(
        load("scenarios/incast-answers-512.yaml"),
        {"workloads.incast.fan_in": 256, "workloads.incast.burst_bytes": 4 * 2**20},
    )
    answer = workload_time(scenario, setup(scenario, "Spectrum-X 400G"), "incast", "fluid")
    (time,) = answer.times.values()
    assert 0.0 < time.time_s < 1.0
