"""The Collectives page reads the reader's own log, whichever of three tools wrote it."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

LINE = "  {size}  {count}  float  sum  -1  {time:.1f}  {alg:.2f}  {bus:.2f}  0\n"
NCCL = "# all_reduce_perf\n" + "".join(
    LINE.format(size=size, count=size // 4, time=size / 1e11 * 1e6, alg=100, bus=200)
    for size in (2**28, 2**29, 2**30)
)
OSU = "# OSU MPI Allreduce Latency Test v7.4\n# Size  Avg Latency(us)\n1048576 300\n536870912 6000\n"
PERFTEST = (
    " RDMA_Write BW Test\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
    " 65536 5000 388 387 0.7\n 1048576 5000 388 388 0.04\n"
)


class Upload(io.BytesIO):
    name = "mine.log"


def uploads(text: str) -> Callable[..., Upload]:
    return lambda *given, **named: Upload(text.encode())


def told(page: Any) -> str:
    return " ".join(str(e.value) for e in [*page.success, *page.error, *page.info, *page.caption]).replace(
        "\\", ""
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NCCL, "nccl-tests all_reduce_perf, 3 result lines read"),
        (OSU, "OSU Allreduce Latency, 2 result lines read"),
    ],
)
def test_a_collective_log_is_held_against_the_candidates(
    monkeypatch: pytest.MonkeyPatch, run_page: Callable[..., Any], text: str, words: str
) -> None:
    monkeypatch.setattr(st, "file_uploader", uploads(text))
    page = run_page("collectives")
    assert not page.exception and not page.error
    assert words in told(page)
    assert any("Your log" in str(entry.value) for entry in page.markdown)
    shown = [frame.value for frame in page.dataframe if "Measured / modelled" in frame.value]
    assert len(shown) == 1 and shown[0]["Measured / modelled"].str.endswith("%").all()


def test_a_point_to_point_log_is_held_against_one_nic(
    monkeypatch: pytest.MonkeyPatch, run_page: Callable[..., Any]
) -> None:
    monkeypatch.setattr(st, "file_uploader", uploads(PERFTEST))
    page = run_page("collectives")
    assert not page.exception and not page.error
    assert "perftest RDMA_Write BW, 2 result lines read" in told(page)
    shown = next(frame.value for frame in page.dataframe if "Modelled" in frame.value).set_index("Candidate")
    assert shown["Measured / modelled"]["RoCEv2 400G"] == "99 %"


def test_a_log_of_another_operation_is_not_drawn_over_these_curves(
    monkeypatch: pytest.MonkeyPatch, run_page: Callable[..., Any]
) -> None:
    monkeypatch.setattr(st, "file_uploader", uploads(NCCL))
    page = run_page("collectives", view=["operation:all_gather"])
    assert "choose all-reduce" in told(page)
    assert not any("Measured / modelled" in frame.value for frame in page.dataframe)


def test_a_pasted_log_sets_operation_and_group(run_page: Callable[..., Any]) -> None:
    page = run_page("collectives")
    ranks = "".join(f"#  Rank {n} Group 0 Pid 1 on a device 0\n" for n in range(24))
    page.text_area(key="own-log-text").set_value(
        ranks + NCCL.replace("all_reduce_perf", "all_gather_perf")
    ).run()
    assert page.selectbox(key="operation").value == "all_gather"
    assert page.select_slider(key="ranks").value == 24
    assert page.query_params["view"] == ["operation:all_gather", "ranks:24"]
    assert not page.exception and "over 24 GPUs" in told(page)


@pytest.mark.parametrize(
    ("text", "words"),
    [("hello", "no result line of a known tool"), ("\x00\x01", "is not text"), ("", "is empty")],
)
def test_another_text_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, run_page: Callable[..., Any], text: str, words: str
) -> None:
    monkeypatch.setattr(st, "file_uploader", uploads(text))
    page = run_page("collectives")
    assert not page.exception
    assert words in " ".join(str(entry.value) for entry in page.error)
    assert page.header
