"""What share of the NIC rate the flows of a traffic pattern get, and who says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoadBalance:
    """Shares of the NIC's payload rate on the fabric, per traffic pattern.

    `slowest` is what a synchronous step sees, `mean` what independent traffic sees. `source` names the method
    (closed form, or flow-level solution with its route set and seed).
    """

    slowest: float
    mean: float
    source: str
    low: float = 0.0  # band of `slowest`; 0, 0 = no band known
    high: float = 0.0


IDEAL = LoadBalance(1.0, 1.0, "no contention: every flow has its own path", 1.0, 1.0)
