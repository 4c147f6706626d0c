"""Common words are left out of a long question in a large index: that costs no answer."""

import random

import pytest
from shelf import Shelf

from ai_memory.search import fulltext
from ai_memory.search.prepare import prepare

VOCABULARY = 5_000
PAGES = 200
PLANTED = 12


def test_leaving_out_common_words_loses_no_planted_answer(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words as often as in a language: the n-th of them a n-th as often as the first."""
    draw = random.Random(20261201)
    words = [f"w{number:04x}q" for number in range(VOCABULARY)]
    often = [1 / (number + 1) for number in range(VOCABULARY)]
    planted = {f"notes/planted-{number:02}.md": f"heron{number:02}x kettle{number:02}x" for number in range(PLANTED)}
    for number, path in enumerate([*planted, *(f"notes/other-{number:03}.md" for number in range(PAGES))]):
        made = " ".join(draw.choices(words, often, k=60))
        shelf.put(path, f"# Page {number}\n\n{made} {planted.get(path, '')} {words[0]} {words[1]}\n")
    questions = {path: " ".join([*words[:9], *told.split()]) for path, told in planted.items()}
    monkeypatch.setattr(fulltext, "LARGE_INDEX_CHUNKS", 10**9)
    whole = {path: (shelf.paths(asked)[0], _asked(shelf, asked)) for path, asked in questions.items()}
    monkeypatch.setattr(fulltext, "LARGE_INDEX_CHUNKS", PAGES // 2)
    fewer = {path: (shelf.paths(asked)[0], _asked(shelf, asked)) for path, asked in questions.items()}
    assert {path: first for path, (first, _) in whole.items()} == {path: path for path in planted}
    assert {path: first for path, (first, _) in fewer.items()} == {path: path for path in planted}
    assert all(fewer[path][1] < whole[path][1] for path in planted), "nothing was left out, so nothing was shown"


def _asked(shelf: Shelf, question: str) -> int:
    """How many words of it are looked for."""
    return len(fulltext.weigh(shelf.connection, prepare(question)).weights)
