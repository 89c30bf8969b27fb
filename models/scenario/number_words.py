"""How a number should have been written: without its unit, in the key's own."""

from __future__ import annotations

import re
from typing import Any

from models.units import GIB, KIB, MIB, TIB

SIZES = {
    "b": 1, "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
}  # fmt: skip
COUNTS = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "million": 1e6, "billion": 1e9, "trillion": 1e12}


def written_out(key: str, given: Any) -> str:
    """A hint at the plain number that text with a unit means; empty where none can be read from it.

    >>> written_out("message_bytes", "1GiB"), written_out("tokens_total", "2T"), written_out("years", "4 years")
    ('bytes as a whole number, e.g. 1073741824', 'a plain number, e.g. 2e+12', 'a plain number, e.g. 4')
    >>> written_out("gpus", "sixty-four"), written_out("message_bytes", "big")
    ('', 'bytes as a whole number, e.g. 1073741824')
    """
    sized = "bytes" in key
    found = (
        re.fullmatch(r"([\d_,]+(?:\.\d+)?)\s*([A-Za-z%$]+)?", given.strip())
        if isinstance(given, str)
        else None
    )
    digits = found[1].replace(",", "").replace("_", "") if found else ""
    if sized:
        unit = SIZES.get((found[2] or "b").lower()) if found else None
        number = round(float(digits) * unit) if unit and digits else GIB
        return f"bytes as a whole number, e.g. {number}"
    if not found or not digits:
        return ""
    factor = COUNTS.get((found[2] or "").lower(), 1) if "tokens" in key else 1
    return f"a plain number, e.g. {float(digits) * factor:g}"
