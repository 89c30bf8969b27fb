"""State in the link, shared runs, and nothing of one session in another."""

from __future__ import annotations

from threading import Event

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.scenario.faults import InputError
from models.scenario.load import dump
from views.ask import Ask, ask_of, base_scenario, packed, query_of, scenario_of, unpacked, whole_scenario
from views.work import Cancelled, Job, Store

VALUES = st.one_of(st.integers(-5, 10**9), st.floats(-1e6, 1e6), st.booleans(), st.text(max_size=20))
KEYS = st.sampled_from(
    [
        "cluster.gpus",
        "topology.oversubscription",
        "prices.sw_qm9700",
        "candidates.InfiniBand NDR.overrides.routing.kind",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(KEYS, VALUES), max_size=4, unique_by=lambda c: c[0]), st.sampled_from([0, 200, 800])
)
def test_a_link_reads_back_as_what_made_it(changes: list[tuple[str, object]], nic: int) -> None:
    view = tuple((key.rpartition(".")[2], value) for key, value in changes)
    ask = Ask(changes=tuple(changes), off=("Ethernet TCP 400G",), nic_gbit_per_s=nic, view=view)
    assert ask_of(query_of(ask)) == ask


def test_an_input_of_a_page_leaves_the_link_when_it_is_back_at_its_default() -> None:
    ask = Ask().viewed("operation", "all_gather", "all_reduce").viewed("ranks", 64, 1024)
    assert query_of(ask)["view"] == ["operation:all_gather", "ranks:64"]
    assert ask.viewed("ranks", 1024, 1024).viewed("operation", "all_reduce", "all_reduce") == Ask()
    assert ask_of({"view": ['kinds:["collective"]', "x" * 400]}).view == (("kinds", ["collective"]),)


def test_an_own_scenario_travels_in_the_link() -> None:
    text = dump(whole_scenario(Ask().changed("cluster.gpus", 256)))
    ask = Ask(name="own", text=text)
    again = ask_of(query_of(ask))
    assert again == ask
    assert whole_scenario(again).cluster.gpus == 256
    assert len(query_of(ask)["yaml"][0]) < 4000


def test_a_small_link_cannot_grow_into_a_large_text() -> None:
    with pytest.raises(InputError, match="too large"):
        unpacked(packed("a" * 50_000_000))


def test_switching_candidates_off_leaves_the_rest_and_never_none() -> None:
    names = list(whole_scenario(Ask()).candidates)
    assert list(scenario_of(Ask(off=(names[0],))).candidates) == names[1:]
    assert list(scenario_of(Ask(off=tuple(names))).candidates) == names


def test_a_yaml_alias_bomb_is_refused_by_name() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
    )
    with pytest.raises(InputError, match="aliases are not allowed"):
        base_scenario("bomb", bomb)


def test_a_run_is_shared_by_key_and_counted_once() -> None:
    store, calls = Store(), []

    def work(job: Job) -> int:
        calls.append(1)
        return 42

    jobs = [store.job("key", "t", work) for _ in range(5)]
    assert jobs[0].ended.wait(5)
    assert {job.result for job in jobs} == {42} and len(calls) == 1
    assert store.job("other", "t", work).ended.wait(5) and len(calls) == 2


def test_a_run_stops_only_when_no_session_waits_for_it() -> None:
    store, go = Store(), Event()

    def work(job: Job) -> None:
        while not go.wait(0.01):
            job.progress("step")

    job = store.job("key", "t", work)
    job.watchers.update({"one", "two"})
    store.leave("key", "one")
    assert not job.stop.is_set()
    store.leave("key", "two")
    assert job.ended.wait(5) and isinstance(job.error, Cancelled)
    again = store.job("key", "t", lambda job: 1)
    assert again is not job and again.ended.wait(5) and again.result == 1


def test_an_error_of_a_run_reaches_the_page_and_the_store_stays_bounded() -> None:
    store = Store()

    def fails(job: Job) -> None:
        raise InputError([])

    job = store.job("key", "t", fails)
    assert job.ended.wait(5) and isinstance(job.error, InputError)
    for number in range(400):
        assert store.job(number, "t", lambda job: None, here=True).ended.is_set()
    assert len(store) < 120
