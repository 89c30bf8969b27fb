"""The report: self-contained, safe, repeatable, and the same content in both forms."""

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import pytest

from models.report import report
from models.report_charts import intervals, scatter, stacked, tornado_bars
from models.report_html import html_page
from models.report_markdown import markdown
from models.report_parts import Heading, Table, Text
from models.scenario.load import from_mapping
from tests.compare.sweeping import small_scenario

SMALL = small_scenario()


@pytest.fixture(scope="module")
def made():
    return report(SMALL, ("analytical",))


class Tags(HTMLParser):
    """Counts tags and checks that they close."""

    VOID = frozenset({"meta", "br", "img", "input", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.seen.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.seen.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


def tags(page: str) -> Tags:
    parser = Tags()
    parser.feed(page)
    assert parser.open == []
    return parser


def test_the_page_needs_nothing_from_elsewhere(made) -> None:
    found = tags(made.html)
    assert not {"script", "link", "img", "iframe"} & set(found.seen)
    outside = [v for name, v in found.attributes if name in {"src", "href"} or v.startswith("http")]
    assert [v for v in outside if v != "http://www.w3.org/2000/svg"] == []
    assert "url(" not in made.html and "@import" not in made.html
    assert "default-src 'none'" in made.html


def test_question_answer_charts_sources_versions_and_limits_are_there(made) -> None:
    assert made.html.count("<svg") >= 4
    for text in ("Candidates", "What moves the answer", "Where the answer turns", "Risks", "sources",
                 "Versions and hashes", "Limits", "sha256"):  # fmt: skip
        assert text in made.html and text in made.markdown
    for name in SMALL.candidates:
        assert name in made.html and name in made.markdown
    assert made.decision.metric.iloc[0] == "verdict"
    assert made.decision.note.iloc[0] in made.markdown


def test_the_same_scenario_gives_the_same_bytes(made) -> None:
    again = report(SMALL, ("analytical",))
    assert (again.html, again.markdown) == (made.html, made.markdown)
    assert "/tmp" not in made.html and not re.search(r"\b20\d\d-\d\d-\d\dT", made.html)


def test_text_of_the_scenario_stays_text() -> None:
    mapping = SMALL.model_dump(mode="json", exclude_unset=True)
    mapping["question"] = "<script>alert(1)</script> | `x` ?"
    page = report(from_mapping(mapping), ("analytical",))
    assert "<script>" not in page.html and "&lt;script&gt;" in page.html
    assert "<script>" not in page.markdown


def test_markdown_tables_keep_their_columns(made) -> None:
    blocks = re.findall(r"(?:^\|.*\|\n)+", made.markdown, re.M)
    assert len(blocks) >= 6
    for block in blocks:
        rows = block.strip().splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_charts_are_well_formed_and_hold_every_name() -> None:
    names = ["A & B", "<C>"]
    colours = {"A & B": "#111111"}
    charts = [
        intervals("t", [(n, 0.8, 1.0, 1.1) for n in names], colours, "x"),
        scatter("t", [(n, 1e6 + i, 0.9 + i / 100) for i, n in enumerate(names)], colours, "x", "y", names),
        stacked("t", [(n, (("p", 1.0), ("q", 2.0))) for n in names], "x"),
        tornado_bars("t", [(n, -0.1, 0.0, 0.2, "1", "2") for n in names], "x"),
        intervals("flat", [("A & B", 1.0, 1.0, 1.0)], colours, "x"),
    ]
    for chart in charts:
        root = ElementTree.fromstring(chart)
        assert root.tag.endswith("svg")
        assert "A & B" in "".join(root.itertext())


def test_both_writers_take_every_part() -> None:
    parts = [Heading("H", 1), Text("a <b>", strong=True), Table(["x"], [["1|2"]], right=(0,))]
    assert "a &lt;b&gt;" in html_page("t", parts)
    assert "1\\|2" in markdown(parts)
