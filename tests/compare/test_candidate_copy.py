"""A candidate copied with one thing changed."""

import pytest

from models.compare.candidate_copy import CHANGEABLE, with_copy
from models.compare.performance import setup
from models.scenario.faults import InputError
from models.scenario.load import SHIPPED, load

FIRST = load(SHIPPED / "llama3-70b-1024-h100.yaml")


@pytest.mark.parametrize(
    ("key", "value", "at"),
    [
        ("routing.kind", "spray", lambda c: c.overrides["routing.kind"]),
        ("routing.queue_pairs", 16.0, lambda c: c.overrides["routing.queue_pairs"]),
        ("parts.switch", "sw_sn5600", lambda c: c.parts["switch"]),
        ("technology", "rocev2_spray_400g", lambda c: c.technology),
    ],
)
def test_only_that_thing_changes(key, value, at) -> None:
    copied = with_copy(FIRST, "RoCEv2 400G", key, value)
    added = [name for name in copied.candidates if name not in FIRST.candidates]
    assert len(added) == 1 and at(copied.candidates[added[0]]) == value
    assert {n: copied.candidates[n] for n in FIRST.candidates} == dict(FIRST.candidates)
    assert copied.model_fields_set == FIRST.model_fields_set
    assert setup(copied, added[0]).network.size.switches > 0


@pytest.mark.parametrize("preset", ["infiniband_ndr", "spectrum_x_400g", "tcp_400g"])
@pytest.mark.parametrize("name", ["RoCEv2 400G", "InfiniBand NDR"])
def test_another_technology_comes_on_switches_that_speak_it(name, preset) -> None:
    copied = with_copy(FIRST, name, "technology", preset)
    added = list(copied.candidates)[-1]
    assert setup(copied, added).technology.id == preset


def test_what_no_candidate_has_switches_for_is_refused() -> None:
    only = FIRST.model_copy(update={"candidates": {"RoCEv2 400G": FIRST.candidates["RoCEv2 400G"]}})
    with pytest.raises(InputError, match="is a switch for Ethernet only"):
        with_copy(only, "RoCEv2 400G", "technology", "infiniband_ndr")


def test_parts_offered_speak_the_candidate_s_protocol() -> None:
    offered = CHANGEABLE["parts.switch"].options(FIRST, "InfiniBand NDR")
    assert "sw_qm9700" in offered and "sw_sn5600" not in offered
    for part in CHANGEABLE["parts.nic"].options(FIRST, "RoCEv2 400G"):
        with_copy(FIRST, "RoCEv2 400G", "parts.nic", part)
