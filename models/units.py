"""Conversions between the units people write and the SI units models compute with.

Used at the edges only: when a file is read, and when a table or chart is written. Everything in between is
bytes, seconds, bytes per second, watts and US dollars.
"""

from __future__ import annotations

KIB = 1024
MIB = 1024**2
GIB = 1024**3
TIB = 1024**4
HOURS_PER_YEAR = 8766.0
PROPAGATION_S_PER_M = 5.0e-9  # light in fibre and copper; SONiC uses 5.05, one vendor states 4.5 ns/m


def bytes_per_s_from_gbit_per_s(rate_gbit_per_s: float) -> float:
    """Rate in bytes per second of a rate in Gbit/s (decimal, one direction).

    >>> bytes_per_s_from_gbit_per_s(400)
    50000000000.0
    """
    return rate_gbit_per_s * 1e9 / 8.0


def gbit_per_s_from_bytes_per_s(rate_bytes_per_s: float) -> float:
    """Rate in Gbit/s of a rate in bytes per second.

    >>> gbit_per_s_from_bytes_per_s(50e9)
    400.0
    """
    return rate_bytes_per_s * 8.0 / 1e9


def size_text(size_bytes: float) -> str:
    """Size in binary units with three significant digits, as shown to a reader.

    >>> size_text(1024**3), size_text(1536), size_text(12)
    ('1 GiB', '1.5 KiB', '12 B')
    """
    for unit, factor in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(size_bytes) >= factor:
            return f"{size_bytes / factor:.3g} {unit}"
    return f"{size_bytes:.3g} B"


def duration_text(duration_s: float) -> str:
    """Duration with three significant digits in the unit that suits it.

    >>> duration_text(0.0123), duration_text(14.21), duration_text(86400 * 3)
    ('12.3 ms', '14.2 s', '3 d')
    """
    if abs(duration_s) >= 2 * 86400:
        return f"{duration_s / 86400:.3g} d"
    if abs(duration_s) >= 2 * 3600:
        return f"{duration_s / 3600:.3g} h"
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if abs(duration_s) >= factor:
            return f"{duration_s / factor:.3g} {unit}"
    return f"{duration_s * 1e9:.3g} ns"


def usd_text(amount_usd: float) -> str:
    """Amount of money in k or M USD with three significant digits.

    >>> usd_text(41_300_000), usd_text(5210), usd_text(12)
    ('41.3 M USD', '5.21 k USD', '12 USD')
    """
    for unit, factor in (("B USD", 1e9), ("M USD", 1e6), ("k USD", 1e3)):
        if abs(amount_usd) >= factor:
            return f"{amount_usd / factor:.3g} {unit}"
    return f"{amount_usd:.3g} USD"
