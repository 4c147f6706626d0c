"""Entries of git's index are found and spliced by jumping; the result is that of a plain rewrite, and git agrees."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai_memory.store import gitindex
from ai_memory.store.gitindex import GitIndex

NO_STAT = None
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
TRAP = bytes.fromhex("000081a4") * 5
"""An object id that looks like the mode of a file all along."""

segment = st.text("ab._-é", min_size=1, max_size=9)
name = st.lists(segment, min_size=1, max_size=4).map("/".join).map(str.encode)
blob = st.one_of(st.just(TRAP.hex()), st.binary(min_size=20, max_size=20).map(bytes.hex))


def packed(names: dict[bytes, str]) -> dict[bytes, bytes]:
    return {key: gitindex.pack(key, value, NO_STAT) for key, value in names.items()}


def found(content: bytes) -> dict[bytes, str]:
    return {key: entry.blob for key, entry in GitIndex(content, 0).entries().items()}


@settings(max_examples=150)
@given(
    st.dictionaries(name, blob, max_size=20),
    st.dictionaries(name, st.one_of(st.none(), blob), max_size=12),
    st.integers(0, 400),
)
def test_splicing_gives_what_a_rewrite_of_all_entries_gives(
    before: dict[bytes, str], changes: dict[bytes, str | None], many: int
) -> None:
    before |= {f"b/{number:05d}/page.md".encode(): TRAP.hex() for number in range(many)}
    after = {key: value for key, value in {**before, **changes}.items() if value is not None}
    rows = {key: None if value is None else packed({key: value})[key] for key, value in changes.items()}

    spliced = GitIndex(gitindex.fresh(packed(before)), 0).spliced(rows)

    assert spliced == gitindex.fresh(packed(after))


@settings(max_examples=60)
@given(st.sets(name, max_size=30), st.integers(0, 300))
def test_the_entries_of_a_folder_are_those_that_lie_directly_in_it(names: set[bytes], many: int) -> None:
    names |= {b"a/%05d.md" % number for number in range(many)} | {b"a/b/%05d.md" % number for number in range(many)}
    index = GitIndex(gitindex.fresh(packed(dict.fromkeys(names, TRAP.hex()))), 0)
    for folder in {key.rpartition(b"/")[0] for key in names}:
        direct = {key for key in names if key.startswith(folder + b"/") and b"/" not in key[len(folder) + 1 :]}
        assert set(index.entries([folder])) == direct


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_real_git_reads_what_was_spliced_and_we_read_what_git_wrote(repository: Path) -> None:
    choose = random.Random(5)
    live: dict[str, str] = {}
    for number in range(200):
        path = repository / f"d{number % 7}" / f"page {number} é.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"text {number}")
    git(repository, "add", ".")
    git(repository, "write-tree")  # lets git keep its tree extension
    git(repository, "status")
    for _ in range(30):
        index = GitIndex.read(repository / ".git")
        assert index is not None
        live = {key.decode(): entry.blob for key, entry in index.entries().items()}
        gone = choose.choice(sorted(live))
        new = f"d{choose.randrange(9)}/new-{choose.random()}.md"
        blob_of_new = live[choose.choice(sorted(live))]
        content = index.spliced({gone.encode(): None, new.encode(): gitindex.pack(new.encode(), blob_of_new, NO_STAT)})
        (repository / ".git" / "index").write_bytes(content)
        live = {**{key: value for key, value in live.items() if key != gone}, new: blob_of_new}
        listed = git(repository, "-c", "core.quotepath=off", "ls-files", "--stage").splitlines()
        assert {line.partition("\t")[2]: line.split()[1] for line in listed} == live
        if choose.random() < 0.3:
            git(repository, "write-tree")


def test_an_index_with_a_required_extension_is_refused_by_name(repository: Path) -> None:
    (repository / "a.md").write_text("a")
    git(repository, "add", "a.md")
    git(repository, "update-index", "--split-index")
    with pytest.raises(Exception, match="extension link"):
        GitIndex.read(repository / ".git")


def test_an_entry_of_the_tick_in_which_the_index_was_written_is_not_vouched_for_by_a_younger_one(
    repository: Path,
) -> None:
    """The file changes once more in that tick, to the same size: git's index cannot tell, and a splice must not say."""
    page, index_path = repository / "a.md", repository / ".git" / "index"
    page.write_text("one\n")
    subprocess.run(["git", "-C", str(repository), "add", "a.md"], check=True)
    now_ns = page.stat().st_mtime_ns
    page.write_text("two\n")
    os.utime(page, ns=(now_ns, now_ns))
    os.utime(index_path, ns=(now_ns, now_ns))

    index = GitIndex.read(repository / ".git")
    assert index is not None
    index_path.write_bytes(index.spliced({b"b.md": gitindex.pack(b"b.md", EMPTY_BLOB, NO_STAT)}))

    younger = GitIndex.read(repository / ".git")
    assert younger is not None
    entry = younger.entries()[b"a.md"]
    assert younger.is_racy(entry) or not entry.matches(page.lstat())
    told = subprocess.run(
        ["git", "-C", str(repository), "status", "--porcelain", "a.md"], capture_output=True, text=True
    )
    assert told.stdout == "AM a.md\n"


def test_settled_entries_keep_their_figures(repository: Path) -> None:
    page, index_path = repository / "a.md", repository / ".git" / "index"
    page.write_text("one\n")
    os.utime(page, ns=(1_780_000_000_500_000_000,) * 2)
    subprocess.run(["git", "-C", str(repository), "add", "a.md"], check=True)
    os.utime(index_path, ns=(1_780_000_000_600_000_000,) * 2)  # the same second, a later instant
    index = GitIndex.read(repository / ".git")
    assert index is not None
    assert GitIndex(index.spliced({}), 0).entries()[b"a.md"] == index.entries()[b"a.md"]
