"""What knowing an input would be worth, and which one would settle a close call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from models.compare.draws import Draws
from models.compare.shares import binned, first_order_shares
from models.compare.value import Value, ValueDraws
from models.compare.verdict import Verdict, verdict

WORDS = {
    "model error, common": "the model's error common to all fabrics",
    "method": "which of the two methods is right",
    "price power": "the price of electricity",
    "price space": "the rent of space and power",
    "price OEM": "the prices of servers",
    "price any": "the prices of unbranded parts",
    "price various": "the prices of network software",
    "price staff of ib": "the staff an InfiniBand network needs",
    "price staff of roce": "the staff a RoCE network needs",
    "price staff of spectrum_x": "the staff a Spectrum-X network needs",
    "price staff of tcp": "the staff a TCP network needs",
}
KNOWN_BINS = 16  # few, so that the noise of their means does not pass for a gain
MATTERS_SHARE = 0.05  # of the variance; below it no single input would settle anything


def expected_regret(values: Mapping[str, Draws]) -> dict[str, float]:
    """Expected loss of choosing each candidate now instead of the best of every draw, in the values' unit.

    >>> expected_regret({"a": np.array([1.0, 2.0]), "b": np.array([2.0, 1.0])})
    {'a': 0.5, 'b': 0.5}
    """
    best = np.stack(list(values.values())).max(axis=0)
    return {name: float(np.mean(best - drawn)) for name, drawn in values.items()}


def information_values(values: Mapping[str, Draws], inputs: Mapping[str, Draws]) -> dict[str, float]:
    """Expected gain of knowing each input before choosing: E[max_c E[V_c | X_i]] - max_c E[V_c], in the values' unit.

    Zero where no value of the input would change the choice (Howard 1966; EVPPI from draws: Strong et al. 2014).
    """
    now = max(float(np.mean(drawn)) for drawn in values.values())
    gains = {}
    for name, known in inputs.items():
        means = np.stack([binned(drawn, known, KNOWN_BINS)[0] for drawn in values.values()])
        gains[name] = max(0.0, float(means.max(axis=0).mean()) - now)
    return gains


def settling_input(values: Mapping[str, Draws], first: str, second: str, inputs: Mapping[str, Draws]) -> str:
    """Words for the input whose knowledge would settle `first` against `second`; empty when none stands out.

    The one that explains most of the spread of their ratio.
    """
    shares = first_order_shares(np.log(values[first] / values[second]), inputs)
    if not shares:
        return ""
    name = max(shares, key=lambda n: (shares[n], n))
    return input_words(name) if shares[name] >= MATTERS_SHARE else ""


def settled_verdict(
    ranked: Sequence[Value], drawn: ValueDraws, work: str, inputs: Mapping[str, Draws]
) -> Verdict:
    """The verdict; where it is too close to call, with the input whose knowledge would settle it."""
    plain = verdict(ranked, drawn, work)
    if plain.decided or not plain.runner_up:
        return plain
    settling = settling_input(drawn.work_per_dollar, plain.winner, plain.runner_up, inputs)
    return verdict(ranked, drawn, work, settling)


def input_words(name: str) -> str:
    """An input's name as a reader would say it.

    >>> input_words("price NVIDIA"), input_words("model error, RoCEv2 400G")
    ('the prices of NVIDIA', 'the model error of RoCEv2 400G')
    """
    if name in WORDS:
        return WORDS[name]
    if name.startswith("price "):
        return f"the prices of {name.removeprefix('price ')}"
    if name.startswith("model error, "):
        return f"the model error of {name.removeprefix('model error, ')}"
    if name.startswith("figures, "):
        return f"what hosts and links of {name.removeprefix('figures, ')} really reach"
    return name
