"""The reader's own log: taken as a file or pasted, recognised, held against every candidate."""

from __future__ import annotations

from hashlib import sha256

import pandas as pd
import streamlit as st

from models import charts, charts_pairs
from models.compare.collective_sizes import OPERATIONS
from models.compare.own_log import own_log_reading, own_log_sentence
from models.compare.own_pair import HOPS, own_pair_reading, own_pair_sentence, pair_over_sizes, pair_rows
from models.evidence.log_reading import NAMES, LogReading, collective_rows, log_reading
from models.scenario.faults import InputError
from models.units import duration_text, gbit_per_s_from_bytes_per_s
from views import inputs, show
from views.ask import whole_scenario
from views.frame import Case
from views.kept import kept


def taken_log() -> LogReading | InputError | None:
    """The log given in the popover; what is wrong with it; None where there is none."""
    with st.popover("Your own log", width="stretch"):
        st.caption(
            "Output of nccl-tests, OSU benchmarks or perftest. It stays in this session: no link and no file holds it."
        )
        file = st.file_uploader("File", type=["txt", "log", "out"], key="own-log", on_change=_given)
        pasted = st.text_area("or pasted", key="own-log-text", height=110, on_change=_given)
    content, name = (file.getvalue(), file.name) if file is not None else (pasted.encode(), "pasted text")
    if not content.strip() and file is None:
        return None
    try:
        return kept(("log", sha256(content).hexdigest(), name), lambda: log_reading(content, name))
    except InputError as error:
        return error


def _given() -> None:
    """A new log sets operation and group of the page to its own."""
    file = st.session_state.get("own-log")
    content = file.getvalue() if file is not None else (st.session_state.get("own-log-text") or "")
    try:
        found = log_reading(content)
    except InputError:
        return  # said where the log is shown
    ask = inputs.ask()
    gpus = whole_scenario(ask).cluster.gpus
    if found.operation in OPERATIONS:
        ask = ask.viewed("operation", found.operation, OPERATIONS[0])
    if found.ranks is not None and 2 <= found.ranks <= gpus:
        ask = ask.viewed("ranks", found.ranks, gpus)
    inputs.set_ask(ask)


def recognised(taken: LogReading | InputError | None) -> LogReading | None:
    """Says what was read and what was not, or why nothing was; returns what can be compared."""
    if taken is None:
        return None
    if isinstance(taken, InputError):
        st.error("\n\n".join(show.escaped(str(fault)) for fault in taken.faults), icon=":material/error:")
        return None
    reading = taken
    st.success(show.escaped(show.prose(reading.words)), icon=":material/task_alt:")
    if reading.wrong:
        text = "The log says FAILED: data arrived wrong. Mend that before looking at speed."
        st.error(text, icon=":material/error:")
    return reading


def comparable(reading: LogReading | None, operation: str, ranks: int) -> pd.DataFrame | None:
    """The log's points for the collective shown, or None with what to do about it."""
    if reading is None or reading.kind != "collective":
        return None
    if reading.operation and reading.operation != operation:
        words = reading.operation.replace("_", "-")
        st.info(
            f"Your log is of {words}; the curves are of {operation.replace('_', '-')}: choose {words} to compare."
        )
        return None
    notes = []
    if not reading.operation:
        notes.append(f"The log does not name its operation: it is taken for {operation.replace('_', '-')}")
    if reading.ranks is not None and reading.ranks != ranks:
        notes.append(f"the log ran over {reading.ranks} GPUs, the curves are for {ranks}")
    elif reading.ranks is None:
        notes.append(f"the log does not say over how many GPUs: {ranks} are assumed, as set above")
    if notes:
        text = "; ".join(notes)
        st.caption(text[:1].upper() + text[1:] + ".")
    return collective_rows(reading, operation, ranks)


def against_curves(own: pd.DataFrame, table: pd.DataFrame, case: Case) -> None:
    """The log against the modelled collective of every candidate."""
    if own.empty:
        st.info("No line of the log has a size and a time to compare.")
        return
    reading = own_log_reading(own, table, case.scenario)
    st.markdown(f"**{show.prose(own_log_sentence(reading))}**")
    show.table("own_log", _collective_text(reading), full=reading, caption="Your log against the candidates",
               columns={"Known causes of such a shortfall": st.column_config.TextColumn(width="large")})  # fmt: skip
    if reading.calibrated_bus_bytes_per_s.isna().any():
        st.caption(f"{charts.MISSING}: a fit needs at least two sizes of 256 MiB or more in the log.")


def against_pair(log: LogReading, case: Case) -> None:
    """A point-to-point log against one NIC of every candidate."""
    path = st.segmented_control(
        "Path of your test", list(HOPS), required=True, **inputs.held("path", "same leaf", HOPS)
    )
    hops = HOPS[str(path)]
    own = pair_rows(log)
    table = kept(("pair", case.key, hops), lambda: pair_over_sizes(case.scenario, hops))
    reading = own_pair_reading(own, table, case.scenario, log.kind)
    sentence = show.prose(own_pair_sentence(reading, log.kind))
    show.chart(
        "own_pair",
        lambda: charts_pairs.pair(table, own, case.colours, log.kind, sentence.rstrip("."), f"{NAMES[log.tool]} {log.test}"),
        case.key, hops, log,
    )  # fmt: skip
    show.table("own_pair", _pair_text(reading, log.kind), full=reading, caption="Your link against the candidates",
               columns={"Known causes of such a shortfall": st.column_config.TextColumn(width="large")})  # fmt: skip
    show.csv("pair_over_sizes", table, "CSV of the curves")


def _collective_text(reading: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": reading.candidate,
            "Measured / modelled": [charts.percent_text(v) for v in reading.measured_over_modelled],
            "Latency fitted": [
                charts.MISSING if pd.isna(v) else duration_text(v) for v in reading.calibrated_latency_s
            ],
            "Bus bandwidth fitted": [
                charts.MISSING if pd.isna(v) else f"{charts.number_text(v / 1e9)} GB/s"
                for v in reading.calibrated_bus_bytes_per_s
            ],
            "Known causes of such a shortfall": reading.known_causes,
        }
    )


def _pair_text(reading: pd.DataFrame, kind: str) -> pd.DataFrame:
    modelled = [
        f"{charts.number_text(gbit_per_s_from_bytes_per_s(v))} Gbit/s"
        if kind == "bandwidth"
        else duration_text(v)
        for v in reading.modelled
    ]
    return pd.DataFrame(
        {
            "Candidate": reading.candidate,
            "Modelled": modelled,
            "Measured / modelled": [charts.percent_text(v) for v in reading.measured_over_modelled],
            "Known causes of such a shortfall": reading.known_causes,
        }
    )
