"""What a page is worth by what was said of it, against values computed by hand."""

import pytest

from ai_memory.aging.salience import flags, salience
from ai_memory.model import PageRef
from ai_memory.store.feedback import Feedback, Signal

REF = PageRef("default", "shop", "notes/a.md")


def said(*words: str) -> list[Feedback]:
    """`+1` is helpful of version 1; `-`, `s` and `w` are not helpful, stale and wrong."""
    signals = {"+": Signal.HELPFUL, "-": Signal.NOT_HELPFUL, "s": Signal.STALE, "w": Signal.WRONG}
    return [Feedback(REF, word[1:], signals[word[0]], "", "", "", at) for at, word in enumerate(words)]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ((), 1.0),
        (("+1",), 1.25),
        (("-1",), 0.75),
        (("+1",) * 9, 2.0),
        (("-1",) * 9, 0.25),
        ((*(("+1",) * 9), "-1"), 1.75),
        ((*(("-1",) * 9), "+1"), 0.5),
        (("+1", "+1", "w1"), 0.25),
        (("s1", "+1"), 0.5),
        (("+0", "w0"), 1.25),
        (("w0", "-0", "+1"), 1.0),
    ],
)
def test_words_move_the_salience_of_version_1_as_computed_by_hand(words: tuple[str, ...], value: float) -> None:
    assert salience(said(*words), "1") == value


def test_the_order_is_that_of_time() -> None:
    words = said("w1", "+1")
    assert salience(words[::-1], "1") == salience(words, "1") == 0.5


def test_only_stale_and_wrong_of_the_version_that_stands_are_flags() -> None:
    assert [one.signal.value for one in flags(said("w0", "s1", "+1", "w1"), "1")] == ["stale", "wrong"]
