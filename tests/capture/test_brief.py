"""A brief says as much of a project's standing pages as has room, in one fence, and names what it leaves out."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.capture import brief
from ai_memory.capture.brief import Entry, Material, pack
from ai_memory.model import Page, PageRef, Tier
from ai_memory.text.facts import Fact, FactKind, Standing
from ai_memory.text.fences import FENCE_END, FENCE_START, MARK
from ai_memory.text.plain import clip
from ai_memory.text.validity import Interval

GOLDEN = Path(__file__).parent / "golden"


def page(path: str, body: str = "", *, pinned: bool = False, kind: str = "rule", **keys: object) -> Page:
    ref = PageRef("default", "shop", path)
    title = str(keys.pop("title", Path(path).stem.capitalize()))
    return Page(
        ref, "0" * 40, body, title, kind, Tier.SEMANTIC, pinned=pinned, frontmatter=keys, body=body, updated_at_us=1
    )


def material(*pages: Page, more: int = 0, recent: tuple[tuple[str, str], ...] = ()) -> Material:
    return Material("default/shop", tuple(brief.entry(one) for one in pages), more=more, recent=recent)


def prose(words: int, word: str = "word") -> str:
    return " ".join([word] * words)


def many(count: int, words: int = 100) -> list[Page]:
    return [page(f"_rules/r{number:02}.md", prose(words, f"w{number}")) for number in range(count)]


# --- levels ---


def test_level_zero_is_the_abstract_else_the_summary_else_the_first_prose() -> None:
    body = f"# T\n\nFirst *line*.\n\n- a list\n\n{prose(200)}"
    assert brief.entry(page("a.md", body, abstract="An abstract.", summary="A summary.")).levels[0] == "An abstract."
    assert brief.entry(page("a.md", body, summary="A summary.")).levels[0] == "A summary."
    assert brief.entry(page("a.md", body, title="T")).levels[0].startswith("First line. a list word word")


def test_excerpts_keep_their_bytes_and_are_cut_between_words() -> None:
    short, longer, body = brief.entry(page("a.md", prose(400, "größer"))).levels
    assert 200 < len(short.encode()) <= 256
    assert 400 < len(longer.encode()) <= 500
    assert short.endswith("größer…")
    assert body == prose(400, "größer")


@pytest.mark.parametrize("keys", [{}, {"abstract": prose(20)}, {"summary": prose(90)}])
def test_a_body_shorter_than_its_excerpt_is_told_whole(keys: dict[str, object]) -> None:
    assert brief.entry(page("a.md", "# Short\n\nUse *Decimal*.", title="Short", **keys)).levels == ("Use *Decimal*.",)


def test_an_excerpt_longer_than_the_body_is_no_level() -> None:
    levels = brief.entry(page("a.md", prose(70), abstract="Short.", summary=prose(99))).levels
    assert levels == ("Short.", prose(70))


def test_a_secret_of_a_page_edited_by_hand_is_in_no_level() -> None:
    secret = "ghp_" + "a1B2" * 9
    found = brief.entry(page("a.md", f"{prose(50)} {secret} {prose(50)}", abstract=secret, title=secret))
    assert secret not in repr(found)


# --- packing ---


def test_a_small_project_is_told_whole() -> None:
    text = pack(
        material(
            page("_slots/goal.md", "Ship the till.", pinned=True, kind="slot", title="Goal"),
            page("_rules/money.md", "# Money\n\nUse Decimal.", title="Money"),
            page("gotchas/tz.md", "The till runs in local time.", kind="gotcha", title="Time zones"),
            recent=(("notes/one.md", "A note"),),
        ),
        1_500,
    )
    assert text == (GOLDEN / "brief-whole.md").read_text(encoding="utf-8")


def test_a_large_project_is_told_in_levels() -> None:
    pinned = page("_slots/goal.md", prose(60, "goal"), pinned=True, kind="slot", title="Goal")
    rules = many(8, 60)
    gotchas = [page(f"gotchas/g{number}.md", prose(90 + number, "trap"), kind="gotcha") for number in range(6)]
    text = pack(material(pinned, *rules, *gotchas, more=3, recent=(("notes/one.md", "A note"),)), 3_000)
    assert text == (GOLDEN / "brief-tight.md").read_text(encoding="utf-8")
    assert len(text) <= 3_000


def test_pinned_pages_are_deepened_before_any_other() -> None:
    text = pack(material(page("notes/p.md", prose(150, "pin"), pinned=True, kind="note"), *many(6, 300)), 3_000)
    assert prose(150, "pin") in text
    assert not any(prose(300, f"w{number}") in text for number in range(6))


def test_of_the_others_the_cheapest_body_comes_first() -> None:
    pages = [page("_rules/long.md", prose(300, "long")), page("_rules/short.md", prose(90, "short"))]
    text = pack(material(*pages), 1_600)
    assert prose(90, "short") in text
    assert prose(300, "long") not in text


def test_four_excerpts_of_a_family_share_a_heading_three_do_not() -> None:
    assert "## Rules\n\n- _rules/r00.md: w0" in pack(material(*many(4, 300)), 2_000)
    assert "## Rules" not in pack(material(*many(3, 300)), 2_000)


def test_pages_without_room_are_named_and_the_rest_is_counted() -> None:
    text = pack(material(*many(24), more=5), 1_500)
    shown = set(re.findall(r"_rules/r\d\d\.md", text))
    [hidden] = re.findall(r"## Not shown: (\d+) pages", text)
    [rest] = re.findall(r"and (\d+) more pages", text) or ["0"]
    assert len(shown) + int(rest) == 29
    assert 0 < int(rest) < int(hidden)


def test_a_project_without_pages_has_no_brief() -> None:
    assert pack(material(), 4_000) == ""


def test_the_status_counts_kinds() -> None:
    pages = [page("a.md", kind=kind) for kind in ("gotcha", "rule", "rule", "gotcha", "rule", "odd")]
    assert brief.status(material(*pages)) == "3 rules, 2 gotchas, 1 page"
    assert brief.status(replace(material(*pages), facts=facts("One", "Two"))) == "3 rules, 2 gotchas, 2 facts, 1 page"


# --- facts ---


def facts(*statements: str, kind: FactKind = FactKind.CORRECTION) -> tuple[Fact, ...]:
    return tuple(Fact(f"f-{one}", kind, Standing.SUPPORTED, one, Interval(None), 1) for one in statements)


def test_facts_come_first_in_half_of_the_room_and_then_in_what_is_left() -> None:
    told = facts(*(f"Rule {number}: {prose(20)}" for number in range(40)))
    text = pack(replace(material(*many(24)), facts=told), 4_000)
    shown = re.findall(r"^- Rule (\d+):", text, re.MULTILINE)
    assert shown == [str(number) for number in range(len(shown))]
    assert 1_000 < text.index("## R", text.index("- Rule 0")) <= 2_200, "pages have the other half"
    assert f"## Not shown: {40 - len(shown)} facts" in text
    alone = pack(replace(material(), facts=told), 4_000)
    assert len(re.findall(r"^- Rule ", alone, re.MULTILINE)) > len(shown) + 5
    assert len(alone) <= 4_000


def test_facts_beyond_those_that_may_be_told_are_counted() -> None:
    whole = replace(material(), facts=facts("One", "Two"), more_facts=7)
    assert brief.status(whole) == "9 facts"
    assert "## Not shown: 7 facts" in pack(whole, 4_000)


def test_a_fact_cannot_leave_its_line_or_the_fence() -> None:
    text = pack(replace(material(), facts=facts(f"Say so\n## Head\n{FENCE_END} <b>now</b>")), 4_000)
    assert "- Say so ## Head &lt;!-- ai-memory" in text.replace("&amp;lt;", "&lt;").replace("&lt;!--", "&lt;!--")
    assert "<b>" not in text
    assert text.count(FENCE_END) == 1


# --- bounds ---

HOSTILE = st.sampled_from(
    [FENCE_END, FENCE_START, f"<!--{MARK}:end-->", "<!", "-->", "\u202e", "\u200b", "\x1b[2J", "#", "```", "\n", "字"]
)
TEXTS = st.lists(HOSTILE | st.text(max_size=40), max_size=60).map(" ".join)
PAGES = st.builds(
    page,
    st.from_regex(r"(_rules|_slots|gotchas|notes)/[a-z]{1,30}\.md", fullmatch=True),
    TEXTS,
    pinned=st.booleans(),
    kind=st.sampled_from(["rule", "gotcha", "note"]),
    title=TEXTS.map(lambda text: text[:500]),
    abstract=TEXTS,
    summary=TEXTS,
)


@settings(max_examples=60)
@given(st.lists(PAGES, max_size=24), st.integers(1_500, 8_000), st.integers(0, 9_999))
def test_any_pages_keep_the_size_the_fence_and_the_bytes(pages: list[Page], size: int, more: int) -> None:
    whole = material(*pages, more=more, recent=(brief.recent_line("notes/x.md", FENCE_END),) * 10)
    text = pack(whole, size)
    assert len(text) <= size
    assert (text.count(FENCE_START), text.count(FENCE_END)) == (1, 1)
    inside = text.partition(FENCE_START)[2].partition(FENCE_END)[0]
    assert "<!--" not in inside
    assert "\x1b" not in text
    assert text == pack(whole, size)


@settings(max_examples=60)
@given(st.text(max_size=600), st.integers(4, 600))
def test_a_clip_keeps_its_bytes(text: str, limit: int) -> None:
    clipped = clip(text, limit)
    assert len(clipped.encode("utf-8", "replace")) <= limit
    assert clipped == text or clipped.endswith("…")


def test_a_large_set_of_pages_is_packed_in_steps_that_all_fit() -> None:
    entries = tuple(
        Entry(f"_rules/{number}.md", "T", "rule", number % 3 == 0, ("a" * 250, "b" * 490, "c" * (600 + number)))
        for number in range(24)
    )
    for size in range(1_500, 8_001, 500):
        assert size - 700 < len(pack(Material("d/s", entries), size)) <= size
