"""Pages run in the test process, waiting for every run to its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import sys
sys.path.insert(0, {root!r})
import app
app.main({page!r})
"""


@pytest.fixture
def run_page(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a page by its module name with query parameters; returns the AppTest."""
    from streamlit.testing.v1 import AppTest

    monkeypatch.setenv("FABRIC_COMPARE_WAIT_S", "120")

    def run(page: str = "decision", **query: str | list[str]) -> Any:
        test = AppTest.from_string(SCRIPT.format(root=str(ROOT), page=page), default_timeout=120)
        for key, value in query.items():
            test.query_params[key] = value
        return test.run()

    return run
