"""What knowing an input would be worth, and which one would settle a close call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from models.compare.draws import Draws, DrawSource
from models.compare.shares import binned, first_order_shares
from models.compare.value import CostLine, TimeBand, Value, ValueDraws, draw_names, value_draws
from models.compare.verdict import Verdict, percent, verdict

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


def turning_inputs(
    times: Mapping[str, Sequence[TimeBand]], costs: Mapping[str, Sequence[CostLine]], first: str, second: str
) -> dict[str, tuple[float, float]]:
    """Drawn inputs that alone, from one end of their band to the other, put `second` ahead: input -> least, most lead.

    All others stay at their mids and the ends are the tornado's (prices: low and high; errors: 5 % and 95 %).
    Widest first.
    """
    names = draw_names(times, costs)
    mid = DrawSource(names, 1, 0)
    for name in names:
        mid = mid.fixed(name, 0.5)
    found = {}
    for name in names:
        ends = (0.0, 1.0) if name.startswith("price ") or name == "method" else (0.05, 0.95)
        leads = []
        for end in ends:
            there = value_draws(times, costs, 0, 1, mid.fixed(name, end)).work_per_dollar
            leads.append(float(there[first][0] / there[second][0]) - 1.0)
        if min(leads) < 0:
            found[name] = (min(leads), max(leads))
    return dict(sorted(found.items(), key=lambda item: (item[1][0] - item[1][1], item[0])))


def settling_sentence(
    values: Mapping[str, Draws],
    first: str,
    second: str,
    inputs: Mapping[str, Draws],
    turning: Mapping[str, tuple[float, float]],
) -> str:
    """What a reader can do about a close call: the input that turns it, else the one that narrows it; may be empty.

    Knowing an input that explains the share S of the variance narrows the band by 1 - sqrt(1 - S).
    """
    for name, (least, most) in turning.items():
        return (
            f"Within its band, {input_words(name)} alone would turn it (lead {percent(least)} to {percent(most)}): "
            f"{action_words(name)}."
        )
    shares = first_order_shares(np.log(values[first] / values[second]), inputs)
    name = max(shares, key=lambda n: (shares[n], n), default="")
    if not name or shares[name] < MATTERS_SHARE:
        return ""
    return (
        f"No price or model error turns it alone; knowing {input_words(name)} would narrow the band most, "
        f"by {percent(1.0 - float(np.sqrt(1.0 - shares[name])))}: {action_words(name)}."
    )


def settled_verdict(
    ranked: Sequence[Value],
    drawn: ValueDraws,
    work: str,
    inputs: Mapping[str, Draws],
    times: Mapping[str, Sequence[TimeBand]],
    costs: Mapping[str, Sequence[CostLine]],
    technologies: Mapping[str, str] | None = None,
) -> Verdict:
    """The verdict; where it is too close to call, with the input that would turn it or narrows it most."""
    plain = verdict(ranked, drawn, work, technologies=technologies)
    if plain.decided or not plain.runner_up:
        return plain
    pair = plain.winner, plain.runner_up
    turning = turning_inputs(times, costs, *pair)
    settling = settling_sentence(drawn.work_per_dollar, *pair, inputs, turning)
    return verdict(ranked, drawn, work, settling, technologies)


def action_words(name: str) -> str:
    """What a buyer can do to know an input.

    >>> action_words("price staff of roce"), action_words("price NVIDIA")
    ('count the staff you would need', 'ask for quotes (--prices)')
    >>> action_words("model error, IB")
    'measure it, with an nccl-tests log of your own on the Collectives page'
    """
    if name.startswith("price staff"):
        return "count the staff you would need"
    if name.startswith("price "):
        return "ask your site" if name in ("price power", "price space") else "ask for quotes (--prices)"
    if name.startswith("figures, "):
        return "measure a few of its hosts and set their figures as overrides"
    return "measure it, with an nccl-tests log of your own on the Collectives page"


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
