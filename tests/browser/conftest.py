"""Starts the app on a free port and a headless Chromium; skipped with a message where there is no browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHOTS = ROOT / "screenshots"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")
STARTED_S = 120.0
SHOWN_MS = 180_000  # a loaded machine of two cores; nothing here is a timing test


def _unavailable(why: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"browser tests must run in CI: {why}")
    pytest.skip(f"no browser test: {why}")


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Address of the running app."""
    if not Path(CHROMIUM).exists():
        _unavailable(f"{CHROMIUM} is missing (apt-get install chromium-headless-shell)")
    first = (
        ROOT / "scenarios" / "llama3-70b-1024-h100.yaml"
    )  # compiles the kernels before any page waits for them
    subprocess.run(
        [sys.executable, "-m", "models.cli", "compare", str(first)], cwd=ROOT, capture_output=True, check=True
    )
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.address", "127.0.0.1"],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + STARTED_S
        while True:
            try:
                if urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).status == 200:
                    break
            except OSError:
                if time.monotonic() > end or server.poll() is not None:
                    raise RuntimeError("the app did not start") from None
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=10)


@pytest.fixture(scope="session")
def browser(address: str) -> Iterator[Any]:
    """A headless Chromium."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _unavailable("playwright is not installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens a path of the app and waits for its answer; each call is a session of its own."""
    contexts = []

    def open_page(path: str = "/", size: tuple[int, int] = (1280, 900), scheme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, accept_downloads=True
        )
        context.set_default_timeout(SHOWN_MS)
        contexts.append(context)
        page = context.new_page()
        page.goto(address + path)
        settled(page)
        return page

    yield open_page
    for context in contexts:
        context.close()


def settled(page: Any) -> None:
    """Waits until the script has ended and the page has its heading."""
    page.wait_for_selector("[data-testid='stHeading'], [data-testid='stAlert']")
    page.wait_for_function(
        '() => !document.querySelector(\'[data-testid="stApp"][data-test-script-state="running"]\')'
        " && !document.querySelector('[data-testid=\"stSkeleton\"]')"
    )


def download_text(page: Any, button: Any) -> str:
    """Text of the file a button downloads; asked for again when the page is drawn anew under the click."""
    from playwright.sync_api import Error

    for attempt in range(5):
        try:
            with page.expect_download(timeout=SHOWN_MS / 3) as waiting:
                button.click()
            return Path(waiting.value.path()).read_text("utf-8")
        except Error:
            if attempt == 4:
                raise
            page.wait_for_timeout(1000)
    raise AssertionError("unreachable")
