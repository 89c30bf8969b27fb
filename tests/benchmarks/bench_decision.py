"""Speed of sweeps, draws and the tornado."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from models.compare.axes import Axis, axes, grid
from models.compare.case import case_at
from models.compare.draws import DrawSource
from models.compare.fabrics import METHODS, Method
from models.compare.sensitivity import influence
from models.compare.shares import drawn_inputs
from models.compare.sweep import point_rows, rows_text
from models.compare.sweep_points import Variations
from models.compare.tornado import tornado
from models.compare.tornado_inputs import inputs
from models.compare.value import draw_names, value_draws, values
from models.scenario.load import SHIPPED, load
from models.scenario.schema import Candidate, Scenario

ANALYTICAL: tuple[Method, ...] = ("analytical",)
POINT_AXES = (
    "cluster.gpus=256..4096",
    "topology.oversubscription=1,2",
    "workloads.allreduce.message_bytes=1MiB..512MiB",
    "prices.sw_qm9700=" + ",".join(str(usd) for usd in range(20_000, 70_000, 5_000)),
    "economics.usd_per_kwh=" + ",".join(f"0.{cents:02d}" for cents in range(5, 15)),
)
SIZES = tuple(2**p for p in range(6, 15))
LARGE_SIZES = (*SIZES, 32768, 65536)


def five_candidates() -> Scenario:
    """The 1,024-GPU question with a fifth candidate, training and one collective."""
    scenario = load(SHIPPED / "llama3-70b-1024-h100.yaml")
    spray = Candidate(technology="rocev2_spray_400g", parts={"switch": "sw_th5_wb", "nic": "nic_pollara"})
    workloads = {name: item for name, item in scenario.workloads.items() if item.kind != "incast"}
    candidates = {**scenario.candidates, "RoCEv2 spraying": spray}
    return scenario.model_copy(update={"workloads": workloads, "candidates": candidates})


def rows() -> list[dict[str, Any]]:
    """One row a figure."""
    scenario = five_candidates()
    rows_text(scenario, grid(axes(["cluster.gpus=64"])), METHODS)  # compiled kernels, first imports
    points = grid(axes(list(POINT_AXES)))
    sizes = tuple(range(2**20, 2**20 + 2000 * 4096, 4096))
    messages = grid([Axis("workloads.allreduce.message_bytes", sizes)])
    found = [
        _timed("analytical sweep, 10,000 points x 5 candidates", 2.0, lambda: point_rows(scenario, points, ANALYTICAL),
               f"{len(points):,} points, all rows of the table as text"),
        _timed("message-size sweep, 2,000 sizes x 5, both methods", 4.0, lambda: point_rows(scenario, messages, METHODS),
               "warm; all rows of the table as text"),
        _timed("size sweep 64 .. 16,384 GPUs x 5, both methods", 10.0, lambda: _sizes(scenario, SIZES), "warm"),
        _timed("size sweep 64 .. 65,536 GPUs x 5, both methods", 60.0, lambda: _sizes(scenario, LARGE_SIZES), "warm"),
    ]  # fmt: skip
    return [*found, *_decision(scenario)]


def _sizes(scenario: Scenario, sizes: tuple[int, ...]) -> None:
    rows_text(scenario, grid([Axis("cluster.gpus", sizes)]), METHODS)


def _decision(scenario: Scenario) -> list[dict[str, Any]]:
    case = case_at(Variations(scenario, (), METHODS), {})
    source = DrawSource(draw_names(case.times, case.costs), 10_000, 1)
    drawn = value_draws(case.times, case.costs, 1, 10_000, source)
    ranked = values(case.times, case.costs, drawn)
    pair = (ranked[0].candidate, ranked[1].candidate)

    def draw() -> None:
        again = DrawSource(draw_names(case.times, case.costs), 10_000, 2)
        values(case.times, case.costs, value_draws(case.times, case.costs, 2, 10_000, again))

    shares, information = influence(pair, drawn, drawn_inputs(source))
    keyed = inputs(scenario)[:30]

    def settle() -> None:
        influence(pair, drawn, drawn_inputs(source))

    def bars() -> None:
        of = Variations(scenario, [item.key for item in keyed], ANALYTICAL)
        tornado(of, case, keyed, shares, information, pair)

    return [
        _timed("Monte Carlo, 10,000 draws x 5 candidates", 2.0, draw, f"{len(source.names)} uncertain inputs"),
        _timed("shares and values of information of 10,000 draws", 2.0, settle, ""),
        _timed("tornado of 30 keyed inputs", 1.0, bars, f"{len(keyed)} scenario keys and all price groups"),
    ]  # fmt: skip


def _timed(name: str, limit_s: float, run: Callable[[], object], note: str) -> dict[str, Any]:
    started = perf_counter()
    run()
    seconds = perf_counter() - started
    return {
        "name": name, "value": round(seconds, 3), "unit": "s", "limit": limit_s, "ok": seconds <= limit_s, "note": note,
    }  # fmt: skip
