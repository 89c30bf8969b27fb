"""Cluster sizes that every rule of a scenario allows at once: whole nodes, whole layouts, whole batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import lcm
from typing import Any

from models.scenario.schema import GPUS_MAX


@dataclass(frozen=True)
class _Layout:
    """What a training workload asks of the GPUs; `dp` 0 = as many as there are."""

    inner: int  # tp x pp x cp
    dp: int
    micro_batch: int
    batch: int

    def fits(self, gpus: int) -> bool:
        if gpus % self.inner:
            return False
        dp = gpus // self.inner
        return (not self.dp or dp == self.dp) and self.batch % (dp * self.micro_batch) == 0


def near_counts(mapping: Mapping[str, Any], gpus: int, per_node: int) -> tuple[list[int], bool]:
    """The allowed GPU counts just below and above `gpus`, and whether layouts had a say.

    A count fills nodes, is a multiple of every written layout's tp x pp x cp, and leaves a data-parallel degree that
    divides its batch. Where no count satisfies all layouts those of whole nodes are given.

    >>> training = {"kind": "llm_training", "tp": 8, "pp": 4, "global_batch_sequences": 2048}
    >>> near_counts({"workloads": {"a": training}}, 1001, 8)
    ([512, 1024], True)
    >>> near_counts({}, 1001, 8)
    ([1000, 1008], False)
    """
    layouts = list(_layouts(mapping))
    step = lcm(per_node, *(layout.inner for layout in layouts))
    below = _first(range(gpus - gpus % step, 0, -step), layouts)
    above = _first(range(gpus - gpus % step + step, GPUS_MAX + 1, step), layouts)
    found = [count for count in (below, above) if count]
    if found or not layouts:
        return found, bool(layouts)
    return near_counts({}, gpus, per_node)


def _first(counts: Iterable[int], layouts: list[_Layout]) -> int:
    return next((count for count in counts if all(layout.fits(count) for layout in layouts)), 0)


def _layouts(mapping: Mapping[str, Any]) -> Iterable[_Layout]:
    workloads = mapping.get("workloads")
    for given in workloads.values() if isinstance(workloads, Mapping) else ():
        if (
            not isinstance(given, Mapping)
            or given.get("kind") != "llm_training"
            or given.get("search_layout")
        ):
            continue
        sizes = [given.get(key, 1) for key in ("tp", "pp", "cp", "micro_batch", "global_batch_sequences")]
        if not all(type(size) is int and size > 0 for size in sizes):
            continue  # has a fault of its own
        tp, pp, cp, micro_batch, batch = sizes
        dp = given.get("dp", "auto")
        yield _Layout(tp * pp * cp, dp if type(dp) is int and dp > 0 else 0, micro_batch, batch)
