"""The part of the Incast page that shows the axis which decides: bursts together over the memory that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from models import charts_incast_axis
from models.compare.incast_axis import (
    AxisPoint,
    axis_frame,
    axis_points,
    axis_seconds,
    axis_sentence,
    axis_spans,
    axis_stages,
    axis_steps,
)
from models.scenario.schema import Scenario
from views import answers, show
from views.kept import kept
from views.work import STORE, Job, wait_s

SAID_STEP_S = 5.0  # longer times are said in these steps: it is a guess
EXPLAINED = (
    "What decides is **all bursts together against the memory that has to hold them**: the shared buffer of the last "
    "switch on Ethernet, the input buffers of the links into it on InfiniBand. Short bursts end before the victim is at "
    "full speed (on TCP: before slow start is over), so lines begin low at the left on any fabric."
)


def axis_section(only: Scenario, name: str, colours: dict[str, str]) -> None:
    """Stages at once; victim and tail along the axis by both methods when they are asked for."""
    key = answers.key_of(only, "incast-axis")
    st.subheader("The axis that decides", anchor=False)
    st.markdown(show.escaped(kept(("axis-sentence", key), lambda: axis_sentence(only, name))))
    job = STORE.known(key)
    running = job is not None and not job.ended.is_set()

    @st.fragment(run_every=0.5 if running else None)
    def panel() -> None:
        now = STORE.known(key)
        if running and (now is None or now.ended.is_set()):
            show.rerun()
        _stages(only, name, colours, key)
        if running and now is not None:
            _progress(key, now)
        elif now is None or now.error is not None:
            _control(only, name, key, now)
        if now is not None and now.partial:
            _lines(only, name, colours, key, list(now.partial))

    panel()
    st.caption(EXPLAINED)


def _control(only: Scenario, name: str, key: tuple[object, ...], before: Job | None) -> None:
    """The button that works the axis out; after a stop it goes on with what is there."""
    seconds = kept(("axis-seconds", key), lambda: axis_seconds(only, name))
    about = max(1, round(seconds)) if seconds < SAID_STEP_S else SAID_STEP_S * round(seconds / SAID_STEP_S)
    points = kept(("axis-steps", key), lambda: axis_steps(only, name))
    done = [] if before is None else list(before.partial)
    with st.container(horizontal=True, vertical_alignment="center", key="axis-control"):
        if st.button("Go on" if done else "Work out victim and tail along this axis", key="axis-solve"):
            _start(only, name, key, points, done)
            show.rerun()
        if before is not None and not before.stop.is_set():
            st.caption(
                f"Ended early: {show.fault_of(before.error)}" if isinstance(before.error, Exception) else ""
            )
        else:
            st.caption(
                f"{len(done)} of {points} points are there." if done
                else f"{points} points, closed form and packets solved: about {about:.0f} s."
            )  # fmt: skip


def _start(
    only: Scenario, name: str, key: tuple[object, ...], points: int, done: Sequence[AxisPoint]
) -> None:
    def solve(job: Job) -> list[AxisPoint]:
        job.partial += done
        for _ in done:
            job.progress("kept from before")
        for point in axis_points(only, name, job.progress, done):
            job.partial.append(point)
        return list(job.partial)

    job = STORE.job(key, "Working out the axis", solve, points)
    job.watchers.add(show.session_id())
    job.ended.wait(wait_s(0.0))


def _stop(key: tuple[object, ...]) -> None:
    STORE.leave(key, show.session_id())


def _progress(key: tuple[object, ...], job: Job) -> None:
    left = job.seconds_left
    text = f"{job.title}: {job.says}" + (f" · about {max(1, round(left))} s left" if left else "")
    with st.container(horizontal=True, vertical_alignment="center", key="progress-axis"):
        st.progress(job.fraction, text=text)
        st.button("Cancel", key="cancel-axis", on_click=_stop, args=(key,))


def _stages(only: Scenario, name: str, colours: dict[str, str], key: tuple[object, ...]) -> None:
    stages, here, ends = kept(("axis-stages", key), lambda: _frame(only, name))
    make = partial(charts_incast_axis.strip, stages, here, ends, colours)
    show.chart("incast_stages", make, key, *colours, *colours.values())


def _lines(
    only: Scenario, name: str, colours: dict[str, str], key: tuple[object, ...], found: list[AxisPoint]
) -> None:
    stages, _, ends = kept(("axis-stages", key), lambda: _frame(only, name))
    depends = (key, *colours, *colours.values(), len(found))
    points: pd.DataFrame = kept(("axis-points", *depends), lambda: axis_frame(found))
    drawn = {"incast_axis_victim": charts_incast_axis.victim, "incast_axis_tail": charts_incast_axis.tail}
    for chart_name, make in drawn.items():
        if chart_name.endswith("tail") or points.victim_fraction.notna().any():
            show.chart(chart_name, partial(make, points, stages, ends, colours), *depends)
    show.csv("incast_axis", points, "CSV of the axis")


def _frame(only: Scenario, name: str) -> tuple[pd.DataFrame, dict[str, float], tuple[float, float]]:
    """Stages, where the scenario's own burst is on each candidate, and the ends of the axis."""
    stages, spans = axis_stages(only, name), axis_spans(only, name)
    return (
        stages,
        {candidate: span.here for candidate, span in spans.items()},
        charts_incast_axis.domain(list(spans.values()), stages),
    )
