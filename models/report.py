"""The answer for an architecture review: question, answer, table, charts, assumptions with sources, versions, limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from models.compare.dual_track import dual_track
from models.compare.fabrics import METHODS, Method
from models.compare.risk import risks
from models.compare.sensitivity import sensitivity
from models.report_answer import answer_parts
from models.report_ground import ground_parts
from models.report_html import html_page
from models.report_markdown import markdown
from models.report_parts import Heading
from models.scenario.schema import Scenario


@dataclass(frozen=True)
class Report:
    """A report in its two forms, and the table behind it."""

    html: str
    markdown: str
    decision: pd.DataFrame


def report(
    scenario: Scenario,
    methods: Sequence[Method] = METHODS,
    prices: str | None = None,
    progress: Callable[[str], None] = lambda text: None,
) -> Report:
    """The report of a scenario: the same bytes for the same scenario, prices and version.

    Raises InputError where the scenario cannot be answered.
    """
    result = sensitivity(scenario, methods=methods, prices=prices, progress=progress)
    progress("plans and risks")
    plans = dual_track(scenario, methods, prices)
    facts = risks(scenario, result.setups, result.costs)
    title = f"{scenario.name}: {scenario.question}"
    parts = [
        Heading(scenario.question, 1),
        *answer_parts(result, plans),
        *ground_parts(result, facts, prices),
    ]
    return Report(html_page(title, parts), markdown(parts), result.tables()["decision"])
