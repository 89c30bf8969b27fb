"""The Collectives page reads the reader's own log."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

LINE = "  {size}  {count}  float  sum  -1  {time:.1f}  {alg:.2f}  {bus:.2f}  0\n"


class Upload(io.BytesIO):
    name = "all_reduce.log"


def uploads(text: str) -> Callable[..., Upload]:
    return lambda *given, **named: Upload(text.encode())


def test_a_log_is_held_against_the_candidates(
    monkeypatch: pytest.MonkeyPatch, run_page: Callable[..., Any]
) -> None:
    lines = [
        LINE.format(size=size, count=size // 4, time=size / 1e11 * 1e6, alg=100, bus=200)
        for size in (2**28, 2**29, 2**30)
    ]
    monkeypatch.setattr(st, "file_uploader", uploads("".join(lines)))
    page = run_page("collectives")
    assert not page.exception and not page.error
    assert any("Your log" in str(entry.value) for entry in page.markdown)
    shown = [frame.value for frame in page.dataframe if "Measured / modelled" in frame.value]
    assert len(shown) == 1 and (shown[0]["Bus bandwidth fitted, GB/s"] > 0).all()


def test_another_text_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, run_page: Callable[..., Any]
) -> None:
    monkeypatch.setattr(st, "file_uploader", uploads("hello"))
    page = run_page("collectives")
    assert not page.exception
    assert any("no result line" in str(entry.value) for entry in page.error)
    assert page.header
