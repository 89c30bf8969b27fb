"""Candidates that no other beats on both time and cost."""

from __future__ import annotations

from collections.abc import Mapping

from models.compare.case import Score


def pareto_set(found: Mapping[str, Score]) -> list[str]:
    """Names of the candidates for which no other is as fast and as cheap and better in one of them; cheapest first.

    >>> pareto_set({"a": Score(1.0, 3.0), "b": Score(0.9, 2.0), "c": Score(0.8, 2.5)})
    ['b', 'a']
    """

    def beaten(score: Score) -> bool:
        return any(
            other.relative_work >= score.relative_work
            and other.yearly_usd <= score.yearly_usd
            and (other.relative_work > score.relative_work or other.yearly_usd < score.yearly_usd)
            for other in found.values()
        )

    kept = [name for name, score in found.items() if not beaten(score)]
    return sorted(kept, key=lambda name: (found[name].yearly_usd, -found[name].relative_work, name))
