"""What keeps the store fast and small: statements of a rebuild, deltas in packs. Causes are counted, never times."""

import os
import shutil
import subprocess
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from dulwich.object_store import DiskObjectStore
from dulwich.objects import Blob, ObjectID

from ai_memory.model import Caller, PageRef
from ai_memory.paths import DataDir
from ai_memory.store import driver, index
from ai_memory.store.blobs import blob_id
from ai_memory.store.index import IndexedFile
from ai_memory.store.indexing import building_path
from ai_memory.store.memory import Memory
from ai_memory.store.objects import loose_object
from ai_memory.store.packing import LONGEST_CHAIN
from ai_memory.store.wiki import Wiki
from ai_memory.text.sanitize import sanitize

FULL_TEXT_INSERT = "INSERT INTO chunks_fts (rowid"


def page(number: int) -> IndexedFile:
    text = f"---\ntitle: Page {number}\n---\n## One\n\nalpha word{number}\n\n## Two\n\nbeta [[p/{number + 1}.md]]\n"
    return IndexedFile(f"default/shop/p/{number}.md", f"{number:040x}", text.encode(), 1)


def test_a_batch_of_pages_enters_the_full_text_table_in_one_statement() -> None:
    connection = driver.in_memory()
    index.create(connection)
    seen: list[str] = []
    connection.set_trace_callback(seen.append)
    index.put_files(connection, map(page, range(20)), is_empty=True)
    index.put_files(connection, map(page, range(20)))
    connection.set_trace_callback(None)
    begun = [statement for statement in seen if FULL_TEXT_INSERT in statement]
    assert len(begun) == 2
    rows = "SELECT count(*), count(DISTINCT rowid) FROM chunks_fts WHERE chunks_fts MATCH 'alpha OR beta'"
    assert connection.execute(rows).fetchone() == (40, 40)
    connection.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")


def memory(root: Path) -> Memory:
    return Memory.open(DataDir(root / "data"), caller=Caller(cwd=str(root), environ=dict(os.environ), home=str(root)))


def write(memory: Memory, *numbers: int, text: str) -> None:
    with memory.writing("Write") as change:
        for number in numbers:
            change.put(PageRef("default", "shop", f"notes/page-{number:03}.md"), sanitize(f"{text} {number}\n"))


def git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root / "data" / "wiki"), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_versions_of_a_folder_are_packed_as_what_differs_and_git_reads_them(tmp_path: Path) -> None:
    desk = memory(tmp_path)
    write(desk, *range(200), text="first")
    for number in range(LONGEST_CHAIN + 10):
        write(desk, number, text="second")
    before = git(tmp_path, "log", "-p", "--format=%H")
    wiki = Wiki(desk.data_dir.git)
    assert wiki.pack() > LONGEST_CHAIN
    wiki.close()
    assert git(tmp_path, "count-objects").startswith("0 objects")
    git(tmp_path, "fsck", "--strict")
    assert git(tmp_path, "log", "-p", "--format=%H") == before
    (idx,) = (desk.data_dir.git / "objects" / "pack").glob("*.idx")
    rows = [line.split() for line in git(tmp_path, "verify-pack", "-v", str(idx)).splitlines() if " tree " in line]
    chains = [int(row[5]) for row in rows if len(row) == 7]
    assert len(chains) > LONGEST_CHAIN
    assert max(chains) < LONGEST_CHAIN
    history = desk.history(PageRef("default", "shop", "notes/page-003.md"))
    assert [version.change for version in history] == ["changed", "created"]
    write(desk, 3, text="third")  # and writing goes on upon packed trees
    assert git(tmp_path, "show", "HEAD:default/shop/notes/page-003.md") == "third 3\n"


def test_a_pack_is_on_the_disk_before_a_loose_object_goes(tmp_path: Path, monkeypatch) -> None:
    desk = memory(tmp_path)
    write(desk, 1, 2, text="first")
    seen: list[tuple[str, bool]] = []
    sync = os.fsync

    def watch(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        seen.append((path.suffix or path.name, bool(git(tmp_path, "count-objects").startswith("0 objects"))))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    wiki = Wiki(desk.data_dir.git)
    wiki.pack()
    wiki.close()
    assert seen == [(".pack", False), (".lock", False), ("pack", False)]  # its bytes, its index, their names
    assert list((desk.data_dir.git / "objects" / "pack").glob("*.pack"))


def test_a_pack_that_was_cut_hinders_no_later_one(tmp_path: Path) -> None:
    """dulwich takes the lock of an index that nobody writes any more for a living one's, and stops for ever."""
    desk = memory(tmp_path)
    write(desk, 1, 2, text="first")
    packs = desk.data_dir.git / "objects" / "pack"
    trial = tmp_path / "trial"
    shutil.copytree(desk.data_dir.root, trial)
    with closing(Wiki(DataDir(trial).git)) as wiki:
        wiki.pack()
    [index_name] = [path.name for path in (DataDir(trial).git / "objects" / "pack").glob("*.idx")]
    (packs / f"{index_name}.lock").write_bytes(b"half")
    (packs / "tmpab12_x9z.pack").write_bytes(b"half")
    (packs / "tmp_pack_of_git").write_bytes(b"a fetch is running")
    with closing(Wiki(desk.data_dir.git)) as wiki:
        assert wiki.pack() > 0
    assert {path.suffix for path in packs.iterdir()} == {".pack", ".idx", ""}
    assert (packs / "tmp_pack_of_git").exists()
    assert git(tmp_path, "fsck", "--strict", "--no-dangling") == ""


def test_a_rebuild_reads_loose_pages_past_the_git_library_and_packed_ones_through_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bytes] = []
    real = DiskObjectStore.get_raw
    desk = memory(tmp_path)
    write(desk, 1, 2, text="first")

    def note(store: DiskObjectStore, name: ObjectID) -> tuple[int, bytes]:
        kind, content = real(store, name)
        if kind == Blob.type_num:
            asked.append(name)
        return kind, content

    monkeypatch.setattr(DiskObjectStore, "get_raw", note)
    assert desk.reindex().pages == 2
    assert asked == []
    with closing(Wiki(desk.data_dir.git)) as wiki:
        wiki.pack()
    assert desk.reindex().pages == 2
    assert {blob_id(f"first {number}\n".encode()).encode() for number in (1, 2)} <= set(asked)


@pytest.mark.parametrize("content", [b"", b"no object", zlib.compress(b"blob 9\0short"), zlib.compress(b"blob\0")])
def test_a_loose_object_that_is_not_whole_is_left_to_the_git_library(tmp_path: Path, content: bytes) -> None:
    loose = tmp_path / "objects" / "ab" / ("c" * 38)
    loose.parent.mkdir(parents=True)
    loose.write_bytes(content)
    assert loose_object(tmp_path, "ab" + "c" * 38) is None
    assert loose_object(tmp_path, "ab" + "d" * 38) is None


def test_a_rebuild_keeps_no_log_beside_the_file_that_nobody_reads_yet(tmp_path: Path) -> None:
    beside: list[str] = []

    def look(step: str) -> None:
        if step == "rebuild-batch":
            beside.extend(path.name for path in tmp_path.glob("data/index-*building*"))

    desk = memory(tmp_path)
    write(desk, *range(3), text="first")
    desk.step = look
    desk.reindex()
    assert beside == [building_path(desk.data_dir).name]
    with desk.reading() as snapshot:
        assert snapshot.index.execute("PRAGMA journal_mode").fetchone() == ("wal",)
