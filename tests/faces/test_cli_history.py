"""Going back: what a page was, who wrote it, which commits there are, and taking one of them back."""

import time
from contextlib import closing
from pathlib import Path

import pytest
from cli_room import SESSION, Room
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.paths import DataDir
from ai_memory.store.outbox import Outbox
from ai_memory.store.state import open_state
from ai_memory.text.blame import line_origins

PAGE = "notes/a.md"


def write(room: Room, body: str, path: str = PAGE) -> str:
    """Write the page; gives its version."""
    version: str = room.json("write-page", path, "-b", body)["pages"][0]["version"]
    return version


def body(room: Room, path: str = PAGE) -> str:
    return room.file(path).read_text()


def commits(room: Room) -> list[str]:
    return room.git("rev-list", "HEAD").split()


# --- diff ---


def test_a_diff_shows_the_last_change_and_counts_its_lines(room: Room) -> None:
    write(room, "# A\n\none\ntwo\n")
    write(room, "# A\n\none\nthree\nfour\n")
    answer = room.json("diff", PAGE)
    assert [line for line in answer["diff"].splitlines() if line[:1] in "+-"][2:] == ["-two", "+three", "+four"]
    assert (answer["added"], answer["removed"]) == (2, 1)
    assert "-two\n+three\n" in room.ok("diff", PAGE)


def test_a_diff_of_a_new_page_and_of_a_deleted_one_shows_all_of_it(room: Room) -> None:
    write(room, "# A\n")
    assert room.json("diff", PAGE)["before"] is None
    assert room.json("diff", PAGE)["added"] == 1
    room.ok("delete-page", PAGE)
    answer = room.json("diff", PAGE)
    assert (answer["added"], answer["removed"], answer["after"]["version"]) == (0, 1, None)


@pytest.mark.parametrize("by", ["version", "commit", "other commit", "time"])
def test_an_older_side_is_named_by_version_commit_or_time(room: Room, by: str) -> None:
    first = write(room, "# A\n\none\n")
    write(room, "# B\n", "notes/b.md")
    names = {"version": first[:9], "commit": commits(room)[1][:7], "other commit": commits(room)[0]}
    time.sleep(1.1 if by == "time" else 0)  # commits tell whole seconds
    write(room, "# A\n\ntwo\n")
    write(room, "# A\n\nthree\n")
    names["time"] = room.json("history", PAGE)["versions"][-1]["at"]
    answer = room.json("diff", PAGE, names[by])
    assert answer["before"]["version"] == first
    assert "-one\n+three\n" in answer["diff"]
    back = room.json("diff", PAGE, names[by], "--to", first)
    assert (back["diff"], back["added"], back["removed"]) == ("", 0, 0)
    assert "nothing differs" in room.ok("diff", PAGE, names[by], "--to", first)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((PAGE, "fffffff"), 3),
        ((PAGE, "soon"), 2),
        (("notes/none.md",), 3),
        ((PAGE, "2001-01-01"), 3),
        ((PAGE, "-1"), 2),
    ],
)
def test_what_names_no_version_is_refused(room: Room, words: tuple[str, ...], code: int) -> None:
    write(room, "# A\n")
    assert room.run("diff", *words).exit_code == code
    assert room.run("restore-page", *words[:1], *(("--from", *words[1:]) if words[1:] else ())).exit_code == code


def test_an_edit_by_hand_is_the_newer_side(room: Room) -> None:
    write(room, "# A\n\none\n")
    room.file(PAGE).write_text("# A\n\nby hand\n")
    assert "-one\n+by hand\n" in room.ok("diff", PAGE)


def test_bytes_that_are_no_text_are_compared_and_told(room: Room) -> None:
    write(room, "# A\n\none\n")
    room.file(PAGE).write_bytes(b"# A\n\n\xff\x1b[31mred\n")
    result = room.run("diff", PAGE)
    assert "not UTF-8" in result.stderr
    assert "\x1b" not in result.stdout
    assert "\\x1b[31mred" in result.stdout


# --- restore-page ---


def test_without_a_version_the_versions_are_listed_and_nothing_changes(room: Room) -> None:
    first, second = write(room, "# A\n\none\n"), write(room, "# A\n\ntwo\n")
    before = commits(room)
    answer = room.json("restore-page", PAGE)
    assert (answer["outcome"], [row["version"] for row in answer["versions"]]) == ("listed", [second, first])
    assert room.json("restore-page", PAGE, "-n", "1")["gaps"] == ["older versions not shown"]
    assert "--from VERSION on the command line, rev in a tool call" in room.ok("restore-page", PAGE)
    assert commits(room) == before


