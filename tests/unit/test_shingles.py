"""Likeness of texts, and the bands by which alike ones meet."""

import random
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from ai_memory.text.shingles import BANDS, MOST_SHINGLES, bands, likeness, shingles

WORDS = [f"word{number}" for number in range(4_000)]


def text(seed: int, length: int) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def meet(words: list[str], others: list[str]) -> bool:
    """Whether the two share a band."""
    one, other = (bands(shingles(" ".join(each))) for each in (words, others))
    return any(key and key == same for key, same in zip(one, other, strict=True))


def test_the_same_words_are_wholly_alike_whatever_their_case_and_marks() -> None:
    one, other = shingles("The *heron* waits, and (then) it strikes."), shingles("the heron waits and then it strikes")
    assert likeness(one, other) == 1.0
    assert likeness(one, shingles("Nothing of this is the same at all here.")) == 0.0
    assert likeness(shingles(""), shingles("")) == 0.0


def test_likeness_is_the_share_of_common_runs() -> None:
    assert likeness(shingles("a b c d e"), shingles("a b c d f")) == 2 / 4


def test_long_texts_are_judged_by_a_fair_sample() -> None:
    words = text(1, 6_000)
    changed = [word if number % 40 else f"other{number}" for number, word in enumerate(words)]
    one, other = shingles(" ".join(words)), shingles(" ".join(changed))
    assert len(one) == len(other) == MOST_SHINGLES
    kept = 1 - 3 / 40
    assert abs(likeness(one, other) - kept / (2 - kept)) < 0.05


def test_texts_that_are_alike_share_a_band_and_others_seldom_do() -> None:
    met = strange = 0
    for seed in range(200):
        words = text(seed, 300)
        changed = [word if number % 38 else f"other{number}" for number, word in enumerate(words)]  # 0.8 and more
        met += meet(words, changed)
        strange += meet(words, text(seed + 1_000, 300))
    assert met >= 198
    assert strange <= 2


@given(st.text(max_size=300))
def test_any_text_has_sorted_numbers_each_once(given_text: str) -> None:
    found = list(shingles(given_text))
    assert found == sorted(set(found))
    assert len(bands(found)) == BANDS
    assert any(bands(found)) == bool(found)


def test_another_process_gives_the_same_numbers() -> None:
    code = "from ai_memory.text.shingles import shingles; print(list(shingles('the heron waits for fish')))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert told == {f"{list(shingles('the heron waits for fish'))}\n"}
