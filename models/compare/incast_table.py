"""An incast on every candidate: what happens over time, who ends when, what the victim gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from models.compare.fabrics import METHODS
from models.compare.performance import WorkloadTime, setup, workload_time
from models.scenario.schema import Scenario
from models.units import duration_text

# series key of the fabrics' incast results -> what a reader calls it, in order of the panels
QUANTITIES: Mapping[str, tuple[str, str, float]] = {
    "queue_bytes": ("Queue at the hot port", "Size", 1.0),
    "rate_bytes_per_s": ("Reaching the receiver", "Gbit/s", 8e-9),
    "held_fraction": ("Senders held back", "% of senders", 100.0),
    "victim_rate_bytes_per_s": ("Victim's goodput", "Gbit/s", 8e-9),
}


@dataclass(frozen=True)
class IncastTables:
    """Tidy series, figures by candidate and method, completion times of the flows."""

    series: pd.DataFrame  # candidate, time_us, quantity, value
    figures: pd.DataFrame  # candidate, method, metric, value, unit, low, high
    completion: pd.DataFrame  # candidate, share_of_flows, completion_us
    notes: tuple[str, ...]


def incast_tables(
    scenario: Scenario, workload: str, progress: Callable[[str], None] = lambda text: None
) -> IncastTables:
    """The incast `workload` of the scenario on every candidate by both methods.

    Raises InputError for an incast that does not fit the cluster.
    """
    items: list[WorkloadTime] = []
    for name in scenario.candidates:
        on = setup(scenario, name)
        for method in METHODS:
            progress(f"{name}, {method}")
            items.append(workload_time(scenario, on, workload, method))
    return tables_of(items)


def tables_of(items: list[WorkloadTime]) -> IncastTables:
    """The tables of incasts that have been run."""
    series: list[pd.DataFrame] = []
    completion: list[pd.DataFrame] = []
    figures = []
    notes: list[str] = []
    for item in items:
        name, method = item.setup.name, item.method
        for time in item.times.values():
            notes += [f"{name}: {note}" for note in time.notes]
            figures.append(
                {
                    "candidate": name, "method": method, "metric": "time", "value": time.time_s, "unit": "s",
                    "low": time.low_s, "high": time.high_s, "source": time.binding_limit,
                }
            )  # fmt: skip
            for m in time.metrics:
                figures.append(
                    {
                        "candidate": name, "method": method, "metric": m.name, "value": m.value, "unit": m.unit,
                        "low": m.value if m.low is None else m.low, "high": m.value if m.high is None else m.high,
                        "source": m.source,
                    }
                )  # fmt: skip
            if method != "fluid" or not time.series:
                continue
            at = time.series["time_s"] * 1e6
            for key, (_, _, factor) in QUANTITIES.items():
                if key in time.series:
                    values = np.asarray(time.series[key], dtype=float) * factor
                    series.append(
                        pd.DataFrame({"candidate": name, "time_us": at, "quantity": key, "value": values})
                    )
            if "completion_s" in time.series:
                ends = np.sort(time.series["completion_s"][np.isfinite(time.series["completion_s"])]) * 1e6
                share = (np.arange(ends.size) + 1) / max(1, ends.size)
                completion.append(
                    pd.DataFrame({"candidate": name, "share_of_flows": share, "completion_us": ends})
                )
    columns = ["candidate", "method", "metric", "value", "unit", "low", "high", "source"]
    return IncastTables(
        pd.concat(series, ignore_index=True)
        if series
        else pd.DataFrame(columns=["candidate", "time_us", "quantity", "value"]),
        pd.DataFrame(figures, columns=columns),
        pd.concat(completion, ignore_index=True)
        if completion
        else pd.DataFrame(columns=["candidate", "share_of_flows", "completion_us"]),
        tuple(dict.fromkeys(notes)),
    )


# metric -> what stands at its line, and what it means
THRESHOLDS = {
    "pause_threshold": ("XOFF", "XOFF links pause"),
    "ecn_kmax": ("Kmax", "Kmax all packets marked"),
    "ecn_kmin": ("Kmin", "Kmin marks begin"),
}


def queue_thresholds(tables: IncastTables) -> pd.DataFrame:
    """Where each candidate's switch marks and pauses, as lines on the queue chart: candidate, value, text, says.

    Lines far above every queue are left out: they would press the queues onto the axis.
    """
    queues = tables.series[tables.series.quantity == "queue_bytes"]
    top = 1.6 * float(queues.value.max()) if len(queues) else 0.0
    found = tables.figures
    rows = found[(found.method == "fluid") & found.metric.isin(THRESHOLDS) & (found.value <= top)]
    rows = rows.sort_values("value", ascending=False).reset_index(drop=True)
    text = [THRESHOLDS[metric][0] for metric in rows.metric]
    says = [THRESHOLDS[metric][1] for metric in rows.metric]
    return rows.assign(text=text, says=says)[["candidate", "value", "text", "says"]]


def victim_fractions(tables: IncastTables) -> pd.DataFrame:
    """Victim's goodput as a fraction of an idle link's, candidate by candidate."""
    found = tables.figures
    rows = found[(found.method == "fluid") & (found.metric == "victim_share")]
    return rows.drop_duplicates("candidate")[["candidate", "value", "low", "high"]]


def incast_sentence(tables: IncastTables, fan_in: int) -> str:
    """Who suffers: the victim's best and worst case, and the slowest burst."""
    times = tables.figures[(tables.figures.metric == "time") & (tables.figures.method == "fluid")]
    times = times.sort_values("value")
    quick, slow = times.iloc[0], times.iloc[-1]
    text = f"{fan_in} senders to one: done after {duration_text(quick.value)} on {quick.candidate}" + (
        f", {duration_text(slow.value)} on {slow.candidate}" if slow.candidate != quick.candidate else ""
    )
    victims = victim_fractions(tables).sort_values("value")
    if len(victims):
        worst, best = victims.iloc[0], victims.iloc[-1]
        text += f"; the victim keeps {worst.value * 100:.0f} % of its rate on {worst.candidate}"
        if best.candidate != worst.candidate:
            text += f", {best.value * 100:.0f} % on {best.candidate}"
    return text + "."
