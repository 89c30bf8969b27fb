"""Whether a scenario can be answered at all: every fault of its workloads and candidates at once."""

from __future__ import annotations

from dataclasses import replace

from models.compare.layout_search import searches
from models.compare.performance import Setup, setup
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Failures, Scenario
from models.topology.failures import named_links
from models.topology.graph import graph
from models.topology.size import CannotBuild
from models.workload.phases import phases


def check(scenario: Scenario) -> None:
    """Raises InputError with the faults of all workloads and all candidates together, none where both fit.

    A comparison stops at the first fault; whoever mends a file wants them all.
    """
    faults: list[Fault] = []
    for name, workload in scenario.workloads.items():
        if searches(workload):
            continue  # its layout is found per candidate
        try:
            phases(workload, scenario, name)
        except InputError as error:
            faults += error.faults
    for name in scenario.candidates:
        try:
            faults += _named_failures(scenario, setup(scenario, name))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _named_failures(scenario: Scenario, on: Setup) -> list[Fault]:
    """Faults of links and switches named as down that the candidate's network does not have."""
    named = [(key, name) for key in ("links", "switches") for name in getattr(scenario.failures, key)]
    if not named:
        return []
    whole = graph(replace(on.network, failures=Failures()), on.link.rate_bytes_per_s)
    faults = []
    for key, name in named:
        try:
            named_links(whole, name)
        except CannotBuild as error:
            problem = str(error).removeprefix("failures: ")
            if "is not a name" not in problem:  # then it is the candidate's network that has no such part
                problem = f"{on.name}: {problem}"
            faults.append(Fault(scenario.name, f"failures.{key}", name, problem))
    return faults
