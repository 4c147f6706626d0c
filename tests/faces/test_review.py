"""What waits for a person, and going through it."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest
from cli_room import Room

from ai_memory.cli import review as command
from ai_memory.hook_harnesses import SESSION_VARIABLES
from ai_memory.text.admission import alike

pty = pytest.importorskip("pty")


def new(room: Room, statement: str, *words: str) -> dict[str, Any]:
    first: dict[str, Any] = room.json("record", statement, *words)["facts"][0]
    return first


def waiting(room: Room, *words: str) -> dict[str, list[str]]:
    """Statement or title → reasons, in their order."""
    rows = room.json("review", *words)["rows"]
    return {row["statement"]: [one["name"] for one in row["reasons"]] for row in rows}


def fact(room: Room, identifier: str) -> dict[str, Any]:
    """As it stands now."""
    (found,) = [row for row in room.json("facts", "--all")["facts"] if row["id"] == identifier]
    return dict(found)


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "_can_ask", lambda: True)


def go_through(room: Room, *answers: str) -> str:
    result = room.run("review", stdin="".join(f"{answer}\n" for answer in answers))
    assert result.exit_code == 0, result.output
    return result.output


# --- the queue ---


def test_what_misleads_now_comes_before_what_only_waits(room: Room) -> None:
    new(room, "Deploys run on Thursdays", "--subject", "deploys", "--predicate", "day", "--object", "Thursday")
    new(room, "Nobody deploys before Tuesday", "--subject", "deploys", "--predicate", "day", "--object", "Tuesday")
    new(room, "The till counts in cents", "--verify-by", "2020-01-01")
    new(room, "The printer needs paper of 80 mm")
    new(room, "Retries stop after three attempts")
    new(room, "Retries always stop after three attempts", "--insist")
    assert list(waiting(room).items())[:3] == [
        ("Nobody deploys before Tuesday", ["contradiction", "needs_review"]),
        ("Deploys run on Thursdays", ["contradiction", "needs_review"]),
        ("The till counts in cents", ["overdue", "needs_review"]),
    ]
    assert waiting(room, "--reason", "near_duplicate") == {
        "Retries always stop after three attempts": ["needs_review", "near_duplicate"]
    }
    assert waiting(room, "--reason", "stale") == {}
    assert len(waiting(room, "--limit", "2")) == 2
    assert list(waiting(room, "--offset", "2", "--limit", "1")) == ["The till counts in cents"]
    assert room.json("review", "--limit", "2")["omitted"] == 4


def test_pages_are_overdue_and_contradict_each_other_too(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "---\nverify_by: 2020-01-01\n---\n# The till counts in cents\n")
    room.ok("write-page", "-p", "notes/b.md", "-b", "# The till counts in euros\n")
    room.ok("write-page", "-p", "notes/c.md", "-b", "---\nverify_by: 2990-01-01\n---\n# Elsewhere\n")
    room.ok("link", "notes/b.md", "notes/a.md", "--as", "contradicts")
    rows = {row["path"]: row["reasons"] for row in room.json("review")["rows"]}
    assert [one["name"] for one in rows["notes/a.md"]] == ["contradiction", "overdue"]
    assert rows["notes/a.md"][0] == {
        "name": "contradiction",
        "detail": "contradicted by notes/b.md",
        "other": "notes/b.md",
    }
    assert rows["notes/b.md"][0]["detail"] == "says that it contradicts notes/a.md"
    assert "notes/c.md" not in rows
    room.ok("resolve", "notes/b.md", "--as", "superseded", "--because", "It was a slip")
    assert [one["name"] for one in room.json("review")["rows"][0]["reasons"]] == ["overdue"]


def test_what_changed_in_the_repository_is_put_to_a_person(room: Room) -> None:
    (room.checkout / "till.py").write_text("x = 1\n")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")

    def git(*words: str, at_s: int = 0) -> None:
        at = f"@{int(time.time()) + at_s} +0000"
        environ = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        subprocess.run(["git", "-C", str(room.checkout), *who, *words], check=True, env=environ, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "begin", at_s=-100)
    room.ok("write-page", "-p", "notes/till.md", "-b", "# Till\n\nSee `till.py`.")
    assert waiting(room) == {}
    git("rm", "-q", "till.py")
    git("commit", "-q", "-m", "away", at_s=100)
    assert waiting(room) == {}, "a bare name that is not there may be a file elsewhere"
    (room.checkout / "till.py").write_text("x = 2\n")
    os.utime(room.checkout / "till.py", (time.time() + 200, time.time() + 200))
    assert waiting(room) == {"Till": ["stale"]}


@pytest.mark.parametrize(
    ("statements", "pairs"),
    [
        (["Retries stop after three attempts", "Retries always stop after three attempts"], [(0, 1)]),
        (["Retries stop after 3 attempts", "Retries stop after 4 attempts"], []),
        (["Use `pnpm` for scripts in the shop", "Use `npm` for scripts in the shop"], []),
        (["Never deploy to the shop on Fridays", "Deploy to the shop on Fridays"], []),
        (["The EU cluster runs five worker nodes", "The US cluster runs five worker nodes"], []),
        (["The EU cluster runs five worker nodes", "The EU cluster runs five nodes"], [(0, 1)]),
        (["It's the till that counts cents", "The till, it counts all cents"], [(0, 1)]),
        (["The till counts cents", "The printer needs paper"], []),
    ],
)
def test_statements_that_are_alike(statements: list[str], pairs: list[tuple[int, int]]) -> None:
    assert [(first, second) for first, second, _ in alike(statements, most=9)] == pairs


def test_facts_that_hold_at_different_times_do_not_contradict_each_other(room: Room) -> None:
    day = ("--subject", "shop", "--predicate", "deploy day")
    new(room, "The shop deploys on Monday in spring", *day, "--object", "monday", "--valid-to", "2031-04-01")
    words = (*day, "--object", "tuesday", "--valid-from", "2031-04-01", "--insist")
    new(room, "The shop deploys on Monday in spring again", *words)
    assert list(waiting(room).values()) == [["needs_review"], ["needs_review"]]


def test_reading_the_queue_writes_nothing(room: Room) -> None:
    assert waiting(room) == {}
    assert "nothing waits for review" in room.ok("review")
    assert not room.data_dir.exists()


# --- going through it ---


@pytest.mark.usefixtures("person")
def test_each_answer_does_what_it_says(room: Room) -> None:
    kept = new(room, "The till counts in cents", "--verify-by", "2020-01-01")
    dropped = new(room, "The printer needs paper of 80 mm")
    replaced = new(room, "Retries stop after three attempts", "--kind", "constraint", "--entity", "retry")
    skipped = new(room, "Deploys run on Thursdays")
    told = go_through(room, "k", "", "supersede", "Retries stop after five attempts", "what?", "drop")
    assert told.endswith("3 settled, 1 left\n")
    assert "answer with one of: k, e, s, d, q" in told
    after = fact(room, kept["id"])
    assert (after["standing"], [one["cite"] for one in after["evidence"]]) == ("supported", ["terminal"])
    assert after["verify_by"] > "2026"
    assert fact(room, dropped["id"])["standing"] == "contradicted"
    assert fact(room, skipped["id"])["standing"] == "needs_review"
    old = fact(room, replaced["id"])
    heir = fact(room, old["superseded_by"])
    assert (old["standing"], heir["statement"], heir["standing"]) == (
        *("superseded", "Retries stop after five attempts", "supported"),
    )
    assert (heir["kind"], heir["entities"]) == ("constraint", ["retry"])
    assert waiting(room) == {"Deploys run on Thursdays": ["needs_review"]}


@pytest.mark.usefixtures("person")
def test_what_an_answer_settled_besides_is_not_put_any_more(room: Room) -> None:
    one = new(room, "Deploys run on Thursdays", "--subject", "deploys", "--predicate", "day", "--object", "Thursday")
    two = new(room, "Nobody deploys before Tuesday", "--subject", "deploys", "--predicate", "day", "--object", "Tue")
    room.json("resolve", one["id"], "--as", "needs_review", "--because", "It is still open")
    told = go_through(room, "d", "k")
    assert told.count("contradiction:") == 1
    assert (fact(room, two["id"])["standing"], fact(room, one["id"])["standing"]) == ("contradicted", "supported")
    assert waiting(room) == {}


@pytest.mark.usefixtures("person")
def test_a_page_is_kept_or_replaced_by_another_one(room: Room) -> None:
    for name in ("b", "a"):  # the newest first
        text = f"---\nverify_by: 2020-01-01\nodd: 1\n---\n# Page {name}\n"
        room.ok("write-page", "-p", f"notes/{name}.md", "-b", text)
    room.ok("write-page", "-p", "notes/c.md", "-b", "# Page c\n")
    told = go_through(room, "s", "notes/nowhere.md", "k")
    assert "not done: no page default/shop:notes/nowhere.md" in told
    assert list(waiting(room)) == ["Page a"]
    text = room.file("notes/b.md").read_text()
    assert "odd: 1" in text
    assert "verified_at: 20" in text
    go_through(room, "s", "notes/c.md")
    assert waiting(room) == {}
    assert "superseded_by: notes/c.md" in room.file("notes/a.md").read_text()


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("answer", ["k", "d", "s"])
@pytest.mark.parametrize("kind", ["fact", "page"])
def test_an_answer_is_about_what_was_shown(room: Room, monkeypatch: pytest.MonkeyPatch, answer: str, kind: str) -> None:
    path = new(room, "The till counts in cents")["path"] if kind == "fact" else "notes/till.md"
    if kind == "page":
        room.ok("write-page", "-p", path, "-b", "---\nverify_by: 2020-01-01\n---\n# The till counts in cents\n")
    changed = room.file(path).read_text().replace("in cents", "in euros")
    shown = command._tell

    def changed_meanwhile(*row: object) -> None:
        shown(*row)  # type: ignore[arg-type]
        room.file(path).write_text(changed)
        room.ok("commit", "-m", "By hand")

    monkeypatch.setattr(command, "_tell", changed_meanwhile)
    told = go_through(room, answer, "Another thing holds instead" if kind == "fact" else "notes/b.md")
    assert "was changed meanwhile" in told
    assert room.file(path).read_text() == changed


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(("answer", "after"), [("k", "supported"), ("d", "contradicted")])
def test_what_is_disputed_is_settled_by_the_person(room: Room, answer: str, after: str) -> None:
    quote = "never deploy on Fridays, use Thursdays"
    room.tell("user-prompt", text=f"Please mend the till and {quote}.")
    made = new(room, "Deploys never run on Fridays but on Thursdays", "--quote", quote)
    room.json("resolve", made["id"], "--as", "contradicted", "--because", "The runbook says otherwise")
    assert made["statement"] in waiting(room)
    assert "The runbook says otherwise" in go_through(room, answer, *(["k"] * 3))
    settled = fact(room, made["id"])
    assert (settled["standing"], settled["disputed"]) == (after, None)
    assert made["statement"] not in waiting(room)


@pytest.mark.usefixtures("person")
def test_the_end_of_input_and_quit_leave_the_rest(room: Room) -> None:
    new(room, "The till counts in cents")
    new(room, "The printer needs paper of 80 mm")
    assert go_through(room, "q").endswith("0 settled, 2 left\n")
    assert go_through(room, "k").endswith("\n1 settled, 1 left\n"), "the end of input begins a line"


@pytest.mark.usefixtures("person")
def test_the_editor_is_opened_for_edit(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    made = new(room, "The till counts in cents")
    monkeypatch.setenv("EDITOR", "sed -i 's/The till counts/Each till counts/'")
    monkeypatch.delenv("VISUAL", raising=False)
    go_through(room, "e")
    assert fact(room, made["id"])["statement"] == "Each till counts in cents"


def test_at_no_terminal_nothing_is_asked(room: Room) -> None:
    made = new(room, "The till counts in cents")
    result = room.run("review", stdin="k\n")
    assert "needs review: rests on nothing" in result.stdout
    assert fact(room, made["id"])["standing"] == "needs_review"


def at_a_terminal(room: Room, typed: bytes) -> int:
    """Exit code of a review by a process of its own, with what was typed waiting for it."""
    leader, follower = pty.openpty()
    try:
        os.write(leader, typed)
        command = [sys.executable, "-m", "ai_memory", "review"]
        done = subprocess.run(command, stdin=follower, stdout=follower, stderr=follower, cwd=room.checkout, timeout=60)
        return done.returncode
    finally:
        os.close(leader)
        os.close(follower)


def test_a_person_is_asked_and_an_agent_gets_the_list(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    made = new(room, "The till counts in cents")
    for name in SESSION_VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert at_a_terminal(room, b"k\n") == 0
    assert fact(room, made["id"])["standing"] == "needs_review"
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert at_a_terminal(room, b"k\n") == 0
    assert fact(room, made["id"])["standing"] == "supported"
