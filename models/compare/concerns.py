"""Which part of an answer a scenario key can change: what a sweep need not work out again.

A key of one candidate changes that candidate only, a key of one workload that workload only; prices and economics
change no time, placement and workloads change no cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from models.scenario.schema import Scenario

COST_ONLY = ("prices", "economics", "networks")
TIME_ONLY = ("placement", "failures", "seed", "workloads")
BEHAVIOUR = (
    "flow_control",
    "congestion_control",
    "routing",
    "in_network_reduction",
    "loss_recovery",
    "host",
)  # how a technology behaves; not what is bought
NOTHING = ("name", "question", "sweep", "schema_version")


@dataclass(frozen=True)
class Concern:
    """Where a key belongs: its section, and the candidate or workload it names."""

    key: str
    section: str
    candidate: str = ""  # "" = every candidate
    workload: str = ""  # "" = every workload
    weight: bool = False  # a workload's weight changes the score, not a time
    figure: str = ""  # section of a candidate's technology that an override sets


def concern(key: str, scenario: Scenario) -> Concern:
    """Where `key` belongs in `scenario`."""
    section = key.partition(".")[0]
    if section == "candidates":
        owner = _owner(key, section, scenario.candidates)
        _, _, path = key.partition(f"candidates.{owner}.overrides.")
        return Concern(key, section, candidate=owner, figure=path.partition(".")[0])
    if section == "workloads":
        owner = _owner(key, section, scenario.workloads)
        return Concern(key, section, workload=owner, weight=key == f"workloads.{owner}.weight")
    return Concern(key, section)


def setup_keys(concerns: Iterable[Concern], candidate: str) -> tuple[str, ...]:
    """Keys that change the link or the network of a candidate."""
    apart = (*COST_ONLY, *NOTHING, "workloads")
    return tuple(
        c.key
        for c in concerns
        if c.section not in apart and c.candidate in ("", candidate) and c.figure != "operations"
    )


def plan_keys(concerns: Iterable[Concern], workload: str) -> tuple[str, ...]:
    """Keys that change what a workload sends and computes."""
    apart = (*COST_ONLY, *NOTHING, "candidates")
    return tuple(
        c.key for c in concerns if c.section not in apart and not c.weight and c.workload in ("", workload)
    )


def cost_keys(concerns: Iterable[Concern], candidate: str) -> tuple[str, ...]:
    """Keys that change what a candidate costs."""
    apart = (*TIME_ONLY, *NOTHING)
    return tuple(
        c.key
        for c in concerns
        if c.section not in apart and c.candidate in ("", candidate) and c.figure not in BEHAVIOUR
    )


def values_of(keys: Sequence[str], point: Mapping[str, object]) -> tuple[object, ...]:
    """The point's values of `keys`, in order; None for a key it leaves as the scenario has it."""
    return tuple(point.get(key) for key in keys)


def _owner(key: str, section: str, names: Iterable[str]) -> str:
    """The longest name the key goes through: names may hold dots."""
    return max((name for name in names if key.startswith(f"{section}.{name}.")), key=len, default="")
