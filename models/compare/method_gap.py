"""Where the two methods tell different stories of the same workload: a warning beside the answer.

Their difference is already in every band; a reader has to be told when it is so large that one of them must be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.compare.performance import WorkloadTime
from models.compare.verdict import percent
from models.units import duration_text

FACTOR = 1.5  # assumption: well past what both methods' own bands admit
LEAST_GAP_FRACTION = 0.05  # of an idle link: two shares near nothing are no different story

Band = tuple[float, float, float]  # value, low, high


def method_gaps(performance: Sequence[WorkloadTime]) -> list[str]:
    """Warnings, one a candidate and workload, where time or a victim's share differ by more than a factor 1.5.

    Only where the bands of the two methods do not meet either.
    """
    solved = {(item.setup.name, item.workload): item for item in performance if item.method == "fluid"}
    found = []
    for closed in performance:
        other = solved.get((closed.setup.name, closed.workload))
        if closed.method != "analytical" or other is None:
            continue
        gaps = list(_gaps(closed, other))
        if gaps:
            found.append(
                f"{closed.setup.name}, {closed.workload}: the two methods differ much in {' and '.join(gaps)}; "
                "rest no decision on it before you know why"
            )
    return found


def _gaps(closed: WorkloadTime, solved: WorkloadTime) -> Iterator[str]:
    times = [
        (item.unit.total_s, item.unit.fabric_low_s, item.unit.fabric_high_s) for item in (closed, solved)
    ]
    if _apart(*times):
        yield f"time ({duration_text(times[0][0])} analytical, {duration_text(times[1][0])} fluid)"
    shares = [_victim(item) for item in (closed, solved)]
    if (
        shares[0]
        and shares[1]
        and abs(shares[0][0] - shares[1][0]) > LEAST_GAP_FRACTION
        and _apart(shares[0], shares[1])
    ):
        yield f"what a victim keeps ({percent(shares[0][0])} analytical, {percent(shares[1][0])} fluid)"


def _victim(item: WorkloadTime) -> Band | None:
    for time in item.times.values():
        for metric in time.metrics:
            if metric.name == "victim_share":
                low = metric.value if metric.low is None else metric.low
                return metric.value, low, metric.value if metric.high is None else metric.high
    return None


def _apart(one: Band, other: Band) -> bool:
    """Whether values differ by more than FACTOR and bands do not meet.

    >>> _apart((1.0, 0.9, 1.1), (1.6, 1.5, 1.7)), _apart((1.0, 0.9, 1.6), (1.6, 1.5, 1.7))
    (True, False)
    """
    small, large = sorted((one, other))
    return large[0] > FACTOR * small[0] and large[1] > small[2]
