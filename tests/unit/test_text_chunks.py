"""Chunks and excerpts."""

import itertools
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.text.chunks import CAP, PLATEAU_END, TARGET, Chunk, chunks
from ai_memory.text.excerpts import Excerpt, excerpt

WORDS = "word " * 30
LINES = ["# Head", "## Sub", "### Deep", "", "", "a line of text", "- an item", "```", "~~~", "    indented", "> quote"]
LINES += [WORDS, "x" * 900, "y" * 2500, "long words " * 300, "Under", "===", "<div>", "| a | b |"]
BODIES = st.lists(st.sampled_from(LINES), max_size=40)


def inked(text: str) -> str:
    return re.sub(r"\s", "", text)


@settings(max_examples=200)
@given(BODIES, st.sampled_from(["\n", "\r\n"]), st.integers(1, 9))
def test_chunks_cover_every_inked_character_once_and_in_order(lines: list[str], newline: str, first_line: int) -> None:
    body = newline.join(lines)
    found = chunks(body, first_line=first_line)
    assert "".join(inked(chunk.body) for chunk in found) == inked(body)
    for chunk in found:
        assert 0 < len(chunk.body) <= CAP
        assert "\r" not in chunk.body
        assert first_line <= chunk.start_line <= chunk.end_line < first_line + len(lines)
        there = "\n".join(lines[chunk.start_line - first_line : chunk.end_line - first_line + 1])
        assert inked(chunk.body) in inked(there)
    for one, following in itertools.pairwise(found):
        assert one.end_line <= following.start_line


@given(st.text(max_size=300))
def test_any_text_is_covered(body: str) -> None:
    assert "".join(inked(chunk.body) for chunk in chunks(body)) == inked(body)


def test_a_heading_begins_a_chunk_and_gives_its_path() -> None:
    body = "# Storage\n\nIntro.\n\n## Locks\n\nOne lock.\n\n### Fairness\n\nWait.\n\n## **Index** `x`\n\nRows.\n"
    found = [(chunk.heading, chunk.start_line, chunk.end_line, chunk.body) for chunk in chunks(body, first_line=5)]
    assert found == [
        ("Storage", 5, 7, "# Storage\n\nIntro."),
        ("Storage > Locks", 9, 11, "## Locks\n\nOne lock."),
        ("Storage > Locks > Fairness", 13, 15, "### Fairness\n\nWait."),
        ("Storage > Index x", 17, 19, "## **Index** `x`\n\nRows."),
    ]


def test_a_heading_with_nothing_under_it_goes_with_the_next() -> None:
    assert chunks("# A\n\n## B\ntext") == [Chunk("A > B", 1, 4, "# A\n\n## B\ntext")]
    assert chunks("# A") == [Chunk("A", 1, 1, "# A")]
    assert chunks("") == [] == chunks(" \n\n")


def test_a_hash_inside_code_is_no_heading() -> None:
    assert [chunk.heading for chunk in chunks("# A\n\n```sh\n# not me\n```\n")] == ["A"]


def test_paragraphs_fill_a_chunk_up_to_the_plateau() -> None:
    paragraph = ("plain words " * 20).strip()
    found = chunks("\n\n".join([paragraph] * 12))
    assert all(TARGET <= len(chunk.body) <= PLATEAU_END for chunk in found)


def test_a_list_without_blank_lines_is_cut_into_even_parts_between_its_items() -> None:
    items = [f"- item {number}: {'word ' * 12}end" for number in range(14)]
    found = chunks("\n".join(items))
    assert [line for chunk in found for line in chunk.body.split("\n")] == items
    sizes = [len(chunk.body) for chunk in found]
    assert len(found) == 2
    assert max(sizes) <= PLATEAU_END
    assert min(sizes) > max(sizes) / 2, "a scrap was left over"


def test_a_fence_under_the_cap_is_never_cut() -> None:
    fence = "```\n" + "code line\n\n" * 150 + "```"
    assert len(fence) < CAP
    found = chunks(f"{WORDS}\n{WORDS}\n{fence}\n{WORDS * 4}\n\nend")
    assert sum(fence in chunk.body for chunk in found) == 1


def test_a_longer_fence_is_cut_between_its_lines() -> None:
    fence = "```\n" + "a line of code\n" * 400 + "```"
    found = chunks(fence)
    assert len(found) == 4
    assert all(line in ("a line of code", "```") for chunk in found for line in chunk.body.split("\n"))


def test_a_line_over_the_cap_is_cut_between_words() -> None:
    found = chunks("word " * 1000)
    assert all(chunk.start_line == chunk.end_line == 1 for chunk in found)
    assert all(set(chunk.body.split()) == {"word"} for chunk in found)


PAGE = "# Log\n\nNothing here.\n\n## Crash\n\nThe **redo log** is written to [disk](x.md) first.\n\n## Speed\n\nFast.\n"


def test_the_best_passage_comes_plain_with_its_heading_and_lines() -> None:
    assert excerpt(PAGE, ["redo", "DISK"], first_line=10) == Excerpt(
        "Log > Crash", 14, 16, "Crash The redo log is written to disk first.", 2
    )


def test_without_a_match_the_beginning_is_shown_and_a_blank_body_gives_none() -> None:
    found = excerpt(PAGE, ["unknown"])
    assert found is not None
    assert (found.text, found.matched) == ("Log Nothing here.", 0)
    assert excerpt(" \n", ["x"]) is None


def test_a_long_passage_is_cut_around_the_matches() -> None:
    body = "filler words go on " * 30 + "the needle stands near the haystack " + "and more words follow " * 30
    found = excerpt(body, ["needle", "haystack"], limit=120)
    assert found is not None
    assert len(found.text) <= 120
    assert "needle" in found.text
    assert "haystack" in found.text
    assert found.text.startswith("…")
    assert found.text.endswith("…")


def test_a_letter_outside_ascii_elsewhere_does_not_change_which_stretch_is_shown() -> None:
    body = "other " * 60 + "the Locked door " + "other " * 60
    plain, marked = excerpt(body, ["lock"], limit=120), excerpt(body + "é", ["lock"], limit=120)
    assert plain is not None and "Locked" in plain.text
    assert plain == marked


def test_marks_and_case_do_not_hide_a_match() -> None:
    found = excerpt("Un CAFÉ noir", ["cafe"])
    assert found is not None
    assert found.matched == 1


@given(st.text(max_size=600), st.lists(st.text(max_size=8), max_size=4), st.integers(20, 300))
def test_an_excerpt_is_bounded_and_safe_to_print(body: str, terms: list[str], limit: int) -> None:
    found = excerpt(body, terms, limit=limit)
    if found is not None:
        assert len(found.text) <= limit
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", found.text + found.heading)
