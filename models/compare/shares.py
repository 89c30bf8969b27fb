"""First-order shares of variance: how much of the spread of an answer each uncertain input explains alone."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from models.compare.draws import Draws, DrawSource

DRAWS_PER_BIN = 64
BINS_MAX = 64


def first_order_shares(answer: Draws, inputs: Mapping[str, Draws]) -> dict[str, float]:
    """S_i = Var(E[Y | X_i]) / Var(Y) of each input, from the draws themselves (Sobol 1993; Plischke et al. 2013).

    Draws are cut into bins of equal count along X_i; the variance between the bins' means, less what bins of
    pure noise would show, is what X_i explains. 0 for an answer that does not vary, and for an input that
    does not.

    >>> x, y = np.random.default_rng(1).random((2, 4096))
    >>> {name: round(share, 1) for name, share in first_order_shares(3 * x + y, {"x": x, "y": y}).items()}
    {'x': 0.9, 'y': 0.1}
    """
    variance = float(np.var(answer))
    level = abs(float(np.mean(answer))) or 1.0
    if not variance > (1e-12 * level) ** 2:
        return dict.fromkeys(inputs, 0.0)
    shares = {}
    for name, values in inputs.items():
        means, within = binned(answer, values)
        if means.size < 2:
            shares[name] = 0.0
            continue
        noise = within / (answer.size / means.size)
        shares[name] = float(np.clip((np.var(means, ddof=1) - noise) / variance, 0.0, 1.0))
    return shares


def binned(answer: Draws, values: Draws, bins_max: int = BINS_MAX) -> tuple[Draws, float]:
    """(means of the answer in bins of equal count along `values`, mean variance inside a bin).

    Values that do not vary make one bin.
    """
    if np.ptp(values) <= 0:
        return np.array([answer.mean()]), float(np.var(answer))
    order = np.argsort(values, kind="stable")
    bins = int(np.clip(answer.size // DRAWS_PER_BIN, 2, bins_max))
    pieces = np.array_split(answer[order], bins)
    return np.array([p.mean() for p in pieces]), float(
        np.mean([p.var(ddof=1) if p.size > 1 else 0.0 for p in pieces])
    )


def drawn_inputs(source: DrawSource) -> dict[str, Draws]:
    """Every uncertain input's draws by name."""
    return {name: source[name] for name in source.names}
