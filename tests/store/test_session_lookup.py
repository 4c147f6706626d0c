"""What people ask of sessions, asked of a real `state.db`."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.model import PageRef
from ai_memory.paths import DataDir
from ai_memory.search.prepare import terms
from ai_memory.store import session_lookup, state, state_sessions
from ai_memory.store.driver import Connection
from ai_memory.store.session_lookup import SessionFilter
from ai_memory.store.state_sessions import Observation, Session, short_id
from ai_memory.text.sanitize import sanitize

WORDS = ("the lighthouse keeper", 'a "quoted" NEAR(x y) AND -z*', "Leuchtturm für Schiffe", "灯台 の 灯")


def a_session(identifier: str, *, last_at_us: int = 9, ended_at_us: int | None = None, agent: str = "codex") -> Session:
    return Session(
        id=identifier,
        native_id=sanitize(""),
        agent=sanitize(agent),
        workspace=sanitize("default"),
        project=sanitize("shop"),
        scope=sanitize("{}"),
        cwd=sanitize("/w/shop"),
        opened_at_us=1,
        last_at_us=last_at_us,
        ended_at_us=ended_at_us,
    )


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Three sessions; `s-1` holds a word in each of four observations, `s-2` the first of them too."""
    root: Path = tmp_path_factory.mktemp("data")
    with closing(state.open_state(DataDir(root), at_us=1)) as opened:
        state_sessions.put_session(opened, a_session("s-1", last_at_us=30))
        state_sessions.put_session(opened, a_session("s-2", last_at_us=20, ended_at_us=20))
        state_sessions.put_session(opened, a_session("s-3", last_at_us=10, agent="claude-code"))
        rows = [
            Observation(
                f"e-{number}", "s-1", number, sanitize("user-prompt" if number else "stop"), text=sanitize(text)
            )
            for number, text in enumerate(WORDS)
        ]
        state_sessions.add_observations(opened, [*rows, Observation("e-9", "s-2", 1, rows[0].kind, text=rows[0].text)])
        yield opened


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (SessionFilter(), ["s-1", "s-2", "s-3"]),
        (SessionFilter(only_open=True), ["s-1", "s-3"]),
        (SessionFilter(agent="codex"), ["s-1", "s-2"]),
        (SessionFilter(since_us=20), ["s-1", "s-2"]),
        (SessionFilter(until_us=20), ["s-3"]),
        (SessionFilter(workspace="default", project="other"), []),
    ],
)
def test_sessions_are_those_that_were_asked_for_newest_first(
    connection: Connection, wanted: SessionFilter, found: list[str]
) -> None:
    assert [one.id for one in session_lookup.sessions(connection, wanted)] == found
    assert session_lookup.count_sessions(connection, wanted) == len(found)
    assert [one.id for one in session_lookup.sessions(connection, wanted, limit=1, offset=1)] == found[1:2]


def test_a_search_stays_in_its_session_and_its_kinds(connection: Connection) -> None:
    def found(**more: object) -> list[str]:
        rows = session_lookup.search_observations(connection, ["lighthouse", "quoted"], **more)  # type: ignore[arg-type]
        return sorted(row.event_id for row in rows)

    assert found() == ["e-0", "e-1", "e-9"]
    assert found(session="s-1") == ["e-0", "e-1"]
    assert found(session="s-1", kinds=["user-prompt"]) == ["e-1"]
    assert len(found(session="s-1", limit=1)) == len(found(session="s-1", limit=5, offset=1)) == 1
    assert session_lookup.count_observations(connection, "s-1", words=["lighthouse", "quoted"]) == 2
    assert session_lookup.count_observations(connection, "s-1", kinds=["user-prompt"]) == 3
    assert session_lookup.count_observations(connection, "s-1") == 4


@given(st.text(max_size=80) | st.text(alphabet="\"'*()^:-+{}ANDORNEAR \0\n", max_size=40))
def test_whatever_is_typed_is_a_question_and_never_a_fault(connection: Connection, query: str) -> None:
    found = session_lookup.search_observations(connection, terms(query), session="s-1", limit=-1)
    assert {row.session for row in found} <= {"s-1"}
    assert session_lookup.count_observations(connection, "s-1", words=terms(query)) == len(found)


@given(st.sampled_from([word for text in WORDS for word in text.split() if any(map(str.isalnum, word))]), st.text())
def test_a_word_that_was_said_is_found_whatever_stands_beside_it(connection: Connection, word: str, noise: str) -> None:
    typed = "".join(character for character in noise if not character.isalnum() and character != "_")[:20]
    found = session_lookup.search_observations(connection, terms(f"{word} {typed}"), session="s-1", limit=-1)
    assert any(word in row.text for row in found)


def test_the_page_about_a_session_is_found_where_it_was_moved(connection: Connection) -> None:
    row = {"workspace": "default", "project": "shop", "session": "s-1", "role": "about", "at_us": 1}
    connection.execute(state.STATEMENTS["page-session"], {**row, "path": "sessions/a.md"})
    place = {"workspace": "default", "project": "shop", "path": "sessions/a.md"}
    moved = {"new_workspace": "default", "new_project": "shop", "new_path": "notes/b.md"}

    connection.execute(state.STATEMENTS["page-moved"], {**place, **moved})

    assert session_lookup.pages_about(connection, ["s-1", "s-2"]) == {"s-1": PageRef("default", "shop", "notes/b.md")}


def test_a_short_id_tells_apart_sessions_that_begin_with_the_same_minute() -> None:
    assert short_id("0b5c9f2e-1111-4222-8333-444455556666") == "0b5c9f2e"
    assert short_id("0199f2ea-1b2c-7abc-8333-444455556666") == "0199f2ea-1b2c-7abc"
