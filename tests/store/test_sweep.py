"""What a sweep takes away, what it leaves, and the way back."""

import json
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.config_table import Config, Decay, Maintenance
from ai_memory.errors import Conflict, NotFound
from ai_memory.model import Encoder, PageRef
from ai_memory.operations.after_work import do_what_is_due
from ai_memory.operations.aftersweep import Erasing
from ai_memory.operations.archive import archive_list, archive_purge, archive_restore
from ai_memory.operations.change import move_page
from ai_memory.operations.checkpoints import undo
from ai_memory.operations.duties import BY_NAME
from ai_memory.operations.forget_sweep import Swept, swept
from ai_memory.operations.relocation import rename_project
from ai_memory.operations.retention import retention
from ai_memory.operations.sessions import session
from ai_memory.operations.write import append_to_page
from ai_memory.providers import choose
from ai_memory.providers.choose import Choice
from ai_memory.providers.embedder import packed
from ai_memory.store import feedback, state_sessions, usage, vectors
from ai_memory.store.cache import Cache
from ai_memory.store.drain_lock import no_drain
from ai_memory.store.driver import Connection
from ai_memory.store.feedback import Feedback, Signal
from ai_memory.store.state_sessions import Observation, Session
from ai_memory.store.vectors import ChunkText
from ai_memory.text.embedded import embedded_text
from ai_memory.text.sanitize import sanitize
from ai_memory.text.times import DAY_US

DAY_S = 86_400
HERE = {"workspace": "default", "project": "shop"}
SESSION_PAGE = (
    "---\nkind: session\nsession_id: {session}\n---\n# Session\n\nMended `retry_budget` in src/net/retry.py.\n"
)


def sweep(room: WikiRoom, *, dry_run: bool = False, erasing: Erasing = "due", **decay: object) -> Swept:
    return swept(room.memory(), None, Config(decay=Decay(**decay)), dry_run=dry_run, erasing=erasing)  # type: ignore[arg-type]


def pass_days(room: WikiRoom, days: float) -> None:
    room.clock.pass_s(days * DAY_S)


def gone(done: Swept) -> dict[str, str]:
    rows = {one.path: one.reason for one in (*done.evicted, *done.compacted) if one.deleted}
    return rows | {one.path: "expired" for one in done.expired if one.deleted}


def tell_session(
    room: WikiRoom, identifier: str = "s-1", *, covered: int = 2, is_over: bool = True, path: str = "sessions/s.md"
) -> None:
    """A session with two observations, whose page lies at `path`."""
    at_us = room.clock.at_us
    with room.memory().state_transaction() as connection:
        session = Session(
            id=identifier, native_id="", cwd="", agent="codex", workspace="default", project="shop", scope="{}",
            opened_at_us=at_us, last_at_us=at_us, ended_at_us=at_us if is_over else None, observations=2,
            covered=covered,
        )  # fmt: skip
        state_sessions.put_session(connection, session)
        kinds = ("user-prompt", "session-end")
        state_sessions.add_observations(
            connection,
            [
                Observation(f"{identifier}-{number}", identifier, at_us + number, kind)
                for number, kind in enumerate(kinds)
            ],
        )
    with room.memory().writing("Tell") as change:
        change.state("page-session", **HERE, path=path, session=identifier, role="about", at_us=at_us)


def observations(room: WikiRoom) -> int:
    with room.memory().state_reading() as connection:
        assert connection is not None
        return int(connection.execute("SELECT count(*) FROM observations").fetchone()[0])


def say(room: WikiRoom, path: str, signal: Signal) -> None:
    with room.memory().reading() as snapshot:
        page = snapshot.page(ref(path))
    assert page is not None
    one = Feedback(ref(path), page.version, signal, "", "", "", room.clock.at_us)
    with room.memory().state_transaction() as connection:
        feedback.put(connection, one, reason=sanitize(""), agent=sanitize(""), session=sanitize(""))


def read(room: WikiRoom, path: str, harness: str = "codex") -> None:
    with room.memory().state_transaction() as connection:
        usage.note_read(connection, ref(path), harness=harness, at_us=room.clock.at_us)


EPISODIC = "---\ntier: episodic\n---\n# Log\n\ntext\n"


