"""What does the answer hang on?"""

from __future__ import annotations

from views.frame import Case


def flip_lines(case: Case) -> None:
    """Three sentences on what would flip the answer."""
