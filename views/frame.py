"""What surrounds every page: scenario, the inputs that matter, candidates, link, review pack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from models import charts
from models.scenario.faults import InputError
from models.scenario.schema import Scenario
from views import editor, inputs, share, show
from views.ask import Ask, ask_of, base_scenario, query_of, scenario_of, whole_scenario


@dataclass(frozen=True, eq=False)
class Case:
    """What a page shows: the scenario that is compared, the whole one it came from, and the candidates' colours."""

    ask: Ask
    whole: Scenario
    scenario: Scenario
    colours: dict[str, str]

    @cached_property
    def key(self) -> tuple[str, ...]:
        """All that a picture of this case depends on."""
        return (self.scenario.model_dump_json(), *self.colours, *self.colours.values())


def framed(page: Callable[[Case], None], question: str) -> None:
    """Draws the frame and in it `page`, or what has to be mended before it can be drawn."""
    _style()
    link_fault = _opened()
    ask = inputs.ask()
    try:
        whole = whole_scenario(ask)
        fault = None
    except InputError as error:
        whole, fault = None, error
    with st.sidebar:
        inputs.scenario_choice()
        shown = whole or _readable(ask)
        if shown is not None:
            inputs.six_inputs(shown)
            inputs.candidate_chips(shown, charts.candidate_colours(shown))
    _address(ask)
    if link_fault is not None:
        show.faults(link_fault)
        st.caption("The link could not be read; below is the shipped answer.")
    if whole is None or fault is not None:
        _mend(fault)
        return
    scenario = scenario_of(ask)
    case = Case(ask, whole, scenario, charts.candidate_colours(whole))
    share.top_right(case.ask, case.scenario, case.colours)
    if st.session_state.get("editing"):
        editor.editor(whole)
    try:
        page(case)
    except InputError as error:
        st.caption(question)
        _mend(error)
    except (
        ArithmeticError,
        LookupError,
        ValueError,
        TypeError,
        MemoryError,
        ImportError,
        RuntimeError,
    ) as error:
        _report(error)
        _mend(show.fault_of(error))


def _mend(fault: InputError | None) -> None:
    """The faults, ways out of them, and the editor."""
    ask = inputs.ask()
    if fault is not None:
        text = ask.text
        show.faults(fault, text)
    with st.container(horizontal=True, key="ways-out"):
        if ask.changes or ask.nic_gbit_per_s:
            st.button("Take back the changes", on_click=inputs.take_back, type="primary", key="take-back")
            if ask.changes:
                key, value = ask.changes[-1]
                st.button(
                    f"Take back {key}", on_click=inputs.take_back_last, key="take-back-last", help=str(value)
                )
        if ask.text and not ask.changes:
            st.button(
                "Drop this file, show the shipped answer", on_click=inputs.first_scenario, key="drop-file"
            )
        if not ask.text and _readable(ask) is None:
            st.button(
                "Show the shipped answer",
                on_click=inputs.first_scenario,
                type="primary",
                key="first-scenario",
            )
        elif not ask.text:
            st.button("Open the editor", on_click=editor.opened, key="open-editor")
    if ask.text or (st.session_state.get("editing") and _readable(ask) is not None):
        editor.editor(None)


def _readable(ask: Ask) -> Scenario | None:
    try:
        return base_scenario(ask.name, ask.text)
    except InputError:
        return None


def _opened() -> InputError | None:
    """On the first run of a session: the state in the link. Returns what is wrong with it."""
    if "ask" in st.session_state:
        return None
    try:
        found = ask_of({key: st.query_params.get_all(key) for key in st.query_params})
        st.session_state["ask"] = found
        return None
    except InputError as error:
        st.session_state["ask"] = Ask()
        return error


def _address(ask: Ask) -> None:
    """The URL always tells what is shown."""
    wanted = query_of(ask) if ask != Ask() else {}
    now = {key: st.query_params.get_all(key) for key in st.query_params}
    if now != wanted:
        st.query_params.from_dict(wanted)


def _report(error: Exception) -> None:
    import logging

    logging.getLogger("fabric_compare").exception("page failed", exc_info=error)


def _style() -> None:
    st.html(
        "<style>"
        ".block-container{padding-top:4rem;padding-bottom:3rem;padding-left:2.4rem;padding-right:2.4rem;max-width:1500px}"
        "section[data-testid='stSidebar']{width:264px!important;min-width:264px!important}"
        "[data-testid='stSidebarUserContent']{padding-top:.4rem}"
        "[data-testid='stHeading'] h2{padding-top:0}"
        ".st-key-top-right{margin-bottom:-2.9rem;position:relative;z-index:2}"
        "[data-testid='stMetricValue']{font-size:1.35rem}"
        "[class*='st-key-exports-']{margin-top:-1.7rem}"
        "[data-testid='stSidebarNavLink']{padding-top:0;padding-bottom:0;height:1.55rem;margin:0}"
        "[data-testid='stSidebarNavItems'] li{margin:0}"
        "[data-testid='stSidebarNavItems']{padding-top:0;gap:0}"
        "[data-testid='stNavSectionHeader']{padding-top:.2rem;padding-bottom:0;margin-top:0}"
        "[data-testid='stSidebarHeader']{height:2.4rem;padding-top:.4rem;margin-bottom:0}"
        "[data-testid='stSidebar'] [data-testid='stVerticalBlock']{gap:.4rem}"
        "button[kind='tertiary']{font-size:.82rem;opacity:.85;padding:0 .2rem}"
        "[class*='st-key-chips'] button{justify-content:flex-start}"
        "</style>"
    )
