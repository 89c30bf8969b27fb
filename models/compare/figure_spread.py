"""How far a technology's own uncertain figures move the time of a workload.

The model error of `validate` says how far the formulas are off for healthy systems like those measured. A figure
that no measurement pins down (what a core moves with TCP, the step latency of plain Ethernet) adds to it, for
this candidate alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot

from models.catalog.technology import Sourced, Technology
from models.compare.fabrics import fabric_link, phase_time_function
from models.compare.performance import WorkloadTime
from models.topology.size import CannotBuild
from models.workload.plan import unit_time

FIGURES = (
    ("link", "host_pair_latency_us"),
    ("link", "hop_latency_us"),
    ("routing", "imbalance_fraction"),
    ("host", "step_latency_factor"),
    ("host", "cores"),
    ("host", "gbit_per_s_per_core"),
)


def figure_spread(item: WorkloadTime) -> tuple[float, float]:
    """(minus, plus): seconds by which one unit of the workload may be shorter or longer.

    One figure at a time to the ends of its band, by the closed form; the moves are added as squares, being
    independent. A figure without a band moves nothing.
    """
    technology = item.setup.technology
    evaluate = phase_time_function(technology.fabric, "analytical")

    def total_s(variant: Technology) -> float:
        link = fabric_link(variant)
        times = {phase.name: evaluate(phase, item.setup.network, link).time_s for phase in item.plan.phases}
        return unit_time(item.plan, times).total_s

    minus = plus = 0.0
    try:
        mid_s = total_s(technology)
        for variant in _variants(technology):
            moved = total_s(variant) - mid_s
            minus, plus = (hypot(minus, moved), plus) if moved < 0 else (minus, hypot(plus, moved))
    except CannotBuild:
        return 0.0, 0.0
    return min(minus, 0.95 * item.unit.total_s), plus


def _variants(technology: Technology) -> Iterator[Technology]:
    for section_name, name in FIGURES:
        section = getattr(technology, section_name)
        figure = getattr(section, name)
        if not isinstance(figure, Sourced):
            continue
        for value in figure.band:
            if value != figure.value:
                moved = Sourced(value=value, source=figure.source, confidence=figure.confidence)
                changed = section.model_copy(update={name: moved})
                yield technology.model_copy(update={section_name: changed})
