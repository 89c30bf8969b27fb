"""Logs of three tools, calibration on them, and diagnosis of what falls short."""

from __future__ import annotations

import numpy as np
import pytest

from models.evidence.calibration import calibration
from models.evidence.diagnosis import causes, falls_short, likely_causes
from models.evidence.logs import log_rows, log_tool
from models.evidence.published import rows_of
from models.evidence.published_predictions import collective_phase, phase_time
from models.evidence.published_setup import Unusable
from models.scenario.faults import InputError

PERFTEST = """
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             98.03              98.01              0.186926
---------------------------------------------------------------------------------------
"""
LATENCY = """
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 2       1000          5.12           12.03        5.84               5.90           0.2
"""
OSU = """# OSU MPI Latency Test v7.0
# Size          Latency (us)
0                       1.15
1                       1.20
garbage line
"""
OSU_BANDWIDTH = "# OSU MPI Bandwidth Test v7.0\n# Size      Bandwidth (MB/s)\n4194304   24500.10\n"
NCCL = """# nThread 1 nGpus 1 all_reduce_perf
#       size         count      type   redop    root     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1   4446.0  241.51  452.83      0   4450.0  241.3  452.4      0
"""


def test_perftest_bandwidth_and_latency() -> None:
    assert log_rows(PERFTEST)[0].bandwidth_bytes_per_s == pytest.approx(98.01e9 / 8)
    assert log_rows(LATENCY)[0].time_s == pytest.approx(5.84e-6)


def test_osu_latency_and_bandwidth() -> None:
    assert [(row.operation, row.message_bytes) for row in log_rows(OSU)] == [
        ("latency", 0.0),
        ("latency", 1.0),
    ]
    assert log_rows(OSU)[1].time_s == pytest.approx(1.2e-6)
    assert log_rows(OSU_BANDWIDTH)[0].bandwidth_bytes_per_s == pytest.approx(24500.10e6)


def test_nccl_tests_with_its_operation() -> None:
    (row,) = log_rows(NCCL)
    assert (row.tool, row.operation, row.message_bytes) == ("nccl-tests", "all_reduce", 2.0**30)
    assert row.bandwidth_bytes_per_s == pytest.approx(452.83e9)


@pytest.mark.parametrize(
    "line",
    [
        "1048576 262144 float sum -1 85.35 12.29 21.50 0 84.9 12.35 21.6 0",
        "1048576 262144 float none -1 85.35 12.29 21.50 N/A 84.9 12.35 21.6 N/A",
        "1048576 262144 float sum 85.35 12.29 21.50 0e+00 84.9 12.35 21.6 0e+00",  # older: no root
        "1048576 262144 float 85.35 12.29 21.50 0e+00 84.9 12.35 21.6 0e+00",  # and no operation
        "[1,0]<stdout>:     1048576 262144 float sum -1 85.35 12.29 21.50 0 84.9 12.35 21.6 0",
        "0:  1048576 262144 float sum -1 85.35 12.29 21.50 0 84.9 12.35 21.6 0",
        "node-07.example: 1048576 262144 float sum -1 85.35 12.29 21.50 0 84.9 12.35 21.6 0",
    ],
)
def test_result_lines_of_all_versions_and_launchers(line: str) -> None:
    (row,) = log_rows(line)
    assert row.time_s == pytest.approx(85.35e-6)
    assert row.bandwidth_bytes_per_s == pytest.approx(21.5e9)


@pytest.mark.parametrize("text", ["", "hello", "# OSU MPI Latency Test\n", "#bytes #iterations\nx y z w"])
def test_a_text_without_results_is_refused(text: str) -> None:
    assert log_tool(text) in {"nccl-tests", "osu", "perftest"}
    with pytest.raises(InputError):
        log_rows(text)


def test_calibration_recovers_two_parameters_and_ratios() -> None:
    size = 2.0 ** np.arange(16, 35)
    model = 5e-5 + size / 2.5e11
    found = calibration(size, 1e-4 + size / 2e11, model)
    assert found.times_s(size, model) == pytest.approx(1e-4 + size / 2e11, rel=1e-6)


def test_calibration_without_large_rows_uses_ratios_only() -> None:
    size = np.array([2.0**20, 2.0**24])
    found = calibration(size, np.array([2e-4, 4e-4]), np.array([1e-4, 1e-4]))
    assert found.times_s(np.array([2.0**22]), np.array([1e-4])) == pytest.approx([3e-4])


def test_an_empty_log_cannot_calibrate() -> None:
    with pytest.raises(ValueError, match="no point"):
        calibration(np.array([]), np.array([]), np.array([]))


def test_stated_faults_are_flagged_and_healthy_rows_are_not() -> None:
    flags: dict[str, list[bool]] = {"fault": [], "healthy": []}
    for row in rows_of(None):
        if row["kind"] != "collective" or row["condition"] not in flags or row["metric"] != "busbw":
            continue
        try:
            phase, setup = collective_phase(row)
        except Unusable:
            continue
        model = phase_time(phase, setup).bus_bandwidth_bytes_per_s / 1e9
        if phase.operation.startswith("moe") or not row["message_bytes"]:
            continue
        flags[row["condition"]] += falls_short([phase.message_bytes], [float(row["value"])], [model])
    assert sum(flags["healthy"]) == 0 and len(flags["healthy"]) > 50
    assert sum(flags["fault"]) >= 0.75 * len(flags["fault"]) > 0


def test_causes_fit_the_fabric() -> None:
    assert causes()
    assert {case.fabric for case in likely_causes("ib", "perftest", 0.5)} == {"ib"}
