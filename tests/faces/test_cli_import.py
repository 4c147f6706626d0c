"""`export` and `import`: byte for byte there and back, and folders that other programs kept."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_room import Room
from hypothesis import given
from hypothesis import strategies as st

from ai_memory.text.foreign_bytes import as_bytes, as_text
from ai_memory.text.names import check_page_path, path_key
from ai_memory.text.vault import Vault, portable_paths


@pytest.fixture
def vault(room: Room) -> Path:
    """A small Obsidian vault."""
    folder = room.checkout / "vault"
    files = {
        "Index.md": "See [[Ada Lovelace|Ada]], [[people/Ada Lovelace#Life]] and [[engine]].\n",
        "People/Ada Lovelace.md": "# Ada\n\n[home](../Index.md) and [[Index]], `[[Index]]`.\n",
        "Ideas/Engine: what?.md": "---\naliases: [engine]\n---\nBy [[ada lovelace]].\n",
        "Ideas/engine.md": "First.\n",
        "Templates/T.md": "---\ndate: {{date}}\n---\n[[Index]]\n",
        ".obsidian/app.md": "hidden\n",
        "picture.png": "png",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def rows(answer: Any) -> dict[str, dict[str, Any]]:
    return {row["source"]: row for row in answer["pages"]}


# --- a folder of another program ---


def test_a_vault_comes_in_with_its_links_leading_to_the_same_pages(room: Room, vault: Path) -> None:
    answer = room.json("import", str(vault))
    assert (answer["outcome"], answer["counts"]) == ("imported", {"created": 5})
    assert answer["gaps"] == ["files that are no markdown were not taken: 1 .png"]
    index = room.file("Index.md").read_text()
    assert index == "See [[People/Ada Lovelace|Ada]], [[People/Ada Lovelace#Life]] and [[Ideas/engine]].\n"
    odd = rows(answer)["Ideas/Engine: what?.md"]
    assert odd["path"] == "Ideas/Engine- what-.md"
    assert odd["notes"] == ["its path was changed to one that every disk can hold"]
    assert "By [[People/Ada Lovelace]]." in room.file(odd["path"]).read_text()
    assert (
        room.file("People/Ada Lovelace.md").read_text() == "# Ada\n\n[home](../Index.md) and [[Index]], `[[Index]]`.\n"
    )
    template = rows(answer)["Templates/T.md"]
    assert "kept as plain text" in template["notes"][0]
    assert room.file("Templates/T.md").read_bytes() == (vault / "Templates" / "T.md").read_bytes()
    assert room.json("status")["counts"]["unresolved_links"] == 0
    assert room.git("status", "--porcelain") == ""


def test_a_dry_run_says_the_same_and_writes_nothing(room: Room, vault: Path) -> None:
    told = room.json("import", str(vault), "--dry-run")
    assert (told["outcome"], told["commits"]) == ("would_import", [])
    assert not room.data_dir.exists()
    assert room.json("import", str(vault))["pages"] == told["pages"]


def test_a_second_import_changes_nothing(room: Room, vault: Path) -> None:
    room.ok("import", str(vault))
    head = room.git("rev-parse", "HEAD")
    assert room.json("import", str(vault))["counts"] == {"unchanged": 5}
    assert room.git("rev-parse", "HEAD") == head


def test_one_import_is_one_commit_that_can_be_undone(room: Room, vault: Path) -> None:
    room.ok("write-page", "notes/mine.md", "-b", "# Mine")
    [commit] = room.json("import", str(vault))["commits"]
    assert room.json("checkpoints")["checkpoints"][0]["commit"] == commit
    room.ok("undo")
    assert [row["path"] for row in room.json("pages")["pages"]] == ["notes/mine.md"]


def test_below_a_folder_links_lead_there_too(room: Room, vault: Path) -> None:
    room.ok("import", str(vault), "--into", "handbook")
    assert "[[handbook/Ideas/engine]]" in room.file("handbook/Index.md").read_text()
    assert "[home](../Index.md) and [[handbook/Index]]" in room.file("handbook/People/Ada Lovelace.md").read_text()
    assert room.json("status")["counts"]["unresolved_links"] == 0


@pytest.mark.parametrize(
    ("conflict", "code", "texts"),
    [
        ("block", 5, {"Index.md": "mine\n"}),
        ("skip", 0, {"Index.md": "mine\n"}),
        ("overwrite", 0, {"Index.md": "theirs\n"}),
        ("duplicate", 0, {"Index.md": "mine\n", "Index-imported.md": "theirs\n"}),
    ],
)
def test_what_is_done_about_a_page_that_is_there(room: Room, conflict: str, code: int, texts: dict[str, str]) -> None:
    room.ok("write-page", "Index.md", "-b", "mine\n")
    folder = room.checkout / "docs"
    folder.mkdir()
    (folder / "Index.md").write_text("theirs\n")
    (folder / "other.md").write_text("other\n")
    for _ in range(2):
        answer = room.json("import", "docs", "--conflict", conflict, code=code)
        found = {row["path"]: room.file(row["path"]).read_text() for row in room.json("pages")["pages"]}
        assert found == texts | ({} if code else {"other.md": "other\n"})
    assert answer["outcome"] == ("blocked" if code else "imported")
    if code:
        told = room.run("import", "docs").stdout
        assert "another page lies at Index.md" in told
        assert "--conflict skip, overwrite or duplicate" in told


def test_a_page_that_is_written_in_the_middle_is_not_lost(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from ai_memory.operations import importing

    folder = room.checkout / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("theirs\n")
    batches = importing._batches

    def meddling(plans: Any) -> Any:
        room.ok("write-page", "a.md", "-b", "mine\n")
        return batches(plans)

    monkeypatch.setattr(importing, "_batches", meddling)
    assert room.run("import", "docs", "--conflict", "overwrite").exit_code == 5
    assert room.file("a.md").read_text() == "mine\n"


def test_odd_files_are_named_and_harm_nothing(room: Room, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    (folder / "sub").mkdir(parents=True)
    (folder / "latin.md").write_bytes(b"caf\xe9 ghp_" + b"aB3" * 12 + b"\n")
    (folder / "wide.md").write_bytes("# Wide\n".encode("utf-16"))
    (folder / "nul.md").write_bytes(b"a\0b")
    (folder / "bom.md").write_bytes(b"\xef\xbb\xbf# Bom\r\n")
    (folder / "control.md").write_bytes(b"a\x1b[31mred\n")
    (folder / "con.md").write_text("device\n")
    (folder / "a.MD").write_text("upper\n")
    (folder / "A.md").write_text("twin\n")
    (folder / "nfd-e\u0301.md").write_text("nfd\n")
    (folder / "_meta.md").write_text("reserved\n")
    (folder / "large.md").write_bytes(b"x" * 1_200_000)
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "sub" / "up").symlink_to("/etc")
    os.mkfifo(folder / "pipe.md")
    answer = room.json("import", str(folder))
    left = {line.partition(":")[0] for line in answer["left"]}
    assert left == {"nul.md", "large.md", "link.md", "sub/up", "pipe.md"}
    found = rows(answer)
    assert room.file("latin.md").read_bytes().startswith(b"caf\xe9 [REDACTED")
    assert "it is not UTF-8" in found["latin.md"]["notes"][1]
    assert room.file("wide.md").read_text() == "# Wide\n"
    assert room.file("bom.md").read_bytes() == b"\xef\xbb\xbf# Bom\r\n"
    assert room.file("control.md").read_bytes() == b"ared\n"
    assert {found[name]["path"] for name in ("A.md", "a.MD")} == {"A.md", "a-2.md"}
    assert found["con.md"]["path"] == "con-page.md"
    assert found["_meta.md"]["path"] == "meta.md"
    assert found["nfd-e\u0301.md"]["path"] == "nfd-\u00e9.md"
    assert len(room.json("pages")["pages"]) == 10 - 1


def test_a_file_and_a_folder_that_cannot_be_read_are_named(room: Room, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    folder = tmp_path / "closed"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.md").write_text("a\n")
    (folder / "a.md").chmod(0)
    (folder / "sub").chmod(0)
    answer = room.json("import", str(folder))
    (folder / "sub").chmod(0o700)
    assert answer["left"] == ["a.md: Permission denied", "sub: Permission denied"]


def test_many_pages_come_in_a_few_commits(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from ai_memory.operations import importing

    monkeypatch.setattr(importing, "BATCH_PAGES", 10)
    folder = room.checkout / "docs"
    folder.mkdir()
    for number in range(25):
        (folder / f"{number:02d}.md").write_text(f"# {number}\n\nsee [[{(number + 1) % 25:02d}]]\n")
    answer = room.json("import", "docs")
    assert len(answer["commits"]) == 3
    assert answer["counts"] == {"created": 25}
    assert "25 created" in room.ok("import", "docs", "--into", "again")


# --- export and back ---


def furnish(room: Room) -> None:
    room.ok("write-page", "notes/a.md", "-b", "# A\n\nsee [[other:notes/b]]\n", "--tag", "x")
    room.ok("write-page", "other:notes/b.md", "-b", "# B\n")
    room.ok("init")
    room.file("notes/latin.md").write_bytes(b"caf\xe9\r\n")
    room.file("notes/broken.md").write_bytes(b"\xef\xbb\xbf---\nx: {{y}}\n---\nno end")
    room.ok("commit")


def files(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}
    return {name: content for name, content in found.items() if ".git" not in name}


def test_all_pages_there_and_back_are_equal_byte_for_byte(room: Room, tmp_path: Path) -> None:
    furnish(room)
    answer = room.json("export", str(tmp_path / "out"), "--all")
    assert (answer["pages"], answer["projects"]) == (4, 2)
    assert files(tmp_path / "out") == files(room.data_dir / "wiki")
    other = ("--data-dir", str(tmp_path / "elsewhere"))
    back = room.json("import", str(tmp_path / "out"), *other)
    assert (back["outcome"], back["left"], back["gaps"]) == ("imported", [], [])
    assert files(tmp_path / "elsewhere" / "wiki") == files(room.data_dir / "wiki")
    assert room.json("import", str(tmp_path / "out"), *other)["counts"] == {"unchanged": 4}
    assert room.json("import", str(tmp_path / "out"))["counts"] == {"unchanged": 4}
    assert len(room.json("list-projects", *other)["projects"]) == 2


def test_an_export_is_of_this_project_unless_all_are_asked_for(room: Room, tmp_path: Path) -> None:
    furnish(room)
    assert room.json("export", str(tmp_path / "out"))["pages"] == 3
    assert not (tmp_path / "out" / "default" / "other").exists()
    assert room.run("export", str(tmp_path / "none"), "--project", "none").exit_code == 3
    assert not (tmp_path / "none").exists()


def test_what_changed_or_went_since_the_export_is_told(room: Room, tmp_path: Path) -> None:
    furnish(room)
    room.ok("export", str(tmp_path / "out"), "--all")
    exported = tmp_path / "out" / "default" / "shop" / "notes"
    (exported / "a.md").write_text("# Changed\n")
    (exported / "latin.md").unlink()
    (exported / "..x.md").write_text("hidden\n")
    (tmp_path / "out" / "default" / "UPPER").mkdir()
    (tmp_path / "out" / "default" / "UPPER" / "x.md").write_text("x\n")
    blocked = room.json("import", str(tmp_path / "out"), code=5)
    assert rows(blocked)["default/shop/notes/a.md"]["notes"] == ["changed since it was exported"]
    answer = room.json("import", str(tmp_path / "out"), "--conflict", "overwrite")
    assert any("latin.md: it was exported and is gone" in line for line in answer["left"])
    assert any("UPPER" in line for line in answer["left"])
    assert room.file("notes/a.md").read_text() == "# Changed\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("export", "full"), 2),
        (("export", "file"), 2),
        (("import", "file"), 2),
        (("import", "none"), 2),
        (("import", "full", "--into", "../up"), 1),
        (("import", "full", "--conflict", "ask"), 2),
    ],
)
def test_words_that_do_not_fit_are_refused(room: Room, words: tuple[str, ...], code: int) -> None:
    furnish(room)
    (room.checkout / "full").mkdir()
    (room.checkout / "full" / "x.md").write_text("x")
    (room.checkout / "file").write_text("x")
    head = room.git("rev-parse", "HEAD")
    assert room.run(*words).exit_code == code
    assert room.git("rev-parse", "HEAD") == head


def test_the_data_dir_is_no_place_for_an_export_nor_a_source(room: Room) -> None:
    furnish(room)
    assert room.run("export", str(room.data_dir / "wiki" / "out")).exit_code == 2
    assert room.run("import", str(room.data_dir / "wiki")).exit_code == 2


def test_what_export_wrote_goes_where_it_was(room: Room, tmp_path: Path) -> None:
    furnish(room)
    room.ok("export", str(tmp_path / "out"))
    assert room.run("import", str(tmp_path / "out"), "--project", "x").exit_code == 2
    shutil.rmtree(tmp_path / "out" / "default")
    (tmp_path / "out" / "export.json").write_text('{"format": "another"}')
    assert room.json("import", str(tmp_path / "out"))["counts"] == {}


# --- the Open Knowledge Format ---


def test_pages_say_their_type_their_maker_and_their_sessions(room: Room, tmp_path: Path) -> None:
    (Path.home() / ".gitconfig").write_text("[user]\nname = Ada\nemail = ada@example.org\n")
    room.ok(
        "write-page", "decisions/queue.md", "-b", "One a tenant.\n", "--expires-at", "2099-01-01", "--title", "Queue"
    )
    room.file("notes/own.md").parent.mkdir()
    room.file("notes/own.md").write_text("---\ntype: Essay\nsession_id: s-1\nmine: [1, 2]  # kept\n---\n# Own [x]\n")
    answer = room.json("export-okf", str(tmp_path / "okf"))
    assert (answer["pages"], answer["invalid"]) == (2, [])
    queue = (tmp_path / "okf" / "decisions" / "queue.md").read_text()
    updated = room.json("pages")["pages"][0]["updated_at"]
    for line in ("type: Decision", "by: human:Ada", f"at: {updated}", "stale_after: 2099-01-01T23:59:59.999999Z"):
        assert line in queue.replace('"', ""), queue
    own = (tmp_path / "okf" / "notes" / "own.md").read_text()
    assert own.startswith("---\ntype: Essay\n")
    assert "mine: [1, 2]  # kept" in own
    assert "ai-memory://session/s-1" in own
    index = (tmp_path / "okf" / "index.md").read_text()
    assert "- [Queue](<decisions/queue.md>)" in index
    assert "- [Own (x)](<notes/own.md>)" in index
    assert room.json("import", str(tmp_path / "okf"), "--into", "okf")["counts"] == {"created": 3}


def test_a_page_that_cannot_be_read_stops_the_export_or_is_left_out(room: Room, tmp_path: Path) -> None:
    furnish(room)
    refused = room.json("export-okf", str(tmp_path / "okf"), code=1)
    assert "default/shop:notes/" in refused["error"]["message"]
    assert "--skip-invalid" in refused["error"]["hint"]
    assert not (tmp_path / "okf").exists()
    answer = room.json("export-okf", str(tmp_path / "okf"), "--skip-invalid", "--all")
    assert sorted(line.partition(": ")[0] for line in answer["invalid"]) == [
        "default/shop:notes/broken.md",
        "default/shop:notes/latin.md",
    ]
    assert (tmp_path / "okf" / "default" / "other" / "notes" / "b.md").exists()


# --- names and bytes ---


@given(st.lists(st.text(min_size=1, max_size=30), unique=True, max_size=6))
def test_every_name_gets_a_path_of_its_own_that_pages_may_have(names: list[str]) -> None:
    paths = [f"{name}.md" for name in names]
    found = portable_paths(paths)
    assert set(found) == set(paths)
    assert len({path_key(path) for path in found.values()}) == len(paths)
    for path in found.values():
        assert check_page_path(path) == path


@pytest.mark.parametrize("path", ["notes/a.md", "Ideas/Ada Lovelace.md", "x/y/z-1.md", "日本/ノート.md"])
def test_a_path_that_every_disk_can_hold_stays(path: str) -> None:
    assert portable_paths([path]) == {path: path}


@given(st.binary(max_size=60))
def test_bytes_become_text_and_the_same_bytes_again(content: bytes) -> None:
    text, is_utf8 = as_text(content)
    assert as_bytes(text, is_utf8=is_utf8) == content


def test_a_link_that_may_mean_several_pages_takes_the_nearest_and_says_so() -> None:
    places = {path: path for path in ("a/Note.md", "b/Note.md", "b/Page.md", "Page.md")}
    vault = Vault(places, at=("default", "shop"))
    made = vault.rewritten("b/Page.md", "b/Page.md", "[[note]] and [[Page]]\n")
    assert (made.text, made.changed, made.ambiguous) == ("[[b/Note]] and [[Page]]\n", 1, ("note",))


def test_copies_of_a_sync_program_stay_where_they_are_and_are_named(room: Room, vault: Path) -> None:
    (vault / "Ideas" / "engine.sync-conflict-20260101-120000-ABCDEFG.md").write_text("Second.\n")
    answer = room.json("import", str(vault))
    assert answer["counts"] == {"created": 5}
    copy = "Ideas/engine.sync-conflict-20260101-120000-ABCDEFG.md"
    assert answer["left"] == [f"{copy}: a copy that a sync program kept beside Ideas/engine.md"]
