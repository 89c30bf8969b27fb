"""What an answer must not be read without: candidates that cannot be linked as written, prices that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from models.compare.costs import CandidateCost
from models.compare.incast_checks import Check
from models.compare.verdict import Verdict

TOPIC = "parts that do not link"


def reserved_verdict(said: Verdict, costs: Mapping[str, CandidateCost]) -> Verdict:
    """The verdict with its reservations: unlinkable candidates in the first sentence, missing prices in the last."""
    sentence = " ".join([said.sentence, *_unlinkable(costs)])
    cost_sentence = " ".join([said.cost_sentence, *_unpriced(costs)]).strip()
    return replace(said, sentence=sentence, cost_sentence=cost_sentence)


def link_checks(costs: Mapping[str, CandidateCost]) -> list[Check]:
    """A check to act on for every candidate whose parts do not link."""
    source = "ports, lanes, cages and rates of the catalogue's parts"
    return [
        Check(
            cost.candidate,
            TOPIC,
            "act",
            f"{len(cost.errors)} found",
            f"Cannot be linked as written: {'; '.join(cost.errors)}.",
            "Its place in the ranking holds only for parts that do link: change the parts, the technology or the "
            "topology.",
            source,
        )
        for cost in costs.values()
        if cost.errors
    ]


def _unlinkable(costs: Mapping[str, CandidateCost]) -> list[str]:
    names = [name for name, cost in costs.items() if cost.errors]
    if not names:
        return []
    whose = "its place holds" if len(names) == 1 else "their places hold"
    reasons = "; ".join(f"{name}: {costs[name].errors[0]}" for name in names)
    return [
        f"But {_listed(names)} cannot be linked as written, and {whose} only once that is mended ({reasons})."
    ]


def _unpriced(costs: Mapping[str, CandidateCost]) -> list[str]:
    """Servers are the same for all, so their missing price is said once; other parts by candidate."""
    texts, servers = [], set[str]()
    for name, cost in costs.items():
        lines = [line for line in cost.made.lines if line.line in cost.made.unknown]
        servers |= {line.part for line in lines if line.category == "server"}
        others = dict.fromkeys(line.part or line.description for line in lines if line.category != "server")
        if others:
            texts.append(f"{name}: no price of {', '.join(others)}: its total is a lower bound.")
    if servers:
        alike = (
            "; missing for all alike, so relative gaps in cost are overstated, and with them work per dollar"
            * (len(costs) > 1)
        )
        texts.insert(0, f"Server price missing: totals are lower bounds{alike}.")
    return texts


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
