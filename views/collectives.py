"""What bandwidth should I see?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts_collectives
from models.compare.collective_sizes import (
    OPERATIONS,
    collective_over_sizes,
    collective_sentence,
    published_points,
)
from models.compare.own_log import own_log_reading, own_log_sentence
from models.evidence.nccl_log import nccl_log
from models.scenario.faults import InputError
from models.units import duration_text, size_text
from views import answers, show
from views.frame import Case
from views.kept import kept


def page(case: Case, question: str) -> None:
    """Bus bandwidth and time against size, published points and the reader's own log on top."""
    scenario = case.scenario
    place = st.container()
    left, middle, right = st.columns([2, 3, 3], vertical_alignment="bottom")
    operation = left.selectbox(
        "Operation", OPERATIONS, key="operation", format_func=lambda o: o.replace("_", "-")
    )
    sizes = [
        n for n in (2**p for p in range(1, 21)) if scenario.cluster.gpus_per_node < n < scenario.cluster.gpus
    ]
    ranks = middle.select_slider(
        "GPUs in the group", [*sizes, scenario.cluster.gpus], value=scenario.cluster.gpus, key="ranks"
    )
    with right.popover("Your nccl-tests log", width="stretch"):
        file = st.file_uploader("Output of all_reduce_perf and the like", type=["txt", "log"], key="nccl-log")
    own: pd.DataFrame | None = None
    log = b"" if file is None else file.getvalue()
    if file is not None:
        try:
            own = nccl_log(log.decode("utf-8", errors="replace"), file.name)
        except InputError as error:
            st.error(str(error))
    table: pd.DataFrame | None = show.result_of(
        answers.key_of(scenario, "collective", operation, ranks),
        "Collective over sizes",
        lambda job: collective_over_sizes(scenario, operation, ranks, progress=job.progress),
        steps=len(scenario.candidates),
        name="collective",
    )
    if table is None:
        return
    with place:
        show.heading(collective_sentence(table), question)
    points = kept(("published", case.key, operation), lambda: published_points(scenario, operation))
    wide, narrow = st.columns([3, 2], gap="medium")
    with wide:
        show.chart(
            "bus_bandwidth",
            lambda: charts_collectives.bus_bandwidth(table, points, case.colours, own),
            case.key, operation, ranks, log,
        )  # fmt: skip
    with narrow:
        show.chart(
            "collective_time",
            lambda: charts_collectives.latency(table, case.colours),
            case.key,
            operation,
            ranks,
        )
    if own is not None:
        reading = own_log_reading(own, table, scenario)
        st.markdown(own_log_sentence(reading))
        show.table("own_log", _reading_text(reading), full=reading, caption="Your log against the candidates")
    text = kept(("collective", case.key, operation, ranks), lambda: _text(table))
    show.table("collective", text, full=table, height=320, caption="Algorithm and limit by size")
    if len(points):
        show.table("published_points", points, caption="Published points on the chart")
    with st.expander("Assumptions"):
        st.markdown(
            "- Fastest algorithm of the library at each size; bus bandwidth as nccl-tests defines it.\n"
            "- Dots: published healthy measurements at any GPU count on the same GPU and link rate; hover for the set-up."
        )
        show.terms("busbw", "SHARP", "rail", "ECMP", "adaptive routing")


def _reading_text(reading: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": reading.candidate,
            "Measured / modelled": reading.measured_over_modelled.round(2),
            "Latency fitted": ["" if pd.isna(v) else duration_text(v) for v in reading.calibrated_latency_s],
            "Bus bandwidth fitted, GB/s": (reading.calibrated_bus_bytes_per_s / 1e9).round(1),
            "Known causes of such a shortfall": reading.known_causes,
        }
    )


def _text(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": table.candidate,
            "Size": [size_text(v) for v in table.message_bytes],
            "Time": [duration_text(v) for v in table.time_s],
            "Band": [
                f"{duration_text(a)} to {duration_text(b)}"
                for a, b in zip(table.low_s, table.high_s, strict=True)
            ],
            "Bus bandwidth, GB/s": (table.bus_bandwidth_bytes_per_s / 1e9).round(2),
            "Algorithm": table.algorithm,
            "Limit": table.binding_limit,
        }
    )
