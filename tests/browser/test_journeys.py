"""The journeys people make, in a real browser; pictures of every page go to ./screenshots (not committed)."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app import PAGES
from models.scenario.load import SHIPPED
from tests.browser.conftest import SHOTS, download_text, settled

pytestmark = pytest.mark.browser
MODULES = [entry[0] for group in PAGES.values() for entry in group]
PATHS = {module: "/" if module == "decision" else "/" + module.replace("_", "-") for module in MODULES}
TABLE = {
    "decision": "candidates", "cluster_size": "cluster_size", "sensitivity": "tornado", "training_step": "phases",
    "collectives": "collective", "incast": "incast", "network": "link_load", "cost": "bill_of_materials",
    "evidence": "errors", "assumptions": "assumptions",
}  # fmt: skip
ALONE = "PFC without congestion control"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def finished(page: Any, module: str) -> None:
    """Waits for the page's table, that is, for the end of its runs."""
    page.wait_for_selector(f".st-key-csv-{TABLE[module]}")
    page.wait_for_function("() => !document.querySelector(\"[class*='st-key-progress-']\")")
    settled(page)


@pytest.mark.parametrize("module", MODULES)
def test_a_page_shows_its_answer_downloads_its_table_and_fits(
    opened: Callable[..., Any], module: str
) -> None:
    page = opened(PATHS[module])
    finished(page, module)
    assert page.locator("[data-testid='stException']").count() == 0
    assert len(page.locator("h2").first.inner_text()) > 20
    for image in page.locator("[data-testid='stVegaLiteChart']").all():
        assert image.get_attribute("aria-label") or image.locator("[aria-label]").first.get_attribute(
            "aria-label"
        )
    SHOTS.mkdir(exist_ok=True)
    for width, height in ((1280, 900), (1600, 1000)):
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(250)
            page.screenshot(path=SHOTS / f"{module}-{width}x{height}-{scheme}.png")
        over = page.evaluate(
            "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over <= 0, f"{over} px of horizontal scroll at {width} px"
    text = download_text(page, page.locator(f".st-key-csv-{TABLE[module]} button").first)
    assert len(rows_of(text)) > 1


def test_first_visit_to_answer_to_review_pack(opened: Callable[..., Any]) -> None:
    page = opened("/")
    finished(page, "decision")
    answer = page.locator("h2").first.inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Review pack").click()
    with zipfile.ZipFile(waiting.value.path()) as pack:
        names = set(pack.namelist())
        assert {"scenario.yaml", "report.html", "tables/comparison.csv"} <= names
        assert any(name.startswith("charts/") for name in names)
        assert pack.read("scenario.yaml").decode().startswith("schema_version: 1")
    assert answer.split()[0]


def test_gpus_change_the_link_and_the_link_opens_the_same_page(opened: Callable[..., Any]) -> None:
    page = opened("/cluster-size")
    finished(page, "cluster_size")
    before = rows_of(download_text(page, page.locator(".st-key-csv-cluster_size button").first))
    box = page.get_by_label("GPUs", exact=True)
    box.fill("3072")
    box.press("Enter")
    page.wait_for_url(re.compile(r"set=cluster\.gpus"))
    finished(page, "cluster_size")
    page.wait_for_timeout(500)
    after = download_text(page, page.locator(".st-key-csv-cluster_size button").first)
    assert {row["gpus"] for row in rows_of(after)} - {row["gpus"] for row in before} == {"3072"}
    parts = urlsplit(page.url)
    fresh = opened(f"{parts.path}?{parts.query}")
    finished(fresh, "cluster_size")
    assert fresh.get_by_label("GPUs", exact=True).input_value() == "3072"
    assert download_text(fresh, fresh.locator(".st-key-csv-cluster_size button").first) == after


def test_back_and_forward_bring_earlier_states_back_across_pages(opened: Callable[..., Any]) -> None:
    page = opened("/cost")
    finished(page, "cost")

    def shows(path: str, gpus: str) -> None:
        page.wait_for_url(lambda url: urlsplit(url).path == path and (gpus == "1024") != (gpus in url))
        page.wait_for_function("n => document.querySelector('.st-key-gpus input')?.value === n", arg=gpus)
        settled(page)

    box = page.get_by_label("GPUs", exact=True)
    for gpus in ("512", "2048"):
        box.fill(gpus)
        box.press("Enter")
        shows("/cost", gpus)
    page.get_by_role("link", name="Assumptions").click()
    shows("/assumptions", "2048")
    steps = [("/cost", "2048"), ("/cost", "512"), ("/cost", "1024")]
    for path, gpus in steps:
        page.go_back()
        shows(path, gpus)
    for path, gpus in [("/cost", "512"), ("/cost", "2048"), ("/assumptions", "2048")]:
        page.go_forward()
        shows(path, gpus)


def test_what_a_page_is_set_to_travels_in_the_link(opened: Callable[..., Any]) -> None:
    page = opened("/network")
    finished(page, "network")
    before = page.locator("h2").first.inner_text()
    page.get_by_role("button", name="bisection").or_(
        page.get_by_role("radio", name="bisection")
    ).first.click()
    page.wait_for_url(re.compile(r"view=pattern"))
    page.wait_for_function("t => document.querySelector('h2')?.innerText !== t", arg=before)
    parts = urlsplit(page.url)
    fresh = opened(f"{parts.path}?{parts.query}")
    finished(fresh, "network")
    assert fresh.locator("h2").first.inner_text() == page.locator("h2").first.inner_text() != before
    said = fresh.locator("[aria-label^='Diagram of the network: leaves, spines as boxes']").first
    assert "links coloured by offered load" in said.get_attribute("aria-label")


def test_a_point_to_point_log_is_recognised_and_drawn_over_one_nic(
    opened: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "write_bw.log"
    file.write_text(
        " RDMA_Write BW Test\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
        " 65536 5000 388 387.9 0.7\n 1048576 5000 388 388.1 0.04\n",
        "utf-8",
    )
    page = opened("/collectives")
    finished(page, "collectives")
    page.get_by_role("button", name="Your own log").click()
    page.locator("[data-testid='stFileUploader'] input[type=file]").set_input_files(file)
    page.wait_for_selector("text=perftest RDMA_Write BW, 2 result lines read")
    page.keyboard.press("Escape")
    rows = rows_of(download_text(page, page.locator(".st-key-csv-own_pair button").first))
    near = {row["candidate"]: float(row["measured_over_modelled"]) for row in rows}
    assert 0.97 < near["RoCEv2 400G"] < 1.01


def test_own_file_with_a_fault_is_mended_in_place(opened: Callable[..., Any], tmp_path: Path) -> None:
    text = (SHIPPED / "llama3-70b-1024-h100.yaml").read_text("utf-8").replace("gpus: 1024", "gpus: 1020")
    file = tmp_path / "mine.yaml"
    file.write_text(text, "utf-8")
    page = opened("/cost")
    page.get_by_role("button", name="Own file, edit, save").click()
    page.locator("[data-testid='stFileUploader'] input[type=file]").set_input_files(file)
    page.wait_for_selector("text=not a multiple of gpus_per_node")
    page.keyboard.press("Escape")
    area = page.get_by_label("Scenario as YAML")
    area.fill(text.replace("gpus: 1020", "gpus: 512"))
    area.press("Control+Enter")
    page.get_by_role("button", name="Apply").click()
    finished(page, "cost")
    assert page.get_by_label("GPUs", exact=True).input_value() == "512"


def test_a_changed_price_moves_the_answer_and_is_saved_as_yaml(opened: Callable[..., Any]) -> None:
    page = opened("/cost?set=prices.sw_th5_wb:900000")
    finished(page, "cost")
    assert not page.locator("h2").first.inner_text().startswith("RoCEv2")
    page.get_by_role("button", name="Own file, edit, save").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as YAML").click()
    saved = Path(waiting.value.path()).read_text("utf-8")
    assert "sw_th5_wb" in saved and "900000" in saved


def test_incast_at_64_starves_the_victim_on_pfc_alone_and_the_table_says_so(
    opened: Callable[..., Any],
) -> None:
    page = opened("/incast?set=workloads.incast.fan_in:64&set=workloads.incast.burst_bytes:4194304")
    finished(page, "incast")
    page.get_by_role("button", name="Add RoCE with PFC alone").click()
    page.wait_for_selector(f"[data-testid=stMain] [data-testid=stMarkdown] >> text={ALONE}")
    victim: dict[str, float] = {}
    for _ in range(120):  # the table follows the charts
        finished(page, "incast")
        rows = rows_of(download_text(page, page.locator(".st-key-csv-incast button").first))
        shares = [row for row in rows if row["method"] == "fluid" and row["metric"] == "victim_share"]
        victim = {row["candidate"]: float(row["value"]) for row in shares}
        if any(ALONE in name for name in victim):
            break
        page.wait_for_timeout(500)
    alone = next(value for name, value in victim.items() if ALONE in name)
    assert alone < 0.5
    assert alone < victim["RoCEv2 400G"]
    said = page.locator("[aria-label^=\"Victim's goodput: \"][aria-label*=';']").first
    words = said.get_attribute("aria-label")
    assert f"{alone * 100:.0f} %" in words  # the chart says what the table says


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("garbage.yaml", bytes(range(256)) * 64, "is not UTF-8 text"),
        ("bomb.yaml", b"a: &a [x, x]\nb: [*a, *a, *a]\n", "YAML aliases are not allowed"),
        ("huge.yaml", b"# " + b"x" * 50_000_000, "2.0MB"),
        ("empty.yaml", b"", "is empty"),
    ],
)
def test_a_file_that_is_no_scenario_gets_one_clear_message(
    opened: Callable[..., Any], tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    page = opened("/assumptions")
    page.get_by_role("button", name="Own file, edit, save").click()
    page.locator("[data-testid='stFileUploader'] input[type=file]").set_input_files(file)
    page.wait_for_selector(f"text={words}")
    assert page.locator("[data-testid='stException']").count() == 0


def test_two_tabs_keep_their_own_scenarios_and_a_refresh_keeps_the_state(opened: Callable[..., Any]) -> None:
    one, two = opened("/cost?set=cluster.gpus:512"), opened("/cost?set=cluster.gpus:2048")
    finished(one, "cost")
    finished(two, "cost")
    one.reload()
    settled(one)
    finished(one, "cost")
    assert one.get_by_label("GPUs", exact=True).input_value() == "512"
    assert two.get_by_label("GPUs", exact=True).input_value() == "2048"
