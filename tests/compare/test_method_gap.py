"""The warning that the two methods part: silent where they agree, there where one is made wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.compare.comparison import compare
from models.compare.method_gap import method_gaps
from models.compare.performance import setup, workload_time
from models.scenario.load import SHIPPED, load

SCENARIO = load(SHIPPED / "startup-256-h100.yaml")
NAME = "RoCEv2 400G"


def both(workload: str):
    on = setup(SCENARIO, NAME)
    return [workload_time(SCENARIO, on, workload, method) for method in ("analytical", "fluid")]


def changed(item, name: str, factor: float):
    """The workload with one metric of its incast scaled, band and all."""
    times = {}
    for phase, time in item.times.items():
        metrics = tuple(
            replace(
                m, value=m.value * factor, low=(m.low or m.value) * factor, high=(m.high or m.value) * factor
            )
            if m.name == name
            else m
            for m in time.metrics
        )
        times[phase] = replace(time, metrics=metrics)
    return replace(item, times=times)


def test_silent_where_the_methods_agree_and_with_one_method() -> None:
    items = both("incast")
    assert method_gaps(items) == []
    assert method_gaps(items[:1]) == []


@pytest.mark.parametrize("factor", [0.2, 0.35])
def test_a_victim_that_one_method_starves_is_told(factor: float) -> None:
    closed, solved = both("incast")
    (text,) = method_gaps([closed, changed(solved, "victim_share", factor)])
    assert text.startswith(f"{NAME}, incast: the two methods differ much in what a victim keeps (")
    assert "analytical" in text and "fluid" in text and "time (" not in text


def test_a_time_that_parts_is_told_and_reaches_the_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    closed, solved = both("incast")
    unit = solved.unit
    slow = replace(
        unit, total_s=3 * unit.total_s, fabric_low_s=2.9 * unit.total_s, fabric_high_s=3.1 * unit.total_s
    )
    (text,) = method_gaps([closed, replace(solved, unit=slow)])
    assert "time (" in text
    monkeypatch.setattr("models.compare.comparison.method_gaps", lambda performance: ["methods part"])
    assert "methods part" in compare(SCENARIO, methods=("analytical",)).warnings
