"""Point-to-point between two hosts over one NIC, by size; and a reader's own perftest or OSU log against it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from models.compare.own_log import known_causes
from models.compare.performance import setup
from models.evidence.diagnosis import SHORTFALL_FRACTION
from models.evidence.log_reading import LogReading
from models.scenario.load import candidate_technology
from models.scenario.schema import Scenario
from models.solvers.collective_bands import band_factors
from models.topology.link import path_latency_s

SIZES = tuple(2**p for p in range(1, 27))  # 2 B .. 64 MiB: what the tools sweep
HOPS = {"same leaf": 1, "across the spine": 3}  # switches on the path
LARGE_BYTES = 65_536  # perftest's default size; from there bandwidth does not hang on the message rate
SMALL_BYTES = 4_096


def pair_over_sizes(scenario: Scenario, hops: int) -> pd.DataFrame:
    """Rows candidate x size: one-way latency and bandwidth of one flow through one NIC, each with its band.

    Latency = host pair + hops x hop + size over goodput; bandwidth = goodput of the link, or what the host's cores move.
    Bands: those of published point-to-point rows, never above the line rate. Message rates of small messages are not
    modelled: the bandwidth is what a queue of large messages reaches.
    """
    frames = []
    size = np.array(SIZES, dtype=np.float64)
    factors = np.array([band_factors("send_recv", value) for value in SIZES])
    for name in scenario.candidates:
        link = setup(scenario, name).link
        latency = path_latency_s(link, hops) + size / link.goodput_bytes_per_s
        rate = link.goodput_bytes_per_s
        frames.append(
            pd.DataFrame(
                {
                    "candidate": name, "message_bytes": size,
                    "latency_s": latency, "latency_low_s": latency * factors[:, 0], "latency_high_s": latency * factors[:, 1],
                    "bandwidth_bytes_per_s": rate,
                    "bandwidth_low_bytes_per_s": rate / factors[:, 1],
                    "bandwidth_high_bytes_per_s": np.minimum(rate / factors[:, 0], link.rate_bytes_per_s),
                }
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def pair_rows(reading: LogReading) -> pd.DataFrame:
    """Sizes with time or bandwidth of a point-to-point log; both directions added up are halved."""
    share = 0.5 if reading.bidirectional else 1.0
    return pd.DataFrame(
        [
            {
                "message_bytes": max(1.0, row.message_bytes),
                "time_s": row.time_s,
                "bandwidth_bytes_per_s": None
                if row.bandwidth_bytes_per_s is None
                else row.bandwidth_bytes_per_s * share,
            }
            for row in reading.rows
        ]
    ).astype(float)


def own_pair_reading(log: pd.DataFrame, table: pd.DataFrame, scenario: Scenario, kind: str) -> pd.DataFrame:
    """One row per candidate: measured over modelled, whether it falls short, known causes.

    Bandwidth: the median over messages of 64 KiB or more (of all where there is none). Latency: modelled over
    measured at 4 KiB or less, so that below 1 is worse for both.
    """
    rows = []
    size = log.message_bytes.to_numpy(dtype=np.float64)
    for name, own in table.groupby("candidate", sort=False):
        logs = np.log(own.message_bytes.to_numpy(dtype=np.float64))
        column = "bandwidth_bytes_per_s" if kind == "bandwidth" else "latency_s"
        model = np.interp(np.log(size), logs, own[column].to_numpy(dtype=np.float64))
        if kind == "bandwidth":
            ratio = log.bandwidth_bytes_per_s.to_numpy(dtype=np.float64) / model
            wanted = size >= LARGE_BYTES
        else:
            ratio = model / log.time_s.to_numpy(dtype=np.float64)
            wanted = size <= SMALL_BYTES
        share = float(np.median(ratio[wanted if wanted.any() else slice(None)]))
        short = bool(kind == "bandwidth" and wanted.any() and share < SHORTFALL_FRACTION)
        fabric = candidate_technology(scenario.candidates[str(name)]).fabric
        rows.append(
            {
                "candidate": name, "measured_over_modelled": share if kind == "bandwidth" else 1.0 / share,
                "modelled": float(model[wanted].mean() if wanted.any() else model.mean()), "falls_short": short,
                "known_causes": known_causes(fabric, share, "perftest") if short else "",
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def own_pair_sentence(reading: pd.DataFrame, kind: str) -> str:
    """What the log says of the hosts and the link, against the nearest candidate."""
    near = reading.iloc[(reading.measured_over_modelled - 1.0).abs().to_numpy().argmin()]
    if kind == "latency":
        times = f"{near.measured_over_modelled:.2f} times the latency modelled for {near.candidate}"
        return f"Your small messages take {times}, the nearest candidate."
    share = f"{100 * near.measured_over_modelled:.0f} % of the bandwidth modelled for {near.candidate}"
    if reading.falls_short.all():
        return (
            f"Your link falls short of every candidate: at best {share}; below {100 * SHORTFALL_FRACTION:.0f} % "
            "something is usually wrong."
        )
    return f"Your link reaches {share}, the nearest candidate."
