"""Each of the six inputs of the sidebar moves every page, to what the command line says of the same scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from models.charts import number_text
from models.cli import main
from models.scenario.load import dump
from models.units import duration_text, usd_text
from views.ask import ask_of, scenario_of

CHANGES: dict[str, Callable[[Any], Any]] = {
    "gpus": lambda page: page.number_input(key="gpus").set_value(2048),
    "gpu": lambda page: page.selectbox(key="gpu").set_value("H200"),
    "nic": lambda page: page.selectbox(key="nic").set_value(800),
    "taper": lambda page: page.selectbox(key="taper").set_value(2.0),
    "scored": lambda page: page.selectbox(key="scored").set_value("incast"),
    "years": lambda page: page.selectbox(key="years").set_value(3),
}
# what an input has nothing to do with: networks are priced and loaded whatever is scored, and a ring over rails crosses
# few spines
UNMOVED = {
    "gpu": {"network"},
    "taper": {"collectives"},
    "scored": {"training_step", "collectives", "network", "cost"},
    "years": {"training_step", "collectives", "network"},
}
PAGES = ("cluster_size", "training_step", "collectives", "network", "cost", "assumptions")


def told(page: Any) -> str:
    """All the words, tables and pictures of the page as one text."""
    tables = [table.value.to_csv() for table in page.dataframe]
    pictures = [
        element.proto.spec + "".join(str(hash(item.data.data)) for item in element.proto.datasets)
        for element in page.get("vega_lite_chart")
    ]
    return "\n".join([*(h.value for h in page.header), *tables, *pictures])


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return {}


@pytest.mark.parametrize("name", list(CHANGES))
def test_an_input_is_followed_by_every_page_and_agrees_with_the_command(
    run_page: Callable[..., Any],
    before: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    first = run_page("decision")
    CHANGES[name](first).run()
    assert not first.exception and not first.error
    found = {key: first.query_params[key] for key in first.query_params}
    query = {key: [value] if isinstance(value, str) else value for key, value in found.items()}
    pages = {"decision": first}
    pages |= {page: run_page(page, **query) for page in PAGES if page not in UNMOVED.get(name, ())}
    for page, shown in pages.items():
        assert not shown.exception and not shown.error, page
        if page not in before:
            before[page] = told(run_page(page))
        assert told(shown) != before[page], page

    file = tmp_path / "asked.yaml"
    file.write_text(dump(scenario_of(ask_of(query))), "utf-8")
    capsys.readouterr()
    assert main(["compare", str(file), "--format", "json", "--out", str(tmp_path)]) == 0
    verdict = json.loads(capsys.readouterr().out)
    _decision_agrees(pages["decision"], verdict)
    comparison = pd.read_csv(tmp_path / "comparison.csv")
    if "training_step" in pages:
        _training_agrees(pages["training_step"], comparison)
    if "cost" in pages:
        _cost_agrees(pages["cost"], pd.read_csv(tmp_path / "bill_of_materials.csv"))


def _decision_agrees(page: Any, verdict: Any) -> None:
    text = json.dumps(verdict, ensure_ascii=False)
    sentence = page.header[0].value.replace("\u00a0", " ").replace("\u2009", ",")
    assert json.dumps(sentence, ensure_ascii=False)[1:-1] in text


def _training_agrees(page: Any, comparison: pd.DataFrame) -> None:
    steps = comparison[comparison.metric == "step_time"].set_index(["candidate", "method"]).value
    table = next(t.value for t in page.dataframe if "Step" in t.value).set_index(["Candidate", "Method"])
    assert len(table) == len(steps)
    for key, value in steps.items():
        assert table.Step[key] == duration_text(value), key


def _cost_agrees(page: Any, bill: pd.DataFrame) -> None:
    shown = next(t.value for t in page.dataframe if "Quantity" in t.value)
    mine = bill[bill.candidate == str(page.selectbox(key="bill-of").value)]
    assert list(shown.Quantity) == [number_text(v, 6) for v in mine.quantity_total]
    assert list(shown.Sum) == [
        "unknown" if pd.isna(v) else usd_text(v)
        for v in pd.to_numeric(mine.extended_mid_usd, errors="coerce")
    ]
