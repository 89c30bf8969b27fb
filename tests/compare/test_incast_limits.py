"""At how many waiting bytes a fabric marks, pauses, runs out of credits or drops; thresholds set by a scenario."""

import numpy as np
import pytest
from pydantic import ValidationError

from models.catalog.technology import technology
from models.compare.fabrics import incast_queue_limits
from models.compare.performance import setup, workload_time
from models.rocev2.incast_laws import control_set, laws
from models.scenario.load import SHIPPED, load, with_values
from models.workload.phases import phases

SCENARIO = load(SHIPPED / "llama3-70b-1024-h100.yaml")


def limits(candidate: str, **changes: object):
    scenario = with_values(SCENARIO, {key.replace("__", "."): value for key, value in changes.items()})
    on = setup(scenario, candidate)
    return incast_queue_limits(phases(scenario.workloads["incast"], scenario, "incast").phases[0], on)


def test_the_limits_are_those_the_solver_reports() -> None:
    for name in ("RoCEv2 400G", "Spectrum-X 400G"):
        on = setup(SCENARIO, name)
        found = {
            m.name: m.value for m in workload_time(SCENARIO, on, "incast", "fluid").times["incast"].metrics
        }
        own = limits(name)
        assert own.marks_from_bytes == found["ecn_kmin"] and own.marks_all_bytes == found["ecn_kmax"]
        assert own.stops_bytes == found["pause_threshold"]
        assert own.marks_all_bytes < own.stops_bytes < own.buffer_bytes


def test_credits_run_out_at_one_lane_buffer_a_feeding_link() -> None:
    found = limits("InfiniBand NDR")
    assert found.stops_bytes == found.buffer_bytes == 8 * 128 * 1024
    assert found.marks_from_bytes is None
    # 31 of 32 bursts wait at once, so a little more than one buffer of bursts fills it
    assert found.buffers_full(found.stops_bytes) == pytest.approx(32 / 31)


def test_admission_lets_two_bursts_wait() -> None:
    scenario = SCENARIO.model_copy(
        update={
            "candidates": {
                "a": SCENARIO.candidates["RoCEv2 400G"].model_copy(
                    update={"technology": "rocev2_pfc_only_400g"}
                )
            }
        }
    )
    phase = phases(scenario.workloads["incast"], scenario, "incast").phases[0]
    found = incast_queue_limits(phase, setup(scenario, "a"))
    assert found.waiting_fraction == pytest.approx(2 / 32) and found.marks_from_bytes is None


def test_thresholds_of_a_scenario_replace_those_of_the_set() -> None:
    key = "candidates.RoCEv2 400G.overrides"
    changed = with_values(
        SCENARIO, {f"{key}.congestion_control.kmin_kb": 100.0, f"{key}.congestion_control.pmax": 0.5}
    )
    link = setup(changed, "RoCEv2 400G").link
    _, marking, _ = laws(link)
    assert float(np.min(marking.kmin_bytes)) == 100e3 and marking.pmax == 0.5
    assert float(np.min(marking.kmax_bytes)) == 6.4e6  # the set's own at 400G
    above = with_values(SCENARIO, {f"{key}.congestion_control.kmin_kb": 9000.0})
    figures = control_set(setup(above, "RoCEv2 400G").link)
    assert figures.kmax_bytes == figures.kmin_bytes == 9e6  # a step


def test_a_threshold_that_would_do_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="kmin_kb has no effect"):
        technology("rocev2_pfc_no_cc_400g", {"congestion_control.kmin_kb": 100.0})
    with pytest.raises(ValidationError, match="kmax_kb has no effect"):
        technology("tcp_400g", {"congestion_control.kmax_kb": 100.0})
    with pytest.raises(ValidationError, match="kmin_kb = 0"):
        technology("rocev2_400g", {"congestion_control.kmin_kb": 0.0})
    assert technology("tcp_400g", {"congestion_control.kmin_kb": 100.0})
