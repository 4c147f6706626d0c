"""Which regular expressions of a person the configuration refuses."""

import pytest

from ai_memory.patterns import repeats_a_repetition
from ai_memory.scrub import TooSlow, scrub, scrub_together
from ai_memory.text.sanitize import OwnPatterns, sanitize_together

REFUSED = (
    *(
        r"(a+)+b",
        r"(?:a*)*",
        r"((?:a+)b?)+c",
        r"(\w+\s?)*$",
        r"(?P<v>x{2,})+",
        r"(?:(?:a+))*",
        r"([^]]+)+",
        r"(a+){20}",
    ),
    *(r"(a+){2,}", r"(?i:a+)+", r"(a{0,99})+", r"(?:a|b+)+", r"(a+?)+?", r"([\]]+)*", r"(a{,99})*"),
)
TAKEN = (
    *(
        r"ACME-[0-9]{2,8}",
        r"user=(?P<v>\w+)",
        r"(?:ab|cd)+",
        r"(?:a++b)+",
        r"(?:a+)++",
        r"(a+)?",
        r"(a+){3}",
        r"a+b*c+",
    ),
    *(r"\(a+\)+", r"[(a+)]+", r"(?:a?b)+", r"(a{3})+", r"x{", r"(a+)b+", r"(a+)(b)+", r"", r"(?:\d{3}-)+", r"\\(a)+"),
)


@pytest.mark.parametrize("pattern", REFUSED)
def test_a_repetition_of_what_repeats_itself_is_seen(pattern: str) -> None:
    assert repeats_a_repetition(pattern)


@pytest.mark.parametrize("pattern", TAKEN)
def test_other_patterns_are_taken(pattern: str) -> None:
    assert not repeats_a_repetition(pattern)


SLOW = r"(a|aa)+b"
HOSTILE = "a" * 60


def test_a_pattern_that_takes_for_ever_is_stopped() -> None:
    with pytest.raises(TooSlow, match="CPU"):
        scrub(HOSTILE, extra=[SLOW])
    with pytest.raises(TooSlow):
        scrub_together(["x", HOSTILE], extra=[SLOW])
    with pytest.raises(TooSlow):
        scrub("password=" + HOSTILE + "1", allow=[SLOW])
    assert scrub("aab", extra=[SLOW]) == "[REDACTED:custom]"


def test_of_texts_cleaned_together_only_the_slow_one_goes() -> None:
    own = OwnPatterns(extra=(SLOW,))
    assert sanitize_together(["x", HOSTILE, "aab"], own) == ["x", "[REDACTED:unscanned]", "[REDACTED:custom]"]
