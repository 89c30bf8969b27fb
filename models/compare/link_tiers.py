"""The network as a picture: boxes in tiers, lines between them with their load; the hottest part of a large one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.topology.graph import Graph
from models.topology.link_loads import switch_ends

BOXES_MAX = 32  # per tier: what a reader can still tell apart on a page 900 pixels wide
BOX_COLUMNS = ("tier", "switch", "number", "place", "of_tier")
LINE_COLUMNS = (
    "lower_tier", "lower", "upper_tier", "upper", "cables", "cables_down", "load_up_fraction", "load_down_fraction",
    "load_fraction",
)  # fmt: skip


def tier_picture(
    built: Graph, fraction: NDArray[np.float64], boxes_max: int = BOXES_MAX
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Boxes (a switch each) and lines (all cables between two switches) to draw, bounded per tier.

    fraction (links,): offered load over wire capacity, as `link_loads.load_fractions` gives it. A line holds the
    highest load of its live cables in each direction, and of both. Where a tier has more than `boxes_max` switches, those
    shown are the ones around its hottest line: its copy and pod first, then by load. `place` runs 0 .. 1 across the page;
    `of_tier` is how many the tier has. A Dragonfly+ network has its groups as the highest tier.
    """
    pairs = [table for name in ("leaf-spine", "spine-core") if len(table := _pairs(built, fraction, name))]
    shape = built.shape
    totals = {
        "leaf": shape.copies * shape.leaves,
        "spine": shape.copies * shape.pods * shape.spines,
        "core": shape.copies * shape.cores,
        "group": shape.copies * shape.pods if shape.global_links else 0,
    }
    if not pairs:
        boxes = _boxes("leaf", np.arange(min(totals["leaf"], boxes_max)), totals["leaf"])
        return boxes, pd.DataFrame({name: [] for name in LINE_COLUMNS})
    shown = _shown(built, pairs, boxes_max)
    lines = [
        table[
            table["lower_number"].isin(shown[str(table["lower_tier"].iloc[0])])
            & table["upper_number"].isin(shown[str(table["upper_tier"].iloc[0])])
        ]
        for table in pairs
    ]
    boxes = pd.concat([_boxes(tier, kept, totals[tier]) for tier, kept in shown.items()], ignore_index=True)
    drawn = pd.concat(lines, ignore_index=True)
    drawn["lower"] = drawn["lower_tier"] + drawn["lower_number"].astype(str)
    drawn["upper"] = drawn["upper_tier"] + drawn["upper_number"].astype(str)
    return boxes, drawn[list(LINE_COLUMNS)]


def _pairs(built: Graph, fraction: NDArray[np.float64], name: str) -> pd.DataFrame:
    """All pairs of switches of a tier: cables, those down, highest load up, down and of both."""
    up = np.arange(built.tier(name).start, built.tier(name).stop)
    if not up.size:
        return pd.DataFrame()
    lower, upper = switch_ends(built, up)
    down = _reverse(built, up, name)
    alive = built.alive[up] & built.alive[down]
    table = pd.DataFrame(
        {
            "lower_number": lower,
            "upper_number": upper,
            "alive": alive,
            "load_up_fraction": np.where(alive, fraction[up], 0.0),
            "load_down_fraction": np.where(alive, fraction[down], 0.0),
        }
    )
    found = table.groupby(["lower_number", "upper_number"], sort=True).agg(
        cables=("alive", "size"), live=("alive", "sum"),
        load_up_fraction=("load_up_fraction", "max"), load_down_fraction=("load_down_fraction", "max"),
    ).reset_index()  # fmt: skip
    tiers = name.split("-")
    return found.assign(
        lower_tier=tiers[0],
        upper_tier="group" if name == "spine-core" and built.shape.global_links else tiers[1],
        cables_down=found["cables"] - found["live"],
        load_fraction=found[["load_up_fraction", "load_down_fraction"]].max(axis=1),
    )


def _reverse(built: Graph, up: NDArray[np.int64], name: str) -> NDArray[np.int64]:
    """The same cables in the other direction; a Dragonfly+ cable's other direction is in its other group's block."""
    back = built.tier("-".join(reversed(name.split("-"))))
    return up if back.stop == back.start else up - built.tier(name).start + back.start


def _shown(built: Graph, pairs: list[pd.DataFrame], boxes_max: int) -> dict[str, NDArray[np.int64]]:
    """Numbers of the switches drawn in each tier."""
    shape = built.shape
    first = pairs[0]
    spine_pod = first["upper_number"] // shape.spines  # pods numbered through copies
    hottest = first.groupby(spine_pod)["load_fraction"].max()
    if len(pairs) > 1:  # the hottest line may be between spines and cores
        above = pairs[1].groupby(pairs[1]["lower_number"] // shape.spines)["load_fraction"].max()
        hottest = pd.concat([hottest, above], axis=1).max(axis=1)
    rank = hottest.rank(method="first", ascending=False)
    leaves = _best(first, "lower_number", rank[spine_pod].to_numpy(), boxes_max)
    near = first[first["lower_number"].isin(leaves)]
    if len(pairs) == 1:
        order = rank[near["upper_number"] // shape.spines].to_numpy()
        return {"leaf": leaves, "spine": _best(near, "upper_number", order, boxes_max)}
    second = pairs[1][pairs[1]["lower_number"].isin(near["upper_number"])]
    load = pd.concat(
        [
            near[["upper_number", "load_fraction"]].rename(columns={"upper_number": "number"}),
            second[["lower_number", "load_fraction"]].rename(columns={"lower_number": "number"}),
        ]
    )
    spines = _best(load, "number", rank[load["number"] // shape.spines].to_numpy(), boxes_max)
    second = second[second["lower_number"].isin(spines)]
    cores = _best(second, "upper_number", np.zeros(len(second)), boxes_max)
    return {"leaf": leaves, "spine": spines, str(second["upper_tier"].iloc[0]): cores}


def _best(table: pd.DataFrame, column: str, rank: NDArray[Any], boxes_max: int) -> NDArray[np.int64]:
    """Switches of a column by rank of their pod, then by their highest load; in the order of their numbers."""
    found = table.assign(rank=rank).groupby(column).agg(rank=("rank", "min"), load=("load_fraction", "max"))
    kept = found.sort_values(["rank", "load"], ascending=[True, False], kind="stable").head(boxes_max)
    return np.sort(kept.index.to_numpy(dtype=np.int64))


def _boxes(tier: str, numbers: NDArray[np.int64], total: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "tier": tier,
            "switch": [f"{tier}{n}" for n in numbers],
            "number": numbers,
            "place": (np.arange(len(numbers)) + 0.5) / max(1, len(numbers)),
            "of_tier": total,
        },
        columns=list(BOX_COLUMNS),
    )
