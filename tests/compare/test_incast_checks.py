"""What to check before buying: each check changes its mind where it should, and says its numbers."""

import json

import pytest

from models.catalog.technology import technology
from models.cli import main
from models.cli_text import checks_text
from models.compare.incast_checks import checks_of, checks_sentence, incast_checks, usual_incast
from models.compare.performance import setup
from models.compare.risk import risks
from models.infiniband.credits import longest_link_m
from models.rocev2.pause_storm import pause_storm
from models.scenario.load import SHIPPED, load, with_values
from models.workload.phases import phases

SCENARIO = load(SHIPPED / "llama3-70b-1024-h100.yaml")
ROCE, IB, TCP = "RoCEv2 400G", "InfiniBand NDR", "Ethernet TCP 400G"


def found(candidate: str, topic: str, changes: dict | None = None, solved: bool = False):
    scenario = with_values(SCENARIO, changes or {})
    checks = incast_checks(scenario, [setup(scenario, candidate)], solved)
    return next(check for check in checks if check.topic == topic)


def override(candidate: str, key: str, value: object) -> dict:
    return {f"candidates.{candidate}.overrides.{key}": value}


def test_every_lossless_candidate_is_checked_with_a_source() -> None:
    checks = incast_checks(SCENARIO, [setup(SCENARIO, name) for name in SCENARIO.candidates])
    topics = {name: {c.topic for c in checks if c.candidate == name} for name in SCENARIO.candidates}
    assert (
        topics[ROCE]
        == topics["Spectrum-X 400G"]
        == {"ECN before PFC", "DCQCN stability", "PFC headroom", "pause storms"}
    )
    assert topics[IB] == {"credit round trip", "congestion control", "pause storms"}
    assert topics[TCP] == {"drops"}
    assert all(c.source and c.advice.endswith((".", "them.")) and c.finding.endswith(".") for c in checks)


def test_ecn_comes_first_until_kmin_is_set_above_the_pause_threshold() -> None:
    assert "ECN acts first" in found(ROCE, "ECN before PFC").finding
    late = found(ROCE, "ECN before PFC", override(ROCE, "congestion_control.kmin_kb", 90_000.0))
    assert late.state == "act" and "PFC acts first" in late.finding
    early = found(ROCE, "ECN before PFC", override(ROCE, "congestion_control.kmin_kb", 100.0))
    assert early.state == "fine" and "worst case" in early.finding


def test_stability_is_left_open_outside_the_equations_and_decided_inside() -> None:
    short = found(ROCE, "DCQCN stability")
    assert short.state == "look" and "Not decided" in short.finding and "1 us" in short.finding
    assert "packet by packet" not in short.finding
    assert "packet by packet" in found(ROCE, "DCQCN stability", solved=True).finding
    paper = override(ROCE, "congestion_control.parameter_set", "hpcc_dcqcn_paper")
    inside = found(ROCE, "DCQCN stability", paper)
    assert inside.state == "fine" and "stable for 2 <= N <= 64" in inside.finding
    # the anchor of physics: 85 us of delay make the 40G set of the paper unstable for a few flows
    slow = override(ROCE, "congestion_control.parameter_set", "zhu2015")
    slow |= override(ROCE, "link.rate_gbit_per_s", 40.0)
    slow |= override(ROCE, "link.mtu_bytes", 1000.0) | override(ROCE, "link.header_bytes", 0.0)
    far = {"topology.cable_m.host_leaf": 4000.0, "topology.cable_m.leaf_spine": 4000.0}
    unstable = found(ROCE, "DCQCN stability", slow | far)
    assert "unstable for 3 <= N <= 20" in unstable.finding and "beyond N" in unstable.finding
    assert unstable.state == "look"  # 32 senders are past the unstable few


def test_headroom_follows_cable_profile_and_memory() -> None:
    assert found(ROCE, "PFC headroom").state == "fine"
    far = found(ROCE, "PFC headroom", {"topology.cable_m.leaf_spine": 100.0})
    assert far.state == "look" and "100 m" in far.finding and "lost beyond" in far.finding
    profile = override(ROCE, "flow_control.headroom_cable_m", 100.0)
    assert "lost" not in found(ROCE, "PFC headroom", {"topology.cable_m.leaf_spine": 100.0} | profile).finding
    tiny = found(ROCE, "PFC headroom", override(ROCE, "flow_control.switch_buffer_mb", 12.0))
    assert tiny.state == "act"
    assert found(ROCE, "ECN before PFC", override(ROCE, "flow_control.switch_buffer_mb", 12.0)).state == "act"