def test_a_version_comes_back_as_a_new_one_byte_for_byte(room: Room) -> None:
    room.ok("write-page", PAGE, "-b", "# A\n\none\n")
    room.file(PAGE).write_bytes(b"# A\r\n\r\nby hand \xe9\r\n")
    room.ok("commit", "-m", "latin")
    latin = room.json("history", PAGE)["versions"][0]["version"]
    room.ok("restore-page", PAGE, "--from", room.json("history", PAGE)["versions"][1]["version"])
    assert body(room) == "# A\n\none\n"
    assert room.json("restore-page", PAGE, "--from", latin[:7])["outcome"] == "restored"
    assert room.file(PAGE).read_bytes() == b"# A\r\n\r\nby hand \xe9\r\n"
    assert room.json("restore-page", PAGE, "--from", latin)["outcome"] == "unchanged"
    assert len(room.json("history", PAGE)["versions"]) == 4
    assert room.git("status", "--porcelain") == ""


def test_a_deleted_page_comes_back_and_is_found(room: Room) -> None:
    first = write(room, "# Heron\n\nwades\n")
    room.ok("delete-page", PAGE)
    deletion = commits(room)[0]
    refused = room.json("restore-page", PAGE, "--from", deletion, code=1)
    assert "was deleted in" in refused["error"]["message"]
    answer = room.json("restore-page", PAGE, "--from", first)
    assert (answer["outcome"], answer["pages"][0]["version"]) == ("restored", first)
    assert room.json("search", "heron")["hits"][0]["path"] == PAGE


def test_a_moved_page_gets_an_older_text_where_it_lies_now(room: Room) -> None:
    first = write(room, "# A\n\none\n")
    write(room, "# A\n\ntwo\n")
    room.ok("move", PAGE, "decisions/a.md")
    room.ok("restore-page", "decisions/a.md", "--from", first)
    assert body(room, "decisions/a.md") == "# A\n\none\n"
    assert not room.file(PAGE).exists()


def test_a_page_that_changed_since_is_not_restored_over(room: Room) -> None:
    first = write(room, "# A\n\none\n")
    write(room, "# A\n\ntwo\n")
    refused = room.json("restore-page", PAGE, "--from", first, "--expected-version", first, code=5)
    assert refused["error"]["code"] == "conflict"
    assert body(room) == "# A\n\ntwo\n"


def test_a_page_whose_name_was_taken_in_another_spelling_stays_gone(room: Room) -> None:
    first = write(room, "# A\n")
    room.ok("delete-page", PAGE)
    write(room, "# A\n", "notes/A.md")
    assert room.json("restore-page", PAGE, "--from", first, code=5)["error"]["code"] == "conflict"


# --- blame ---


