"""`lint --fix`: what is mended, in one commit, and what is left to its person."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from lint_house import House

from ai_memory.model import PageRef
from ai_memory.operations import lint_mending
from ai_memory.operations.checkpoints import undo
from ai_memory.store.memory import Memory
from ai_memory.text.sanitize import sanitize

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


def commits(house: House) -> int:
    with house.memory.past() as wiki:
        assert wiki is not None
        return sum(1 for _ in wiki.walk())


def rotten(house: House) -> None:
    house.put({"birds/heron.md": "# Heron\n\nIt stands.", "notes/none.md": "---\ntitle: None\n---\n"})
    house.put({"notes/a.md": "# A\n\nSee [[notes/heron]] and [it](heron.md#legs)."})
    house.by_hand("notes/key.md", f"# Key\n\nIt is {TOKEN}, and [[notes/heron]] knows.\n")


def test_links_secrets_and_empty_pages_are_mended_in_one_commit(house: House) -> None:
    rotten(house)
    result = house.lint(fix=True)
    assert house.text("notes/a.md") == "# A\n\nSee [[birds/heron]] and [it](../birds/heron.md#legs)."
    assert house.text("notes/key.md") == "# Key\n\nIt is [REDACTED:github-token], and [[birds/heron]] knows.\n"
    assert house.text("notes/none.md") is None
    assert result.fixed == (
        "default/shop:notes/a.md leads to birds/heron.md now",
        "default/shop:notes/key.md leads to birds/heron.md now, holds labels in the place of secrets now",
        "default/shop:notes/none.md was removed: it said nothing",
    )
    assert {"broken_link", "secret", "empty"} & set(result.counts) == set(), "it looks again"
    assert house.lint(fix=True).commit is None


def test_undo_takes_all_of_it_back_to_the_byte(house: House) -> None:
    rotten(house)
    paths = ("notes/a.md", "notes/key.md", "notes/none.md")
    before = [house.text(path) for path in paths]
    result = house.lint(fix=True)
    assert result.commit is not None
    undo(house.memory, commit=result.commit)
    assert [house.text(path) for path in paths] == before


def test_a_look_alone_changes_nothing(house: House) -> None:
    rotten(house)
    with house.memory.past() as wiki:
        assert wiki is not None
        head = wiki.head()
        house.lint(new=True)
        assert wiki.head() == head


def test_what_could_be_meant_twice_stays(house: House) -> None:
    house.put({"birds/heron.md": "# Heron", "ships/heron.md": "# The Heron"})
    house.put({"notes/a.md": "# A\n\n[[notes/heron]] [[notes/index]]", "x/index.md": "# X"})
    result = house.lint(fix=True)
    assert (result.fixed, result.commit) == ((), None)
    assert house.text("notes/a.md") == "# A\n\n[[notes/heron]] [[notes/index]]"


@pytest.mark.parametrize(
    "meant",
    [
        {"birds/grey.md": "---\ntitle: Heron\n---\nx"},
        {"birds/grey.md": "---\naliases: [heron]\n---\n# Grey"},
        {"birds/grey.md": "---\naliases: heron\n---\n# Grey"},
        {"birds/Heron.md": "# Grey"},
    ],
)
def test_a_page_is_meant_by_its_title_alias_or_file_name(house: House, meant: dict[str, str]) -> None:
    house.put({"notes/a.md": "[[heron]]", **meant})
    house.lint(fix=True)
    (path,) = meant
    assert house.text("notes/a.md") == f"[[{path.removesuffix('.md')}]]"


def test_a_link_into_a_project_that_was_renamed_follows_it(house: House) -> None:
    house.put({"notes/there.md": "# There"}, project="till")
    house.put({"notes/a.md": "# A\n\n[[cash:notes/there]] [[cash:notes/other]]"})
    meta = house.root / "data" / "wiki" / "default" / "till" / "_meta.md"
    meta.write_text(meta.read_text().replace("former_names: []", "former_names: [cash]"))
    house.memory.adopt()
    house.lint(fix=True)
    assert house.text("notes/a.md") == "# A\n\n[[till:notes/there]] [[cash:notes/other]]"


def test_no_link_is_led_into_a_private_project(house: House) -> None:
    house.put({"notes/heron.md": "# There"}, project="till")
    meta = house.root / "data" / "wiki" / "default" / "till" / "_meta.md"
    meta.write_text(meta.read_text().replace("former_names: []", "former_names: [cash]\nprivate: true"))
    house.memory.adopt()
    house.put({"notes/a.md": "# A\n\n[[cash:notes/heron]] [[till:birds/heron]]"})
    result = house.lint(fix=True)
    assert result.fixed == ()
    assert not any("meant" in row.message for row in result.findings)


def test_a_pinned_page_is_left_to_its_person(house: House) -> None:
    house.put({"birds/heron.md": "# Heron"})
    house.by_hand("notes/a.md", f"---\npinned: true\n---\n[[notes/heron]] {TOKEN}\n")
    house.put({"notes/none.md": "---\npinned: true\n---\n"})
    result = house.lint(fix=True)
    assert result.commit is None
    assert {row.kind for row in result.findings if row.path in ("notes/a.md", "notes/none.md")} >= {
        "secret",
        "broken_link",
        "empty",
    }
    assert not any(row.is_safe for row in result.findings)


@pytest.mark.parametrize("text", ["---\nowner: Ada\n---\n", "---\ntitle: Open question\nverify_by: 2027-01-01\n---\n"])
def test_an_empty_page_that_says_something_of_itself_stays(house: House, text: str) -> None:
    house.put({"notes/none.md": text})
    assert house.lint(fix=True).commit is None
    assert house.about("empty") == ["notes/none.md"]


def test_an_empty_page_that_another_one_links_to_stays(house: House) -> None:
    house.put({"notes/none.md": "", "notes/a.md": "# A\n\n[[notes/none]]"})
    assert house.lint(fix=True).commit is None
    assert house.text("notes/none.md") == ""


def test_a_page_that_changes_between_look_and_mending_is_left(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    rotten(house)
    real = Memory.writing

    @contextmanager
    def late(memory: Memory, message: str, **words: Any) -> Iterator[Any]:
        monkeypatch.setattr(Memory, "writing", real)
        house.put({"notes/none.md": "# Something after all"})
        with real(memory, message, **words) as change:
            yield change

    monkeypatch.setattr(Memory, "writing", late)
    result = house.lint(fix=True)
    assert "default/shop:notes/none.md was changed meanwhile: look again" in result.gaps
    assert house.text("notes/none.md") == "# Something after all"
    assert len(result.fixed) == 2


def test_a_page_that_cannot_be_mended_stops_no_other(house: House) -> None:
    rotten(house)
    house.by_hand("notes/latin.md", f"caf\xe9 {TOKEN}\n".encode("latin-1"))
    result = house.lint(fix=True)
    assert "default/shop:notes/latin.md was left as it is: it is no UTF-8" in result.gaps
    assert len(result.fixed) == 3


def test_only_what_is_asked_for_is_mended(house: House) -> None:
    rotten(house)
    house.lint(fix=True, kind=("empty",))
    assert house.text("notes/none.md") is None
    assert TOKEN in (house.text("notes/key.md") or "")


def test_the_reads_of_a_removed_page_go_with_it(house: House) -> None:
    house.put({"notes/none.md": ""})
    house.read("notes/none.md")
    house.lint(fix=True)
    with house.memory.state_reading() as connection:
        assert connection is not None
        assert connection.execute("SELECT count(*) FROM page_access").fetchone() == (0,)


def test_an_unknown_version_is_never_written_over(house: House) -> None:
    rotten(house)
    look = house.memory
    with look.reading() as snapshot:
        page = snapshot.page(PageRef("default", "shop", "notes/none.md"))
    assert page is not None
    from ai_memory.linting.finding import Finding, Mend, Severity

    wrong = Finding("empty", Severity.WARNING, "says nothing", (page.ref,), "", mend=Mend.REMOVE)
    done = lint_mending.mend(look, [wrong, replace(wrong, mend=None)], {page.ref: "0" * 40})
    assert (done.done, done.commit) == ((), None)
    assert sanitize(house.text("notes/none.md") or "") == page.text
