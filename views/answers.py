"""Results the pages share: keyed by the scenario's full text, so that sessions share work and never state."""

from __future__ import annotations

import streamlit as st

from models.compare.comparison import Comparison, compare
from models.scenario.schema import Scenario
from views import show
from views.work import STORE, Cancelled, Job

BOTH = ("analytical", "fluid")


def key_of(scenario: Scenario, *settings: object) -> tuple[object, ...]:
    """Everything a result depends on."""
    return (scenario.model_dump_json(), *settings)


def comparison(scenario: Scenario) -> Comparison:
    """The best answer there is by now: both methods, or the closed form while the flow solver runs.

    Raises InputError for what cannot be built, routed or run.
    """
    known = STORE.known(key_of(scenario, "compare", BOTH))
    if known is None or not known.ended.is_set():
        quick = quick_comparison(scenario)
        known = flow_run(scenario)
        if known is None or not known.ended.is_set():
            return quick
    if known.error is not None:
        return quick_comparison(scenario)
    whole: Comparison = known.result
    return whole


def flow_run(scenario: Scenario) -> Job | None:
    """The run with both methods; None where this session has stopped it."""
    return show.run_of(
        key_of(scenario, "compare", BOTH),
        "Flow solver",
        lambda job: compare(scenario, progress=job.progress),
        steps=2 * len(scenario.candidates) * len(scenario.workloads) + 1,
        aside=True,
    )


def quick_comparison(scenario: Scenario) -> Comparison:
    """The comparison by closed formulas alone, computed here and now."""
    job = STORE.job(
        key_of(scenario, "compare", "quick"),
        "Closed formulas",
        lambda job: compare(scenario, ("analytical",), progress=job.progress, unscored=False),
        here=True,
    )
    job.ended.wait()
    if job.error is not None:
        if isinstance(job.error, Cancelled):
            raise show.fault_of(job.error)
        raise job.error
    result: Comparison = job.result
    return result


def method_note(scenario: Scenario, answer: Comparison) -> None:
    """While the flow solver runs: how far it is. The page redraws with both methods when it ends."""
    if len(answer.methods) > 1:
        return
    key = key_of(scenario, "compare", BOTH)
    job = flow_run(scenario)
    if job is None or isinstance(job.error, Cancelled):
        show.stopped(key, "fluid", "Flow solver (the answer rests on closed formulas alone)")
    elif not job.ended.is_set():
        show.progress(key, "fluid")
    elif job.error is not None:
        st.warning(f"The flow solver has no answer here: {show.fault_of(job.error)}", icon=":material/info:")
    else:
        show.rerun()