def test_each_line_names_who_wrote_it_through_changes_and_moves(room: Room) -> None:
    (Path.home() / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    write(room, "# A\n\none\ntwo\n")
    room.work()
    with_session = {"CODEX_THREAD_ID": SESSION}
    done = room.process("append", PAGE, "-b", "three", env=with_session)
    assert done.returncode == 0, done.stderr
    room.ok("move", PAGE, "decisions/a.md")
    room.file("decisions/a.md").write_text(body(room, "decisions/a.md").replace("two", "by hand"))
    rows = room.json("blame", "decisions/a.md")["lines"]
    told = {row["text"]: (row["by"], row["what"], row["session"]) for row in rows}
    assert told["# A"] == told["one"] == ("Ada", "write", "")
    assert told["by hand"] == ("Ada", "adopt", "")
    assert told["three"][1] == "append"
    assert [row["line"] for row in rows] == list(range(1, len(rows) + 1))
    text = room.ok("blame", "decisions/a.md")
    assert len({line.index(" |") for line in text.splitlines()}) == 1


def test_lines_of_a_life_before_a_deletion_are_no_origin(room: Room) -> None:
    write(room, "# A\n\none\n")
    room.ok("delete-page", PAGE)
    assert room.run("blame", PAGE).exit_code == 3
    write(room, "# A\n\none\n")
    assert {row["commit"] for row in room.json("blame", PAGE)["lines"]} == {commits(room)[0]}
    write(room, "", "notes/empty.md")
    assert room.ok("blame", "notes/empty.md") == "an empty page\n"


@given(st.lists(st.text("abc", max_size=8), min_size=1, max_size=5))
def test_a_line_stood_in_each_version_since_its_origin(letters: list[str]) -> None:
    """Versions come newest first, as the function takes them."""
    versions = ["".join(f"{letter}\n" for letter in version) for version in letters]
    lines = versions[0].splitlines(keepends=True)
    origins = line_origins(versions)
    assert len(origins) == len(lines)
    for line, origin in zip(lines, origins, strict=True):
        assert all(line in text for text in versions[: origin + 1])


def test_a_line_that_stayed_is_as_old_as_its_first_version() -> None:
    assert line_origins(["a\nx\nc\nd\n", "a\nx\nc\n", "a\nb\nc\n"]) == [2, 1, 2, 0]
    assert line_origins(["a\n" * 3_000 + "b\n", "a\n" * 2_999])[:2] == [1, 1]
    assert line_origins([]) == []


# --- checkpoints and commit ---


def test_checkpoints_tell_each_commit_with_its_counts(room: Room) -> None:
    write(room, "# A\n")
    write(room, "# B\n", "notes/b.md")
    room.ok("move", PAGE, "decisions/a.md")
    room.ok("write-page", "other:notes/c.md", "-b", "# C")
    rows = room.json("checkpoints")["checkpoints"]
    told = [(row["what"], row["created"], row["changed"], row["deleted"]) for row in rows]
    assert told == [("move", 1, 0, 1), ("write", 1, 0, 0), ("write", 1, 0, 0)]
    assert [row["commit"] for row in rows] == commits(room)[1:-1]
    assert len(room.json("checkpoints", "--all")["checkpoints"]) == 4
    paged = [room.json("checkpoints", "-n", "1", "--offset", str(number))["checkpoints"][0] for number in range(3)]
    assert paged == rows
    assert room.json("checkpoints", "-n", "1")["gaps"] == ["older commits not shown"]


def test_checkpoints_of_a_page_follow_it_through_a_move(room: Room) -> None:
    write(room, "# A\n")
    write(room, "# B\n", "notes/b.md")
    room.ok("move", PAGE, "decisions/a.md")
    rows = room.json("checkpoints", "--page", "decisions/a.md")["checkpoints"]
    assert [row["what"] for row in rows] == ["move", "write"]
    assert room.json("checkpoints", "--page", "notes/none.md")["checkpoints"] == []


def test_edits_by_hand_are_committed_under_the_message_and_signed(room: Room) -> None:
    (Path.home() / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    write(room, "# A\n")
    room.file(PAGE).write_text("# By hand\n")
    room.file("notes/new.md").write_text("# New\n")
    answer = room.json("commit", "-m", "Sort\nthe notes ghp_" + "aB3" * 12)
    assert [row["path"] for row in answer["created"]] == ["notes/new.md"]
    assert [row["path"] for row in answer["changed"]] == [PAGE]
    shown = room.git("log", "-1", "--format=%an|%s")
    assert shown.startswith("Ada|Sort the notes [REDACTED")
    assert room.json("commit")["commit"] is None
    assert room.ok("commit") == "nothing to commit\n"


def test_a_missing_file_is_committed_as_deleted_only_at_the_second_look(room: Room) -> None:
    write(room, "# A\n")
    room.file(PAGE).unlink()
    answer = room.json("commit", "-m", "Gone")
    assert (answer["commit"], answer["waiting"]) == (None, 1)


def test_nothing_is_made_where_nothing_is(room: Room) -> None:
    assert room.json("checkpoints")["checkpoints"] == []
    assert room.json("commit", "-m", "x")["commit"] is None
    assert room.json("undo")["outcome"] == "unchanged"
    assert room.run("undo", "abcdef1").exit_code == 3
    assert room.run("diff", PAGE).exit_code == 3
    assert room.run("blame", PAGE).exit_code == 3
    assert not room.data_dir.exists()


# --- undo ---


def test_undo_goes_back_change_by_change(room: Room) -> None:
    write(room, "# A\n\none\n")
    write(room, "# A\n\ntwo\n")
    write(room, "# A\n\nthree\n")
    last = room.json("undo")
    assert (last["outcome"], body(room)) == ("undone", "# A\n\ntwo\n")
    room.ok("undo")
    assert body(room) == "# A\n\none\n"
    assert room.run("undo", last["commit"]).exit_code == 5  # the second undo changed its line again
    assert room.git("status", "--porcelain") == ""


def test_an_undone_change_comes_back_by_undoing_the_undo(room: Room) -> None:
    write(room, "# A\n\none\n")
    write(room, "# A\n\ntwo\n")
    undo = room.json("undo")["commit"]
    assert room.json("undo", undo)["outcome"] == "undone"
    assert body(room) == "# A\n\ntwo\n"
    room.ok("undo")
    assert body(room) == "# A\n\none\n"


def test_the_first_write_of_a_project_is_taken_back_with_its_project(room: Room) -> None:
    write(room, "# A\n")
    room.ok("undo")
    assert not room.file(PAGE).exists()
    assert room.json("list-projects")["projects"] == []
    assert room.json("undo")["outcome"] == "unchanged"


def test_a_project_that_holds_more_by_now_stays(room: Room) -> None:
    write(room, "# A\n")
    first = commits(room)[0]
    write(room, "# B\n", "notes/b.md")
    room.ok("undo", first[:8])
    assert [row["path"] for row in room.json("pages")["pages"]] == ["notes/b.md"]
    assert len(room.json("list-projects")["projects"]) == 1


def test_later_changes_of_other_lines_stay_and_of_the_same_lines_stop_it(room: Room) -> None:
    lines = [f"line {number}\n" for number in range(12)]
    write(room, "".join(lines))
    write(room, "".join(["first\n", *lines[1:]]))
    target = commits(room)[0]
    write(room, "".join(["first\n", *lines[1:-1], "last\n"]))
    room.ok("undo", target)
    assert body(room) == "".join([*lines[:-1], "last\n"])
    write(room, "".join(["second\n", *lines[1:]]))
    target = commits(room)[0]
    write(room, "".join(["third\n", *lines[1:]]))
    before = commits(room)
    refused = room.json("undo", target, code=5)
    assert "notes/a.md changed since" in refused["error"]["message"]
    assert commits(room) == before


def test_a_move_is_taken_back_with_its_links_and_its_evidence(room: Room) -> None:
    room.work()
    room.ok("write-page", PAGE, "-b", "# A", "--session", SESSION)
    write(room, "See [[notes/a]].\n", "notes/b.md")
    room.ok("move", PAGE, "decisions/a.md")
    room.ok("undo")
    assert body(room, "notes/b.md") == "See [[notes/a]].\n"
    assert room.file(PAGE).exists()
    with closing(open_state(DataDir(room.data_dir), at_us=0)) as state:
        assert state.execute("SELECT path FROM evidence").fetchall() == [(PAGE,)]


def test_a_pass_of_the_drain_is_taken_back_with_its_handoff(room: Room) -> None:
    room.work()
    room.tell("session-end")
    room.drain()
    outbox = Outbox(DataDir(room.data_dir))
    assert len(outbox.open_handoffs()) == 1
    answer = room.json("undo")
    assert answer["checkpoints"][0]["what"] == "session-end"
    assert outbox.open_handoffs() == []
    assert room.json("pages")["pages"] == []
    back = room.json("undo", answer["commit"])
    assert any("handoff reopen" in gap for gap in back["gaps"])
    room.drain()
    room.ok("handoff", "reopen", room.json("handoff", "list", "--state", "any")["handoffs"][0]["id"])
    assert len(outbox.open_handoffs()) == 1


def test_undo_keeps_to_this_project_unless_told_otherwise(room: Room) -> None:
    write(room, "# A\n")
    room.ok("write-page", "other:notes/c.md", "-b", "# C")
    shown = room.json("undo", "--dry-run")
    assert (shown["outcome"], shown["checkpoints"][0]["paths"]) == ("would_undo", ["default/shop:notes/a.md"])
    assert "would undo" in room.ok("undo", "--dry-run")
    assert room.json("undo", "--all")["checkpoints"][0]["paths"] == ["default/other:notes/c.md"]
    assert room.file(PAGE).exists()


def test_undo_refuses_a_project_that_was_only_guessed(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    write(room, "# A\n")
    monkeypatch.chdir(Path.home())
    assert room.run("undo").exit_code == 6


def test_what_is_no_page_is_left_and_named(room: Room) -> None:
    write(room, "# A\n")
    picture = room.file("notes/a.png")
    picture.write_bytes(b"png")
    room.file(PAGE).write_text("# With a picture\n")
    room.git("add", "-A")
    room.git("-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qm", "Picture")
    answer = room.json("undo")
    assert (answer["checkpoints"][0]["what"], body(room)) == ("commit", "# A\n")
    assert answer["gaps"] == ["default/shop/notes/a.png is no page: it stays as it is"]
    assert picture.exists()
