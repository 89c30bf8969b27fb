"""How a page shows things: charts with export, tables with CSV, faults, progress, folds."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any
from uuid import uuid4

import pandas as pd
import streamlit as st

from models import charts
from models.export import csv_text
from models.scenario.faults import Fault, InputError
from views.glossary import GLOSSARY
from views.kept import kept
from views.work import STORE, Busy, Cancelled, Job, wait_s

WAIT_S = 0.35  # a page waits this long for a run before it shows progress
ASIDE_S = 0.3


def heading(sentence: str, question: str) -> None:
    """The page's answer as its title, the question it answers above it."""
    st.caption(prose(question))
    st.header(prose(sentence), anchor=False)


def prose(text: str) -> str:
    """A sentence as pages show it: thin-space thousands, and no unit parted from its number.

    >>> prose("7.4 % at 16,384 GPUs").replace("\\u2009", "_").replace("\\u00a0", "~")
    '7.4~% at 16_384 GPUs'
    """
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", charts.THIN_SPACE, text)
    return re.sub(
        r"(?<=\d) (?=(?:%|[kMB] USD|[GMK]iB|[GMT]bit/s|[GM]B/s|[un]s|ms|s|days)(?![A-Za-z]))", "\u00a0", text
    )


def chart(name: str, make: Callable[[], Any], *depends: Hashable, export: bool = True) -> None:
    """A chart across the page with its image downloads; its text alternative is in the spec.

    `make` is called once for all that the chart `depends` on: building and checking a spec takes longer than the
    rest of a page.
    """
    spec = kept(("chart", name, *depends), lambda: _compiled(make()))
    st.vega_lite_chart(dict(spec), width="stretch")
    if export:
        exports(name, spec)


def _compiled(chart: Any) -> dict[str, Any]:
    """The chart as a Vega-Lite mapping with its rows as tables, which travel to the browser compactly."""
    spec: dict[str, Any] = chart.to_dict()
    spec["datasets"] = {name: pd.DataFrame(rows) for name, rows in spec.get("datasets", {}).items()}
    return spec


def exports(name: str, spec: dict[str, Any] | Callable[[], Any]) -> None:
    """Image downloads of a chart, or of what a function returns, drawn when they are asked for."""
    with st.container(horizontal=True, horizontal_alignment="right", gap="small", key=f"exports-{name}"):
        if not charts.can_export():
            st.caption("PNG and SVG: pip install 'fabric-compare[export]'")
            return
        for kind, mime, drawn in (("png", "image/png", charts.png), ("svg", "image/svg+xml", charts.svg)):
            st.download_button(
                kind.upper(), partial(_drawn, drawn, spec), f"{name}.{kind}", mime,
                key=f"{kind}-{name}", on_click="ignore", type="tertiary",
            )  # fmt: skip


def _drawn(draw: Callable[[Any], Any], spec: dict[str, Any] | Callable[[], Any]) -> Any:
    return draw(spec() if callable(spec) else spec)


def table(
    name: str, frame: pd.DataFrame, columns: Mapping[str, Any] | None = None, full: pd.DataFrame | None = None,
    height: int | str = "auto", caption: str = "", about: str = "",
) -> None:  # fmt: skip
    """A table with its CSV; `full` is what the CSV holds where the page shows less, `about` says what that is."""
    if caption:
        st.markdown(f"**{caption}**")
    settings = {**_aligned(frame), **(columns or {})}
    st.dataframe(frame, column_config=settings, hide_index=True, width="stretch", height=height)
    csv(name, frame if full is None else full, f"CSV: {about}" if about else "CSV")


_FIGURE = re.compile(r"[-+\u2212]?[\d.\u2009 ]+(?: ?(?:%|[A-Za-z/]+(?: [A-Z/]+)?|: 1))?(?:  ?\(.*\))?")
_NO_FIGURE = {"", charts.MISSING, "best", "unknown"}


def _aligned(frame: pd.DataFrame) -> dict[str, Any]:
    """Figures stand right, words left."""
    right = {}
    for name in frame.columns:
        cells = [str(cell) for cell in frame[name].head(40)]
        figures = [cell for cell in cells if cell not in _NO_FIGURE]
        if figures and all(_FIGURE.fullmatch(cell) for cell in figures):
            right[str(name)] = st.column_config.Column(alignment="right")
    return right


def csv(name: str, whole: pd.DataFrame, label: str = "CSV") -> None:
    """A table's download, written when it is asked for."""
    st.download_button(
        label, lambda: csv_text(whole), f"{name}.csv", "text/csv",
        key=f"csv-{name}", on_click="ignore", type="tertiary", help=f"{name}.csv, {len(whole)} rows",
    )  # fmt: skip


def terms(*names: str) -> None:
    """Words of the trade on this page, each with its meaning on hover."""
    with st.container(
        horizontal=True, gap="small", key="terms-" + "-".join(n.replace(" ", "") for n in names)
    ):
        for name in names:
            st.caption(name, help=GLOSSARY[name])


