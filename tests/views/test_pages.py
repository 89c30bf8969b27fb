"""Every page runs, says its answer in a sentence and offers its tables as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from app import PAGES
from models.cli import main
from models.compare.cost_tables import RUNNING
from models.scenario.load import SHIPPED, load
from views.work import STORE, Job

MODULES = [entry[0] for group in PAGES.values() for entry in group]


@pytest.mark.parametrize("module", MODULES)
def test_page_has_a_computed_sentence_and_no_error(run_page: Callable[..., Any], module: str) -> None:
    page = run_page(module)
    assert not page.exception
    assert not page.error, [entry.value for entry in page.error]
    sentence = page.header[0].value
    assert len(sentence) > 20 and any(c.isdigit() for c in sentence), sentence


def test_decision_switches_a_candidate_off_and_keeps_the_others_colours(run_page: Callable[..., Any]) -> None:
    whole = run_page("decision")
    assert "Ethernet TCP 400G" in str(whole.dataframe[0].value)
    less = run_page("decision", off=["Ethernet TCP 400G"])
    assert "Ethernet TCP 400G" not in str(less.dataframe[0].value)
    assert not less.exception


def test_an_input_changes_the_scenario_and_the_address(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    page.number_input(key="gpus").set_value(512).run()
    assert "cluster.gpus:512" in page.query_params["set"]
    page.number_input(key="gpus").set_value(1024).run()
    assert "set" not in page.query_params  # back at the scenario's own value: no change left
    assert not page.exception


def test_a_step_back_in_the_browser_brings_the_earlier_state_back(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    first = page.header[0].value
    page.number_input(key="gpus").set_value(512).run()
    page.selectbox(key="years").set_value(3).run()
    page.query_params["set"] = ["cluster.gpus:512"]  # the browser's own doing: the link of the step before
    page.run()
    assert page.number_input(key="gpus").value == 512 and page.selectbox(key="years").value == 5
    for key in list(page.query_params):
        del page.query_params[key]
    page.run()
    assert page.header[0].value == first and page.number_input(key="gpus").value == 1024
    assert not page.query_params  # not written anew: that would be a step forward the reader did not make


def test_a_quick_hand_is_not_set_back_by_a_link_that_is_a_step_old(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    page.number_input(key="gpus").set_value(512).run()
    page.number_input(key="gpus").set_value(2048)
    for key in list(page.query_params):  # the browser sends the link it had when the key was pressed
        del page.query_params[key]
    page.run()
    assert page.number_input(key="gpus").value == 2048
    assert "cluster.gpus:2048" in page.query_params["set"]


def test_a_run_that_ends_draws_the_page_anew_without_reading_the_link(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from views import frame, show
    from views.ask import Ask

    state: dict[str, Any] = {
        "ask": Ask().changed("cluster.gpus", 512),
        "address": {"set": ["cluster.gpus:512"]},
    }
    monkeypatch.setattr("streamlit.session_state", state)
    monkeypatch.setattr("streamlit.rerun", lambda: None)
    monkeypatch.setattr(frame, "_query", dict)  # an old link: nothing changed in it
    show.rerun()
    assert frame._opened() is None and state["ask"].changes
    assert frame._opened() is None and not state["ask"].changes  # without a run that ended it is a step back


@pytest.mark.parametrize(
    ("module", "view"),
    [
        ("collectives", ["operation:nonsense", "ranks:-5"]),
        ("network", ["pattern:7", "drawn:nobody", "heat-tier:[1,2]"]),
        ("cost", ["cost-scope:{}", "cost-from:1e9", "bill-of:none"]),
        ("sensitivity", ["even-first:x", "even-factor:99", "even-idle:true"]),
        ("evidence", ['evidence-kinds:["no such kind"]', "evidence-kinds:bom"]),
        ("assumptions", ["assumption-search:5", "assumption-groups:all", "assumption-only:1"]),
    ],
)
def test_page_inputs_that_a_link_cannot_mean_are_at_their_default(
    run_page: Callable[..., Any], module: str, view: list[str]
) -> None:
    page = run_page(module, view=view)
    assert not page.exception and not page.error
    assert page.header[0].value == run_page(module).header[0].value


def test_a_page_input_is_in_the_address_and_opens_again(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    page.selectbox(key="cost-from").set_value("Spectrum-X 400G").run()
    assert page.query_params["view"] in ("cost-from:Spectrum-X 400G", ["cost-from:Spectrum-X 400G"])
    again = run_page("cost", view=["cost-from:Spectrum-X 400G"])
    assert again.selectbox(key="cost-from").value == "Spectrum-X 400G"
    page.selectbox(key="cost-from").set_value("RoCEv2 400G").run()
    assert "view" not in page.query_params


def test_the_same_address_shows_the_same_page(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    page.number_input(key="gpus").set_value(2048).run()
    page.selectbox(key="years").set_value(3).run()
    again = run_page("cost", **dict(page.query_params))
    assert again.header[0].value == page.header[0].value
    assert [t.value.to_csv() for t in again.dataframe] == [t.value.to_csv() for t in page.dataframe]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"set": ["cluster.gpus:1000000000"]}, "allowed 1 .. "),
        ({"set": ["cluster.gpus:1001"]}, "multiple of gpus_per_node"),
        ({"set": ["cluster.gpu:H1000"]}, "unknown GPU"),
        ({"set": ["no.such.key:1"]}, "unknown key"),
        ({"scenario": ["../../etc/passwd"]}, "no such scenario"),
        ({"yaml": ["not-base64-!"]}, "damaged"),
        ({"nic": ["123"]}, "allowed: 200, 400, 800"),
        ({"set": ["just text"]}, "key:value"),
    ],
)
def test_a_bad_link_says_what_is_wrong_and_offers_a_way_out(
    run_page: Callable[..., Any], query: dict[str, list[str]], words: str
) -> None:
    page = run_page("cost", **query)
    assert not page.exception
    text = " ".join(str(entry.value) for entry in [*page.markdown, *page.error]).replace("\\", "").lower()
    assert "to mend" in text and words.lower() in text, text


def test_taking_a_bad_change_back_brings_the_answer_back(run_page: Callable[..., Any]) -> None:
    page = run_page("cost", set=["cluster.gpus:1001"])
    page.button(key="take-back").click().run()
    assert not page.error and page.header


def test_a_price_edit_moves_cost_but_no_time(run_page: Callable[..., Any]) -> None:
    before = run_page("decision").dataframe[0].value.set_index("Candidate")
    after = run_page("decision", set=["prices.sw_qm9700:500000"]).dataframe[0].value.set_index("Candidate")
    times = [name for name in before if name.startswith("Time")]
    assert before[times].sort_index().equals(after[times].sort_index())
    assert before.loc["InfiniBand NDR", "Capital"] != after.loc["InfiniBand NDR", "Capital"]
    assert before.loc["RoCEv2 400G", "Capital"] == after.loc["RoCEv2 400G", "Capital"]


def test_the_cost_page_shows_what_the_command_writes(run_page: Callable[..., Any], tmp_path: Path) -> None:
    """Bill, ownership and totals of the page against the CSV files of `fabric-compare compare`."""
    from models.charts import number_text
    from models.units import usd_text

    assert main(["compare", str(SHIPPED / "startup-256-h100.yaml"), "--out", str(tmp_path)]) == 0
    bill = pd.read_csv(tmp_path / "bill_of_materials.csv")
    owned = pd.read_csv(tmp_path / "ownership.csv", dtype={"year": str})
    page = run_page("cost", scenario=["startup-256-h100"])
    shown_all = [entry.value for entry in page.dataframe]
    by_category = next(table for table in shown_all if "Category" in table).set_index("Category")
    shown = next(table for table in shown_all if "Quantity" in table)
    table = next(table for table in shown_all if "network_share_fraction" in table)
    first = str(page.selectbox(key="bill-of").value)
    mine = bill[bill.candidate == first].reset_index(drop=True)
    assert list(shown["Quantity"]) == [number_text(v, 6) for v in mine.quantity_total]
    assert list(shown["Sum"]) == [usd_text(v) for v in mine.extended_mid_usd]
    assert list(shown["Source"]) == list(mine.price_source)
    pd.testing.assert_frame_equal(
        table.astype({"year": str}).reset_index(drop=True), owned, check_dtype=False, rtol=1e-12
    )
    # the stacked bars: four networks over five years, discounted
    flows = owned[owned.year.isin(list("012345")) & owned.category.isin(RUNNING)]
    rate = load(SHIPPED / "startup-256-h100.yaml").economics.discount_rate_fraction
    assert len(by_category.columns) == bill.candidate.nunique()
    for name, total in by_category.loc["all"].items():
        lines = bill[(bill.candidate == name) & ~bill.network.isin(["servers", "facility"])]
        bought = lines[~lines.category.isin(["licence", "support"])].extended_mid_usd.sum()
        own = flows[flows.candidate == name]
        paid = (own.mid_usd * own.network_share_fraction * (1 + rate) ** -own.year.astype(float)).sum()
        assert total == usd_text(bought + paid)


def test_an_unknown_price_is_said_on_the_cost_page(run_page: Callable[..., Any]) -> None:
    query = {"set": ["topology.cable_m.leaf_spine:5000"], "off": ["InfiniBand NDR"]}
    page = run_page("cost", **query)
    assert not page.exception and not page.error
    assert "lower bounds" in page.warning[0].value and "cb_os2_route" in page.warning[0].value
    assert "unknown" in set(page.dataframe[1].value["Sum"])


def test_a_candidate_is_copied_with_one_thing_changed(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    page.selectbox(key="copy-of").set_value("RoCEv2 400G").run()
    page.selectbox(key="copy-key").set_value("routing.kind").run()
    page.selectbox(key="copy-value-routing.kind").set_value("spray").run()
    page.button(key="copy-add").click().run()
    assert not page.exception
    assert "RoCEv2 400G spray" in page.button_group(key="candidates").options
    assert "yaml" in page.query_params


def test_the_editor_shows_faults_by_line_and_applies_what_is_right(run_page: Callable[..., Any]) -> None:
    page = run_page("cost")
    page.toggle(key="editing-toggle").set_value(True).run()
    text = page.text_area(key="editor-text").value
    page.text_area(key="editor-text").set_value(text.replace("gpus: 1024", "gpus: -8")).run()
    page.button(key="apply-yaml").click().run()
    said = " ".join(str(entry.value) for entry in page.markdown).replace("\\", "")
    assert "cluster.gpus" in said and "line 6" in said, said
    page.text_area(key="editor-text").set_value(text.replace("gpus: 1024", "gpus: 256")).run()
    page.button(key="apply-yaml").click().run()
    assert not page.error and page.number_input(key="gpus").value == 256


def test_a_run_shows_its_progress_and_can_be_stopped_and_started_again(
    run_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = run_page("incast")
    monkeypatch.setattr("views.work.STORE.job", _never_ending(STORE.job))
    monkeypatch.setenv("FABRIC_COMPARE_WAIT_S", "0")
    page.select_slider(key="burst").set_value(2**21).run()
    cancel = page.button(key="cancel-incast")
    cancel.click().run()
    assert "stopped" in " ".join(entry.value for entry in page.caption)
    page.button(key="again-incast").click().run()
    assert page.button(key="cancel-incast")
    page.button(key="cancel-incast").click().run()
    assert not page.exception


def _never_ending(job: Callable[..., Any]) -> Callable[..., Any]:
    def started(key: Any, title: str, function: Any, *args: Any, **options: Any) -> Any:
        def endless(of: Job) -> None:
            while True:
                of.progress("a step")
                of.stop.wait(0.01)

        return job(key, title, endless, *args, **options)

    return started


def test_an_incast_is_added_where_the_scenario_has_none(run_page: Callable[..., Any]) -> None:
    page = run_page("incast", scenario=["failed-links-1024"])
    page.button(key="add-incast").click().run()
    assert not page.error and "32 senders to one" in page.header[0].value


def test_an_edited_price_becomes_a_change_of_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    from views import cost, inputs
    from views.ask import Ask

    state: dict[str, Any] = {"ask": Ask(), "grid": {"edited_rows": {1: {"USD": 12000}}}}
    monkeypatch.setattr("streamlit.session_state", state)
    cost._price_changed("grid", ("sw_th5_wb", "sw_qm9700"))
    assert inputs.ask().changes == (("prices.sw_qm9700", 12000.0),)
    cost._catalogue_prices()
    assert inputs.ask() == Ask()
