"""Editing in place: the scenario as YAML with line-exact faults, and a candidate copied with one thing changed."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from models.compare.candidate_copy import CHANGEABLE, family_member, with_copy
from models.scenario.faults import InputError
from models.scenario.load import dump, loads
from models.scenario.schema import Scenario
from views import inputs, show
from views.ask import Ask, base_scenario, whole_scenario


def opened() -> None:
    """Shows the editor."""
    st.session_state["editing"] = True


def editor(scenario: Scenario | None) -> None:
    """The YAML editor; `scenario` is what is shown now, None while its text has faults."""
    now = inputs.ask()
    text = dump(scenario) if scenario is not None else now.text
    if not text:
        text = dump(base_scenario(now.name, now.text))
    origin = (now.name, hash(text))
    if st.session_state.get("editor-origin") != origin:
        st.session_state["editor-origin"] = origin
        st.session_state["editor-text"] = text
    with st.container(border=True, key="editor"):
        st.markdown("**Scenario as YAML**")
        edited = st.text_area(
            "Scenario as YAML",
            key="editor-text",
            on_change=inputs.touched,
            height=420,
            label_visibility="collapsed",
            max_chars=1_000_000,
        )
        with st.container(horizontal=True):
            st.button("Apply", type="primary", key="apply-yaml", on_click=_apply)
            st.button("Close", key="close-editor", on_click=_close)
        fault: InputError | None = st.session_state.get("editor-fault")
        if fault is not None:
            show.faults(fault, edited)


def _apply() -> None:
    text = st.session_state["editor-text"]
    try:
        scenario = loads(text, "editor")
    except InputError as error:
        st.session_state["editor-fault"] = error
        return
    st.session_state["editor-fault"] = None
    st.session_state["editing"] = False
    inputs.set_ask(Ask(name=scenario.name, text=text, view=inputs.ask().view))


def _close() -> None:
    st.session_state["editing"] = False
    st.session_state["editor-fault"] = None


def copy_and_change(scenario: Scenario) -> None:
    """A popover that copies a candidate and changes one thing of it."""
    with st.popover("Copy one, change one thing", width="stretch"):
        name = st.selectbox("Copy", list(scenario.candidates), key="copy-of", on_change=inputs.touched)
        key = st.selectbox(
            "Change",
            list(CHANGEABLE),
            key="copy-key",
            on_change=inputs.touched,
            format_func=lambda k: CHANGEABLE[k].label,
        )
        change = CHANGEABLE[key]
        options = change.options(scenario, name)
        value: Any
        if options:
            value = st.selectbox("To", options, key=f"copy-value-{key}", on_change=inputs.touched)
        else:
            value = st.number_input(
                "To",
                value=change.number(scenario, name),
                key=f"copy-value-{key}-{name}",
                on_change=inputs.touched,
            )
        st.button(
            "Add candidate",
            type="primary",
            key="copy-add",
            on_click=_copied,
            args=(name, key, json.dumps(value)),
        )
        fault: InputError | None = st.session_state.pop("copy-fault", None)
        if fault is not None:
            show.faults(fault)


def _copied(name: str, key: str, value: str) -> None:
    now = inputs.ask()
    try:
        scenario = with_copy(whole_scenario(now), name, key, json.loads(value))
    except InputError as error:
        st.session_state["copy-fault"] = error
        return
    inputs.set_ask(Ask(name=scenario.name, text=dump(scenario), off=now.off, view=now.view))


def add_technology(preset: str) -> None:
    """Adds a copy of the first candidate of the preset's family that runs `preset`."""
    scenario = whole_scenario(inputs.ask())
    name = family_member(scenario, preset)
    if name is not None and all(item.technology != preset for item in scenario.candidates.values()):
        _copied(name, "technology", json.dumps(preset))