def faults(error: InputError, text: str = "") -> None:
    """What is wrong, where, and what is allowed; with the lines of the text around each fault."""
    count = len(error.faults)
    st.error(
        f"**{count} thing{'s' if count != 1 else ''} to mend before there is an answer.**",
        icon=":material/error:",
    )
    lines = text.splitlines()
    for fault in error.faults[:20]:
        with st.container(border=True):
            place = f"{fault.file}, line {fault.line}" if fault.line else fault.file
            st.markdown(f"{escaped(place)} {'· `' + fault.key + '`' if fault.key else ''}")
            if fault.given:
                st.markdown(f"Given: `{fault.given.replace('`', '')}`")
            first = fault.problem.split(" ", 1)[0]
            problem = fault.problem if len(first) < 3 else fault.problem[:1].upper() + fault.problem[1:]
            st.markdown(escaped(problem) + ".")
            if fault.line and fault.line <= len(lines):
                first = max(1, fault.line - 1)
                shown = lines[first - 1 : fault.line + 1]
                numbered = (
                    f"{n:>4} {'>' if n == fault.line else ' '} {line[:160]}"
                    for n, line in enumerate(shown, first)
                )
                st.code("\n".join(numbered), language=None)
    if count > 20:
        st.caption(f"and {count - 20} more")


def fault_of(error: Exception) -> InputError:
    """An InputError for anything a run may end with; the reader never sees a traceback."""
    if isinstance(error, InputError):
        return error
    if isinstance(error, Busy):
        return InputError([Fault("server", "", "", "too many runs wait already; try again in a minute")])
    if isinstance(error, MemoryError):
        return InputError(
            [Fault("server", "", "", "this case does not fit into memory; choose a smaller one")]
        )
    return InputError([Fault("this case", "", "", f"cannot be computed ({type(error).__name__}: {error})")])


def escaped(text: str) -> str:
    for sign in "\\`*_{}[]<>#$|~":
        text = text.replace(sign, "\\" + sign)
    return text


# Runs -----------------------------------------------------------------------------------------------------


def session_id() -> str:
    """A name for this browser tab's session, used only to know who waits for a run."""
    return str(st.session_state.setdefault("session", uuid4().hex))


def stopped_here(key: Hashable) -> bool:
    """Whether this session has stopped the run of `key`."""
    return key in st.session_state.setdefault("stopped", set())


def run_of(
    key: Hashable, title: str, function: Callable[[Job], Any], steps: int = 1, aside: bool = False
) -> Job | None:
    """The run of `key`, waited for a moment; None where this session has stopped it and nothing is there.

    `aside`: the page has something else to show first, and does not wait.
    """
    if stopped_here(key):
        job = STORE.known(key)
        return job if job is not None and job.ended.is_set() and job.error is None else None
    delay = ASIDE_S if aside and wait_s(0.0) == 0.0 else 0.0
    job = STORE.job(key, title, function, steps, after_s=delay)
    job.watchers.add(session_id())
    job.ended.wait(wait_s(0.0 if aside else WAIT_S))
    return job


def result_of(
    key: Hashable,
    title: str,
    function: Callable[[Job], Any],
    steps: int = 1,
    name: str = "run",
    aside: bool = False,
) -> Any:
    """Result of a run, or None after showing its progress; errors of the run are raised here."""
    job = run_of(key, title, function, steps, aside)
    if job is None:
        stopped(key, name, title)
        return None
    if not job.ended.is_set():
        progress(key, name)
        return None
    if isinstance(job.error, Cancelled):
        stopped(key, name, title)
        return None
    if job.error is not None:
        raise job.error
    return job.result


def rerun() -> None:
    """Draws the page anew because something here has ended: whatever link the browser last sent, the reader went nowhere."""
    st.session_state["asked-here"] = True
    st.rerun()


def progress(key: Hashable, name: str) -> None:
    """Progress of a run with time left and a button that stops it; the page reruns when it ends."""

    @st.fragment(run_every=0.5)
    def panel() -> None:
        job = STORE.known(key)
        if job is None or job.ended.is_set():
            rerun()
        else:
            left = job.seconds_left
            text = f"{job.title}: {job.says}" + (f" · about {max(1, round(left))} s left" if left else "")
            with st.container(horizontal=True, vertical_alignment="center", key=f"progress-{name}"):
                st.progress(job.fraction, text=text)
                st.button("Cancel", key=f"cancel-{name}", on_click=_stop, args=(key,))

    panel()


def stopped(key: Hashable, name: str, title: str) -> None:
    """Says that a run was stopped, with a button that starts it again."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"stopped-{name}"):
        st.caption(f"{title}: stopped.")
        st.button("Run it", key=f"again-{name}", on_click=_again, args=(key,), type="tertiary")


def _stop(key: Hashable) -> None:
    st.session_state.setdefault("stopped", set()).add(key)
    STORE.leave(key, session_id())


def _again(key: Hashable) -> None:
    st.session_state.setdefault("stopped", set()).discard(key)