def test_a_page_that_nobody_reads_goes_after_eighty_days_and_not_before(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 80)
    assert gone(sweep(room)) == {}
    pass_days(room, 1)
    seen = sweep(room, dry_run=True)
    assert [(one.path, one.deleted) for one in seen.evicted] == [("logs/one.md", False)]
    assert room.text("logs/one.md") is not None
    done = sweep(room)
    assert gone(done) == {"logs/one.md": "evicted"}
    assert len(done.commits) == 1
    assert room.text("logs/one.md") is None
    room.assert_in_step()
    again = sweep(room)
    assert (gone(again), again.commits) == ({}, ())


def test_what_was_read_lately_stays_and_reads_within_a_minute_count_once(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 70)
    for _ in range(5):
        read(room, "logs/one.md")
        room.clock.pass_s(5)
    pass_days(room, 11)
    [row] = retention(room.memory(), explain="logs/one.md", **HERE).pages
    assert (row.access_count, row.harnesses) == (1, 1)
    assert row.retention == pytest.approx(0.1979 + 0.6 * 0.6931 * 0.644, abs=0.002)
    assert gone(sweep(room)) == {}
    pass_days(room, 30)
    assert gone(sweep(room)) == {"logs/one.md": "evicted"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("logs/one.md", "---\ntier: episodic\npinned: true\n---\n# Log\n\ntext\n"),
        ("notes/known.md", "# Known\n\ntext\n"),
        ("procedures/how.md", "---\ntier: procedural\n---\n# How\n\ntext\n"),
        ("_rules/rule.md", "---\ntier: episodic\n---\n# Rule\n\ntext\n"),
        ("_slots/slot.md", "---\ntier: episodic\n---\n# Slot\n\ntext\n"),
        ("handoffs/open.md", "---\nkind: handoff\nid: h-1\nstate: open\n---\ntext\n"),
        ("facts/one.md", "---\nkind: fact\nid: f-1\nfact_kind: decision\nstanding: supported\nstatement: One\n---\n"),
    ],
)
def test_pins_knowledge_rules_facts_and_open_handoffs_never_fade(room: WikiRoom, path: str, text: str) -> None:
    room.put(path, text)
    pass_days(room, 4000)
    assert gone(sweep(room)) == {}
    [row] = retention(room.memory(), explain=path, **HERE).pages
    assert (row.fades, row.cold_in_days) == (False, None)


def test_a_handoff_that_was_taken_fades_and_its_time_only_closes_it(room: WikiRoom) -> None:
    head = "---\nkind: handoff\nid: h-1\nstate: accepted\nexpires_at: 2026-06-01T00:00:00Z\n---\ntext\n"
    room.put("handoffs/taken.md", head)
    pass_days(room, 70)
    assert gone(sweep(room)) == {}
    pass_days(room, 20)
    assert gone(sweep(room)) == {"handoffs/taken.md": "evicted"}


ODD = ("[accepted]", "{a: 1}", "null", "7", "true", '"accepted\\u0000"')


@pytest.mark.parametrize("odd", ODD)
def test_odd_values_in_frontmatter_stop_no_sweep(room: WikiRoom, odd: str) -> None:
    """Files come from git and editors: each key that a sweep looks at, with values that it does not expect."""
    keys = ("state", "session_id", "from_session", "compacted", "ttl", "summary", "standing", "superseded_by")
    head = "\n".join(f"{key}: {odd}" for key in keys)
    for kind, path in (("handoff", "handoffs/h.md"), ("session", "sessions/s.md"), ("fact", "facts/f.md")):
        room.by_hand(path, f"---\nkind: {kind}\n{head}\n---\n# Odd\n\n`word_one`\n")
    room.adopt()
    pass_days(room, 300)
    asked = {"compact_cold_episodic": True, "observation_retention_days": 1, "max_project_mb": 1}
    assert sweep(room, dry_run=True, **asked).candidates_evaluated == 6
    assert set(gone(sweep(room, **asked))) <= {"sessions/s.md"}
    assert len(retention(room.memory(), **HERE).spans) == 8
    room.assert_in_step()


def test_what_is_over_goes_at_once_pinned_or_not(room: WikiRoom) -> None:
    room.put("notes/over.md", "---\npinned: true\nexpires_at: 2026-06-01\n---\ntext\n")
    room.put("notes/later.md", "---\nexpires_at: 2027-06-01\n---\ntext\n")
    assert gone(sweep(room)) == {}
    pass_days(room, 30)
    assert gone(sweep(room)) == {"notes/over.md": "expired"}
    assert room.text("notes/later.md") is not None


