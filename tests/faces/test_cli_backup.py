"""`backup` and `restore` as a person types them."""

from pathlib import Path

import pytest
from cli_room import SESSION, Room

from ai_memory.operations import backup as operation
from ai_memory.paths import DataDir
from ai_memory.store import audit, unpacking
from ai_memory.store.archive import BadArchive
from ai_memory.store.reading import state_opened

PAGE = "notes/a.md"


def write(room: Room, body: str = "# Heron\n\nwades\n") -> None:
    room.ok("write-page", PAGE, "-b", body)


def test_a_backup_says_what_it_holds_and_a_restore_brings_it_back(room: Room) -> None:
    room.work()
    write(room)
    answer = room.json("backup")
    assert answer["contents"]["counts"] == {"sessions": 1, "observations": 1, "pages": 1, "projects": 1}
    assert (answer["verified"], answer["gaps"], answer["removed"]) == (False, [], [])
    assert Path(answer["archive"]).stat().st_size == answer["size_bytes"]
    room.ok("delete-page", PAGE)
    write(room, "# Later\n")
    checked = room.json("restore", "--dry-run")
    assert (checked["outcome"], checked["contents"]) == ("checked", answer["contents"])
    assert room.json("search", "later")["hits"]
    assert "1 pages" in room.ok("restore", "--force")
    assert room.json("search", "heron")["hits"][0]["path"] == PAGE
    assert room.json("search", "later")["hits"] == []
    assert [one["id"] for one in room.json("sessions")["sessions"]] == [SESSION]


def test_over_a_memory_the_hint_names_force_and_the_way_around(room: Room) -> None:
    write(room)
    room.ok("backup")
    refused = room.json("restore", code=5)
    assert "--force" in refused["error"]["hint"]
    assert "--data-dir DIR" in refused["error"]["hint"]


def test_a_restore_into_another_place_says_which_archive(room: Room, tmp_path: Path) -> None:
    write(room)
    archive = room.json("backup", "-o", str(tmp_path))["archive"]
    other = tmp_path / "other"
    answer = room.json("restore", archive, "--data-dir", str(other))
    assert answer["data_dir"] == str(other)
    assert (other / "wiki" / "default" / "shop" / PAGE).exists()
    assert room.json("read-page", PAGE, "--data-dir", str(other))["pages"][0]["title"] == "Heron"


def test_a_verified_backup_is_told_by_status(room: Room) -> None:
    write(room)
    assert "backup    none that was verified" in room.ok("status")
    room.ok("backup")
    made = room.json("status")["backup"]
    assert (made["verified_at"], made["archive"]) == (None, None)
    assert f"backup    none that was verified; made later, not verified: {made['made_at']}" in room.ok("status")
    answer = room.json("backup", "--verify")
    assert answer["verified"] is True
    state = room.json("status")["backup"]
    assert state["archive"] == Path(answer["archive"]).name
    assert state["made_at"] <= state["verified_at"]
    assert f"backup    {state['verified_at']}, {state['archive']}" in room.ok("status")
    with state_opened(DataDir(room.data_dir)) as connection:
        assert connection is not None
        verified = audit.last_verified(connection)
    assert verified is not None
    assert verified.subject == state["archive"]
    assert [path.name for path in (room.data_dir / "backups").iterdir() if path.name.startswith(".")] == []


def test_an_archive_that_fails_its_trial_is_no_verified_one_and_removes_no_older_one(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(room)
    room.ok("backup")

    def damaged(*_: object) -> None:
        raise BadArchive("its state.db is damaged")

    monkeypatch.setattr(unpacking, "_prove_state", damaged)
    refused = room.json("backup", "--verify", "--keep", "1", code=1)
    assert "restored on trial it is not whole: its state.db is damaged" in refused["error"]["message"]
    assert len(list((room.data_dir / "backups").glob("*.zip"))) == 2
    assert room.json("status")["backup"]["archive"] is None
    assert [path.name for path in (room.data_dir / "backups").iterdir() if path.name.startswith(".")] == []


def test_a_trial_whose_index_lacks_a_page_is_told(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    write(room)
    monkeypatch.setattr(operation, "_pages_of", lambda _: 0)
    assert "its index has 0 pages, and 1 were kept" in room.json("backup", "--verify", code=1)["error"]["message"]


def test_so_many_archives_are_kept_and_the_new_one_always(room: Room) -> None:
    write(room)
    folder = room.data_dir / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("ai-memory-20200101T000000Z.zip", "ai-memory-20990101T000000Z.zip", "agents-x.zip", "mine.zip"):
        (folder / name).write_text("x")
    answer = room.json("backup", "--keep", "2")
    assert [Path(path).name for path in answer["removed"]] == ["ai-memory-20200101T000000Z.zip"]
    assert len(room.json("backup", "--keep", "1")["removed"]) == 2
    left = {path.name for path in folder.iterdir()}
    assert {"agents-x.zip", "mine.zip"} < left
    assert len(left) == 3


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("backup", "-o", "there.zip"), 2),
        (("backup", "-o", "new.zip", "--keep", "3"), 2),
        (("backup", "--keep", "0"), 2),
        (("restore", "none.zip"), 3),
        (("restore", "there.zip"), 1),
        (("restore",), 3),
    ],
)
def test_words_that_do_not_fit_touch_nothing(room: Room, words: tuple[str, ...], code: int) -> None:
    write(room)
    (room.checkout / "there.zip").write_text("no zip")
    assert room.run(*words).exit_code == code
    assert (room.checkout / "there.zip").read_text() == "no zip"
    assert not (room.checkout / "new.zip").exists()


def test_a_backup_into_the_wiki_is_refused(room: Room) -> None:
    write(room)
    assert room.run("backup", "-o", str(room.data_dir / "wiki")).exit_code == 2
    assert room.git("status", "--porcelain") == ""


def test_there_is_nothing_to_back_up_or_restore_where_nothing_is(room: Room) -> None:
    assert room.run("backup").exit_code == 3
    assert room.run("restore").exit_code == 3
    assert not room.data_dir.exists()
