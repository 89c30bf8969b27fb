"""Logs of three tools: recognised by their own headings, every line accounted for, junk refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.evidence.log_reading import TEXT_BYTES_MAX, collective_rows, log_reading
from models.scenario.faults import InputError

WRITE_BW = """---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      5000             381.03             380.91               0.7265
 1048576    5000             388.4              388.2                0.0463
---------------------------------------------------------------------------------------
"""
BOTH_WAYS = WRITE_BW.replace("RDMA_Write BW Test", "Send Bidirectional BW Test")
LATENCY = """                    Send Latency Test
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
 2       1000          1.80           12.03        1.95               1.99
"""
OSU_GATHER = (
    "# OSU MPI Allgather Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size  Avg Latency(us)\n1048576  100.0\n"
)
NCCL = (
    "# nThread 1 nGpus 1 all_gather_perf\n"
    + "".join(f"#  Rank {n:2d} Group  0 Pid  1 on   node{n // 8} device {n % 8} H100\n" for n in range(16))
    + "  1073741824  16777216  float  none  -1  4446.0  241.51  226.41  0  4450.0  241.3  226.2  0\n"
    + "  77777 a line that broke\n# Out of bounds values : 0 OK\n"
)


@pytest.mark.parametrize(
    ("text", "tool", "kind", "operation", "test"),
    [
        (WRITE_BW, "perftest", "bandwidth", "", "RDMA_Write BW"),
        (LATENCY, "perftest", "latency", "", "Send Latency"),
        (OSU_GATHER, "osu", "collective", "all_gather", "Allgather Latency"),
        ("# OSU MPI Bandwidth Test v7.0\n# Size  Bandwidth (MB/s)\n4194304 24500.1\n", "osu", "bandwidth", "", "Bandwidth"),
        ("# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7\n# Size  Avg Latency(us)\n64 9.5\n",
         "osu", "collective", "all_to_all", "All-to-All Personalized Exchange Latency"),
        (NCCL, "nccl-tests", "collective", "all_gather", "all_gather_perf"),
    ],
)  # fmt: skip
def test_tool_test_and_operation_are_recognised(
    text: str, tool: str, kind: str, operation: str, test: str
) -> None:
    found = log_reading(text, "mine.log")
    assert (found.tool, found.kind, found.operation, found.test) == (tool, kind, operation, test)
    assert found.words.startswith("mine.log: ")


def test_every_line_is_accounted_for() -> None:
    found = log_reading(NCCL)
    assert len(found.rows) == 1 and found.ranks == 16
    assert [line.strip() for line in found.unread] == ["77777 a line that broke"]
    assert found.passed_over == 18  # heading, 16 ranks, the closing line
    assert "1 that look like results but are not readable" in found.words
    assert not found.wrong and log_reading(NCCL.replace("0 OK", "3 FAILED")).wrong


def test_launcher_tags_are_taken_off_every_tool() -> None:
    for text in (NCCL, OSU_GATHER, LATENCY):
        tagged = "\n".join(f"[1,0]<stdout>:{line}" for line in text.splitlines())
        assert log_reading(tagged).rows == log_reading(text).rows


def test_osu_sizes_become_those_of_nccl_tests() -> None:
    (row,) = collective_rows(log_reading(OSU_GATHER), "all_gather", 8).itertuples()
    assert row.message_bytes == 8 * 2**20
    assert row.bus_bandwidth_bytes_per_s == pytest.approx(7 / 8 * 8 * 2**20 / 100e-6)
    (reduced,) = collective_rows(
        log_reading(OSU_GATHER.replace("Allgather", "Allreduce")), "all_reduce", 8
    ).itertuples()
    assert reduced.message_bytes == 2**20


def test_both_directions_are_known_as_such() -> None:
    assert log_reading(BOTH_WAYS).bidirectional and not log_reading(WRITE_BW).bidirectional


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"hello\nworld", "no result line of a known tool"),
        (bytes(range(256)) * 20, "is not text"),
        (b"x" * (TEXT_BYTES_MAX + 1), "too large"),
        (b"# OSU MPI Latency Test\n# Size Latency (us)\n", "headed as an OSU benchmark but has no result line"),
        (b"#bytes #iterations\nx y z w", "headed as perftest but has no result line"),
        (b"# nccl-tests version 2.17\n# busbw\n", "headed as nccl-tests but has no result line"),
        (b"# OSU MPI Multiple Bandwidth / Message Rate Test\n# Size MB/s Messages/s\n1 3 4\n", "not compared"),
        (b"schema_version: 1\nname: a\n", "wanted: the output of nccl-tests"),
    ],
)  # fmt: skip
def test_junk_is_refused_with_what_is_wanted(content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        log_reading(content, "junk.log")


@settings(max_examples=120, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_and_nothing_else(content: bytes) -> None:
    for head in (b"", b"# OSU MPI Latency Test\n# Size Latency (us)\n", b"#bytes #iterations t_min[usec]\n"):
        try:
            assert log_reading(head + content).rows
        except InputError as error:
            assert str(error.faults[0])
