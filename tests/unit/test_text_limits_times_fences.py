"""Limits, times, fences and plain text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.clock import rfc3339
from ai_memory.text.fences import (
    FENCE_END,
    FENCE_START,
    INJECTED_MARK,
    NOTICE,
    fence,
    neutralise,
    without_fences,
)
from ai_memory.text.limits import LIMITS, BadText, TooLarge, Unit, check_limit, check_line, check_page, check_text
from ai_memory.text.plain import plain, plain_line, printable
from ai_memory.text.times import (
    DAY_US,
    BadTime,
    parse_duration,
    parse_expiry,
    parse_moment,
    parse_time,
)

ANY_TEXT = st.text(max_size=200)
FENCE_PIECES = st.lists(
    st.sampled_from(
        [FENCE_START, FENCE_END, "<!--", "-->", "<!\u200b--", "<\u202e!--", " ", "\n", "x", "&lt;", "\x1b["]
    )
).map("".join)


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_allows_its_own_value_and_refuses_one_more(name: str) -> None:
    most = LIMITS[name].most
    value: str | list[str] = ["x"] * most if LIMITS[name].unit is Unit.ITEMS else "x" * most
    check_limit(name, value)
    longer: str | list[str] = [*value, "x"] if isinstance(value, list) else value + "x"
    with pytest.raises(TooLarge) as refusal:
        check_limit(name, longer)
    assert f"{most:,}" in refusal.value.message
    assert f"{most + 1:,}" in refusal.value.message
    assert name in refusal.value.hint


def test_a_limit_in_bytes_counts_utf_8() -> None:
    check_limit("tag", "ü" * 64)
    with pytest.raises(TooLarge, match="130 bytes, at most 128"):
        check_limit("tag", "ü" * 65)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x07", "\x7f", "\x9b", "\ud800", "\r"])
def test_control_characters_and_lone_surrogates_are_refused_with_their_place(character: str) -> None:
    with pytest.raises(BadText, match=f"U\\+{ord(character):04X}"):
        check_text("body", f"one\ntwo {character} three")
    with pytest.raises(BadText, match="at character 3"):
        check_line("title", f"ab{character}c")


def test_a_body_may_hold_tabs_and_both_line_ends_but_a_title_is_one_line() -> None:
    check_text("body", "a\tb\r\nc\nd")
    for character in "\t\n\r":
        with pytest.raises(BadText):
            check_line("title", f"a{character}b")


def test_a_page_is_checked_part_by_part() -> None:
    check_page(title="t", tags=["a"], entities=["b"], body="c", aliases=["d"], kind="note")
    with pytest.raises(TooLarge, match="list of tags"):
        check_page(title="t", tags=["a"] * 51, entities=[], body="")
    with pytest.raises(TooLarge, match="an entity"):
        check_page(title="t", tags=[], entities=["a" * 65], body="")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30T08:00:00Z", "2026-11-30T08:00:00Z"),
        ("2026-11-30t08:00:00.5z", "2026-11-30T08:00:00.500000Z"),
        ("2026-11-30 08:00:00+02:00", "2026-11-30T06:00:00Z"),
        ("2026-11-30T08:00:00.123456789-00:30", "2026-11-30T08:30:00.123456Z"),
        ("2026-11-30", "2026-11-30T00:00:00Z"),
        ("1969-12-31", "1969-12-31T00:00:00Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
    ],
)
def test_an_instant_is_read_to_the_microsecond(text: str, expected: str) -> None:
    assert rfc3339(parse_time(text)) == expected


def test_an_expiry_date_is_the_end_of_its_day_and_an_instant_stays() -> None:
    assert parse_expiry("2026-11-30") == parse_time("2026-12-01") - 1
    assert parse_expiry("2026-11-30T08:00:00Z") == parse_time("2026-11-30T08:00:00Z")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "2026-11-30T25:00:00Z",
        "2026-11-30T08:00:00",
        "0000-01-01",
        "2026-11-30T08:00:00+25:00",
        "2026-11-30T08:00:61Z",
        "２０２６-11-30",
        "2026-11-30T08:00:00Z x",
        "1" * 1000000,
    ],
)
def test_nonsense_is_no_time(text: str) -> None:
    for read in (parse_time, parse_expiry):
        with pytest.raises(BadTime):
            read(text)


@given(st.integers(min_value=-(10**15), max_value=10**17))
def test_what_the_clock_writes_is_read_back(at_us: int) -> None:
    assert parse_time(rfc3339(at_us)) == at_us


@pytest.mark.parametrize(
    ("text", "expected_us"),
    [("7d", 7 * DAY_US), ("1h", 3_600_000_000), ("1h30m", 5_400_000_000), ("250ms", 250_000), (" 2W ", 14 * DAY_US)],
)
def test_durations_are_read(text: str, expected_us: int) -> None:
    assert parse_duration(text) == expected_us


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1.5h", "1m1h", "1h1h", "7 d", "101y", "1d!", "9" * 1_000_000])
def test_nonsense_is_no_duration(text: str) -> None:
    with pytest.raises(BadTime):
        parse_duration(text)


def test_a_moment_is_a_time_or_so_long_ago() -> None:
    now_us = parse_time("2026-11-30T08:00:00Z")
    assert rfc3339(parse_moment("12h", now_us=now_us)) == "2026-11-29T20:00:00Z"
    assert parse_moment("2026-11-30", now_us=now_us) == parse_time("2026-11-30")


@given(ANY_TEXT)
def test_time_readers_fail_only_by_saying_so(text: str) -> None:
    for read in (parse_time, parse_expiry, parse_duration):
        try:
            read(text)
        except BadTime as fault:
            assert "\n" not in fault.message


@given(FENCE_PIECES, FENCE_PIECES)
def test_a_fence_has_one_start_and_one_end_whatever_is_inside(text: str, source: str) -> None:
    block = fence(text, source=source)
    assert block.startswith(f"{FENCE_START}\n{NOTICE}\n")
    assert block.endswith(f"\n{FENCE_END}\n")
    assert block.count("<!--") == 2
    assert "\x1b" not in block
    assert block == fence(text, source=source)


@given(FENCE_PIECES)
def test_neutralising_is_idempotent(text: str) -> None:
    assert neutralise(neutralise(text)) == neutralise(text)


def test_injected_text_is_known_by_its_mark_and_can_be_taken_out() -> None:
    block = fence("old", source="a page")
    assert INJECTED_MARK in block
    assert INJECTED_MARK not in neutralise(block)
    assert without_fences(f"before {block}after") == "before \nafter"
    assert without_fences(f"before {FENCE_START} never ends") == "before "
    assert without_fences("nothing") == "nothing"


def test_the_fence_module_imports_nothing() -> None:
    import ast
    from pathlib import Path

    import ai_memory.text.fences as module

    tree = ast.parse(Path(module.__file__).read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]


@given(st.text(alphabet=st.characters(), max_size=100))
def test_printed_text_holds_no_control_that_a_terminal_obeys(text: str) -> None:
    shown = printable(text)
    assert printable(shown) == shown
    for character in shown:
        code = ord(character)
        assert character in "\t\n" or not (code < 0x20 or 0x7F <= code < 0xA0)
        assert code not in (0x061C, 0x200E, 0x200F)
        assert not 0x202A <= code <= 0x202E
        assert not 0x2066 <= code <= 0x2069


def test_an_escape_sequence_is_shown_not_obeyed() -> None:
    assert printable("a\x1b[31mb\u202ec\r\nd") == "a\\x1b[31mb\\u202ec\nd"


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("Use **WAL** for [the log](x.md) and `fsync`", "Use WAL for the log and fsync"),
        ("see [[notes/a|the note]] or [[b]]", "see the note or b"),
        ("snake_case_name stays, _emphasis_ goes", "snake_case_name stays, emphasis goes"),
        ("a < b and <b>c</b>", "a < b and c"),
        (r"a \* b", "a * b"),
    ],
)
def test_inline_markdown_becomes_plain(markdown: str, text: str) -> None:
    assert plain_line(markdown) == text


def test_markers_of_blocks_go() -> None:
    assert plain("# Title\n\n> - quoted *item*\n1. one\n```python\nx = 1\n```\n") == "Title\nquoted item\none\nx = 1"
