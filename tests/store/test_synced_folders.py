"""A wiki in a folder that a sync program keeps: its copies are no pages, and what it holds elsewhere is not deleted."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from wiki_room import WikiRoom, ref

from ai_memory.operations.read import read_page
from ai_memory.operations.status import status
from ai_memory.operations.write import write_page
from ai_memory.store.worktree import is_elsewhere
from ai_memory.text.sync_copies import copied_from, stands_for

WHERE = {"workspace": "default", "project": "shop"}
COPIES = [
    "a (conflicted copy 2026-01-01).md",
    "a (Ada's conflicted copy 2026-01-01).md",
    "a (Ada's conflicted copy 2026-01-01 (2)).md",
    "a (Case Conflict).md",
    "a (Unicode Encoding Conflict 1).md",
    "a (conflicted copy 2026-01-01 120000).md",
    "a (conflicted copy ada 2026-01-01 120000).md",
    "a_conflict-20260101-120000.md",
    "a (SFConflict ada@example.org 2026-01-01-12-00-00).md",
    "a [conflicted].md",
    "a [conflicted 2].md",
    "a.sync-conflict-20260101-120000-ABCDEFG.md",
    "a.sync-conflict-20260101-120000.md",
    "a_conf(1).md",
    "a (Kopie in Konflikt, Ada 2026-01-01).md",
    "a (1).md",
    "a 2.md",
]
OWN_NAMES = [
    "a-LAPTOP.md",  # OneDrive's, or a person's: nobody can tell
    "merge (conflicts).md",
    "war (1914).md",
    "a (2026-01-01).md",
    "sync-conflict.md",
    "conflict-20260101.md",
    "release (1).md",
]
NEAR = "# a\n\none\ntwo\nthree\nfour\nfive\nlaptop\n"


def telling(copy: str) -> str:
    return (
        f"default/shop/notes/{copy} is what a sync program kept beside default/shop/notes/a.md and no page: take over"
        " what its original lacks, then remove it; under another name it becomes a page"
    )


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_after_a_conflict_is_named_and_left_and_no_page(room: WikiRoom, name: str) -> None:
    room.by_hand(f"notes/{name}", NEAR)
    head = room.git("rev-parse", "HEAD")
    adopted = room.look_twice()
    assert (adopted.commit, adopted.asked) == (None, (telling(name),))
    assert room.git("rev-parse", "HEAD") == head
    assert room.file(f"notes/{name}").read_text() == NEAR
    assert len(room.paths()) == 3


@pytest.mark.parametrize("name", OWN_NAMES)
def test_a_name_that_only_looks_so_is_a_page(room: WikiRoom, name: str) -> None:
    room.by_hand(f"notes/{name}", NEAR)
    adopted = room.adopt()
    assert (adopted.created, adopted.asked) == ((ref(f"notes/{name}"),), ())


def test_a_numbered_file_is_a_copy_only_while_it_says_what_its_neighbour_says(room: WikiRoom) -> None:
    room.by_hand("notes/a (1).md", NEAR)
    assert room.adopt().created == ()
    room.by_hand("notes/a (1).md", "# Another matter\n\nkettles boil\n")
    assert room.adopt().created == (ref("notes/a (1).md"),)
    assert room.adopt().asked == ()


def test_a_numbered_file_without_its_neighbour_is_that_page_renamed(room: WikiRoom) -> None:
    room.file("notes/a.md").rename(room.file("notes/a (1).md"))
    adopted = room.adopt()
    assert (adopted.created, adopted.deleted) == ((ref("notes/a (1).md"),), (ref("notes/a.md"),))


def test_writes_reads_and_status_name_a_copy(room: WikiRoom) -> None:
    room.by_hand("notes/a (conflicted copy 2026-01-01).md", NEAR)
    told = telling("a (conflicted copy 2026-01-01).md")
    assert told in write_page(room.memory(), path="notes/b.md", body="anew", **WHERE).gaps
    assert told in status(room.memory(), **WHERE).degraded
    room.by_hand("notes/a.md", "# a, edited\n")
    assert told in read_page(room.memory(), path="notes/a.md", **WHERE).gaps


def test_a_copy_that_is_renamed_becomes_a_page_and_one_that_is_removed_is_no_matter(room: WikiRoom) -> None:
    for name in ("x", "y"):
        room.by_hand(f"notes/{name} (conflicted copy 2026-01-01).md", f"# {name}\n")
    assert len(room.adopt().asked) == 2
    room.file("notes/x (conflicted copy 2026-01-01).md").rename(room.file("notes/x2.md"))
    room.file("notes/y (conflicted copy 2026-01-01).md").unlink()
    adopted = room.look_twice()
    assert (adopted.asked, adopted.deleted) == ((), ())
    assert room.committed("notes/x2.md") == b"# x\n"


def test_a_copy_that_a_person_committed_is_a_page_like_others(room: WikiRoom) -> None:
    name = "notes/a (conflicted copy 2026-01-01).md"
    room.by_hand(name, NEAR)
    room.git("add", "-A")
    room.git("commit", "-qm", "Keep it")
    assert room.adopt().asked == ()
    room.by_hand(name, NEAR + "more\n")
    assert room.adopt().changed == (ref(name),)
    room.file(name).unlink()
    assert room.look_twice().deleted == (ref(name),)


def test_a_page_of_which_only_the_copy_is_left_is_not_deleted(room: WikiRoom) -> None:
    room.file("notes/a.md").rename(room.file("notes/a.sync-conflict-20260101-120000-ABCDEFG.md"))
    adopted = room.look_twice()
    assert (adopted.created, adopted.deleted, len(adopted.asked)) == ((), (), 1)
    assert room.text("notes/a.md") is not None


def test_a_copied_folder_is_named_once_and_its_pages_are_none(room: WikiRoom) -> None:
    for number in range(30):
        room.by_hand(f"notes (conflicted copy 2026-01-01)/{number}.md", f"# {number}\n")
    adopted = room.adopt()
    assert (adopted.created, len(adopted.asked)) == ((), 1)
    assert adopted.asked[0].startswith("default/shop/notes (conflicted copy 2026-01-01) is what a sync program kept")


def test_of_many_copies_the_first_is_named_and_the_number(room: WikiRoom) -> None:
    for number in range(6):
        room.by_hand(f"notes/{number} (conflicted copy 2026-01-01).md", f"# {number}\n")
    (told,) = room.adopt().asked
    assert told.startswith(
        "6 files or folders are what a sync program kept beside their originals and no pages, the first"
    )
    assert "notes/0 (conflicted copy 2026-01-01).md" in told


@pytest.mark.parametrize(
    "name",
    [
        "~syncthing~a.md.tmp",
        "~syncthing~a.md",
        ".syncthing.a.md.tmp",
        "~$a.md",
        ".a.md.swp",
        "a.md~",
        ".#a.md",
        "._a.md",
        ".dropbox.cache/2026-01-01/a.md",
        ".stversions/a~20260101-120000.md",
        ".stfolder/syncthing-folder-1.md",
        ".sync_1a2b.db",
        ".owncloudsync.log",
        ".tmp.driveupload/12.md",
    ],
)
def test_what_sync_programs_and_editors_keep_for_themselves_is_nothing(room: WikiRoom, name: str) -> None:
    room.by_hand(f"notes/{name}", NEAR)
    adopted = room.adopt()
    assert (adopted.commit, adopted.asked, adopted.skipped) == (None, (), ())


# --- files elsewhere ---


def elsewhere(files: str) -> tuple[str, ...]:
    return (f"{files} of the wiki lie elsewhere, with a sync program: their pages stay as they were",)


@pytest.mark.parametrize("name", [".a.md.icloud", "a.md.nextcloud", "a.md.owncloud", "a.md.cloud"])
def test_a_page_for_which_a_stand_in_lies_there_is_not_deleted(room: WikiRoom, name: str) -> None:
    room.file("notes/a.md").unlink()
    room.by_hand(f"notes/{name}", "")
    adopted = room.look_twice()
    assert (adopted.deleted, adopted.skipped) == ((), elsewhere("1 file"))
    assert room.text("notes/a.md") is not None
    room.file(f"notes/{name}").unlink()
    assert room.look_twice().deleted == (ref("notes/a.md"),)


def test_a_folder_for_which_a_stand_in_lies_there_is_not_deleted(room: WikiRoom) -> None:
    for file in room.file("notes").iterdir():
        file.unlink()
    room.file("notes").rmdir()
    room.by_hand("notes.cloudf", "")
    assert room.look_twice().deleted == ()


@pytest.mark.parametrize(
    ("figures", "is_away"),
    [
        ({}, False),
        ({"st_flags": 0}, False),
        ({"st_flags": 0x4000_0000}, True),
        ({"st_flags": 0x4000_0020}, True),
        ({"st_file_attributes": 0x20}, False),
        ({"st_file_attributes": 0x1000}, True),
        ({"st_file_attributes": 0x0040_0020}, True),
        ({"st_file_attributes": 0x0004_0000}, True),
    ],
)
def test_stat_figures_tell_what_lies_elsewhere(figures: dict[str, int], is_away: bool) -> None:
    assert is_elsewhere(SimpleNamespace(**figures)) is is_away  # type: ignore[arg-type]


def away(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let the files and folders of these names be what a sync client fetches when it is asked."""
    real = os.scandir

    class Entry:
        def __init__(self, entry: "os.DirEntry[str]") -> None:
            self._entry = entry

        def __getattr__(self, name: str) -> object:
            return getattr(self._entry, name)

        def stat(self, *, follow_symlinks: bool = True) -> object:
            status = self._entry.stat(follow_symlinks=follow_symlinks)
            shown = ("st_mode", "st_size", "st_ino", "st_mtime_ns")
            flags = 0x4000_0000 if self._entry.name in names else 0
            return SimpleNamespace(**{one: getattr(status, one) for one in shown}, st_flags=flags)

    def scandir(path: "str | int") -> object:
        """Whoever removes folders by their descriptor is left alone."""
        return real(path) if isinstance(path, int) else [Entry(one) for one in real(path)]

    monkeypatch.setattr("ai_memory.store.worktree.os.scandir", scandir)