def test_stale_and_helpful_words_move_the_weight(room: WikiRoom) -> None:
    for name in ("plain", "stale", "helped"):
        room.put(f"{name}.md", EPISODIC)
    say(room, "stale.md", Signal.STALE)
    say(room, "helped.md", Signal.HELPFUL)
    pass_days(room, 12)
    assert gone(sweep(room)) == {"stale.md": "evicted"}
    pass_days(room, 69)
    assert gone(sweep(room)) == {"plain.md": "evicted"}
    pass_days(room, 11)
    assert gone(sweep(room)) == {"helped.md": "evicted"}


def test_a_page_written_since_it_was_looked_at_stays(room: WikiRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    from ai_memory.operations import forget_sweep

    room.put("logs/one.md", EPISODIC)
    room.put("other.md", EPISODIC)
    pass_days(room, 90)
    planned = forget_sweep.plan

    def plan_and_write(*given: object, **named: object) -> object:
        found = planned(*given, **named)  # type: ignore[arg-type]
        room.put("logs/one.md", EPISODIC + "more\n")
        return found

    monkeypatch.setattr(forget_sweep, "plan", plan_and_write)
    done = sweep(room)
    assert {one.path: one.deleted for one in done.evicted} == {"logs/one.md": False, "other.md": True}
    assert (room.text("logs/one.md") or "").endswith("more\n")


# --- sessions ---


@pytest.mark.parametrize(("covered", "is_over", "goes"), [(2, True, True), (1, True, False), (2, False, False)])
def test_the_page_of_a_session_goes_only_once_it_tells_all(
    room: WikiRoom,
    covered: int,
    is_over: bool,
    goes: bool,
) -> None:
    room.put("sessions/s.md", SESSION_PAGE.format(session="s-1"))
    tell_session(room, covered=covered, is_over=is_over)
    pass_days(room, 90)
    assert gone(sweep(room)) == ({"sessions/s.md": "evicted"} if goes else {})


def test_a_working_page_goes_with_its_session_and_without_one_when_it_is_cold(room: WikiRoom) -> None:
    working = "---\ntier: working\n---\n# Now\n\ntext\n"
    for name in ("ours", "theirs", "nobodys"):
        room.put(f"{name}.md", working)
    tell_session(room, "s-1", path="ours.md")
    tell_session(room, "s-2", path="theirs.md", is_over=False)
    assert gone(sweep(room)) == {"ours.md": "working"}
    assert gone(sweep(room, half_life_days=Config().decay.half_life_days)) == {}
    pass_days(room, 90)
    assert gone(sweep(room)) == {"nobodys.md": "evicted", "theirs.md": "evicted"}


def test_what_a_session_saw_is_dropped_only_where_a_page_tells_of_it(room: WikiRoom) -> None:
    room.put("sessions/s.md", SESSION_PAGE.format(session="s-1"))
    tell_session(room, "s-1")
    tell_session(room, "s-untold", covered=1)
    tell_session(room, "s-open", is_over=False)
    tell_session(room, "s-lost", path="sessions/never-written.md")
    pass_days(room, 40)
    assert sweep(room).observations_pruned == 0
    seen = sweep(room, observation_retention_days=30, dry_run=True)
    assert (seen.observations_prunable, seen.observations_pruned, observations(room)) == (2, 0, 8)
    assert sweep(room, observation_retention_days=30, observation_prune_batch=1).observations_pruned == 2
    assert observations(room) == 6
    assert sweep(room, observation_retention_days=30).observations_pruned == 0


def test_what_a_session_saw_goes_before_its_page_is_erased(room: WikiRoom) -> None:
    room.put("sessions/s.md", SESSION_PAGE.format(session="s-1"))
    tell_session(room, "s-1")
    pass_days(room, 90)
    assert gone(sweep(room)) == {"sessions/s.md": "evicted"}
    pass_days(room, 200)
    done = sweep(room, observation_retention_days=365)
    assert (done.hard_deleted, done.observations_pruned) == (1, 0)
    pass_days(room, 200)
    assert sweep(room, observation_retention_days=365).observations_pruned == 0, "they are the last copy now"


# --- the way back, and its end ---


def test_undo_brings_a_whole_pass_back_and_archive_one_page(room: WikiRoom) -> None:
    texts = {f"logs/{number}.md": EPISODIC.replace("text", f"text {number}") for number in range(3)}
    for path, text in texts.items():
        room.put(path, text)
    pass_days(room, 90)
    done = sweep(room)
    assert set(gone(done)) == set(texts)
    [commit] = done.commits
    listed = archive_list(room.memory(), **HERE)
    assert [(row.path, row.reason) for row in listed.pages] == [(path, "evicted") for path in sorted(texts)]
    back = archive_restore(room.memory("cli"), path="logs/1.md", **HERE)
    assert (back.outcome, room.text("logs/1.md")) == ("restored", texts["logs/1.md"])
    assert [row.path for row in archive_list(room.memory(), **HERE).pages] == ["logs/0.md", "logs/2.md"]
    assert gone(sweep(room)) == {}, "what came back counts as new"
    undo(room.memory("cli"), commit=back.commit)
    assert room.text("logs/1.md") is None
    assert len(archive_list(room.memory(), **HERE).pages) == 3
    undo(room.memory("cli"), commit=commit)
    assert {path: room.text(path) for path in texts} == texts
    assert archive_list(room.memory(), **HERE).pages == ()
    room.assert_in_step()


@pytest.mark.parametrize("ttl", ["", "ttl: 3d\n"])
def test_a_page_whose_time_was_over_stays_once_it_is_brought_back(room: WikiRoom, ttl: str) -> None:
    room.put("notes/over.md", f"---\nexpires_at: 2026-06-01T00:00:00Z\n{ttl}---\ntext\n")
    pass_days(room, 30)
    [row] = retention(room.memory(), explain="notes/over.md", **HERE).pages
    assert (row.over_in_days, row.cold_in_days) == (0.0, None)
    sweep(room)
    back = archive_restore(room.memory("cli"), path="notes/over.md", **HERE)
    assert back.gaps[0].startswith("its time was over: it ")
    assert archive_list(room.memory(), **HERE).pages == (), "it is back, if not as it was"
    assert gone(sweep(room)) == {}
    pass_days(room, 2)
    [row] = retention(room.memory(), explain="notes/over.md", **HERE).pages
    assert row.over_in_days == (1.0 if ttl else None)
    pass_days(room, 2)
    assert gone(sweep(room)) == ({"notes/over.md": "expired"} if ttl else {})


@pytest.mark.parametrize("is_draining", [False, True])
def test_what_was_read_just_now_stays_though_no_drain_counted_it(room: WikiRoom, is_draining: bool) -> None:
    room.put("logs/one.md", EPISODIC)
    room.put("logs/two.md", EPISODIC)
    pass_days(room, 90)
    room.data_dir.usage.mkdir(parents=True)
    told = {"v": 1, "name": "read-page", "bytes": 9, "client": "codex", "read": [["default", "shop", "logs/one.md"]]}
    file = room.data_dir.usage / f"{room.clock.at_us * 1000:019d}-1-00000000.json"
    file.write_text(json.dumps(told))
    assert [one.path for one in sweep(room, dry_run=True).evicted] == ["logs/two.md"]
    with no_drain(room.data_dir.locks, timeout_s=1) if is_draining else nullcontext():
        assert gone(sweep(room)) == {"logs/two.md": "evicted"}
    assert file.exists() is is_draining


def test_a_page_that_was_written_anew_is_not_written_over(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 90)
    sweep(room)
    room.put("logs/one.md", "# Another\n")
    with pytest.raises(Conflict, match="was written anew since"):
        archive_restore(room.memory("cli"), path="logs/one.md", **HERE)
    with pytest.raises(NotFound, match="was not taken away"):
        archive_restore(room.memory("cli"), path="notes/a.md", **HERE)
    assert room.text("logs/one.md") == "# Another\n"


def test_what_went_half_a_year_ago_is_erased_from_git_and_all_else_stays(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC.replace("text", "earlier text"))
    room.put("logs/one.md", EPISODIC)
    room.put("again.md", EPISODIC.replace("text", "old text"))
    read(room, "logs/one.md")
    pass_days(room, 200)
    assert set(gone(sweep(room))) == {"logs/one.md", "again.md"}
    room.put("again.md", "# Again\n\nnew text\n")
    pass_days(room, 179)
    assert sweep(room).hard_deleted == 0
    pass_days(room, 2)
    assert sweep(room, erasing="monthly").hard_deleted == 0, "by itself it waits for a month's worth"
    assert sweep(room, dry_run=True).hard_deleted == 2
    done = sweep(room)
    assert done.hard_deleted == 2
    assert "text" not in room.git("log", "--all", "-p", "--format=", "--", "default/shop/logs/one.md")
    past = room.git("log", "--all", "-p", "--format=", "--", "default/shop/again.md")
    assert ("new text" in past, "old text" in past) == (True, False)
    assert room.text("again.md") == "# Again\n\nnew text\n"
    assert room.text("notes/a.md") is not None
    assert archive_list(room.memory(), **HERE).pages == ()
    with room.memory().state_reading() as connection:
        assert usage.accesses(connection) == {}
    room.assert_in_step()
    with room.memory().reading() as snapshot:
        assert snapshot.gaps == [], "the index need not be built anew"


def test_what_went_before_its_project_was_renamed_or_its_path_was_taken_is_erased_too(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC.replace("text", "earlier one"))
    room.put("logs/one.md", EPISODIC.replace("text", "later one"))
    room.put("logs/two.md", EPISODIC.replace("text", "swept two"))
    pass_days(room, 90)
    assert set(gone(sweep(room))) == {"logs/one.md", "logs/two.md"}
    move_page(room.memory("cli"), path="notes/a.md", new="logs/two.md", **HERE)
    rename_project(room.memory("cli"), name="shop", new="till", workspace="default", confirm=True)
    before = room.git("log", "--all", "-p", "--format=")
    assert all(text in before for text in ("earlier one", "later one", "swept two"))
    pass_days(room, 200)
    done = sweep(room)
    assert (done.hard_deleted, done.gaps) == (2, ())
    after = room.git("log", "--all", "-p", "--format=")
    assert not any(text in after for text in ("earlier one", "later one", "swept two"))
    assert room.text("logs/two.md", "till") == room.committed("logs/two.md", "till").decode()  # type: ignore[union-attr]
    assert "a/default/shop/notes/a.md" in after, "the page that took the path keeps its own history"
    room.assert_in_step()


def test_what_is_not_found_in_the_history_is_not_told_as_erased(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 90)
    sweep(room)
    with room.memory().state_transaction() as connection:
        connection.execute("UPDATE tombstones SET change_id = 'lost'")
    pass_days(room, 200)
    done = sweep(room)
    assert done.hard_deleted == 0
    assert "1 versions are in git's history still" in done.gaps[0]
    assert len(archive_list(room.memory(), **HERE).pages) == 1


def test_nothing_is_erased_of_a_history_that_others_have(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 90)
    sweep(room)
    room.git("remote", "add", "origin", "https://example.org/wiki.git")
    pass_days(room, 400)
    done = sweep(room)
    assert done.hard_deleted == 0
    assert "the wiki has a remote" in done.gaps[0]
    assert "text" in room.git("log", "-p", "--format=", "--", "default/shop/logs/one.md")
    asked = archive_purge(room.memory("cli"), **HERE)
    assert (asked.outcome, len(asked.pages)) == ("would_purge", 1)
    assert archive_purge(room.memory("cli"), confirm=True, **HERE).outcome == "purged"
    assert room.git("log", "-p", "--format=", "--", "default/shop/logs/one.md") == ""


def test_a_page_that_came_back_is_not_erased_when_its_time_comes(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 90)
    done = sweep(room)
    undo(room.memory("cli"), commit=done.commits[0])
    pass_days(room, 50)
    assert sweep(room, hard_delete_after_days=1).hard_deleted == 0
    assert room.text("logs/one.md") == EPISODIC
    room.assert_in_step()


# --- cutting down, merging, size ---


def test_a_cold_page_is_cut_down_to_what_is_searched_for_and_never_again(room: WikiRoom) -> None:
    prose = (
        "---\nkind: session\ntags: [net]\n---\n# Retries\n\nWe mended `retry_budget` after E1234.\n\nLong prose here.\n"
    )
    room.put("sessions/s.md", prose)
    pass_days(room, 90)
    done = sweep(room, compact_cold_episodic=True)
    assert gone(done) == {"sessions/s.md": "compacted"}
    left = room.text("sessions/s.md") or ""
    assert "compacted: true" in left
    assert "- `retry_budget`" in left
    assert "- `E1234`" in left
    assert "tags: [net]" in left
    assert "Long prose" not in left
    pass_days(room, 100)
    assert gone(sweep(room, compact_cold_episodic=True)) == {}
    assert archive_restore(room.memory("cli"), path="sessions/s.md", **HERE).outcome == "restored"
    assert room.text("sessions/s.md") == prose


def test_what_was_added_to_a_page_since_it_was_cut_down_is_not_written_over(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 90)
    sweep(room, compact_cold_episodic=True)
    append_to_page(room.memory("cli"), path="logs/one.md", body="A new lesson.", **HERE)
    with pytest.raises(Conflict, match="was written anew since"):
        archive_restore(room.memory("cli"), path="logs/one.md", **HERE)
    assert "A new lesson." in (room.text("logs/one.md") or "")


def test_a_page_that_was_cut_down_and_moved_comes_back_where_it_is(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    room.put("logs/two.md", EPISODIC)
    pass_days(room, 90)
    sweep(room, compact_cold_episodic=True)
    move_page(room.memory("cli"), path="logs/one.md", new="logs/moved.md", **HERE)
    assert archive_restore(room.memory("cli"), path="logs/moved.md", **HERE).outcome == "restored"
    assert room.text("logs/moved.md") == EPISODIC
    with pytest.raises(NotFound):
        archive_restore(room.memory("cli"), path="logs/one.md", **HERE)


def test_the_page_of_a_session_that_was_cut_down_is_no_edit_by_hand(room: WikiRoom) -> None:
    room.put("sessions/s.md", SESSION_PAGE.format(session="s-1"))
    tell_session(room, "s-1")
    with room.memory().reading() as snapshot:
        page = snapshot.page(ref("sessions/s.md"))
    assert page is not None
    with room.memory().state_transaction() as connection:
        connection.execute("UPDATE sessions SET page_version = ?", (page.version,))
    pass_days(room, 90)
    sweep(room, compact_cold_episodic=True)
    with room.memory().reading() as snapshot, room.memory().state_reading() as connection:
        after = snapshot.page(ref("sessions/s.md"))
        assert connection is not None
        assert after is not None
        assert connection.execute("SELECT page_version FROM sessions").fetchone()[0] == after.version != page.version


ENCODER = Encoder("test", "m", 4)


def embed(room: WikiRoom, vectors_of: dict[str, tuple[float, ...]], encoder: Encoder = ENCODER) -> None:
    """Give the first passage of each page that vector."""

    def put(connection: Connection) -> None:
        for path, numbers in vectors_of.items():
            sql = "SELECT c.id, c.page_id, c.title, c.heading, c.body FROM chunks AS c JOIN pages AS p"
            row = connection.execute(f"{sql} ON p.id = c.page_id WHERE p.path = ? LIMIT 1", (path,)).fetchone()
            text = ChunkText(row[0], row[1], embedded_text(*row[2:]))
            assert vectors.put(connection, encoder, [(text, packed(numbers))]) == 1

    room.memory().change_index(put)


def test_of_cold_pages_that_say_the_same_one_stands_for_all(room: WikiRoom) -> None:
    near = {"logs/a.md": (1.0, 0.0, 0.0, 0.01), "logs/b.md": (1.0, 0.01, 0.0, 0.0), "logs/c.md": (1.0, 0.0, 0.01, 0.0)}
    far = {"logs/d.md": (0.0, 1.0, 0.0, 0.0), "logs/e.md": (0.0, 0.0, 1.0, 0.2)}
    for path in (*near, *far):
        room.put(path, f"{EPISODIC}\n`only_in_{path[5]}`\n")
    assert sweep(room, dedup_cold_clusters=True).merged == ()
    pass_days(room, 85)
    told = sweep(room, dedup_cold_clusters=True, dry_run=True)
    assert (told.merged, len(told.evicted)) == ((), 5)
    assert "there are no vectors" in told.gaps[0]
    embed(room, near | far)
    done = sweep(room, dedup_cold_clusters=True)
    [merged] = done.merged
    assert (merged.survivor, merged.merged) == (
        "default/shop:logs/c.md",
        ("default/shop:logs/b.md", "default/shop:logs/a.md"),
    )
    assert merged.applied
    assert set(gone(done)) == set(far), "what is alone goes as ever"
    survivor = room.text("logs/c.md") or ""
    assert all(f"- `only_in_{letter}`" in survivor for letter in "abc")
    assert "merged_into: logs/c.md" in (room.text("logs/a.md") or "")
    assert [one.reason for one in archive_list(room.memory(), **HERE).pages].count("merged") == 2
    again = sweep(room, dedup_cold_clusters=True)
    assert (again.merged, gone(again)) == ((), {})
    undo(room.memory("cli"), commit=done.commits[0])
    assert (room.text("logs/a.md") or "").startswith(EPISODIC)


def test_a_group_with_a_page_that_cannot_be_written_stays_whole(room: WikiRoom) -> None:
    near = {"logs/a.md": (1.0, 0.0, 0.0, 0.01), "logs/b.md": (1.0, 0.01, 0.0, 0.0), "logs/c.md": (1.0, 0.0, 0.01, 0.0)}
    far = {"logs/d.md": (0.0, 1.0, 0.0, 0.0), "logs/e.md": (0.0, 0.0, 1.0, 0.2)}
    for path in ("logs/c.md", "logs/b.md", *far):
        room.put(path, EPISODIC)
    room.by_hand("logs/a.md", '---\ntier: episodic\ntitle: A\nnote: "\\a"\n---\n\x07 text\n')
    room.adopt()
    pass_days(room, 85)
    embed(room, near | far)
    done = sweep(room, dedup_cold_clusters=True, compact_cold_episodic=True)
    assert ([one.applied for one in done.merged], gone(done)) == ([False], dict.fromkeys(far, "compacted"))
    assert any("stays as it is" in gap for gap in done.gaps)
    assert room.text("logs/c.md") == EPISODIC
    room.assert_in_step()


def test_vectors_of_a_former_encoder_go_once_the_present_one_has_all(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = Choice("test", "m", "", "", 0, is_named=True, load=lambda _: pytest.fail("nothing is loaded"))
    monkeypatch.setattr(choose, "choose", lambda _: choice)
    former = Encoder("test", "old", 4)
    paths = [f"notes/{name}.md" for name in "abc"]
    embed(room, dict.fromkeys(paths, (1.0, 0.0, 0.0, 0.0)), former)
    embed(room, {paths[0]: (1.0, 0.0, 0.0, 0.0)})
    assert sweep(room).vectors_dropped == 0
    embed(room, dict.fromkeys(paths, (1.0, 0.0, 0.0, 0.0)))
    assert sweep(room).vectors_dropped == 3
    with room.memory().reading() as snapshot:
        assert [(one.encoder, one.vectors) for one in vectors.encoders(snapshot.index)] == [(ENCODER, 3)]


def test_what_was_cached_of_an_encoder_that_nobody_used_for_months_goes(room: WikiRoom) -> None:
    cache, former = Cache(room.data_dir), Encoder("test", "old", 1)
    embed(room, {"notes/a.md": (1.0, 0.0, 0.0, 0.0)})
    for encoder in (ENCODER, former):
        cache.put(encoder, [(b"h" * 16, b"0000" * encoder.dim)])
        cache.put_query(encoder, b"q" * 16, b"0000" * encoder.dim)
    room.clock.at_us = time.time_ns() // 1000 + 89 * DAY_US
    sweep(room)
    assert set(cache.encoders()) == {ENCODER, former}
    pass_days(room, 2)
    sweep(room)
    assert cache.encoders() == [ENCODER]
    assert cache.vectors(former, [b"h" * 16]) == {}
    assert cache.query(ENCODER, b"q" * 16) is not None


def test_who_reads_a_session_whose_observations_went_is_told(room: WikiRoom) -> None:
    room.put("sessions/s.md", SESSION_PAGE.format(session="s-1"))
    tell_session(room, "s-1")
    assert session(room.memory(), session="s-1").gaps == ()
    pass_days(room, 40)
    sweep(room, observation_retention_days=30)
    told = session(room.memory(), session="s-1")
    assert told.observations == ()
    assert told.gaps == ("what it saw, 2 observations, was dropped by forget-sweep: its page tells of it",)


def test_the_bound_on_size_takes_the_lightest_first_and_never_pins_or_rules(room: WikiRoom) -> None:
    large = "x" * 99 + "\n"
    body = large * 4_000
    room.put("notes/old.md", f"# Old\n\n{body}")
    pass_days(room, 10)
    room.put("notes/new.md", f"# New\n\n{body}")
    room.put("notes/pin.md", f"---\npinned: true\n---\n# Pin\n\n{body}")
    assert gone(sweep(room)) == {}
    went = gone(sweep(room, max_project_mb=1))
    assert went == dict.fromkeys(("notes/a.md", "notes/b.md", "notes/c.md", "notes/old.md"), "size"), "by age alone"
    assert gone(sweep(room, max_project_mb=1)) == {}
    room.put("_rules/r.md", f"# Rule\n\n{body}")
    done = sweep(room, max_project_mb=1)
    assert gone(done)["notes/new.md"] == "size"
    assert room.text("notes/pin.md") is not None
    assert room.text("_rules/r.md") is not None


def test_a_project_that_stood_empty_for_a_week_goes_and_one_that_is_used_stays(room: WikiRoom) -> None:
    for name in ("empty", "young", "used"):
        with room.memory().writing("Begin") as change:
            change.ensure_project_named("default", name)
        pass_days(room, 7 if name == "empty" else 0)
    room.put("logs/one.md", "text\n", project="used")
    assert sweep(room).projects_dropped == ("default/empty",)
    assert "default/empty/_meta.md" not in room.files_at_head()
    assert {"default/young/_meta.md", "default/used/_meta.md"} <= room.files_at_head()
    room.assert_in_step()


def test_only_the_named_project_is_swept(room: WikiRoom) -> None:
    room.put("logs/one.md", EPISODIC)
    room.put("logs/one.md", EPISODIC, project="other")
    pass_days(room, 90)
    memory = room.memory("cli")
    from ai_memory.operations.forget_sweep import forget_sweep

    done = forget_sweep(memory, workspace="default", project="other")
    assert [(one.project, one.path) for one in done.evicted] == [("other", "logs/one.md")]
    with pytest.raises(NotFound, match="no project default/nope"):
        forget_sweep(memory, workspace="default", project="nope")
    assert room.text("logs/one.md") is not None


def test_maintain_sweeps_unless_it_is_turned_off(room: WikiRoom) -> None:
    duty = BY_NAME["sweep"]
    assert duty.every_s(Config()) == DAY_S
    assert duty.every_s(Config(maintenance=Maintenance(enabled=False))) is None
    assert duty.every_s(Config(maintenance=Maintenance(forget_sweep_interval_secs=0))) is None
    room.put("logs/one.md", EPISODIC)
    pass_days(room, 90)
    assert duty.do(room.memory(), Config(), lambda _, __: None) == "1 evicted"
    assert duty.do(room.memory(), Config(), lambda _, __: None) == "nothing to forget"


def test_a_memory_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    room = WikiRoom(tmp_path)
    assert sweep(room).candidates_evaluated == 0
    assert not room.data_dir.root.exists()
    assert PageRef("default", "shop", "a.md") == ref("a.md")


def test_a_drain_that_had_work_sweeps_once_a_day(room: WikiRoom) -> None:
    room.clock.at_us = time.time_ns() // 1000 - 90 * DAY_US
    room.put("logs/one.md", EPISODIC)
    swept_first, linted = do_what_is_due(room.data_dir)
    assert (swept_first, linted.split()[0]) == ("sweep: 1 evicted", "lint:")
    assert do_what_is_due(room.data_dir) == ()
    assert room.text("logs/one.md") is None
    assert "sweep: 1 evicted" in next(room.data_dir.logs.iterdir()).read_text()


def test_a_drain_sweeps_nothing_where_that_is_turned_off(room: WikiRoom) -> None:
    room.clock.at_us = time.time_ns() // 1000 - 90 * DAY_US
    room.put("logs/one.md", EPISODIC)
    room.data_dir.config.write_text("[maintenance]\nenabled = false\n")
    assert do_what_is_due(room.data_dir) == ()
    assert room.text("logs/one.md") is not None
