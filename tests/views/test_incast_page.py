"""The Incast page: why the victim starves, the axis that decides, what to check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from models.compare import incast_axis
from views import incast_axis as axis_view
from views.work import STORE

FOUR = ("InfiniBand NDR", "RoCEv2 400G", "Spectrum-X 400G", "Ethernet TCP 400G")


def words(page: Any) -> str:
    return " ".join(str(entry.value) for entry in [*page.markdown, *page.caption, *page.subheader]).replace(
        "\\", ""
    )


def test_every_candidate_has_its_reason_with_the_victims_share(run_page: Callable[..., Any]) -> None:
    text = words(run_page("incast"))
    for name in FOUR:
        assert f"{name} · victim keeps" in text
    assert "No room, no credits" in text and "No link pauses" in text


def test_without_a_victim_nobody_speaks_of_one(run_page: Callable[..., Any]) -> None:
    page = run_page("incast", set=["workloads.incast.victim:false"])
    assert not page.exception
    text = words(page)
    assert "victim keeps" not in text and "In one minute" in text


def test_the_axis_is_worked_out_when_it_is_asked_for(run_page: Callable[..., Any]) -> None:
    page = run_page("incast", set=["workloads.incast.fan_in:8", "workloads.incast.seeds:1"])
    said = words(page)
    assert "The axis that decides" in said and "closed form and packets solved: about 1 s" in said
    page.button(key="axis-solve").click().run()
    assert not page.exception
    assert "closed form and packets solved" not in words(page)
    with pytest.raises(KeyError):
        page.button(key="axis-solve")


def test_a_stopped_axis_keeps_its_points_and_goes_on(
    run_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = incast_axis.axis_points
    asked: list[int] = []

    def stops(only: Any, name: str, progress: Any, known: Any) -> Any:
        asked.append(len(known))
        for done, point in enumerate(real(only, name, progress, known)):
            if done == 3 and not known:
                job = next(
                    j
                    for j in STORE._jobs.values()
                    if j.title.startswith("Working out the axis") and not j.ended.is_set()
                )
                job.stop.set()
                progress("stopped by the reader")
            yield point

    monkeypatch.setattr(axis_view, "axis_points", stops)
    page = run_page("incast", set=["workloads.incast.fan_in:6", "workloads.incast.seeds:1"])
    page.button(key="axis-solve").click().run()
    assert not page.exception
    assert "3 of " in words(page) and "points are there" in words(page)
    page.button(key="axis-solve").click().run()
    assert asked == [0, 3]
    assert "points are there" not in words(page)


def test_what_to_check_names_each_candidate(run_page: Callable[..., Any]) -> None:
    page = run_page("incast")
    text = words(page)
    assert "What to check before you buy or tune" in text
    for topic in (
        "ECN before PFC",
        "DCQCN stability",
        "PFC headroom",
        "credit round trip",
        "congestion control",
    ):
        assert topic in text
    assert "one hung NIC stops senders after" in text
