"""Pages from the command line: write, read, list, change, move, delete."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room

from ai_memory.clock import now_us
from ai_memory.model import Caller
from ai_memory.paths import DataDir
from ai_memory.store.memory import Memory
from ai_memory.store.state import open_state
from ai_memory.store.state_sessions import Session, put_session
from ai_memory.text.times import SECOND_US, parse_time

BODY = "# Retry budget\n\nAt most 3 tries.\n"
HOUR_US = 3_600_000_000


def write(room: Room, path: str = "notes/retry-budget.md", body: str = BODY, *more: str) -> str:
    """Write a page; gives its version."""
    version: str = room.json("write-page", "-p", path, "-b", body, *more)["pages"][0]["version"]
    return version


def test_a_written_page_says_its_commit_and_reads_back(room: Room) -> None:
    told = room.ok("write-page", "-p", "notes/retry-budget.md", "-b", BODY)
    head = room.git("rev-parse", "HEAD").strip()
    assert told.startswith("created notes/retry-budget.md · version ")
    assert f"commit {head[:12]}" in told
    assert "At most 3 tries." in room.ok("read-page", "notes/retry-budget.md")
    assert room.file("notes/retry-budget.md").read_text() == BODY


def test_the_scope_stands_on_stderr_and_the_answer_alone_on_stdout(room: Room) -> None:
    result = room.run("write-page", "-p", "notes/a.md", "-b", BODY)
    assert result.stderr.startswith("scope default/shop (")
    assert len(result.stderr.splitlines()) == 1
    assert "scope" not in result.stdout


def test_the_same_write_again_makes_no_commit(room: Room) -> None:
    write(room)
    commits = room.git("rev-list", "--count", "HEAD")
    again = room.json("write-page", "-p", "notes/retry-budget.md", "-b", BODY)
    assert (again["outcome"], again["commit"]) == ("unchanged", None)
    assert room.git("rev-list", "--count", "HEAD") == commits


def test_a_page_without_a_path_is_a_note_named_by_its_title(room: Room) -> None:
    answer = room.json("write-page", "--title", "Größe of the Queue!", "-b", "100 entries")
    assert answer["pages"][0]["path"] == "notes/grosse-of-the-queue.md"
    assert answer["pages"][0]["title"] == "Größe of the Queue!"
    assert room.json("write-page", "-b", BODY)["pages"][0]["path"] == "notes/retry-budget.md"


def test_a_page_without_path_title_and_heading_is_refused(room: Room) -> None:
    result = room.run("write-page", "-b", "no heading")
    assert result.exit_code == 2
    assert "needs a path, a title, or a first heading" in result.stderr
    assert not room.data_dir.exists()


def test_a_title_that_is_taken_is_no_overwrite(room: Room) -> None:
    write(room)
    answer = room.json("write-page", "--title", "Retry budget", "-b", "other text", code=5)
    assert answer["error"]["code"] == "conflict"
    assert room.file("notes/retry-budget.md").read_text() == BODY


@pytest.mark.parametrize("word", ["notes/a", "notes/a.md", "shop:notes/a.md", "default/shop:notes/a"])
def test_every_spelling_of_a_path_means_the_same_page(room: Room, word: str) -> None:
    write(room, "notes/a.md")
    assert room.json("read-page", word)["pages"][0]["path"] == "notes/a.md"
    assert room.json("read-page", "-p", word)["pages"][0]["path"] == "notes/a.md"


def test_a_path_given_twice_is_refused(room: Room) -> None:
    result = room.run("read-page", "notes/a.md", "-p", "notes/a.md")
    assert (result.exit_code, "path is given twice" in result.stderr) == (2, True)


def test_a_body_comes_from_stdin_or_a_file(room: Room) -> None:
    room.ok("write-page", "-p", "notes/stdin.md", "-b", "-", stdin="# From stdin\n")
    (room.checkout / "queue.md").write_text("# From a file\n")
    room.ok("write-page", "-p", "notes/file.md", "--file", "queue.md")
    assert room.file("notes/stdin.md").read_text() == "# From stdin\n"
    assert room.file("notes/file.md").read_text() == "# From a file\n"


def test_a_body_that_is_no_text_is_refused(room: Room) -> None:
    assert room.run("write-page", "-p", "notes/a.md", "-b", "-", stdin=b"\xff\xfe").exit_code == 2
    missing = room.run("write-page", "-p", "notes/a.md", "--file", "nowhere.md")
    assert (missing.exit_code, "cannot read 'nowhere.md'" in missing.stderr) == (2, True)


def test_metadata_that_is_not_named_stays_with_a_new_body(room: Room) -> None:
    write(room, "notes/a.md", "---\n# why\ncolour: red   # kept\n---\n# A\n", "--tag", "http", "--pinned")
    write(room, "notes/a.md", "# A\n\nnew\n")
    text = room.file("notes/a.md").read_text()
    assert "# why\ncolour: red   # kept\n" in text
    assert text.endswith("---\n# A\n\nnew\n")
    page = room.json("read-page", "notes/a.md")["pages"][0]
    assert (page["tags"], page["pinned"]) == (["http"], True)


def test_an_expected_version_that_is_old_changes_nothing(room: Room) -> None:
    old = write(room)
    write(room, body="# Retry budget\n\nAt most 4 tries.\n")
    words = ("write-page", "-p", "notes/retry-budget.md", "-b", "mine", "--expected-version")
    assert room.json(*words, old, code=5)["error"]["code"] == "conflict"
    now = room.json("read-page", "notes/retry-budget.md")["pages"][0]["version"]
    assert room.json(*words, now[:7])["outcome"] == "changed"


def test_create_only_never_replaces(room: Room) -> None:
    write(room)
    assert room.run("write-page", "-p", "notes/retry-budget.md", "-b", "x", "--create-only").exit_code == 5


def test_a_session_that_taught_a_page_is_kept_as_evidence(room: Room) -> None:
    first, second = (f"{number}0000000-1111-4222-8333-444455556666" for number in (1, 2))
    capture(room, first, native="one")
    capture(room, second, native="two")
    for name in (first, first[:8]):
        write(room, "notes/a.md", BODY, "--session", name)
    assert evidence(room, "notes/a.md") == [first]
    write(room, "notes/a.md", BODY, "--session", "two")
    assert evidence(room, "notes/a.md") == [first, second]
    assert f"Session: {first}" in room.git("log", "-1", "--format=%B")
    room.ok("move", "notes/a.md", "notes/b.md")
    assert evidence(room, "notes/b.md") == [first, second]
    room.ok("delete-page", "notes/b.md")
    assert evidence(room, "notes/b.md") == []


def test_a_session_that_was_never_captured_is_refused_and_nothing_is_written(room: Room) -> None:
    words = ("write-page", "-p", "notes/a.md", "-b", "x", "--session", "s-1")
    assert room.json(*words, code=3)["error"]["code"] == "not_found"
    capture(room, "10000000-1111-4222-8333-444455556666", native="one")
    assert room.json(*words, code=3)["error"]["code"] == "not_found"
    assert not room.file("notes/a.md").exists()


def capture(room: Room, session: str, *, native: str) -> None:
    """A session that hooks told of."""
    memory = Memory.open(DataDir(room.data_dir), caller=Caller(cwd=None, environ={}, home="/"))
    row = Session(session, native, "codex", "default", "shop", "{}", str(room.checkout), 1, 2)
    with memory.state_transaction() as connection:
        put_session(connection, row)


def evidence(room: Room, path: str) -> list[str]:
    """Sessions that support the page."""
    connection = open_state(DataDir(room.data_dir), at_us=1)
    sql = "SELECT session FROM evidence WHERE project = 'shop' AND path = ? ORDER BY at_us, id"
    try:
        return [row[0] for row in connection.execute(sql, (path,))]
    finally:
        connection.close()


def test_a_page_made_by_hand_is_deleted_too(room: Room) -> None:
    write(room)
    room.file("notes/by-hand.md").write_text("# By hand\n")
    assert room.json("delete-page", "notes/by-hand.md")["outcome"] == "deleted"
    assert not room.file("notes/by-hand.md").exists()


def test_an_empty_frontmatter_block_replaces_the_one_that_was_there(room: Room) -> None:
    write(room, "notes/a.md", "# A\n", "--tag", "x")
    write(room, "notes/a.md", "---\n---\n# B\n")
    assert room.json("read-page", "notes/a.md")["pages"][0]["tags"] == []
    assert room.file("notes/a.md").read_text() == "---\n---\n# B\n"


def test_a_global_page_belongs_to_all_projects(room: Room) -> None:
    answer = room.json("write-page", "-p", "notes/style.md", "-b", BODY, "--scope", "global")
    assert (answer["scope"]["workspace"], answer["scope"]["project"]) == ("default", "_global")
    assert room.json("read-page", "_global:notes/style.md")["pages"][0]["body"] == BODY


def test_an_expiry_that_is_no_time_is_refused(room: Room) -> None:
    result = room.run("write-page", "-p", "notes/a.md", "-b", BODY, "--expires-at", "soon")
    assert (result.exit_code, "not a time" in result.stderr) == (1, True)
    assert not room.data_dir.exists()


def test_a_missing_page_names_what_lies_near(room: Room) -> None:
    write(room)
    result = room.run("read-page", "decisions/retry-budget.md")
    assert result.exit_code == 3
    assert "there is default/shop:notes/retry-budget.md" in result.stderr


def test_a_guessed_project_is_read_but_never_written(
    room: Room, scratch_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scratch_home)
    assert room.json("recent")["scope"]["resolved_by"] == "fallback"
    refused = room.json("write-page", "-p", "notes/a.md", "-b", BODY, code=6)
    assert (refused["error"]["code"], "--project" in refused["error"]["hint"]) == ("refused_scope", True)
    assert room.run("delete-page", "notes/a.md").exit_code == 6
    assert room.json("write-page", "-p", "notes/a.md", "-b", BODY, "--project", "shop")["outcome"] == "created"


def test_an_appended_paragraph_stands_below_in_the_line_ends_of_the_page(room: Room) -> None:
    write(room, "notes/a.md", "# A\r\n\r\none\r\n")
    room.ok("append", "notes/a.md", "-b", "two\nlines")
    assert room.file("notes/a.md").read_bytes() == b"# A\r\n\r\none\r\n\r\ntwo\r\nlines\r\n"
    assert room.run("append", "notes/none.md", "-b", "x").exit_code == 3


def test_set_changes_the_named_keys_and_no_other_byte(room: Room) -> None:
    text = "---\ntitle: Old  # a comment\nodd: [1,2]\ntags: [http, slow]\n---\nbody  \n\n\n"
    write(room, "notes/a.md", text)
    room.ok("set", "notes/a.md", "--tag", "+net", "--tag", "-slow", "--pin", "--kind", "gotcha")
    after = room.file("notes/a.md").read_text()
    page = room.json("read-page", "notes/a.md")["pages"][0]
    assert (page["tags"], page["pinned"], page["kind"], page["title"]) == (["http", "net"], True, "gotcha", "Old")
    assert "title: Old  # a comment\nodd: [1,2]\n" in after
    assert after.endswith("---\nbody  \n\n\n")
    room.ok("set", "notes/a.md", "--unpin", "--kind", "")
    page = room.json("read-page", "notes/a.md")["pages"][0]
    assert (page["pinned"], page["kind"]) == (False, "note")


def test_set_without_a_key_is_refused(room: Room) -> None:
    write(room, "notes/a.md")
    assert room.run("set", "notes/a.md").exit_code == 2


def test_links_follow_a_moved_page_in_one_commit(room: Room) -> None:
    write(room, "notes/target.md", "# Target\n\nsee [b](b.md)\n")
    write(room, "notes/b.md", "# B\n\n[[notes/target]] and [t](target.md#x)\n")
    before = int(room.git("rev-list", "--count", "HEAD"))
    answer = room.json("move", "notes/target.md", "decisions/target.md")
    assert int(room.git("rev-list", "--count", "HEAD")) == before + 1
    assert [row["path"] for row in answer["relinked"]] == ["notes/b.md"]
    assert room.file("decisions/target.md").read_text() == "# Target\n\nsee [b](../notes/b.md)\n"
    assert room.file("notes/b.md").read_text() == "# B\n\n[[decisions/target]] and [t](../decisions/target.md#x)\n"
    assert not room.file("notes/target.md").exists()
    assert room.git("status", "--porcelain") == ""


def test_a_page_is_not_moved_onto_another(room: Room) -> None:
    write(room, "notes/a.md", "# A\n")
    write(room, "notes/b.md", "# B\n")
    assert room.run("move", "notes/a.md", "notes/b.md").exit_code == 5
    assert room.file("notes/b.md").read_text() == "# B\n"
    assert room.run("move", "notes/none.md", "notes/c.md").exit_code == 3


def test_a_page_moves_to_another_project(room: Room) -> None:
    write(room, "notes/a.md", "# A\n")
    answer = room.json("move", "notes/a.md", "other:notes/a.md")
    assert answer["pages"][0]["project"] == "other"
    assert room.json("read-page", "other:notes/a.md")["pages"][0]["body"] == "# A\n"


def test_a_deleted_page_is_gone_and_a_second_delete_is_no_fault(room: Room) -> None:
    write(room)
    assert room.json("delete-page", "notes/retry-budget.md")["outcome"] == "deleted"
    assert room.run("read-page", "notes/retry-budget.md").exit_code == 3
    assert room.json("delete-page", "notes/retry-budget.md")["outcome"] == "absent"


def test_history_tells_every_version_also_of_a_deleted_page(room: Room) -> None:
    first = write(room)
    write(room, body="# Retry budget\n\nAt most 4 tries.\n")
    room.ok("delete-page", "notes/retry-budget.md")
    rows = room.json("history", "notes/retry-budget.md")["versions"]
    assert [row["change"] for row in rows] == ["deleted", "changed", "created"]
    assert rows[-1]["version"] == first
    assert room.run("history", "notes/none.md").exit_code == 3


def test_recent_walks_through_all_pages_by_its_cursor(room: Room) -> None:
    for number in range(7):
        write(room, f"notes/{number}.md", f"# Page {number}\n")
    seen: list[str] = []
    answer = room.json("recent", "-n", "3")
    while True:
        seen += [row["path"] for row in answer["pages"]]
        assert answer["omitted"] == 7 - len(seen)
        if answer["next"] is None:
            break
        answer = room.json("recent", "-n", "3", "--after", answer["next"])
    assert sorted(seen) == [f"notes/{number}.md" for number in range(7)]
    assert room.run("recent", "--after", "nonsense").exit_code == 2


def test_pages_are_listed_by_what_they_are(room: Room) -> None:
    write(room, "decisions/queue.md", "# Queue\n", "--tag", "net", "--pinned")
    write(room, "notes/a.md", "# Another\n", "--tier", "procedural")
    paths = {
        flags: [row["path"] for row in room.json("pages", *flags)["pages"]]
        for flags in (
            ("--kind", "decision"),
            ("--tag", "net"),
            ("--tier", "procedural"),
            ("--prefix", "notes/"),
            ("--pinned",),
            ("--no-pinned",),
            ("--sort", "title"),
            ("--until", "1d"),
            ("--since", "1d", "-n", "1", "--offset", "1"),
        )
    }
    assert list(paths.values()) == [
        ["decisions/queue.md"],
        ["decisions/queue.md"],
        ["notes/a.md"],
        ["notes/a.md"],
        ["decisions/queue.md"],
        ["notes/a.md"],
        ["notes/a.md", "decisions/queue.md"],
        [],
        ["notes/a.md"],
    ]


def test_a_page_written_by_hand_is_listed(room: Room) -> None:
    write(room)
    room.file("notes/by-hand.md").write_text("# By hand\n")
    assert "notes/by-hand.md" in room.ok("pages")
    assert room.git("status", "--porcelain") == ""


def test_a_piped_list_is_aligned_text_and_markdown_on_demand(room: Room) -> None:
    write(room, "notes/a.md", "# A\n")
    lines = room.ok("pages").splitlines()
    assert lines[0].split() == ["path", "title", "kind", "tier", "tags", "updated_at", "reads"]
    assert room.ok("pages", "--format", "md").startswith("- notes/a.md · A · note · ")
    assert room.json("pages") == room.json("pages", "--format", "json")
    assert room.run("pages", "--format", "xml").exit_code == 2


def test_control_characters_of_a_file_never_reach_the_terminal(room: Room) -> None:
    write(room)
    room.file("notes/bad.md").write_text("# Bad \x1b]0;title\x07\n\n\x1b[31mred\u202e\n")
    for words in (("pages",), ("read-page", "notes/bad.md"), ("read-page", "notes/bad.md", "--json")):
        told = room.ok(*words)
        assert not [c for c in told if c in "\x1b\x07\u202e"], words


def test_the_path_of_a_page_is_its_file(room: Room) -> None:
    write(room)
    assert Path(room.ok("path", "notes/retry-budget.md").strip()).read_text() == BODY
    assert room.ok("path").strip() == str(room.data_dir)
    assert room.run("path", "notes/none.md").exit_code == 3


def editor(room: Room, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let the editor be a shell script over "$1"."""
    file = room.checkout / "editor.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(file))


