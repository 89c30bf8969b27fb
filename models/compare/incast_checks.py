"""What to check before buying or tuning a lossless fabric: facts computed from the scenario, each with its source.

Closed forms unless `solved`, which also runs packets: a receiver that hangs (RoCE) and congestion control switched
on (InfiniBand). Stated beside the score, never blended into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from models.compare.performance import Setup, WorkloadTime
from models.scenario.schema import Scenario
from models.scenario.workloads import Incast
from models.workload.phase import Phase
from models.workload.phases import phases

State = Literal["fine", "look", "act"]
FAN_IN_USUAL, BURST_USUAL_BYTES = 32, 2**20  # where a scenario has no incast of its own
STATE_WORDS: dict[State, str] = {"act": "to act on", "look": "to look at", "fine": "fine"}


@dataclass(frozen=True)
class Check:
    """One thing to check: what was found, and what to ask or change."""

    candidate: str
    topic: str
    state: State
    short: str  # the figures alone, for a table
    finding: str
    advice: str
    source: str


@dataclass(frozen=True)
class Checked:
    """What a check looks at: a candidate in an incast of the scenario."""

    scenario: Scenario
    on: Setup
    workload: str
    phase: Phase
    solved: bool

    @property
    def longest_cable_m(self) -> float:
        """Longest cable between two devices of the network, m."""
        lengths, tiers = self.on.network.cable_m, self.on.network.size.tiers_count
        return max((lengths.host_leaf, lengths.leaf_spine, lengths.spine_core)[: max(1, tiers)])

    def check(self, topic: str, state: State, short: str, finding: str, advice: str, source: str) -> Check:
        """A check of this candidate."""
        return Check(self.on.name, topic, state, short, finding, advice, source)


def incast_checks(
    scenario: Scenario,
    setups: Sequence[Setup],
    solved: bool = False,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Check]:
    """Checks of every candidate, in its order; of the scenario's first incast, or of a usual one where it has none.

    Empty for a cluster without two NICs to send.
    """
    from models.compare.incast_checks_credits import credit_checks
    from models.compare.incast_checks_loss import loss_checks
    from models.compare.incast_checks_pfc import pfc_checks

    asked = usual_incast(scenario)
    if asked is None:
        return []
    workload, whole = asked
    phase = phases(whole.workloads[workload], whole, workload).phases[0]
    kinds: dict[str, Callable[[Checked], Iterator[Check]]] = {
        "credits": credit_checks,
        "pfc": pfc_checks,
        "none": loss_checks,
    }
    found: list[Check] = []
    for on in setups:
        progress(f"{on.name}: what to check")
        of = kinds[on.technology.flow_control.kind]
        found += of(Checked(whole, on, workload, phase, solved))
    return found


def checks_of(scenario: Scenario, performance: Sequence[WorkloadTime]) -> list[Check]:
    """Checks in closed form of the candidates that have been compared."""
    return incast_checks(scenario, list({item.setup.name: item.setup for item in performance}.values()))


def usual_incast(scenario: Scenario) -> tuple[str, Scenario] | None:
    """(name, scenario) of the first incast workload, or of a usual one put in; None without two senders."""
    for name, item in scenario.workloads.items():
        if item.kind == "incast":
            return name, scenario
    senders = scenario.cluster.nodes * scenario.cluster.nics_per_node - 2
    if senders < 2:
        return None
    usual = Incast(
        kind="incast", weight=0, fan_in=min(FAN_IN_USUAL, senders), burst_bytes=BURST_USUAL_BYTES, seeds=1
    )
    return "incast", scenario.model_copy(update={"workloads": {**scenario.workloads, "incast": usual}})


def checks_sentence(checks: Sequence[Check]) -> str:
    """What has to be acted on, or else what wants a look and on which candidates."""
    if not checks:
        return "Nothing to check: the cluster has too few NICs for an incast."
    act = [c for c in checks if c.state == "act"]
    if act:
        more = f" ({len(act) - 1} more to act on)" if len(act) > 1 else ""
        return f"To act on before buying: {act[0].candidate}, {act[0].topic}. {act[0].finding}{more}"
    look: dict[str, list[str]] = {}
    for c in checks:
        if c.state == "look":
            look.setdefault(c.topic, []).append(c.candidate)
    if not look:
        return f"All {len(checks)} checks are fine."
    named = "; ".join(f"{topic} ({', '.join(names)})" for topic, names in look.items())
    return f"Nothing has to change before buying; worth a look: {named}."
