"""Defaults of training plans that are assumptions about software, not about networks."""

from __future__ import annotations

HIDDEN_FRACTIONS = {"tp": 0.3, "pp": 0.9, "dp": 0.85, "ep": 0.0, "cp": 0.7}
"""Share of each communication a modern stack hides; MegaScale (NSDI 2024) Table 3 and Megatron-Core defaults."""
