"""What `fabric-compare bom` prints: sums that say what they hold, spares told apart."""

from pathlib import Path

import pytest

from models.cli import main
from models.compare.costs import candidate_costs
from models.compare.performance import setup
from models.scenario.load import load

FIRST = str(Path(__file__).resolve().parents[1] / "scenarios" / "llama3-70b-1024-h100.yaml")


def test_bom_sums_capital_apart_from_what_is_paid_over_the_years(capsys: pytest.CaptureFixture[str]) -> None:
    name, scenario = "RoCEv2 400G", load(Path(FIRST))
    bill = candidate_costs(scenario, [setup(scenario, name)])[name].made
    assert main(["bom", FIRST, "--candidate", name]) == 0
    shown = {
        line[:72].split("  ")[1]: line.split()[-1] for line in capsys.readouterr().out.splitlines()[2:-1]
    }
    assert shown["capital"] == f"{bill.capital()[1]:,.0f}"
    support = next(value for words, value in shown.items() if words.startswith("support and licences over 5"))
    assert support == f"{bill.total()[1] - bill.capital()[1]:,.0f}" != "0"
    assert not any(words == "total" for words in shown)


def test_bom_tells_spares_from_what_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bom", FIRST, "--candidate", "InfiniBand NDR"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split() == ["line", "quantity", "of", "it", "spare", "USD"]
    modules = next(line for line in printed if line.startswith("  compute spine MMA4Z00-NS"))
    assert modules.split()[-3:-1] == ["528", "16"]
