"""Pages and their order; the frame around them is `views/frame.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import streamlit as st

# group -> (module under views/, title, icon, the question the page answers)
PAGES: dict[str, tuple[tuple[str, str, str, str], ...]] = {
    "Answer": (
        ("decision", "Decision", "gavel", "Which one, and how sure?"),
        ("cluster_size", "Cluster size", "expand", "From how many GPUs on does the answer change?"),
        ("sensitivity", "Sensitivity", "tune", "What does the answer hang on?"),
    ),
    "Why": (
        ("training_step", "Training step", "timeline", "Where does the time go?"),
        ("collectives", "Collectives", "hub", "What bandwidth should I see?"),
        ("incast", "Incast", "call_merge", "Who suffers, and why?"),
        ("network", "Network", "lan", "Where does it collide?"),
    ),
    "Money": (("cost", "Cost", "payments", "What do I pay for?"),),
    "Trust": (
        ("evidence", "Evidence", "fact_check", "Why should I believe it?"),
        ("assumptions", "Assumptions", "list_alt", "What is in it?"),
    ),
}


def page_of(module: str, question: str, pages: Mapping[str, Sequence[Any]]) -> Callable[[], None]:
    """The page's function; its module is read when the page is first opened."""

    def page() -> None:
        from views.frame import framed

        framed(lambda case: import_module(f"views.{module}").page(case, question), question, pages)

    page.__name__ = module
    return page


def main(first: str = "decision") -> None:
    """Draws the chosen page; `first` is the one at the bare address."""
    st.set_page_config(page_title="fabric-compare", page_icon=":material/lan:", layout="wide")
    groups: dict[str, list[Any]] = {}
    for group, entries in PAGES.items():
        groups[group] = [
            st.Page(
                page_of(module, question, groups),
                title=title,
                icon=f":material/{icon}:",
                url_path=module.replace("_", "-"),
                default=module == first,
            )
            for module, title, icon, question in entries
        ]
    st.navigation(groups, position="hidden").run()


if __name__ == "__main__":
    main()