def test_a_file_whose_content_lies_elsewhere_is_neither_read_nor_deleted(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.by_hand("notes/a.md", "would have to be fetched\n")
    read: list[str] = []
    real: Callable[[Path], bytes] = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: (read.append(path.name), real(path))[1])
    away(monkeypatch, "a.md")
    adopted = room.look_twice()
    assert (adopted.commit, adopted.deleted, adopted.skipped) == (None, (), elsewhere("1 file"))
    assert "a.md" not in read


def test_a_folder_whose_content_lies_elsewhere_is_neither_listed_nor_deleted(
    room: WikiRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in room.file("notes").iterdir():
        file.unlink()
    away(monkeypatch, "notes")
    assert room.look_twice().deleted == ()
    assert len(room.paths()) == 3


def test_a_mass_disappearance_is_counted_among_the_pages_that_can_be_seen(room: WikiRoom) -> None:
    for number in range(60):
        room.by_hand(f"many/{number}.md", f"page {number}\n")
    room.adopt()
    for number in range(60):
        room.file(f"many/{number}.md").unlink()
        if number >= 12:
            room.by_hand(f"many/.{number}.md.icloud", "")
    adopted = room.look_twice()  # 12 of 64 are fewer than a fifth, of the 16 that can be seen they are more
    assert adopted.deleted == ()
    assert "12 of 64 pages are gone from the wiki folder. Nothing was deleted" in adopted.asked[0]


def test_placeholders_alone_are_no_mass_disappearance(room: WikiRoom) -> None:
    for number in range(12):
        room.by_hand(f"many/{number}.md", f"page {number}\n")
    room.adopt()
    for number in range(12):
        room.file(f"many/{number}.md").rename(room.file(f"many/.{number}.md.icloud"))
    adopted = room.look_twice()
    assert (adopted.asked, adopted.deleted, adopted.skipped) == ((), (), elsewhere("12 files"))


# --- names alone ---


@pytest.mark.parametrize("name", COPIES[:-2])
def test_a_copy_names_its_original(name: str) -> None:
    assert copied_from(f"default/shop/notes/{name}") == (f"default/shop/notes/{name}", "default/shop/notes/a.md")


def test_the_outermost_copied_folder_is_the_copy() -> None:
    copied = "default/shop/old (conflicted copy 2026-01-01)"
    assert copied_from(f"{copied}/b [conflicted].md") == (copied, "default/shop/old")


@pytest.mark.parametrize(("name", "what"), [(".icloud", None), ("a.md", None), (".x.icloud", "x"), ("x.cloudf", "x")])
def test_a_stand_in_names_what_it_stands_for(name: str, what: str | None) -> None:
    assert stands_for(name) == what
