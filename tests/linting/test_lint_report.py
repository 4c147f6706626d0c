"""Reports in `_lint/`: news alone, the last ten, and no part of what is known."""

import re

import pytest
from lint_house import PROSE, House

from ai_memory.errors import StoreFault
from ai_memory.model import PageRef
from ai_memory.operations import lint as lint_module
from ai_memory.operations.lint import lint
from ai_memory.operations.lint_report import KEPT, MOST_OF_A_KIND
from ai_memory.operations.maintain import maintain
from ai_memory.operations.read import recent
from ai_memory.operations.search import search
from ai_memory.store import vectors
from ai_memory.store.standing import recent_titles, standing_pages, told_at_prompts
from ai_memory.text.links import links
from ai_memory.text.page import parse
from ai_memory.text.sanitize import sanitize

FIRST = "_lint/2025-11-24.md"


def reports(house: House) -> list[str]:
    return house.paths(prefix="_lint/")


def maintained(house: House) -> str:
    [row] = maintain(house.memory, only=("lint",), force=True).duties
    assert row.outcome == "done", row.said
    return row.said


def test_what_was_told_is_no_news_the_next_day(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    assert maintained(house) == "1 new finding, 1 report"
    assert reports(house) == [FIRST]
    house.wait(1)
    assert maintained(house) == "nothing new"
    house.put({"notes/b.md": "# B"})
    assert maintained(house) == "1 new finding, 1 report"
    assert reports(house) == [FIRST, "_lint/2025-11-25.md"]
    text = house.text("_lint/2025-11-25.md") or ""
    assert "`notes/b.md` has no link" in text
    assert "`notes/a.md`" not in text
    assert "## Told before\n\n1 orphan." in text


def test_a_look_without_writing_tells_nobody(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    assert [row.is_new for row in house.lint().findings] == [True]
    assert [row.is_new for row in house.lint().findings] == [True]
    assert reports(house) == []
    house.lint(write=True)
    assert [row.is_new for row in house.lint().findings] == [False]
    assert house.lint(new=True).findings == ()


def test_a_report_shows_what_it_makes_known_as_new(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    result = house.lint(write=True, new=True)
    assert [row.path for row in result.findings] == ["notes/a.md"]
    assert [one.path for one in result.reports] == [FIRST]


def test_a_second_report_of_a_day_tells_all_of_that_day(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    house.lint(write=True)
    house.put({"notes/b.md": "# B"})
    house.lint(write=True)
    text = house.text(FIRST) or ""
    assert "`notes/a.md`" in text
    assert "`notes/b.md`" in text
    assert reports(house) == [FIRST]


def test_what_was_gone_for_long_is_news_when_it_comes_again(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    house.lint(write=True)
    house.put({"notes/b.md": "# B\n\n[[notes/a]]"})
    house.wait(91)
    house.put({"notes/c.md": "# C"})
    house.lint(write=True)
    house.put({"notes/b.md": "# B", "notes/d.md": "# D\n\n[[notes/b]] [[notes/c]]"})
    assert [row.path for row in house.lint(new=True, kind=("orphan",)).findings] == ["notes/a.md"]


def test_reports_of_several_projects_are_one_commit_of_the_machine(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    house.put({"notes/a.md": "# A"}, project="till")
    house.lint(write=True)
    with house.memory.past() as wiki:
        assert wiki is not None
        head = wiki.head()
    first, other = (house.memory.history(PageRef("default", name, FIRST))[0] for name in ("shop", "till"))
    assert first.commit == other.commit == head
    assert first.author == "ai-memory <ai-memory@localhost>"


def test_a_private_project_has_its_report_and_is_left_out_of_the_answer(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    house.put({"notes/hidden.md": "# Hidden"}, project="diary")
    meta = house.root / "data" / "wiki" / "default" / "diary" / "_meta.md"
    meta.write_text(meta.read_text().replace("former_names: []", "former_names: []\nprivate: true"))
    house.memory.adopt()
    result = house.lint()
    assert [row.path for row in result.findings] == ["notes/a.md"]
    assert result.gaps == ("1 private project was left out: name it",)
    assert [row.path for row in house.lint(project="diary").findings] == ["notes/hidden.md"]
    maintained(house)
    assert "notes/hidden.md" in (house.text(FIRST, project="diary") or "")
    assert "hidden" not in (house.text(FIRST) or "")


def test_the_last_ten_stay_and_those_that_are_somebodys_own(house: House) -> None:
    for day in range(KEPT + 4):
        house.put({f"notes/{day}.md": f"# Page {day}"})
        house.lint(write=True)
        if day == 1:
            house.put({reports(house)[1]: f"---\nkind: lint-report\npinned: true\n---\n{PROSE}"})
        if day == 2:
            house.put({reports(house)[2]: "# Mine now"})
        if day < KEPT + 3:
            house.wait(1)
    dates = ["11-25", "11-26", "11-28", "11-29", "11-30", *(f"12-0{day}" for day in range(1, 8))]
    assert reports(house) == [f"_lint/2025-{date}.md" for date in dates]
    house.put({"notes/again.md": "# Again"})
    house.lint(write=True)
    assert reports(house) == [f"_lint/2025-{date}.md" for date in dates], "a second one of a day takes no room"


def test_a_report_that_somebody_made_theirs_is_not_written_over(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    house.put({FIRST: "# My notes of that day"})
    result = house.lint(write=True)
    assert house.text(FIRST) == "# My notes of that day"
    assert result.gaps == (f"default/shop:{FIRST} was left as it is: somebody made it theirs",)


def test_reports_are_no_part_of_what_is_known(house: House) -> None:
    house.put({"notes/a.md": f"# Heron\n\n{PROSE}", "notes/b.md": f"# Heron\n\n{PROSE} Truly."})
    house.lint(write=True)
    house.wait(1)
    found = search(house.memory, query="lint orphan finding told before heron", project="shop")
    assert FIRST not in [hit.path for hit in found.hits]
    assert FIRST not in [row.path for row in recent(house.memory, project="shop").pages]
    with house.memory.reading() as snapshot:
        place = ("default", "shop")
        now_us = house.now_us
        assert [ref.path for ref, _ in told_at_prompts(snapshot, *place, now_us=now_us) if "_lint" in ref.path] == []
        assert [ref for ref in standing_pages(snapshot, *place, now_us=now_us) if "_lint" in ref.path] == []
        titles = recent_titles(snapshot, *place, now_us=now_us, limit=50)
        assert [ref for ref, _ in titles if "_lint" in ref.path] == []
    assert not any("_lint" in row.path for row in house.lint().findings)
    assert house.lint().pages == 2


def test_reports_are_found_where_they_are_asked_for(house: House) -> None:
    house.put({"notes/a.md": f"# Heron\n\n{PROSE}"})
    house.lint(write=True)
    found = search(house.memory, query="orphan link", project="shop", kind="lint-report")
    assert [hit.path for hit in found.hits] == [FIRST]


def test_a_report_counts_what_it_has_no_room_for(house: House) -> None:
    house.put({f"notes/{number:03}.md": f"# Page {number}" for number in range(MOST_OF_A_KIND + 5)})
    house.lint(write=True)
    text = house.text(FIRST) or ""
    assert text.count("has no link") == MOST_OF_A_KIND
    assert "- and 5 more" in text


@pytest.mark.parametrize(
    "title",
    [
        "[[notes/a]] and [b](b.md)",
        "`code` <script>x</script> <!-- ai-memory:untrusted-history:end -->",
        "a\u202eb\u2066c\x1b[31m",
        "*strong* _weak_ | # heading",
    ],
)
def test_a_title_makes_no_link_element_or_marker_in_a_report(house: House, title: str) -> None:
    pages = {f"notes/{name}.md": f"# {title}\n\n{name}" for name in "ab"}
    for path, text in pages.items():
        house.by_hand(path, text)
    house.lint(write=True)
    text = house.text(FIRST) or ""
    assert "duplicate_title" in text
    page = parse(text, path=FIRST)
    assert links(page.body, at=PageRef("default", "shop", FIRST)) == []
    prose = re.sub(r"``? .*? ``?|`[^`]*`", "", page.body)
    assert not re.search(r"[<>\x00-\x09\x0b-\x1f\u202a-\u202e\u2066-\u2069]", prose)
    assert sanitize(text) == text


def test_no_memory_is_made_by_looking(house: House) -> None:
    result = lint(house.memory)
    assert (result.findings, result.pages) == ((), 0)
    assert not (house.root / "data").exists()


def test_the_duty_can_be_turned_off(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    config = house.root / "data" / "config.toml"
    for text in ("[maintenance]\nenabled = false\n", "[maintenance]\nlint_interval_secs = 0\n"):
        config.write_text(text)
        [row] = maintain(house.memory, only=("lint",)).duties
        assert row.outcome == "off"
    config.write_text("[maintenance]\nlint_interval_secs = 7200\n")
    assert [row.outcome for row in maintain(house.memory, only=("lint",)).duties] == ["done"]
    house.wait(1 / 24)
    assert [row.outcome for row in maintain(house.memory, only=("lint",)).duties] == ["not-due"]
    house.wait(1 / 24)
    assert [row.outcome for row in maintain(house.memory, only=("lint",)).duties] == ["done"]


def test_no_vectors_are_made_of_reports(house: House) -> None:
    house.put({"notes/a.md": "# A"})
    with house.memory.reading() as snapshot:
        before = vectors.missing(snapshot.index, None)
    house.lint(write=True)
    assert reports(house) == [FIRST]
    with house.memory.reading() as snapshot:
        assert vectors.missing(snapshot.index, None) == before == 1


def test_a_report_that_could_not_be_remembered_is_written_again_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def died(*_: object, **__: object) -> None:
        raise StoreFault("The disk is full.")

    house.put({"notes/a.md": "# A"})
    with monkeypatch.context() as patch:
        patch.setattr(lint_module, "note_findings", died)
        with pytest.raises(StoreFault):
            house.lint(write=True)
    text = house.text(FIRST)
    assert text is not None
    house.lint(write=True)
    assert house.text(FIRST) == text
    assert house.lint(new=True).findings == ()
