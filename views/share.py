"""Top right: a link that shows the same page again, and everything of the answer in one zip."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import streamlit as st

from models.scenario.schema import Scenario
from views.ask import Ask, fits_link, query_of


def top_right(ask: Ask, scenario: Scenario, colours: Mapping[str, str]) -> None:
    """Share link and review pack."""
    with st.container(horizontal=True, horizontal_alignment="right", key="top-right"):
        with st.popover("Share"):
            if fits_link(ask):
                st.caption("This link shows the same page with the same inputs.")
                st.code(_link(ask), language=None, wrap_lines=True)
            else:
                st.caption("This scenario is too large for a link: save it as YAML (left) and send the file.")
        st.download_button(
            "Review pack", lambda: _pack(scenario, dict(colours)), f"{scenario.name}-review.zip", "application/zip",
            key="review-pack", on_click="ignore", help="Report, tables as CSV, charts, scenario: one zip.",
        )  # fmt: skip


def _link(ask: Ask) -> str:
    parts = urlsplit(st.context.url or "http://localhost:8501/")
    query = urlencode(query_of(ask), doseq=True)
    return f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"


def _pack(scenario: Scenario, colours: dict[str, str]) -> bytes:
    from views.answers import comparison
    from views.review_pack import review_pack

    return review_pack(comparison(scenario), colours)
