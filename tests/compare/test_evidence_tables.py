"""What a run says it is doing is not its title over again."""

import pytest

from models.compare.evidence_tables import queue_curve_table


class Told(Exception):
    """Stops the run at its first word."""


def test_the_run_of_queue_curves_does_not_say_its_title_twice() -> None:
    def say(text: str) -> None:
        raise Told(text)

    with pytest.raises(Told) as told:
        queue_curve_table(say)
    assert str(told.value).casefold() != "three incasts at packet grain"
