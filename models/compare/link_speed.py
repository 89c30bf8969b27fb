"""The same question at another link speed: each candidate's preset and parts of that generation."""

from __future__ import annotations

from models.catalog.technology import technology
from models.scenario.faults import Fault, InputError
from models.scenario.load import from_mapping
from models.scenario.schema import Scenario

SPEEDS_GBIT_PER_S = (200, 400, 800)

# (fabric family, Gbit/s) -> preset and switch; the other parts follow from family and rate
GENERATIONS: dict[tuple[str, int], tuple[str, str]] = {
    ("ib", 200): ("infiniband_hdr", "sw_qm8700"),
    ("ib", 400): ("infiniband_ndr", "sw_qm9700"),
    ("ib", 800): ("infiniband_xdr", "sw_q3400"),
    ("roce", 200): ("rocev2_200g", "sw_sn4600"),
    ("roce", 400): ("rocev2_400g", "sw_th5_wb"),
    ("roce", 800): ("rocev2_800g", "sw_th5_wb"),
    ("spectrum_x", 400): ("spectrum_x_400g", "sw_sn5600"),
    ("spectrum_x", 800): ("spectrum_x_800g", "sw_sn5600"),
}


def link_speed_gbit_per_s(scenario: Scenario) -> int:
    """The candidates' common link speed, 0 where they differ."""
    rates = {
        int(technology(item.technology, item.overrides).link.rate_gbit_per_s.value)
        for item in scenario.candidates.values()
    }
    return rates.pop() if len(rates) == 1 else 0


def at_speed(scenario: Scenario, rate_gbit_per_s: int) -> Scenario:
    """The scenario with every candidate replaced by its family's generation of that speed.

    Candidates that already run at the speed stay as they are; families that have no such generation are left
    out. Names follow the new preset where the old preset's name is in them.

    Raises InputError when no family has the speed.
    """
    mapping = scenario.model_dump(mode="json", exclude_defaults=True)
    candidates: dict[str, object] = {}
    for name, item in scenario.candidates.items():
        preset = technology(item.technology, item.overrides)
        if preset.link.rate_gbit_per_s.value == rate_gbit_per_s:
            candidates[name] = mapping["candidates"][name]
            continue
        found = GENERATIONS.get((preset.fabric, rate_gbit_per_s))
        if found is None:
            continue
        label = technology(found[0]).label
        candidates[label if label not in candidates else f"{label} - {name}"[:64]] = {
            "technology": found[0],
            "parts": {"switch": found[1]},
        }
    if not candidates:
        problem = "none of the candidates' fabric families has a generation of this speed in the catalogue"
        raise InputError([Fault(scenario.name, "nic", str(rate_gbit_per_s), problem)])
    return from_mapping({**mapping, "candidates": candidates}, scenario.name)
