"""A reader's own nccl-tests log against every candidate: how far it falls short, why that may be, what it calibrates."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from models.evidence.calibration import Calibration, calibration
from models.evidence.diagnosis import FROM_BYTES, SHORTFALL_FRACTION, falls_short, likely_causes
from models.scenario.load import candidate_technology
from models.scenario.schema import Scenario
from models.workload.phase import bus_bandwidth_factor

DIAGNOSED_AS = {"spectrum_x": "roce"}  # the table of known cases names the wire
CAUSES_SHOWN = 3


def own_log_reading(log: pd.DataFrame, table: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    """One row per candidate: measured over modelled bus bandwidth, flag, calibrated figures, known causes.

    `log` as `nccl_log` reads it, `table` of `collective_over_sizes`. The ratio is the median over messages of
    128 MiB or more (of all where the log has none); `falls_short` below 0.75 there. Latency and bus bandwidth are
    the two-parameter fit on messages of 256 MiB or more, nan where the log has fewer than two such sizes.
    """
    rows = []
    for name, own in table.groupby("candidate", sort=False):
        modelled_s = _at(log, own, "time_s")
        modelled_bus = _at(log, own, "bus_bandwidth_bytes_per_s")
        size = log.message_bytes.to_numpy(dtype=np.float64)
        measured_bus = log.bus_bandwidth_bytes_per_s.to_numpy(dtype=np.float64)
        large = size >= FROM_BYTES
        ratio = float(np.median((measured_bus / modelled_bus)[large if large.any() else slice(None)]))
        short = falls_short(size.tolist(), measured_bus.tolist(), modelled_bus.tolist())
        fitted = calibration(size, log.time_s.to_numpy(dtype=np.float64), modelled_s)
        factor = bus_bandwidth_factor(str(own.operation.iloc[0]), int(own.ranks.iloc[0]))
        fabric = candidate_technology(scenario.candidates[str(name)]).fabric
        rows.append(
            {
                "candidate": name,
                "measured_over_modelled": ratio,
                "falls_short": any(short),
                **_fit(fitted, factor),
                "known_causes": known_causes(fabric, ratio) if any(short) else "",
            }
        )
    return pd.DataFrame(rows)


def own_log_sentence(reading: pd.DataFrame) -> str:
    """Whether the log is what a healthy system of any candidate gives."""
    near = reading.iloc[(reading.measured_over_modelled - 1.0).abs().to_numpy().argmin()]
    share = f"{100 * near.measured_over_modelled:.0f} % of the bus bandwidth modelled for {near.candidate}"
    if reading.falls_short.all():
        return (
            f"Your log falls short of every candidate: at best {share}; "
            f"below {100 * SHORTFALL_FRACTION:.0f} % something is usually wrong."
        )
    return f"Your log reaches {share}, the nearest candidate."


def _at(log: pd.DataFrame, own: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """The modelled figure at the log's sizes, on straight lines between sizes in log-log."""
    size = np.log(own.message_bytes.to_numpy(dtype=np.float64))
    figure = np.log(own[column].to_numpy(dtype=np.float64))
    found: NDArray[np.float64] = np.exp(
        np.interp(np.log(log.message_bytes.to_numpy(np.float64)), size, figure)
    )
    return found


def _fit(fitted: Calibration, factor: float) -> dict[str, float]:
    known = np.isfinite(fitted.rate_bytes_per_s)
    return {
        "calibrated_latency_s": fitted.latency_s if known else float("nan"),
        "calibrated_bus_bytes_per_s": fitted.rate_bytes_per_s * factor if known else float("nan"),
    }


def known_causes(fabric: str, ratio: float, tool: str = "nccl-tests") -> str:
    """Cases others met on the same fabric, each with what helped and who says so."""
    cases = likely_causes(DIAGNOSED_AS.get(fabric, fabric), tool, ratio, CAUSES_SHOWN)
    return "; ".join(f"{case.cause.replace('_', ' ')}: {case.fix} ({case.source})" for case in cases)