def test_an_edited_page_is_written_back(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    write(room)
    editor(room, monkeypatch, 'printf "more\\n" >> "$1"')
    room.ok("edit", "notes/retry-budget.md")
    assert room.file("notes/retry-budget.md").read_text() == BODY + "more\n"
    room.ok("edit", "notes/new-page.md")
    assert room.file("notes/new-page.md").read_text() == "# New page\n\nmore\n"


def test_an_untouched_page_is_not_written(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    write(room)
    editor(room, monkeypatch, "true")
    result = room.run("edit", "notes/retry-budget.md")
    assert (result.exit_code, "nothing changed" in result.stderr) == (0, True)


def test_an_edit_that_meets_another_change_keeps_your_text_in_a_file(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(room)
    other = "env -u VISUAL python -m ai_memory write-page -p notes/retry-budget.md -b theirs"
    editor(room, monkeypatch, f'printf "mine\\n" >> "$1"\n{other} >/dev/null 2>&1 || exit 9')
    monkeypatch.setenv("PATH", f"{Path(os.sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # type: ignore[attr-defined]
    result = room.run("edit", "notes/retry-budget.md")
    assert result.exit_code == 5
    kept = Path(result.stderr.rpartition("your text is kept in ")[2].strip())
    assert kept.read_text() == BODY + "mine\n"
    assert room.file("notes/retry-budget.md").read_text() == "theirs\n"
    subprocess.run(["rm", "-r", str(kept.parent)], check=True)


def test_an_editor_that_fails_writes_nothing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    write(room)
    editor(room, monkeypatch, 'echo lost > "$1"; exit 3')
    assert room.run("edit", "notes/retry-budget.md").exit_code == 1
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "set VISUAL or EDITOR" in room.run("edit", "notes/retry-budget.md").stderr
    assert room.file("notes/retry-budget.md").read_text() == BODY


def test_the_version_in_an_answer_is_never_that_of_another_writer(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    version = write(room)
    look = Memory.after_write
    other = "# Theirs\n"

    def after_another_write(memory: Memory, *what: Any, **how: Any) -> Any:
        monkeypatch.setattr(Memory, "after_write", look)
        assert room.process("write-page", "-p", "notes/retry-budget.md", "-b", other).returncode == 0
        return look(memory, *what, **how)

    monkeypatch.setattr(Memory, "after_write", after_another_write)
    answer = room.json("write-page", "-p", "notes/retry-budget.md", "-b", BODY + "mine\n")
    assert room.file("notes/retry-budget.md").read_text() == other
    ours = room.git("rev-parse", f"{answer['commit']}:default/shop/notes/retry-budget.md").strip()
    assert answer["pages"][0]["version"] == ours != version


def test_the_name_of_a_hit_reads_the_page(room: Room) -> None:
    write(room)
    write(room, "other:notes/b.md", "# Retry elsewhere\n\nno budget\n")
    hits = [line for line in room.ok("search", "retry", "budget", "--all").splitlines() if line.startswith("- ")]
    names = [line.removeprefix("- ").partition(" · ")[0] for line in hits]
    assert sorted(names) == ["notes/retry-budget.md", "other:notes/b.md"]
    for name in names:
        assert "Retry" in room.ok("read-page", name)
    head = room.ok("search", "retry", "--format", "table").splitlines()[0]
    assert head.split() == ["path", "title", "heading", "line", "score"]
    assert room.ok("search", "zebra") == "nothing relevant found\n"


def test_a_new_page_names_those_with_a_similar_title(room: Room) -> None:
    write(room)
    answer = room.json("write-page", "-p", "notes/retries.md", "-b", "# Budget for retry\n")
    assert [row["path"] for row in answer["similar"]] == ["notes/retry-budget.md"]


def test_similar_titles_are_told_in_letters_that_the_database_does_not_fold(room: Room) -> None:
    write(room, "notes/strasse.md", "# STRASSE nach Ürzig\n")
    answer = room.json("write-page", "-p", "notes/andere.md", "-b", "# Straße nach ürzig\n")
    assert [row["path"] for row in answer["similar"]] == ["notes/strasse.md"]


def test_the_best_match_of_a_query_is_read(room: Room) -> None:
    write(room)
    write(room, "notes/other.md", "# Something else\n\nnothing here\n")
    answer = room.json("read-page", "--query", "retry budget")
    assert (answer["pages"][0]["path"], answer["found_by"]) == ("notes/retry-budget.md", "query")
    assert room.run("read-page").exit_code == 2


@pytest.mark.parametrize(("words", "hours"), [(("--ttl", "30m"), 0.5), (("--ttl", "7d"), 168), (("--ttl", "4w"), 672)])
def test_a_page_that_is_written_for_a_while_expires_so_long_from_now(
    room: Room, words: tuple[str, ...], hours: float
) -> None:
    before = now_us()
    row = room.json("write-page", "-p", "notes/a.md", "-b", "x", *words)["pages"][0]
    assert before <= parse_time(row["expires_at"]) - hours * HOUR_US <= now_us() + SECOND_US
    text = room.file("notes/a.md").read_text()
    assert f"expires_at: {row['expires_at']}\n" in text
    assert f'ttl: "{words[1]}"\n' in text, "each read lets it live on"
    room.ok("set", "notes/a.md", "--expires-at", "2030-01-01")
    assert "ttl:" not in room.file("notes/a.md").read_text(), "a day that is named is not moved"


def test_append_and_set_give_a_page_a_new_while(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--expires-at", "2030-01-01")
    told = room.ok("append", "notes/a.md", "-b", "more", "--ttl", "6h")
    soon = room.json("pages")["pages"][0]["expires_at"]
    assert f" · expires {soon}" in told
    assert 0 < parse_time(soon) - now_us() <= 6 * HOUR_US + SECOND_US
    room.ok("set", "notes/a.md", "--ttl", "1y")
    assert parse_time(room.json("pages")["pages"][0]["expires_at"]) - now_us() > 364 * 24 * HOUR_US
    assert room.file("notes/a.md").read_text().endswith("# A\n\nmore\n")


def test_a_while_is_one_and_no_longer_than_a_year(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "x")
    for words in (("--ttl", "0s"), ("--ttl", "366d"), ("--ttl", "1d", "--expires-at", "2030-01-01")):
        assert room.run("set", "notes/a.md", *words).exit_code == 2
        assert room.run("write-page", "-p", "notes/b.md", "-b", "x", *words).exit_code == 2
    assert room.run("append", "notes/a.md", "-b", "x", "--ttl", "a week").exit_code == 1
    assert [row["expires_at"] for row in room.json("pages")["pages"]] == [None]


def test_a_promoted_page_goes_up_a_tier_and_never_expires(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--tier", "working", "--ttl", "6h", "--tag", "x")
    answer = room.json("promote", "notes/a.md")
    assert (answer["outcome"], answer["tier_before"], answer["expired_at"] is None) == ("promoted", "working", False)
    [row] = answer["pages"]
    assert (row["tier"], row["expires_at"], row["tags"]) == ("semantic", None, ["x"])
    assert "ttl" not in room.file("notes/a.md").read_text()
    assert room.git("log", "-1", "--format=%s").strip() == "promote notes/a.md"
    assert "semantic to procedural" in room.ok("promote", "notes/a.md", "--to", "procedural")


def test_a_page_that_lasts_already_is_left_as_it_is(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A", "--tier", "procedural")
    head = room.git("rev-parse", "HEAD")
    assert room.json("promote", "notes/a.md")["outcome"] == "unchanged"
    assert room.ok("promote", "notes/a.md", "--to", "episodic") == "unchanged notes/a.md · procedural, never expires\n"
    assert room.git("rev-parse", "HEAD") == head
    room.ok("set", "notes/a.md", "--ttl", "7d")
    assert "promoted notes/a.md · procedural · would have expired 2" in room.ok("promote", "notes/a.md")


def test_what_is_not_there_is_not_promoted(room: Room) -> None:
    room.ok("write-page", "-p", "notes/a.md", "-b", "# A")
    assert room.run("promote", "notes/b.md").exit_code == 3
    assert room.run("promote", "notes/a.md", "--to", "working").exit_code == 2
    assert room.run("promote", "notes/a.md", "--to", "procedural", "--expected-version", "0" * 12).exit_code == 5
