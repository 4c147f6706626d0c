"""What a search says of pages whose repository went on."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from cli_room import Room

HOUR = 3_600


def commit(room: Room, message: str, *, hours: float, **files: str | None) -> str:
    """A commit so many hours from now; `src__till` is `src/till.py`, and its file was written then."""
    root, now = room.checkout, int(time.time() + hours * HOUR)
    for name, content in files.items():
        path = root / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        if content is None:
            path.unlink()
            continue
        path.write_text(content)
        os.utime(path, (now, now))
    dated = {"GIT_AUTHOR_DATE": f"@{now} +0000", "GIT_COMMITTER_DATE": f"@{now} +0000"}
    environ = {**os.environ, **dated}
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-q", "-m", message), ("rev-parse", "HEAD")):
        done = subprocess.run(["git", "-C", str(root), *words], env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def worked(room: Room) -> Room:
    """A checkout of which a page speaks."""
    commit(room, "begin", hours=-2, src__till="def open_till():\n    pass\n", src__queue="WORKERS = 1\n", src__rest="")
    room.ok("write-page", "-p", "notes/till.md", "-b", "# Till\n\nThe cashier's drawer: `open_till` in `src/till.py`.")
    return room


def stale(room: Room, query: str, *words: str) -> dict[str, list[str]]:
    return {hit["path"]: hit["stale"] for hit in room.json("search", query, *words)["hits"]}


def test_nothing_is_said_where_nothing_changed(worked: Room) -> None:
    assert stale(worked, "cashier drawer") == {"notes/till.md": []}
    os.utime(worked.checkout / "src/till.py")  # as a new clone has it
    assert stale(worked, "cashier drawer") == {"notes/till.md": []}


def test_commits_since_and_names_that_are_gone(worked: Room) -> None:
    commit(worked, "rename", hours=1, src__till="def open_drawer():\n    pass\n")
    commit(worked, "more", hours=2, src__till="def open_drawer():\n    return 1\n")
    told = ["open_till: no longer in src/till.py", "src/till.py: changed in 2 commits since"]
    assert stale(worked, "cashier drawer") == {"notes/till.md": told}
    assert f"stale: {'; '.join(told)}" in worked.ok("search", "cashier drawer")
    assert worked.json("context", "cashier drawer")["items"][0]["stale"] == told
    assert f"stale: {'; '.join(told)}" in worked.ok("context", "cashier drawer")


def test_a_file_that_went_and_one_that_never_was(worked: Room) -> None:
    worked.ok("write-page", "-p", "notes/plan.md", "-b", "# Plan\n\nThe cashier's plan is in `src/never.py`.")
    commit(worked, "away", hours=1, src__till=None)
    assert stale(worked, "cashier") == {"notes/till.md": ["src/till.py: gone"], "notes/plan.md": []}


def test_a_stale_page_stands_behind_one_that_answers_as_well(worked: Room) -> None:
    for name, path in (("a", "src/queue.py"), ("b", "src/rest.py")):
        worked.ok("write-page", "-p", f"notes/{name}.md", "-b", f"# Worker count\n\nHow many workers: `{path}`.")
    assert next(iter(stale(worked, "how many workers"))) == "notes/a.md"
    commit(worked, "away", hours=1, src__queue=None)
    hits = worked.json("search", "how many workers", "--explain")["hits"]
    assert [hit["path"] for hit in hits] == ["notes/b.md", "notes/a.md"]
    assert hits[1]["factors"]["stale"] == 0.8
    assert hits[0]["score"] > hits[1]["score"]


def test_a_commit_that_was_taken_back(worked: Room) -> None:
    made = commit(worked, "two workers", hours=-1, src__queue="WORKERS = 2\n")
    worked.ok("write-page", "-p", "notes/queue.md", "-b", f"# Queue\n\nTwo workers since commit {made[:9]}.")
    by = commit(worked, f'Revert "two workers"\n\nThis reverts commit {made}.', hours=1, src__queue="WORKERS = 1\n")
    assert stale(worked, "two workers queue")["notes/queue.md"] == [f"commit {made[:9]}: reverted by {by[:10]}"]


def test_cited_lines_of_a_fact(worked: Room) -> None:
    line = "# the queue has one worker\n"
    commit(worked, "say so", hours=-1, src__queue=f"{line}WORKERS = 1\n")
    [fact] = worked.json("record", "The queue has one worker", "--cite", "src/queue.py#L1")["facts"]
    assert fact["standing"] == "supported"
    commit(worked, "moved", hours=1, src__queue=f"# above\n{line}WORKERS = 1\n")
    told = stale(worked, "queue one worker")[fact["path"]]
    assert told == ["src/queue.py: changed in 1 commit since"]  # the lines stand there still, further down
    commit(worked, "two", hours=2, src__queue="# the queue has two workers\nWORKERS = 2\n")
    told = stale(worked, "queue one worker")[fact["path"]]
    assert told == ["src/queue.py#L1: these lines changed", "src/queue.py: changed in 2 commits since"]


@pytest.mark.parametrize(
    "words", [("--as-of", "2020-01-01"), ("--known-at", "1s")], ids=["as of a day", "as known on a day"]
)
def test_the_past_is_not_compared_with_today(worked: Room, words: tuple[str, str]) -> None:
    commit(worked, "away", hours=1, src__till=None)
    time.sleep(1.1) if "--known-at" in words else None
    assert not any(stale(worked, "cashier drawer", *words).values())


def test_other_projects_sessions_and_a_switch(worked: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# Till\n\nThe cashier's drawer is `src/till.py`."
    worked.ok("write-page", "-p", "notes/till.md", "--project", "other", "-b", text)
    worked.ok("write-page", "-p", "sessions/one.md", "--kind", "session", "-b", text)
    commit(worked, "away", hours=1, src__till=None)
    assert not any(stale(worked, "cashier drawer", "--project", "other").values())
    told = stale(worked, "cashier drawer")
    assert (told["notes/till.md"], told["sessions/one.md"]) == (["src/till.py: gone"], [])
    monkeypatch.setenv("AI_MEMORY_RETRIEVAL__STALENESS", "false")
    assert not any(stale(worked, "cashier drawer").values())


def test_links_lead_nowhere_outside_of_the_checkout(worked: Room, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.py"
    secret.write_text("def open_till(): ...\n")
    commit(worked, "a link", hours=1, src__till=None)
    (worked.checkout / "src/till.py").symlink_to(secret)
    commit(worked, "there", hours=2)
    assert stale(worked, "cashier drawer") == {"notes/till.md": ["src/till.py: changed in 2 commits since"]}