def test_a_stuck_receiver_stops_everybody_and_the_watchdog_is_compared_with_the_timeout() -> None:
    storm = found(ROCE, "pause storms", solved=True)
    assert "hosts, leaves, spines" in storm.finding and "nothing" in storm.finding
    assert "before the transport's timeout" in storm.finding and storm.state == "look"
    quick = found(ROCE, "pause storms", override(ROCE, "loss_recovery.timeout_ms", 60.0))
    assert quick.state == "act" and "after the transport's timeout" in quick.finding


def test_the_storm_climbs_the_tree_and_spares_who_shares_no_link() -> None:
    on = setup(SCENARIO, ROCE)
    storm = pause_storm(
        phases(SCENARIO.workloads["incast"], SCENARIO, "incast").phases[0], on.network, on.link
    )
    assert storm.tiers == ("host", "leaf", "spine")
    assert 0 < storm.switches_after_s < storm.hosts_after_s < 1e-3  # long before any watchdog
    assert storm.hosts_fraction == 1.0 and storm.victim_fraction == pytest.approx(0.0, abs=1e-3)
    few = with_values(SCENARIO, {"workloads.incast.fan_in": 4})
    storm = pause_storm(phases(few.workloads["incast"], few, "incast").phases[0], on.network, on.link)
    assert storm.victim_fraction == pytest.approx(1.0, abs=0.02) and storm.hosts_fraction < 1.0


def test_credits_reach_as_far_as_the_buffer_allows() -> None:
    near = found(IB, "credit round trip")
    assert near.state == "fine" and f"{longest_link_m(131072, 50e9):.0f} m" in near.finding
    assert found(IB, "credit round trip", {"topology.cable_m.leaf_spine": 100.0}).state == "look"
    far = found(IB, "credit round trip", {"topology.cable_m.leaf_spine": 400.0})
    assert far.state == "act" and "57 % of the line rate" in far.finding


def test_congestion_control_on_helps_where_its_table_reaches_and_says_where_not() -> None:
    many = found(IB, "congestion control", solved=True)
    assert "off" in many.finding.lower() and "15 % at most" in many.finding
    assert (
        "at most" not in found(IB, "congestion control", {"workloads.incast.fan_in": 4}, solved=True).finding
    )
    assert "switched on" not in found(IB, "congestion control").finding


def test_pfc_alone_is_to_be_acted_on_and_admission_to_be_looked_at() -> None:
    for preset, state in (("rocev2_pfc_no_cc_400g", "act"), ("rocev2_pfc_only_400g", "look")):
        changed = SCENARIO.candidates[ROCE].model_copy(update={"technology": preset})
        scenario = SCENARIO.model_copy(update={"candidates": {"a": changed}})
        checks = incast_checks(scenario, [setup(scenario, "a")])
        assert next(c for c in checks if c.topic == "congestion control").state == state
        assert technology(preset).flow_control.kind == "pfc"
    assert "To act on" in checks_sentence(
        incast_checks(
            with_values(SCENARIO, override(ROCE, "flow_control.switch_buffer_mb", 12.0)),
            [
                setup(
                    with_values(SCENARIO, override(ROCE, "flow_control.switch_buffer_mb", 12.0)),
                    ROCE,
                )
            ],
        )
    )


def test_drops_where_the_first_windows_overflow() -> None:
    assert found(TCP, "drops").state == "fine"
    small = found(TCP, "drops", override(TCP, "flow_control.switch_buffer_mb", 2.0))
    assert small.state == "act" and "packets drop" in small.finding


def test_a_scenario_without_incast_is_checked_with_a_usual_one() -> None:
    plain = SCENARIO.model_copy(update={"workloads": {"training": SCENARIO.workloads["training"]}})
    asked = usual_incast(plain)
    assert asked is not None and asked[1].workloads["incast"].fan_in == 32
    rows = risks(plain, [setup(plain, ROCE)], {})
    assert {"ECN before PFC", "PFC headroom", "DCQCN stability"} <= {row.topic for row in rows}
    assert sum(row.topic == "pause storms" for row in rows) == 1


def test_the_command_prints_the_checks(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    scenario = SHIPPED / "startup-256-h100.yaml"
    assert main(["compare", str(scenario), "--method", "analytical", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {"candidate", "topic", "state", "short", "finding", "advice", "source"} == set(
        document["checks"][0]
    )
    assert {c["state"] for c in document["checks"]} <= {"act", "look", "fine"}
    assert "To check:" in checks_text(checks_of(load(scenario), []))
