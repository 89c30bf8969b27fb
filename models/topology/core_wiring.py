"""Which core a pod's cable ends at, so that no core needs more ports than it has.

A pod of c cables gives every core c // C of them; the c mod C left over go to one core each, starting where the pod
before stopped. Contiguous otherwise: a spine's cables reach neighbouring cores. Where C divides c every pod is
wired alike. The compiled twin is in `route_choice_kernels.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def core_of_cable(
    cable: NDArray[np.int64] | int, pod: NDArray[np.int64] | int, pod_cables: int, cores: int, start: int = -1
) -> Any:
    """Core of cable `cable` of pod `pod`; `start` replaces where the pod's left-over cables begin.

    A last pod with fewer cables has its own `pod_cables` and the `start` of the full pods before it.

    >>> [int(core_of_cable(q, 0, 5, 3)) for q in range(5)], [int(core_of_cable(q, 1, 5, 3)) for q in range(5)]
    ([0, 0, 1, 1, 2], [2, 2, 0, 0, 1])
    """
    each, over = divmod(pod_cables, cores)
    first = np.asarray(pod) * over if start < 0 else start
    q = np.asarray(cable)
    turn = np.where(q < over * (each + 1), q // (each + 1), over + (q - over * (each + 1)) // max(each, 1))
    return (turn + first) % cores
