"""Where a curve crosses zero inside a range; "nowhere" is an answer."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

GRID = 24  # intervals searched for a change of sign
TOLERANCE = 1e-10


def crossing(
    curve: Callable[[float], float], low: float, high: float, near: float | None = None
) -> float | None:
    """The x in [low, high] where `curve` is zero, the one nearest to `near` where there are several; None = nowhere.

    Bracketed by a grid, then Brent's method (scipy.optimize.brentq). Points where the curve is not finite are
    left out.

    >>> crossing(lambda x: x * x - 2.0, 0.0, 2.0)
    1.414213562373...
    >>> crossing(lambda x: x + 1.0, 0.0, 2.0) is None
    True
    """
    from scipy.optimize import brentq

    xs = [low + (high - low) * i / GRID for i in range(GRID + 1)]
    if near is not None and low < near < high:
        xs = sorted({*xs, near})
    ys = [curve(x) for x in xs]
    found = [x for x, y in zip(xs, ys, strict=True) if y == 0.0]
    for (a, ya), (b, yb) in zip(
        list(zip(xs, ys, strict=True)), list(zip(xs, ys, strict=True))[1:], strict=False
    ):
        if isfinite(ya) and isfinite(yb) and ya * yb < 0:
            found.append(float(brentq(curve, a, b, xtol=TOLERANCE * max(1.0, abs(b)), rtol=TOLERANCE)))
    if not found:
        return None
    if len(found) > 1 and all(y == 0.0 for y in ys):
        return near if near is not None else low
    return min(found, key=lambda x: (abs(x - (low if near is None else near)), x))
