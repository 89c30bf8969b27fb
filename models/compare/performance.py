"""How fast each workload runs on each candidate: the same phases, every fabric, every method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.catalog.parts import parts
from models.catalog.technology import Technology
from models.compare.fabrics import Method, fabric_link, phase_time_function
from models.compare.layout_search import best_layout_plan
from models.scenario.faults import Fault, InputError
from models.scenario.load import candidate_technology
from models.scenario.part_words import missing_part
from models.scenario.schema import Candidate, Scenario
from models.topology.link import Link
from models.topology.network import Network, network, switch_radices
from models.topology.size import CannotBuild
from models.units import gbit_per_s_from_bytes_per_s
from models.workload.phase import PhaseTime
from models.workload.phases import phases
from models.workload.plan import UnitTime, WorkPlan, unit_time


@dataclass(frozen=True)
class Setup:
    """A candidate put on the scenario's cluster."""

    name: str
    candidate: Candidate
    technology: Technology
    link: Link
    network: Network


@dataclass(frozen=True)
class WorkloadTime:
    """One workload on one candidate under one method."""

    setup: Setup
    workload: str
    method: Method
    plan: WorkPlan
    times: Mapping[str, PhaseTime]
    unit: UnitTime


def setup(scenario: Scenario, name: str) -> Setup:
    """The candidate `name` with its link and its network.

    Raises InputError when its switches cannot build the network.
    """
    candidate = scenario.candidates[name]
    technology = candidate_technology(candidate)
    link = fabric_link(technology)
    switch = candidate.parts.get("switch")
    key = f"candidates.{name}.parts.switch"
    if switch is None:
        raise InputError(
            [
                Fault(
                    scenario.name,
                    key,
                    "",
                    "is missing: the switch decides how many tiers are needed; "
                    + missing_part("switch", "ib" if technology.fabric == "ib" else "ethernet"),
                )
            ]
        )
    part, above = parts()[switch], parts().get(candidate.parts.get("spine_switch", ""))
    for role in (part, above):
        if role is not None and not (role.ports and role.speed_gbit_per_s):
            raise InputError(
                [Fault(scenario.name, key, role.id, "this part states no ports or no port speed")]
            )
    try:
        rate = gbit_per_s_from_bytes_per_s(link.rate_bytes_per_s)
        radix, upper_radix = switch_radices(candidate.topology or scenario.topology, rate, part, above)
        built = network(scenario, radix, candidate.topology, upper_radix)
    except CannotBuild as error:
        raise InputError([Fault(scenario.name, key, switch, str(error))]) from error
    return Setup(name, candidate, technology, link, built)


def workload_time(scenario: Scenario, on: Setup, workload: str, method: Method) -> WorkloadTime:
    """Time of one unit of work of a workload on a candidate.

    `search_layout` of a training workload gives it the candidate's own best layout.
    Raises InputError for a workload that does not fit the cluster or that the network cannot route.
    """
    asked = scenario.workloads[workload]
    if asked.kind == "llm_training" and asked.search_layout:
        plan = best_layout_plan(scenario, workload, on.network, on.link)
    else:
        plan = phases(asked, scenario, workload)
    evaluate = phase_time_function(on.technology.fabric, method)
    try:
        times = {phase.name: evaluate(phase, on.network, on.link) for phase in plan.phases}
    except CannotBuild as error:
        problem = f"cannot run on {on.name}: {error}"
        raise InputError([Fault(scenario.name, f"workloads.{workload}", "", problem)]) from error
    return WorkloadTime(on, workload, method, plan, times, unit_time(plan, times))
