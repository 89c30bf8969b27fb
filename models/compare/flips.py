"""What would flip the answer, in sentences with numbers; and a small closed form to explore it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from models.compare.sensitivity import Sensitivity
from models.compare.verdict import percent
from models.units import usd_text

SENTENCES = 3
PLURALS = ("the prices of", "queue pairs", "CPU cores", "Gbit/s")


def flip_sentences(found: Sensitivity, count: int = SENTENCES) -> list[str]:
    """The most likely ways to another answer; if nothing in range flips it, that is said."""
    if found.verdict.gap is None:
        return ["There is one candidate only: nothing can flip the answer."]
    first, second = found.verdict.winner, found.verdict.runner_up
    sentences: list[str] = []
    for row in sorted((row for row in found.tornado if row.flips), key=lambda row: -row.swing):
        for setting, best in ((row.low_setting, row.best_low), (row.high_setting, row.best_high)):
            if best != first and len(sentences) < count - 1:
                name = (
                    row.input.replace(f", {row.candidate}", f" of {row.candidate}")
                    if row.candidate
                    else row.input
                )
                today = setting_text(row.mid_setting, row.unit)
                verb = "are" if name.startswith(PLURALS) else "is"
                sentences.append(
                    f"{best} gives most work per dollar if {name} {verb} {setting_text(setting, row.unit)} instead of {today}."
                )
    for even in found.break_even:
        if {even.a, even.b} != {first, second} or even.status != "crossing" or even.value is None:
            continue
        if even.quantity == "network price ratio":
            want, now = (even.value, even.current) if even.a == first else (1 / even.value, 1 / even.current)
            sentences.append(
                f"{first} and {second} tie when the networks of {first} cost {want:.3g} times those of {second} "
                f"(now {now:.3g} times)."
            )
        elif even.quantity == "extra idle GPUs":
            spare = even.value if even.a == first else -even.value
            if spare > 0:
                sentences.append(
                    f"{first} may waste {percent(spare)} more GPU time than {second} before its lead is gone."
                )
        elif even.quantity == "cluster size":
            sentences.append(f"At {even.value:,.0f} GPUs the order of {first} and {second} turns.")
    if not any(row.flips for row in found.tornado):
        sentences.append("No single input within its stated range makes another candidate the best.")
    return sentences[:count]


def setting_text(setting: str, unit: str) -> str:
    """A setting of the tornado as a reader writes it.

    >>> setting_text("1718240", "USD per year"), setting_text("0.478415", "fraction"), setting_text("5 %", "quantile")
    ('1.72 M USD per year', '0.478', 'at its 5 % end')
    """
    if unit == "quantile":
        return "at its middle" if setting == "mid" else f"at its {setting} end"
    try:
        number = float(setting)
    except ValueError:
        return setting
    if unit.startswith("USD") and abs(number) >= 1000:
        return usd_text(number) + unit.removeprefix("USD")
    text = f"{number:.3g}" if abs(number) < 1e6 else f"{number:.3e}"
    return text if unit in ("", "1", "fraction", "quantile") else f"{text} {unit}"


def idle_sentence(found: Sensitivity) -> str:
    """What one per cent of idle GPUs costs against what the networks cost more."""
    first = found.verdict.winner
    network = {name: cost.network_usd for name, cost in found.costs.items()}
    cheapest, dearest = min(network, key=lambda n: network[n]), max(network, key=lambda n: network[n])
    one = 0.01 * found.scores[first].yearly_usd
    more = network[dearest] - network[cheapest]
    return (
        f"1 % of idle GPUs costs {usd_text(one)} a year; the dearest network ({dearest}) costs {usd_text(more)} "
        f"a year more than the cheapest ({cheapest}): as much as {percent(more / (100 * one))} of idle time."
    )


def lead_line(
    found: Sensitivity, first: str, second: str, idle_fraction: float, points: int = 61
) -> pd.DataFrame:
    """Lead of `first` over `second` against the price of its networks (1 = now), when it wastes `idle_fraction` more.

    lead = w1 (1 - idle) / (c1 + (f - 1) n1) * c2 / w2 - 1
    """
    factor = np.linspace(0.25, 2.5, points)
    a, b = found.scores[first], found.scores[second]
    cost = a.yearly_usd + (factor - 1.0) * found.costs[first].network_usd
    lead = a.relative_work * (1.0 - idle_fraction) / cost * b.yearly_usd / b.relative_work - 1.0
    return pd.DataFrame({"network_price_factor": factor, "lead_fraction": lead})


def lead_at(line: pd.DataFrame, factor: float) -> float:
    """Lead at one price factor."""
    return float(np.interp(factor, line.network_price_factor, line.lead_fraction))


def tie_at(line: pd.DataFrame) -> float | None:
    """Price factor at which the two tie; None outside the line."""
    lead = np.asarray(line.lead_fraction, dtype=float)
    if lead.min() > 0 or lead.max() < 0:
        return None
    return float(np.interp(0.0, lead[::-1], np.asarray(line.network_price_factor, dtype=float)[::-1]))
