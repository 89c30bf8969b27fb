"""What surrounds every page: scenario, the inputs that matter, candidates, link, review pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st

from models import charts
from models.scenario.faults import InputError
from models.scenario.schema import Scenario
from views import editor, inputs, share, show
from views.ask import Ask, address_of, ask_of, base_scenario, scenario_of, whole_scenario

# what Streamlit's theme cannot say: a first screen of 1280 x 900 has to hold the answer and all of the sidebar
STYLE = """
[data-testid='stHeader']{height:2.4rem;min-height:2.4rem;background:transparent;pointer-events:none}
[data-testid='stHeader'] button,[data-testid='stHeader'] a{pointer-events:auto}
.block-container{padding:1.5rem 2.4rem 3rem;max-width:1500px}
[data-testid='stHeading'] h2{padding-top:0}
.st-key-top-right{margin-bottom:-2.9rem;position:relative;z-index:2;padding-right:1.6rem}
.st-key-top-right button{min-height:2rem;padding:.1rem .7rem}
.st-key-editor{margin-top:2.7rem}
.st-key-editor textarea{font-family:'Source Code Pro',monospace;font-size:.82rem}
[data-testid='stMetricValue']{font-size:1.35rem}
[class*='st-key-exports-']{margin-top:-1.9rem}
[class*='st-key-exports-'] button,[class*='st-key-csv-'] button{min-height:1.4rem}
[class*='st-key-csv-']{margin-top:-.7rem}
button[kind='tertiary']{font-size:.82rem;opacity:.85;padding:0 .2rem}
section[data-testid='stSidebar']{width:264px!important;min-width:264px!important}
[data-testid='stSidebarHeader']{height:1.7rem;padding:.3rem 0 0;margin-bottom:-1.2rem;pointer-events:none}
[data-testid='stSidebarHeader'] button{pointer-events:auto}
[data-testid='stSidebarUserContent']{padding:.4rem 0 1rem}
[data-testid='stSidebar'] [data-testid='stHorizontalBlock']{gap:.6rem}
[data-testid='stSidebar'] [data-testid='stVerticalBlock']{gap:.3rem}
.st-key-pages{gap:0!important;flex:none!important}
.st-key-pages [data-testid='stElementContainer']{margin:0!important;flex:none}
.st-key-pages [data-testid='stCaptionContainer']{margin:0}
.st-key-pages [data-testid='stCaptionContainer'] p{font-size:.74rem;margin:.2rem 0 0;line-height:1.25}
.st-key-pages [data-testid='stPageLink'] div{height:1.5rem}
.st-key-pages [data-testid='stPageLink'] a{padding:0 .45rem;height:1.45rem;min-height:0;margin:0}
[data-testid='stSidebar'] [data-testid='stWidgetLabel']{min-height:1.2rem;margin-bottom:0}
[data-testid='stSidebar'] [data-testid='stWidgetLabel'] p{font-size:.82rem}
[data-testid='stSidebar'] [data-testid='stPopover'] button{min-height:2.1rem;height:2.1rem;white-space:nowrap;padding:0 .4rem}
[data-testid='stSidebar'] [data-testid='stColumn'] [data-testid='stVerticalBlock']{gap:.3rem}
[class*='st-key-chips'] button{justify-content:flex-start;min-height:1.7rem}
[class*='st-key-chips'] [data-testid='stButtonGroup']>div{gap:.25rem}
"""


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


def framed(page: Callable[[Case], None], question: str, pages: Mapping[str, Sequence[Any]]) -> None:
    """Draws the frame and in it `page`, or what has to be mended before it can be drawn."""
    _style()
    st.session_state["page-opened"] = st.session_state.get("page") != question
    st.session_state["page"] = question
    link_fault = _opened()
    ask = inputs.ask()
    _navigation(pages, ask)
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
            editor.copy_and_change(shown)
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
        Exception
    ) as error:  # a page that fails says so in words; control flow of Streamlit is no Exception
        _report(error)
        _mend(show.fault_of(error))


def _navigation(pages: Mapping[str, Sequence[Any]], ask: Ask) -> None:
    """Links to the pages that carry the state along, so that each page is one step of the browser's history."""
    query = address_of(ask)
    with st.sidebar, st.container(key="pages", gap=None):
        for group, own in pages.items():
            st.caption(group)
            for page in own:
                st.page_link(page, query_params=query, width="stretch")


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
    """The state in the link: of a first visit, and of a step back or forward. Returns what is wrong with it.

    A link that is not the one this session wrote last was put there by the browser, unless an input of the app was used:
    then the browser has not yet been told of the newest link, and a quick hand would be set back by its own last move.
    """
    now = _query()
    used_here = st.session_state.pop("asked-here", False)
    if "ask" in st.session_state and (used_here or now == st.session_state.get("address")):
        return None
    fault = None
    try:
        found = ask_of(now)
    except InputError as error:
        found, fault = Ask(), error
    st.session_state.update({"ask": found, "address": now, "address-ask": found})
    return fault


def _address(ask: Ask) -> None:
    """The URL always tells what is shown; one that does is left as it is, for each rewriting is a step of the history."""
    if st.session_state.get("address-ask") != ask:
        wanted = address_of(ask)
        st.query_params.from_dict(wanted)
        st.session_state.update({"address": wanted, "address-ask": ask})


def _query() -> dict[str, list[str]]:
    return {key: st.query_params.get_all(key) for key in st.query_params}


def _report(error: Exception) -> None:
    import logging

    logging.getLogger("fabric_compare").exception("page failed", exc_info=error)


def _style() -> None:
    st.html(f"<style>{STYLE}</style>")
