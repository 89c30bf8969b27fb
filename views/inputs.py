"""The sidebar: scenario, the inputs that matter, candidates; each change lands in the one `Ask` of the session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from models.catalog.gpus import gpu_names
from models.compare.link_speed import SPEEDS_GBIT_PER_S, link_speed_gbit_per_s
from models.scenario.faults import Fault, InputError
from models.scenario.load import dump
from models.scenario.schema import GPUS_MAX, Scenario
from models.scenario.yaml_text import TEXT_BYTES_MAX
from views.ask import Ask, base_scenario, shipped_names, whole_scenario
from views.glossary import GLOSSARY

OVERSUBSCRIPTION = (1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
YEARS = (1, 2, 3, 4, 5, 7)


def ask() -> Ask:
    """What this session asks for."""
    found: Ask = st.session_state["ask"]
    return found


def set_ask(value: Ask) -> None:
    """Sets what this session asks for; called when an input of the app was used, before the page is drawn anew."""
    st.session_state["ask"] = value
    st.session_state["asked-here"] = True


def touched() -> None:
    """For an input that changes nothing yet: what follows is the app's own doing, not a step of the browser."""
    st.session_state["asked-here"] = True


def set_key(key: str, value: Any) -> None:
    """Changes one dotted key; back at the scenario's own value, the change is dropped."""
    now = ask()
    rest = now.unchanged(key)
    try:
        if whole_scenario(now.changed(key, value)) == whole_scenario(rest):
            set_ask(rest)
            return
    except InputError:
        pass  # the page shows the fault
    set_ask(now.changed(key, value))


def control(widget: str, value: Any) -> str:
    """Name of a widget, after giving it the value it has to show.

    On a page just opened even where it seems to have it: there the same name is another widget, which would start at its
    default. Not otherwise: a slider being moved would jump back to where the last run saw it.
    """
    if st.session_state.get("page-opened") or st.session_state.get(widget) != value:
        st.session_state[widget] = value
    return widget


def change_of(widget: str, key: str, number: type | None = None) -> dict[str, Any]:
    """Arguments for a widget that changes one dotted key of the scenario."""

    def changed() -> None:
        value = st.session_state[widget]
        set_key(key, value if number is None else number(value))

    return {"key": widget, "on_change": changed}


