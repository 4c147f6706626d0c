"""What the drain leaves for starts in a directory: of its project, by its marker, renewed when something changed."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from terminals import NINE_US, SECOND_US, Agent, Room

from ai_memory.capture import starts
from ai_memory.capture.attribution import Attribution
from ai_memory.capture.starts import Starts
from ai_memory.model import PageRef
from ai_memory.scope.known import KnownProjects
from ai_memory.store.outbox import MADE, brief_name, recap_name, start_name
from ai_memory.text.sanitize import sanitize

MARKER = 'workspace = "default"\nproject = "{project}"\n[briefing]\ninject_on_session_start = true\n'


@pytest.fixture(autouse=True)
def no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole tree is looked at once a minute; these tests change files by hand in between."""
    monkeypatch.setattr("ai_memory.capture.draining.LOOK_EVERY_S", 10**9)


def opt_in(folder: str, project: str = "shop", more: str = "") -> None:
    (Path(folder) / ".ai-memory.toml").write_text(MARKER.format(project=project) + more)


def write(room: Room, path: str, text: str, project: str = "shop") -> None:
    with room.memory().writing("by a test") as change:
        change.ensure_project_named("default", project)
        change.put(PageRef("default", project, path), sanitize(text))


def delete(room: Room, path: str) -> None:
    with room.memory().writing("by a test") as change:
        change.delete(PageRef("default", "shop", path))


def read(room: Room, name: str) -> dict[str, Any]:
    text = room.outbox.read(name)
    return json.loads(text) if text else {}


def told(room: Room, project: str = "shop") -> dict[str, Any]:
    return read(room, brief_name("default", project))


def visit(room: Room, cwd: str, *, at_us: int = NINE_US) -> Agent:
    """A session that starts there and is applied."""
    agent = Agent(room, cwd, at_us=at_us)
    agent.start()
    room.drain()
    return agent


