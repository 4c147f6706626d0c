"""Joining two edits of one text: what does not touch is joined, what touches is never guessed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.text.merge import merge_lines

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\u2028e\n", "f\x0c\n"]), max_size=12)
TEXT = st.builds(lambda lines, tail: "".join(lines) + tail, LINES, st.sampled_from(["", "end", "\n"]))


@settings(max_examples=150)
@given(TEXT, TEXT)
def test_where_one_side_changed_nothing_the_other_side_stands(base: str, edited: str) -> None:
    assert merge_lines(base, edited, base) == edited
    assert merge_lines(base, base, edited) == edited
    assert merge_lines(base, edited, edited) == edited


@settings(max_examples=150)
@given(TEXT, TEXT, TEXT)
def test_the_sides_may_be_exchanged(base: str, ours: str, theirs: str) -> None:
    assert merge_lines(base, ours, theirs) == merge_lines(base, theirs, ours)


@settings(max_examples=150)
@given(TEXT, TEXT, TEXT)
def test_a_joined_text_holds_no_line_of_its_own(base: str, ours: str, theirs: str) -> None:
    joined = merge_lines(base, ours, theirs)
    if joined is not None:
        known = set((base + "\n" + ours + "\n" + theirs).splitlines())
        assert set(joined.splitlines()) <= known


@settings(max_examples=150)
@given(st.integers(3, 30), st.data())
def test_edits_of_lines_that_lie_apart_are_all_in_the_joined_text(count: int, data: st.DataObject) -> None:
    base = [f"line {number}\n" for number in range(count)]
    first = data.draw(st.integers(0, count - 3))
    second = data.draw(st.integers(first + 2, count - 1))
    edit = st.lists(st.integers().map("new {}\n".format), max_size=3)
    ours_new, theirs_new = data.draw(edit), data.draw(edit)
    ours = [*base[:first], *ours_new, *base[first + 1 :]]
    theirs = [*base[:second], *theirs_new, *base[second + 1 :]]
    wanted = [*base[:first], *ours_new, *base[first + 1 : second], *theirs_new, *base[second + 1 :]]
    assert merge_lines("".join(base), "".join(ours), "".join(theirs)) == "".join(wanted)


@settings(max_examples=100)
@given(st.integers(1, 20), st.data())
def test_edits_of_the_same_line_are_never_joined(count: int, data: st.DataObject) -> None:
    base = [f"line {number}\n" for number in range(count)]
    at = data.draw(st.integers(0, count - 1))
    ours, theirs = [*base], [*base]
    ours[at], theirs[at] = "ours\n", "theirs\n"
    assert merge_lines("".join(base), "".join(ours), "".join(theirs)) is None


def test_edits_of_adjoining_lines_are_not_joined() -> None:
    assert merge_lines("a\nb\n", "A\nb\n", "a\nB\n") is None


def test_two_texts_that_began_from_nothing_are_not_joined() -> None:
    assert merge_lines("", "ours\n", "theirs\n") is None


def test_a_last_line_without_an_end_is_not_glued_to_what_follows() -> None:
    assert merge_lines("a\nb\nc", "a\nb\nc\nd", "A\nb\nc") == "A\nb\nc\nd"
    assert merge_lines("a", "a\nours", "theirs\na") is None


def test_line_ends_of_each_side_are_kept() -> None:
    assert merge_lines("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n") == "A\r\nb\r\nC\r\n"
