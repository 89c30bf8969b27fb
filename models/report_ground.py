"""Second half of the report: risks, bill of materials, assumptions with their sources, versions, limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from models import __version__
from models.catalog.parts import part_rows
from models.catalog.technology import Sourced, Technology
from models.compare.risk import RiskRow
from models.compare.sensitivity import Sensitivity
from models.report_parts import Heading, Listed, Part, Table, Text
from models.scenario.load import dump
from models.units import usd_text

LINES = 14
LIMITS = (
    "Prices are bands from public sources and memory, not quotes; give quotes with --prices to replace them.",
    "Two methods are shown; neither is the truth. Their difference is part of the band.",
    "Networks are compared on the same servers and GPUs; compute time cancels, so its uncertainty is left out of the "
    "comparison.",
    "Risk facts are stated beside the score and never enter it.",
    "Rows marked from memory, vendor claim or assumption in the sources are what they say.",
)


def ground_parts(result: Sensitivity, facts: Sequence[RiskRow], prices: str | None) -> Iterator[Part]:
    """The parts in order."""
    yield Heading("Risks, stated and not scored")
    yield Table(
        ["candidate", "topic", "fact", "value", "source"],
        [[r.candidate, r.topic, r.fact, r.value, r.source] for r in facts],
    )
    yield from _bill(result)
    yield from _assumptions(result)
    if result.warnings:
        yield Heading("Warnings")
        yield Listed(result.warnings)
    yield from _versions(result, prices)
    yield Heading("Limits")
    yield Listed(LIMITS)


def _bill(result: Sensitivity) -> Iterator[Part]:
    yield Heading("Largest lines of the networks' bills")
    rows = []
    for name, cost in result.costs.items():
        known = [line for line in cost.made.lines if line.extended is not None and line.network != "servers"]
        for line in sorted(known, key=lambda x: -(x.extended_mid_usd or 0.0))[:LINES]:
            low, mid, high = line.extended or (0.0, 0.0, 0.0)
            rows.append(
                [name, f"{line.network} {line.tier}", line.description, f"{line.quantity_total:,}", usd_text(mid),
                 f"{usd_text(low)} to {usd_text(high)}", f"{line.price_source} ({line.price_confidence})"]
            )  # fmt: skip
    yield Table(["candidate", "place", "part", "quantity", "USD", "band", "price source"], rows, right=(3, 4))


def _assumptions(result: Sensitivity) -> Iterator[Part]:
    yield Heading("Assumptions and their sources")
    economics = result.scenario.economics.model_dump(mode="json")
    yield Text(
        "Economics: "
        + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in economics.items() if v not in (None, {}))
        + "."
    )
    rows = []
    for on in result.setups:
        for name, figure in _figures(on.technology):
            low, high = figure.band
            band = f"{low:g} to {high:g}" if low < high else ""
            rows.append([on.name, name, f"{figure.value:g}", band, f"{figure.source} ({figure.confidence})"])
    yield Table(["candidate", "figure", "value", "band", "source"], rows, right=(2,))


def _figures(technology: Technology) -> Iterator[tuple[str, Sourced]]:
    for section in type(technology).model_fields:
        group = getattr(technology, section)
        for name in getattr(type(group), "model_fields", {}):
            figure = getattr(group, name)
            if isinstance(figure, Sourced):
                yield f"{section}.{name}", figure


def _versions(result: Sensitivity, prices: str | None) -> Iterator[Part]:
    yield Heading("Versions and hashes")
    catalogue = sha256(repr(list(part_rows())).encode()).hexdigest()
    lines = [
        f"fabric-compare {__version__}",
        f"scenario {result.scenario.name}: sha256 {sha256(dump(result.scenario).encode()).hexdigest()}",
        f"parts catalogue: sha256 {catalogue}",
        f"seed {result.scenario.seed}, {len(next(iter(result.drawn.yearly_usd.values()))):,} draws",
    ]
    if prices is not None:
        path = Path(prices)
        lines.append(f"quotes {path.name}: sha256 {sha256(path.read_bytes()).hexdigest()}")
    yield Listed(lines)
