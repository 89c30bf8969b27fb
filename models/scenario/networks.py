"""The other networks of a cluster: storage, in-band and out-of-band management."""

from __future__ import annotations

from models.catalog.technology import Strict


class Networks(Strict):
    """Placeholder keys arrive with the bill of materials."""
