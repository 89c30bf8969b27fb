"""Cases made of a few numbers, for tests of the decision."""

from models.compare.case import Case
from models.compare.value import CostLine, TimeBand


def case(
    spread: float = 0.0,
    times: tuple[float, ...] = (10.0, 10.2, 11.0),
    millions: tuple[float, ...] = (16.0, 15.5, 15.0),
    names: tuple[str, ...] = ("A", "B", "C"),
) -> Case:
    """Candidates with one workload each by two methods, a shared server line and a vendor of their own."""

    def band(time_s: float) -> list[TimeBand]:
        ends = (time_s, time_s * (1 - spread), time_s * (1 + spread))
        return [TimeBand("training", 1.0, {"analytical": ends, "fluid": ends})]

    def lines(name: str, usd: float) -> list[CostLine]:
        own, shared = (usd - 10.0) * 1e6, 10.0e6
        return [
            CostLine("servers", shared * (1 - spread), shared, shared * (1 + spread)),
            CostLine(f"vendor {name}", own * (1 - spread), own, own * (1 + spread)),
        ]

    return Case(
        {n: band(t) for n, t in zip(names, times, strict=True)},
        {n: lines(n, m) for n, m in zip(names, millions, strict=True)},
    )
