"""`search.fts.stopwords` has three states, and a query goes by them."""

import pytest
from cli_room import Room


@pytest.fixture
def shelf(room: Room) -> Room:
    """One page for `the`, one for `retry`."""
    room.ok("write-page", "-p", "notes/article.md", "-b", "# Article\n\nthe the the\n")
    room.ok("write-page", "-p", "notes/again.md", "-b", "# Again\n\nretry retry retry\n")
    return room


def found(room: Room, *words: str) -> set[str]:
    return {hit["path"] for hit in room.json("search", *words)["hits"]}


def test_without_the_setting_english_words_are_left_out(shelf: Room) -> None:
    assert found(shelf, "the", "retry") == {"notes/again.md"}
    shelf.ok("config", "set", "capture.prompts", "no")
    assert found(shelf, "the", "retry") == {"notes/again.md"}


def test_an_empty_list_leaves_nothing_out(shelf: Room) -> None:
    shelf.ok("config", "set", "search.fts.stopwords", "[]")
    assert found(shelf, "the", "retry") == {"notes/again.md", "notes/article.md"}


def test_a_list_replaces_the_english_one_whatever_its_case(shelf: Room) -> None:
    shelf.ok("config", "set", "search.fts.stopwords", "Retry")
    assert found(shelf, "the", "RETRY") == {"notes/article.md"}
    assert "the the the" in shelf.ok("read-page", "--query", "the retry")
    shelf.ok("config", "unset", "search.fts.stopwords")
    assert found(shelf, "the", "retry") == {"notes/again.md"}
    assert "retry retry" in shelf.ok("read-page", "--query", "the retry")


def test_the_environment_sets_them_where_there_is_no_file(shelf: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_MEMORY_SEARCH__FTS__STOPWORDS", "retry")
    assert not (shelf.data_dir / "config.toml").exists()
    assert found(shelf, "the", "retry") == {"notes/article.md"}


def test_a_broken_file_is_a_fault_that_names_it(shelf: Room) -> None:
    (shelf.data_dir / "config.toml").write_text("[search.fts]\nstopwords = 3\n")
    result = shelf.run("search", "retry")
    assert result.exit_code == 1
    assert "config.toml, line 2: search.fts.stopwords takes a list of words" in result.stderr