@contextmanager
def counting_writes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names that are put into the outbox meanwhile."""
    names: list[str] = []
    put = starts.Outbox.put

    def counted(self: object, name: str, text: str) -> None:
        names.append(name)
        put(self, name, text)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(starts.Outbox, "put", counted)
        yield names


def test_a_marker_opts_its_directories_in(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/money.md", "Use Decimal.")
    visit(room, cwd)
    entry = read(room, start_name(cwd))
    assert (entry["workspace"], entry["project"], entry["chars"], entry["base"]) == ("default", "shop", 4_000, cwd)
    assert entry["told"] == brief_name("default", "shop")
    assert "Use Decimal." in told(room)["briefs"]["1500"]
    assert told(room)["status"] == "1 rule"


def test_without_a_marker_no_page_text_lies_there(room: Room) -> None:
    cwd = room.checkout()
    write(room, "_rules/money.md", "Use Decimal.")
    visit(room, cwd)
    assert read(room, start_name(cwd))["chars"] == 0
    assert told(room)["briefs"] == {}
    assert "Decimal" not in (room.outbox.read(brief_name("default", "shop")) or "")


@pytest.mark.parametrize(
    ("marker", "chars"),
    [
        ("[briefing]\ninject_on_session_start = false\n", 0),
        ("[briefing]\nmax_chars = 3000\n", 0),
        ("[briefing]\ninject_on_session_start = 'yes'\nmax_chars = 3000\n", 3_000),
        ("[briefing]\ninject_on_session_start = true\nmax_chars = 99999\n", 8_000),
        ("[briefing]\ninject_on_session_start = true\n[capture]\nbad = 1\n", 0),
        ("not toml", 0),
    ],
)
def test_the_marker_says_whether_and_how_much(room: Room, marker: str, chars: int) -> None:
    cwd = room.checkout()
    (Path(cwd) / ".ai-memory.toml").write_text(marker)
    write(room, "_rules/money.md", "Use Decimal.")
    visit(room, cwd)
    assert read(room, start_name(cwd))["chars"] == chars


def test_a_marker_of_capture_alone_leaves_the_answer_to_the_one_above(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    below = Path(cwd) / "secret"
    below.mkdir()
    (below / ".ai-memory.toml").write_text('[capture]\nignore_paths = ["x"]\n')
    visit(room, str(below))
    entry = read(room, start_name(str(below)))
    assert (entry["base"], entry["chars"]) == (str(below), 4_000)
    assert [Path(row[0]).parent for row in entry["markers"]] == [below, Path(cwd)]


def test_two_projects_are_told_of_their_own_pages_only(room: Room) -> None:
    for project in ("shop", "bank"):
        opt_in(room.checkout(project), project)
        write(room, f"_rules/{project}.md", f"Rule of the {project}.", project)
        visit(room, room.checkout(project))
    assert "Rule of the shop." in str(told(room))
    assert "bank" not in str(told(room)["briefs"])
    assert "shop" not in str(told(room, "bank")["briefs"])


def test_a_worktree_and_the_common_git_directory_are_entered_too(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    git = ["git", "-C", cwd, "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    tree = room.root / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    visit(room, cwd)
    for folder in (str(tree), f"{cwd}/.git"):
        entry = read(room, start_name(folder))
        assert (entry["project"], entry["base"], entry["chars"]) == ("shop", cwd, 4_000)


def test_a_guessed_scope_is_told_nothing(room: Room) -> None:
    home = room.root / "home"
    opt_in(str(home))
    write(room, "_rules/a.md", "x", "scratch")
    visit(room, str(home))
    assert read(room, start_name(str(home)))["told"] == ""


# --- renewed when something changed, and only then ---


def test_nothing_is_rendered_twice(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/money.md", "Use Decimal.")
    visit(room, cwd)
    packed: list[int] = []
    monkeypatch.setattr(starts.brief, "pack", lambda _, size: packed.append(size) or "")
    with counting_writes(monkeypatch) as names:
        visit(room, cwd, at_us=NINE_US + 60 * SECOND_US)
        write(room, "notes/else.md", "x", "other")
        visit(room, cwd, at_us=NINE_US + 120 * SECOND_US)
    assert packed == []
    assert {name for name in names if name.startswith("starts/")} == {MADE}


def test_a_drain_without_news_writes_nothing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    visit(room, cwd)
    with counting_writes(monkeypatch) as names:
        room.drain()
    assert names == []


def test_a_page_that_is_written_moves_into_the_brief(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    visit(room, cwd)
    write(room, "_rules/money.md", "Use Decimal.")
    room.drain()
    assert "Use Decimal." in str(told(room)["briefs"])


def test_the_change_that_deletes_or_replaces_a_page_takes_the_brief_away(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/money.md", "Use Decimal.")
    write(room, "_rules/other.md", "Stay.")
    visit(room, cwd)
    write(room, "notes/new.md", "not shown before")
    assert told(room)
    delete(room, "_rules/money.md")
    assert not told(room)
    room.drain()
    assert "Decimal" not in str(told(room))
    assert "Stay." in str(told(room))
    write(room, "_rules/other.md", "Gone.")
    assert not told(room)


def test_a_page_that_is_deleted_or_edited_by_hand_is_not_told_as_it_was(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    for name in ("a", "b"):
        write(room, f"_rules/{name}.md", f"Rule {name}.")
    visit(room, cwd)
    folder = room.data_dir.wiki / "default" / "shop" / "_rules"
    (folder / "a.md").unlink()
    (folder / "b.md").write_text("Rule b, edited.")
    visit(room, cwd, at_us=NINE_US + 60 * SECOND_US)
    text = str(told(room)["briefs"])
    assert "Rule a." not in text
    assert "Rule b, edited." in text


def test_an_expired_page_is_not_told_and_the_next_expiry_is_noted(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/old.md", "---\nexpires_at: 2026-11-01\n---\nOld rule.")
    write(room, "_rules/new.md", "---\nexpires_at: 2026-12-24\n---\nNew rule.")
    visit(room, cwd)
    assert "Old rule." not in str(told(room))
    assert "New rule." in str(told(room))
    assert room.now_us < told(room)["until_us"] < room.now_us + 40 * 86_400 * SECOND_US


def test_the_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name / "home").mkdir(parents=True)
        room = Room(tmp_path / name)
        opt_in(room.checkout())
        for number in range(30):
            write(room, f"_rules/{number}.md", f"Rule {number}. " * 40)
        visit(room, room.checkout())
        found.append(told(room)["briefs"])
    assert found[0] == found[1]
    assert sorted(found[0], key=int) == ["1500", "2500", "4000"]
    assert all(len(text) <= int(size) for size, text in found[0].items())


def test_directories_that_are_gone_are_forgotten(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/a.md", "x")
    visit(room, cwd)
    Path(cwd).rename(room.root / "moved")
    write(room, "notes/a.md", "x", "other")
    room.drain()
    room.drain()
    write(room, "notes/b.md", "x", "other")
    room.drain()
    assert room.outbox.names_in("starts") == [MADE]


def test_a_renewal_killed_at_any_step_is_done_by_the_next(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/a.md", "Rule a.")
    agent = Agent(room, cwd)
    agent.start()
    agent.prompt("Mend it.")
    agent.tell("pre-compact")
    room.drain()
    names = (start_name(cwd), brief_name("default", "shop"), recap_name(agent.session), MADE)
    expected = [room.outbox.read(name) for name in names]
    assert all(expected)

    class Killed(BaseException):
        pass

    for at in ("starts-entered", "starts-told", "starts-made"):
        for name in names:
            room.outbox.remove(name)

        def step(name: str, at: str = at) -> None:
            if name == at:
                raise Killed

        memory = room.memory()
        with memory.reading() as snapshot:
            attribution = Attribution(memory.caller, KnownProjects(snapshot.projects()))
        with pytest.raises(Killed):
            Starts(memory, room.outbox, attribution, step=step).renew()
        Starts(memory, room.outbox, attribution).renew()
        assert [room.outbox.read(name) for name in names] == expected, at


def test_a_merge_in_the_wiki_does_not_keep_starts_from_being_renewed(room: Room) -> None:
    cwd = room.checkout()
    opt_in(cwd)
    write(room, "_rules/a.md", "Rule a.")
    (room.data_dir.git / "MERGE_HEAD").write_text("x")
    agent = Agent(room, cwd)
    agent.start()
    room.drain()
    assert "Rule a." in str(told(room))


# --- the session that has not ended, mail, recaps ---


def test_a_session_at_work_is_told_of_without_its_words(room: Room) -> None:
    cwd = room.checkout()
    agent = Agent(room, cwd, process=os.getpid())
    agent.start()
    agent.prompt("A SECRET PLAN.")
    room.drain()
    write(room, "notes/a.md", "x")
    visit(room, cwd, at_us=NINE_US + 60 * SECOND_US)
    found = told(room)["open"]
    assert (found["session"], found["at_us"]) == (agent.session, agent.at_us)
    assert found["text"].startswith(
        "A session of Claude Code in default/shop has not ended. Its last event is of 2026-"
    )
    assert agent.session[:8] in found["text"]
    assert "PLAN" not in str(told(room))


def test_a_session_that_ended_did_nothing_or_was_handed_over_is_no_news(room: Room) -> None:
    cwd = room.checkout()
    write(room, "notes/a.md", "x")
    Agent(room, cwd).work()
    room.drain()
    assert told(room)["open"] is None
    visit(room, cwd, at_us=NINE_US + 600 * SECOND_US)
    assert told(room)["open"] is None


def test_a_compaction_leaves_a_recap_that_goes_with_its_session(room: Room) -> None:
    cwd = room.checkout()
    agent = Agent(room, cwd)
    agent.start()
    agent.prompt("Mend the till.")
    agent.tell("pre-compact")
    room.drain()
    assert "1. Mend the till." in (room.outbox.read(recap_name(agent.session)) or "")
    with room.memory().writing("purge") as change:
        change.ensure_project_named("default", "x")
        change.state("session-purged", session=agent.session, at_us=1)
        change.state("session-dropped", session=agent.session)
    room.drain()
    assert room.outbox.read(recap_name(agent.session)) is None
