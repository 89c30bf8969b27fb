"""Closed forms of pauses without congestion control against every pfc_only incast of the packet reference."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from io import StringIO
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from models.rocev2.pfc import (
    SharedBuffer,
    first_pause_s,
    lasting_queue_bytes,
    pause_fraction,
    pause_time_s,
)

FILE = Path(__file__).parents[2] / "models/evidence/packet/incast_summary.csv.gz"
LONG_RUNS_S = {40: 20e-3, 100: 20e-3, 400: 10e-3}


@pytest.fixture(scope="module")
def errors() -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    rows = csv.DictReader(StringIO(gzip.decompress(FILE.read_bytes()).decode()))
    for row in (row for row in rows if row["cc_set"].startswith("pfc_only")):
        senders, size, delay_s = int(row["n"]), float(row["flow_bytes"]), float(row["prop_delay_ns"]) * 1e-9
        nominal = float(row["link_gbps"]) * 125e6
        packet_s = round(1036 / nominal * 1e9) * 1e-9  # whole nanoseconds, as the reference
        rate = 1036 / packet_s
        headroom = float(row["cfg_headroom_mult"]) * nominal * delay_s
        alpha = 2.0 ** -float(row["cfg_pfc_dt_shift"])
        buffer = SharedBuffer(float(row["cfg_buffer_MiB"]) * 2**20, senders + 1, headroom, alpha)
        queue = lasting_queue_bytes(buffer, rate, senders, 2 * delay_s + packet_s)

        def note(name: str, value: float, column: str, row=row) -> None:
            found[name].append(abs(value / float(row[column]) - 1))

        if size < 0:
            paused_s = LONG_RUNS_S[int(float(row["link_gbps"]))] - first_pause_s(buffer, rate, senders)
            share = pause_fraction(senders)
            note("lasting pause", share * paused_s * 1e6, "pfc_pause_us_mean_per_sender")
            note("lasting queue", queue / 1e3, "q_mean_kB")
            continue
        wire = size + ceil(size / 1000) * 36
        note("last burst", (senders * wire / rate + 4 * delay_s + packet_s) * 1e6, "fct_max_us")
        note("peak", min(queue, (senders - 1) * wire) / 1e3, "q_max_whole_kB")
        if float(row["pfc_pauses_total"]) >= 50:
            note("pause", pause_time_s(buffer, rate, senders, wire) * 1e6, "pfc_pause_us_mean_per_sender")
    return found


@pytest.mark.parametrize(
    ("name", "median", "tail"),
    [
        ("last burst", 0.0005, 0.001),
        ("lasting pause", 0.005, 0.02),
        ("pause", 0.01, 0.03),
        ("lasting queue", 0.015, 0.035),
        ("peak", 0.02, 0.08),
    ],
)
def test_closed_forms(errors: dict[str, list[float]], name: str, median: float, tail: float) -> None:
    assert len(errors[name]) >= 18
    assert np.median(errors[name]) < median, np.median(errors[name])
    assert np.percentile(errors[name], 90) < tail, np.percentile(errors[name], 90)
