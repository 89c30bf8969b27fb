"""Whether a scenario can be answered at all: every fault of its workloads and candidates at once."""

from __future__ import annotations

from models.compare.layout_search import searches
from models.compare.performance import setup
from models.scenario.faults import Fault, InputError
from models.scenario.schema import Scenario
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
            setup(scenario, name)
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
