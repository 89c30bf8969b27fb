"""The app: cold first answer, warm interaction, an uncached change, 20 sessions at once."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from tests.benchmarks.measure import row

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = 20


def rows() -> list[dict[str, Any]]:
    """Measured rows with their limits."""
    return [*_server_rows(), *_script_rows()]


def _server_rows() -> list[dict[str, Any]]:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.port",
        str(port),
        "--server.address",
        "127.0.0.1",
    ]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).read()
                break
            except OSError:
                assert server.poll() is None, "the app did not start"
                time.sleep(0.1)
        address = f"ws://127.0.0.1:{port}/_stcore/stream"
        cold = asyncio.run(_session(address, ""))
        before = _resident_mb(server.pid)
        started = time.perf_counter()

        async def together() -> list[float]:
            queries = [f"set=economics.usd_per_kwh:0.{100 + n}" for n in range(SESSIONS)]
            return list(await asyncio.gather(*(_session(address, query) for query in queries)))

        each = asyncio.run(together())
        took = time.perf_counter() - started
        time.sleep(3)  # the flow solver's runs that follow
        added = _resident_mb(server.pid) - before
    finally:
        server.terminate()
        server.wait(10)
    return [
        row(
            "app: first page of a new server to its answer", cold, "s", 4.0, "compiled kernels cached on disk"
        ),
        row(
            f"app: {SESSIONS} sessions at once, each another case",
            took,
            "s",
            30.0,
            f"slowest answer {max(each):.1f} s",
        ),
        row(f"app: memory that {SESSIONS} sessions add", added, "MB", 600.0, "resident set of the server"),
    ]


async def _session(address: str, query: str) -> float:
    """Opens a session and waits for the heading; seconds."""
    import websockets
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    started = time.perf_counter()
    async with websockets.connect(address, subprotocols=["streamlit"], max_size=2**26) as link:  # type: ignore[list-item]
        asked = BackMsg()
        asked.rerun_script.query_string = query
        await link.send(asked.SerializeToString())
        while True:
            message = ForwardMsg()
            message.ParseFromString(await asyncio.wait_for(link.recv(), 120))  # type: ignore[arg-type]
            element = message.delta.new_element
            if element.HasField("alert"):
                raise AssertionError(element.alert.body)
            if element.HasField("heading"):
                return time.perf_counter() - started


def _resident_mb(process: int) -> float:
    text = Path(f"/proc/{process}/status").read_text() if Path("/proc").exists() else ""
    kib = next((int(line.split()[1]) for line in text.splitlines() if line.startswith("VmRSS")), 0)
    return kib / 1024


def _script_rows() -> list[dict[str, Any]]:
    kept = os.environ.get("FABRIC_COMPARE_WAIT_S")
    logging.disable(logging.CRITICAL)
    found = []
    try:
        for name in ("decision", "cluster_size", "cost", "incast"):
            page = _page(name)
            _timed(page)
            took = min(_timed(page) for _ in range(5))
            found.append(row(f"app: warm script, {name}", took * 1e3, "ms", 50.0, "all results cached"))
        os.environ["FABRIC_COMPARE_WAIT_S"] = "0"
        page = _page("decision")
        changed = []
        for taper in (1.5, 2.0, 3.0, 4.0):
            page.selectbox(key="taper").set_value(taper)
            changed.append(_timed(page))
        found.append(
            row("app: uncached analytical change", min(changed) * 1e3, "ms", 300.0, "the flow solver follows")
        )
    finally:
        logging.disable(logging.NOTSET)
        if kept is None:
            os.environ.pop("FABRIC_COMPARE_WAIT_S", None)
        else:
            os.environ["FABRIC_COMPARE_WAIT_S"] = kept
    return found


def _page(name: str) -> Any:
    from streamlit.testing.v1 import AppTest

    os.environ.setdefault("FABRIC_COMPARE_WAIT_S", "120")
    script = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport app\napp.main({name!r})"
    page = AppTest.from_string(script, default_timeout=120).run()
    assert not page.exception and page.header, [entry.value for entry in page.error]
    return page


def _timed(page: Any) -> float:
    started = time.perf_counter()
    page.run()
    return time.perf_counter() - started
