"""Sweeps of an incast over the axes that decide it: every key is taken, and moves the figures the right way."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest

from models.compare.axes import axis, grid
from models.compare.sweep import sweep
from models.scenario.load import SHIPPED, load, with_values

FULL = load(SHIPPED / "llama3-70b-1024-h100.yaml")
IB, ROCE, TCP = "InfiniBand NDR", "RoCEv2 400G", "Ethernet TCP 400G"
SMALL = with_values(
    FULL.model_copy(
        update={
            "candidates": {name: FULL.candidates[name] for name in (IB, ROCE, TCP)},
            "workloads": {"incast": FULL.workloads["incast"].model_copy(update={"weight": 1.0, "seeds": 1})},
        }
    ),
    {"workloads.incast.fan_in": 16, "workloads.incast.burst_bytes": 2**19},
)

# axis, candidate, metric, and whether the figure rises or falls with the axis
MOVES = [
    ("workloads.incast.fan_in=4,16,64", ROCE, "fct_max", "rises"),
    ("workloads.incast.burst_bytes=64KiB,256KiB,1MiB", IB, "victim_share", "falls"),
    ("workloads.incast.burst_bytes=64KiB,256KiB,1MiB", ROCE, "queue_peak", "rises"),
    (f"candidates.{ROCE}.overrides.flow_control.switch_buffer_mb=2,8,165", ROCE, "pauses", "falls"),
    (f"candidates.{ROCE}.overrides.flow_control.dynamic_threshold=0.01,0.125,1", ROCE, "pauses", "falls"),
    (f"candidates.{ROCE}.overrides.congestion_control.kmin_kb=20,400,6400", ROCE, "marks", "falls"),
    (f"candidates.{ROCE}.overrides.congestion_control.kmax_kb=1600,12800", ROCE, "marks", "falls"),
    (f"candidates.{ROCE}.overrides.congestion_control.pmax=0.01,1", ROCE, "marks", "rises"),
    (f"candidates.{TCP}.overrides.congestion_control.kmin_kb=100,1200", TCP, "queue_mean", "rises"),
    (f"candidates.{TCP}.overrides.flow_control.switch_buffer_mb=1,165", TCP, "drops", "falls"),
    (f"candidates.{IB}.overrides.flow_control.vl_buffer_kib=16,128", IB, "queue_peak", "rises"),
    (f"candidates.{ROCE}.overrides.link.rate_gbit_per_s=100,200,400", ROCE, "fct_max", "falls"),
    ("topology.cable_m.host_leaf=30,100,400", IB, "fct_max", "rises"),
    ("topology.cable_m.leaf_spine=10,100", ROCE, "fct_max", "rises"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "candidate", "metric", "moves"), MOVES)
def test_an_axis_moves_the_incast_the_right_way(
    tmp_path: Path, text: str, candidate: str, metric: str, moves: str
) -> None:
    one = axis(text)
    done = sweep(SMALL, grid([one]), tmp_path, ("fluid",))
    with open(done.table, newline="") as file:
        rows = list(csv.DictReader(file))
    own = [row for row in rows if row["candidate"] == candidate and row["metric"] == metric]
    assert all(row["status"] == "ok" for row in own)
    figures = [float(row["value"]) for row in own]
    assert len(figures) == len(one.values), (figures, rows[:1])
    pairs = list(itertools.pairwise(figures))
    assert all(b >= a * (1 - 1e-9) if moves == "rises" else b <= a * (1 + 1e-9) for a, b in pairs), figures
    assert figures[0] != figures[-1], figures


def test_both_methods_slow_the_port_where_the_cable_outlasts_the_buffer(tmp_path: Path) -> None:
    done = sweep(SMALL, grid([axis("topology.cable_m.host_leaf=30,500")]), tmp_path, ("analytical", "fluid"))
    with open(done.table, newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["candidate"] == IB and r["metric"] == "fct_max"]
    ends = {(r["method"], float(r["topology.cable_m.host_leaf"])): float(r["value"]) for r in rows}
    for method in ("analytical", "fluid"):
        assert ends[method, 500.0] > 1.5 * ends[method, 30.0]
    assert ends["analytical", 500.0] == pytest.approx(ends["fluid", 500.0], rel=0.08)


def test_a_threshold_without_effect_is_a_row_that_says_why(tmp_path: Path) -> None:
    key = f"candidates.{TCP}.overrides.congestion_control.kmax_kb"
    done = sweep(SMALL, grid([axis(f"{key}=100,200")]), tmp_path, ("fluid",))
    with open(done.table, newline="") as file:
        rows = list(csv.DictReader(file))
    reasons = {row["reason"] for row in rows if row["status"] != "ok"}
    assert reasons and all("no effect" in reason for reason in reasons)
