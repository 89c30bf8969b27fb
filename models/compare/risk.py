"""Risks of a candidate as stated facts, each with its source; never blended into the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.catalog.parts import parts
from models.compare.costs import CandidateCost
from models.compare.incast_checks import STATE_WORDS, Check, incast_checks
from models.compare.performance import Setup
from models.infiniband.credits import HEAD_OF_QUEUE_S
from models.rocev2.pfc import SWITCH_WATCHDOG_S
from models.scenario.schema import Scenario
from models.topology.size import CannotBuild
from models.units import duration_text

PAIRS_CHECKED = 1024
PATHS_CHECKED = 8
LAYERS = (("switch", "switches"), ("nic", "NICs"), ("switch_transceiver", "optics"), ("cable", "cables"))
PAUSE_SOURCE = "SONiC PFC watchdog; Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016"
DALLY_SOURCE = "Dally and Seitz 1987: no cycle of buffer dependencies, no deadlock"


@dataclass(frozen=True)
class RiskRow:
    """One fact about one candidate."""

    candidate: str
    topic: str  # vendors | lead time | deadlock | pause storms | loss | subnet | skills | notes | those of incast_checks
    fact: str
    value: str
    source: str


def risks(scenario: Scenario, setups: Sequence[Setup], costs: Mapping[str, CandidateCost]) -> list[RiskRow]:
    """Facts by candidate and topic."""
    checks = incast_checks(scenario, setups)
    return [row for on in setups for row in (*_of(scenario, on, costs.get(on.name)), *_checked(on, checks))]


def _checked(on: Setup, checks: Sequence[Check]) -> Iterator[RiskRow]:
    """What to check of the network under an incast, in closed form; a stuck receiver has its row already."""
    for check in checks:
        if check.candidate == on.name and check.topic != "pause storms":
            fact = check.finding if check.state == "fine" else f"{check.finding} {check.advice}"
            yield RiskRow(on.name, check.topic, fact, STATE_WORDS[check.state], check.source)


def _of(scenario: Scenario, on: Setup, cost: CandidateCost | None) -> Iterator[RiskRow]:
    technology = on.technology

    def row(topic: str, fact: str, value: object, source: str) -> RiskRow:
        return RiskRow(on.name, topic, fact, str(value), source)

    vendors = technology.operations.switch_vendors
    yield row(
        "vendors",
        "vendors of switches for this technology",
        f"{len(vendors)}: {', '.join(vendors)}",
        "catalogue",
    )
    for role, words in LAYERS:
        part = parts().get(on.candidate.parts.get(role, ""))
        if part is not None:
            yield row(
                "vendors", f"vendor of the {words} chosen", f"{part.vendor} ({part.model})", part.source
            )
    if cost is not None:
        yield from _lead_times(on, cost)
    yield _deadlock(on, scenario.seed)
    yield from _losses(on)
    yield from _subnet(on)
    staff = technology.operations.network_staff
    low, high = staff.band
    yield row("skills", "people who run the network of a 1,024-GPU cluster", f"{staff.value:g} ({low:g} to {high:g})",
              f"{staff.source} ({staff.confidence})")  # fmt: skip
    for note in technology.operations.notes:
        yield row("notes", note, "", f"preset {technology.id}")


def _lead_times(on: Setup, cost: CandidateCost) -> Iterator[RiskRow]:
    known = [line for line in cost.made.lines if line.lead_time_weeks_high is not None]
    if not known:
        yield RiskRow(on.name, "lead time", "lead times of its parts", "not known", "catalogue")
        return
    longest = max(known, key=lambda line: line.lead_time_weeks_high or 0.0)
    low, high = longest.lead_time_weeks_low, longest.lead_time_weeks_high
    weeks = f"{high:g} weeks" if low is None else f"{low:g} to {high:g} weeks"
    fact = f"longest known: {longest.description}"
    yield RiskRow(on.name, "lead time", fact, weeks, longest.price_source)


def _deadlock(on: Setup, seed: int) -> RiskRow:
    """Cyclic buffer dependencies of the routes of sampled node pairs, all paths the routing may take."""
    lossless = on.technology.flow_control.kind in {"credits", "pfc"}
    fact = "cyclic buffer dependency in the routes (lossless networks only)"
    if not lossless:
        return RiskRow(
            on.name, "deadlock", fact, "cannot deadlock: a full buffer drops", "flow control: none"
        )
    try:
        cycle, checked = dependency_cycle_of(on, seed)
    except CannotBuild as error:
        return RiskRow(on.name, "deadlock", fact, f"not checked: {error}", DALLY_SOURCE)
    words = f"cycle over {len(cycle)} links" if cycle else f"none in {checked:,} routes"
    return RiskRow(on.name, "deadlock", fact, words, DALLY_SOURCE)


def dependency_cycle_of(on: Setup, seed: int) -> tuple[tuple[int, ...], int]:
    """(links of a cycle or (), routes checked) for routes between random NICs of the network."""
    from models.solvers.dependency_cycle import dependency_cycle
    from models.topology.flows import Flows
    from models.topology.graph import graph
    from models.topology.mechanism import mechanism
    from models.topology.routes import routes

    built = graph(on.network, on.link.rate_bytes_per_s)
    ports = on.network.nodes * on.network.nics_per_node
    if ports < 2:
        return (), 0
    draw = np.random.default_rng(seed)
    source = draw.integers(0, ports, PAIRS_CHECKED)
    target = (source + draw.integers(1, ports, PAIRS_CHECKED)) % ports
    flows = Flows(source, target, np.ones(PAIRS_CHECKED))
    # every equal path may be taken: hash many queue pairs over them
    how = replace(mechanism(on.technology), kind="ecmp", queue_pairs=PATHS_CHECKED, polarised=False)
    table = routes(built, flows, how, seed)
    pieces = np.split(table.links, table.offsets[1:-1])
    network_links = [[int(link) for link in piece if link < built.links] for piece in pieces]
    return dependency_cycle(network_links), len(network_links)


def _losses(on: Setup) -> Iterator[RiskRow]:
    kind, recovery = on.technology.flow_control.kind, on.technology.loss_recovery
    if kind == "pfc":
        low, high = (f"{s * 1e3:g}" for s in SWITCH_WATCHDOG_S)
        yield RiskRow(
            on.name, "pause storms", "a NIC that does not drain pauses the tree above it; a watchdog bounds it",
            f"exposed; {low} to {high} ms an event with a watchdog, without end otherwise", PAUSE_SOURCE,
        )  # fmt: skip
    elif kind == "credits":
        low, high = map(duration_text, HEAD_OF_QUEUE_S)
        yield RiskRow(
            on.name, "pause storms", "a receiver that does not drain stalls its senders by credits; head-of-queue "
            "lifetime drops what is stuck", f"exposed, bounded: {low} to {high} an event", "IBTA vol. 1; opensm osm_base.h",
        )  # fmt: skip
    else:
        yield RiskRow(
            on.name, "pause storms", "no link-level flow control", "not exposed", "flow control: none"
        )
    timeout = recovery.timeout_ms
    yield RiskRow(
        on.name, "loss", f"a lost packet is recovered by {recovery.kind.replace('_', ' ')}",
        f"timeout {timeout.value:g} ms", f"{timeout.source} ({timeout.confidence})",
    )  # fmt: skip


def _subnet(on: Setup) -> Iterator[RiskRow]:
    most = on.technology.operations.subnet_endpoints_max
    if most is None:
        return
    size = on.network.size
    ports = size.host_leaf_links // size.copies
    share = ports / most.value
    yield RiskRow(
        on.name, "subnet", f"addresses of one subnet: {ports:,} of {most.value:,.0f} for host ports",
        f"{share:.0%}" + ("; more than one subnet is needed" if share > 1 else ""), f"{most.source} ({most.confidence})",
    )  # fmt: skip