def held(
    widget: str, default: Any, options: Iterable[Any] | None = None, within: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Arguments of a page's input whose value the link holds; `default` where the link says nothing that is allowed.

    Lists (several choices) are held as lists; each of them has to be among the `options`.
    """
    value = dict(ask().view).get(widget, default)
    if options is not None:
        allowed = list(options)
        several = isinstance(value, list)
        if several != isinstance(default, list) or any(
            v not in allowed for v in (value if several else [value])
        ):
            value = default
    elif type(value) is not type(default):
        number = isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool)
        value = float(value) if number else default
    if within is not None and not within[0] <= value <= within[1]:
        value = default
    return {"key": control(widget, value), "on_change": _held_changed, "args": (widget, default)}


def _held_changed(widget: str, default: Any) -> None:
    value = st.session_state[widget]
    set_ask(ask().viewed(widget, list(value) if isinstance(default, list) else value, default))


def take_back() -> None:
    """Drops all changes."""
    set_ask(replace(ask(), changes=(), nic_gbit_per_s=0))


def take_back_last() -> None:
    """Drops the last change."""
    set_ask(replace(ask(), changes=ask().changes[:-1]))


def first_scenario() -> None:
    """Back to the first shipped answer."""
    set_ask(Ask())


def scenario_choice() -> None:
    """Shipped scenario, own file, edit, save."""
    now = ask()
    options = [*([now.name] if now.text else []), *shipped_names()]
    chosen = now.name if now.name in options else options[0]
    st.selectbox(
        "Scenario", options, key=control("scenario", chosen), on_change=_scenario_chosen,
        format_func=lambda name: f"{name} (own)" if now.text and name == now.name else name,
    )  # fmt: skip
    with st.popover("Own file, edit, save", width="stretch"):
        number = st.session_state.setdefault("upload-number", 0)
        st.file_uploader(
            "Scenario file (YAML)",
            type=["yaml", "yml"],
            key=f"upload-{number}",
            on_change=_uploaded,
            args=(f"upload-{number}",),
        )
        st.toggle(
            "Edit here", key=control("editing-toggle", bool(st.session_state.get("editing"))), on_change=_edit
        )
        try:
            text = dump(whole_scenario(now))
        except InputError:
            text = now.text
        st.download_button(
            "Save as YAML", text, f"{now.name}.yaml", "text/yaml", key="save-yaml", on_click="ignore"
        )
    fault: InputError | None = st.session_state.pop("upload-fault", None)
    if fault is not None:
        st.error("\n\n".join(str(item) for item in fault.faults))
    if now.changes or now.nic_gbit_per_s:
        count = len(now.changes) + bool(now.nic_gbit_per_s)
        st.button(
            f"Take back {count} change{'s' if count > 1 else ''}", on_click=take_back, key="reset", type="tertiary",
            help="  \n".join(f"{key} = {value}" for key, value in now.changes),
        )  # fmt: skip


def six_inputs(scenario: Scenario) -> None:
    """GPUs, GPU model, link speed, oversubscription, scored workload, years."""
    cluster = scenario.cluster
    gpus = dict(ask().changes).get("cluster.gpus", cluster.gpus)
    gpus = gpus if isinstance(gpus, int) and 1 <= gpus <= GPUS_MAX else cluster.gpus
    left, right = st.columns(2)
    control("gpus", gpus)
    left.number_input(
        "GPUs", 1, GPUS_MAX, step=cluster.gpus_per_node, **change_of("gpus", "cluster.gpus", int),
        help="Whole nodes: a multiple of the GPUs per node.",
    )  # fmt: skip
    control("gpu", cluster.gpu)
    right.selectbox("GPU", gpu_names(), **change_of("gpu", "cluster.gpu"))
    speed = link_speed_gbit_per_s(scenario)
    speeds = SPEEDS_GBIT_PER_S if speed in SPEEDS_GBIT_PER_S else (speed, *SPEEDS_GBIT_PER_S)
    left.selectbox(
        "NIC, Gbit/s", speeds, key=control("nic", speed), on_change=_speed_chosen,
        format_func=lambda value: "mixed" if value == 0 else str(value),
        help="Each candidate's generation of that speed, with its switches and adapters.",
    )  # fmt: skip
    taper = scenario.topology.oversubscription
    tapers = OVERSUBSCRIPTION if taper in OVERSUBSCRIPTION else (taper, *OVERSUBSCRIPTION)
    control("taper", taper)
    right.selectbox(
        "Oversubscr.", tapers, format_func=lambda value: f"{value:g} : 1", help=GLOSSARY["oversubscription"],
        **change_of("taper", "topology.oversubscription", float),
    )  # fmt: skip
    scored = [name for name, item in scenario.workloads.items() if item.weight > 0]
    options = list(scenario.workloads)
    many = "several"
    choice = scored[0] if len(scored) == 1 else many
    left.selectbox(
        "Workload", [many, *options] if choice == many else options, key=control("scored", choice),
        on_change=_scored_chosen, help="What counts in work per dollar; the others are shown.",
    )  # fmt: skip
    years = scenario.economics.years
    control("years", years)
    right.selectbox(
        "Years", YEARS if years in YEARS else (years, *YEARS), **change_of("years", "economics.years", int)
    )


def candidate_chips(scenario: Scenario, colours: Mapping[str, str]) -> None:
    """Candidates as coloured chips that can be switched off."""
    names = list(scenario.candidates)
    on = [name for name in names if name not in ask().off] or names
    rules = "".join(
        f".st-key-chips [data-testid='stButtonGroup'] button:nth-of-type({i})"
        f"{{border-left:.45rem solid {colours[name]};border-radius:.35rem}}"
        for i, name in enumerate(names, 1)
    )
    st.html(f"<style>{rules}</style>")
    with st.container(key="chips"):
        st.pills(
            "Candidates", names, selection_mode="multi", key=control("candidates", on), on_change=_chips_changed,
            args=(tuple(names),),
        )  # fmt: skip


def _scenario_chosen() -> None:
    name = st.session_state["scenario"]
    if name != ask().name or not ask().text:
        set_ask(Ask(name=name, view=ask().view))
        st.session_state["upload-number"] += 1
        st.session_state["editing"] = False


def _uploaded(widget: str) -> None:
    file = st.session_state.get(widget)
    if file is None:
        return
    name = file.name.rsplit(".", 1)[0][:60] or "own"
    content = file.getvalue()
    try:
        if len(content) > TEXT_BYTES_MAX:
            raise InputError(
                [Fault(file.name, "", f"{len(content)} bytes", f"too large; at most {TEXT_BYTES_MAX} bytes")]
            )
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError([Fault(file.name, "", "", f"is not UTF-8 text (byte {error.start})")]) from error
        if not text.strip():
            raise InputError([Fault(file.name, "", "", "is empty")])
    except InputError as error:
        st.session_state["upload-fault"] = error
        return
    try:
        name = base_scenario(name, text).name
    except InputError:
        st.session_state["editing"] = True
    set_ask(Ask(name=name, text=text, view=ask().view))


def _edit() -> None:
    st.session_state["editing"] = st.session_state["editing-toggle"]


def _speed_chosen() -> None:
    now = ask()
    speed = int(st.session_state["nic"])
    kept = tuple(c for c in now.changes if not c[0].startswith("candidates."))
    try:
        same = link_speed_gbit_per_s(base_scenario(now.name, now.text)) == speed
    except InputError:
        same = False
    set_ask(replace(now, nic_gbit_per_s=0 if same else speed, changes=kept))


def _scored_chosen() -> None:
    chosen = st.session_state["scored"]
    now = ask()
    names = list(whole_scenario(now).workloads)
    if chosen in names:
        now = now.unchanged(*(f"workloads.{name}.weight" for name in names))
        for name in names:
            now = now.changed(f"workloads.{name}.weight", 1 if name == chosen else 0)
        try:
            if whole_scenario(now) == whole_scenario(
                now.unchanged(*(f"workloads.{n}.weight" for n in names))
            ):
                now = now.unchanged(*(f"workloads.{n}.weight" for n in names))
        except InputError:
            pass  # the page shows the fault
        set_ask(now)


def _chips_changed(names: tuple[str, ...]) -> None:
    on = st.session_state["candidates"]
    off = tuple(name for name in names if name not in on)
    set_ask(replace(ask(), off=() if len(off) == len(names) else off))
