"""What bandwidth should I see?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from models import charts, charts_collectives
from models.compare.collective_sizes import (
    OPERATIONS,
    collective_over_sizes,
    collective_sentence,
    published_points,
)
from models.units import duration_text, size_text
from views import answers, inputs, own_log, show
from views.frame import Case
from views.kept import kept


def page(case: Case, question: str) -> None:
    """Bus bandwidth and time against size, published points and the reader's own log on top."""
    scenario = case.scenario
    gpus = scenario.cluster.gpus
    place = st.container()
    left, middle, right = st.columns([2, 3, 3], vertical_alignment="bottom")
    operation = left.selectbox(
        "Operation", OPERATIONS, format_func=lambda o: o.replace("_", "-"),
        **inputs.held("operation", OPERATIONS[0], OPERATIONS),
    )  # fmt: skip
    sizes = {n for n in (2**p for p in range(1, 21)) if scenario.cluster.gpus_per_node < n < gpus} | {gpus}
    asked = dict(case.ask.view).get("ranks")
    if isinstance(asked, int) and 2 <= asked <= gpus:
        sizes.add(asked)  # a log's own, which need not be a power of two
    ranks = middle.select_slider(
        "GPUs in the group", sorted(sizes), format_func=charts.count_text, **inputs.held("ranks", gpus, sizes)
    )
    with right:
        taken = own_log.taken_log()
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
    reading = own_log.recognised(taken)
    if reading is not None and reading.kind != "collective":
        own_log.against_pair(reading, case)
    own = own_log.comparable(reading, operation, ranks)
    points = kept(("published", case.key, operation), lambda: published_points(scenario, operation))
    wide, narrow = st.columns([3, 2], gap="medium")
    with wide:
        show.chart(
            "bus_bandwidth",
            lambda: charts_collectives.bus_bandwidth(table, points, case.colours, own),
            case.key, operation, ranks, reading,
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
        own_log.against_curves(own, table, case)
    text = kept(("collective", case.key, operation, ranks), lambda: _text(table))
    show.table("collective", text, full=table, height=320, caption="Algorithm and limit by size")
    if len(points):
        show.table(
            "published_points", _published(points), full=points, height=250, caption="Published points on the chart",
            columns={"Source": st.column_config.TextColumn(width="large")},
        )  # fmt: skip
    with st.expander("Assumptions"):
        st.markdown(
            "- Fastest algorithm of the library at each size; bus bandwidth as nccl-tests defines it.\n"
            "- Dots: published healthy measurements on the same GPU and link rate, pale where they ran on a group more than four "
            "times smaller or larger; hover for the set-up; hollow where part of it is unknown.\n"
            "- A point-to-point log is held against one flow through one NIC; the message rate of small messages is not modelled."
        )
        show.terms(
            "busbw",
            "ring",
            "tree",
            "collnet",
            "NVLS",
            "LL, LL128",
            "SHARP",
            "rail",
            "ECMP",
            "adaptive routing",
        )


def _published(points: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Candidate": points.candidate,
            "Size": [size_text(v) for v in points.message_bytes],
            "Bus bandwidth": [
                f"{charts.number_text(v / 1e9)} GB/s" for v in points.bus_bandwidth_bytes_per_s
            ],
            "GPUs": [charts.MISSING if not v else charts.count_text(int(v)) for v in points.gpus],
            "Setting": points.setting,
            "Set-up": points.partly_unknown.map({True: "partly unknown", False: "known"}),
            "Source": points.source,
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
            "Bus bandwidth": [f"{charts.number_text(v / 1e9)} GB/s" for v in table.bus_bandwidth_bytes_per_s],
            "Algorithm": table.algorithm,
            "Limit": table.binding_limit,
        }
    )
