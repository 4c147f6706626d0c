"""An archive made a data dir again, in a folder of its own, and proven whole before anybody relies on it."""

import errno
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from dulwich.config import ConfigFile
from dulwich.objects import S_ISGITLINK

from ai_memory.errors import MemoryFault, StoreFault
from ai_memory.paths import DataDir
from ai_memory.store import driver, state_schema
from ai_memory.store.addresses import meta_project, page_ref
from ai_memory.store.archive import BadArchive, Manifest, Member, is_kept, is_plain, opened, pieces
from ai_memory.store.checkup import database_faults
from ai_memory.store.filesystem import make_folder, open_new
from ai_memory.store.state_sessions import totals
from ai_memory.store.wiki import Wiki

_SAFE_SETTINGS = {
    b"core": {
        b"repositoryformatversion",
        b"filemode",
        b"bare",
        b"logallrefupdates",
        b"autocrlf",
        b"quotepath",
        b"ignorecase",
        b"precomposeunicode",
        b"symlinks",
    },
    b"gc": {b"auto"},
    b"remote": {b"url", b"pushurl", b"fetch", b"push", b"tagopt", b"prune"},
    b"branch": {b"remote", b"merge", b"rebase"},
    b"user": {b"name", b"email"},
}
"""Settings of git that start no program and lead nowhere: an archive may come from anybody."""

_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""What no archive is to blame for."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A data dir that was unpacked and found whole; `gaps` tells what was left out of it."""

    data_dir: DataDir
    manifest: Manifest
    gaps: tuple[str, ...] = ()


def unpack(archive: Path, folder: Path, progress: Progress) -> Unpacked:
    """Unpack into an empty folder and prove that what is there is whole: each byte, each object, the database.

    Crash: safe at any point, the folder is all that stays. Errors: BadArchive, StoreFault, OSError.
    """
    data_dir = DataDir(folder)
    with opened(archive) as (file, manifest):
        _refuse_no_room(folder, manifest)
        for number, member in enumerate(manifest.members):
            _write(folder, member, pieces(file, member))
            progress(number + 1, len(manifest.members))
    gaps = _without_programs(data_dir.git / "config")
    try:
        _prove_wiki(data_dir, manifest)
    except BadArchive:
        raise
    except (MemoryFault, OSError, ValueError) as fault:
        if isinstance(fault, OSError) and fault.errno in _OF_THE_DISK:
            raise
        raise BadArchive(f"its wiki is not whole: {fault}") from fault
    _prove_state(data_dir, manifest)
    for part in ("wiki", "outbox"):
        make_folder(folder / part)
    return Unpacked(data_dir, manifest, gaps)


def _refuse_no_room(folder: Path, manifest: Manifest) -> None:
    wanted = sum(member.size_bytes for member in manifest.members)
    free = shutil.disk_usage(folder).free
    if wanted > free:
        raise StoreFault(
            f"Unpacked it takes {wanted >> 20:,} MB, and {free >> 20:,} MB are free.", hint="Free some space."
        )


def _write(folder: Path, member: Member, content: Iterator[bytes]) -> None:
    path = folder.joinpath(*member.name.split("/"))
    _new_file(path, content)


def _new_file(path: Path, content: Iterator[bytes]) -> None:
    """A file where none was. Errors: BadArchive where two names of an archive mean one file on this disk."""
    try:
        make_folder(path.parent)
        descriptor = open_new(path)
    except (FileExistsError, NotADirectoryError) as fault:
        raise BadArchive(f"two of its files have one place here: {path.name[:80]!r}") from fault
    with os.fdopen(descriptor, "wb") as out:
        for piece in content:
            out.write(piece)


def _without_programs(config: Path) -> tuple[str, ...]:
    """Take settings out of git's that could start a program; a sentence about them."""
    if not config.exists():
        return ()
    try:
        given = ConfigFile.from_file(io.BytesIO(config.read_bytes()))  # from a path, it would follow includes
    except ValueError as fault:
        raise BadArchive(f"its settings of git cannot be read: {fault}") from fault
    kept, dropped = ConfigFile(), []
    for section in given.sections():
        allowed = _SAFE_SETTINGS.get(section[0].lower(), set())
        for name, setting in given.items(section):
            if name.lower() in allowed:
                kept.add(section, name, setting)
            else:
                dropped.append(b".".join((*section, name)).decode("utf-8", "replace"))
    if not dropped:
        return ()
    config.unlink()
    kept.write_to_path(str(config))
    return (f"settings of git that may start programs were left out: {', '.join(sorted(set(dropped)))}",)


# --- proofs ---


def _prove_wiki(data_dir: DataDir, manifest: Manifest) -> None:
    """Every object of the history is there, and the work tree is made of its newest commit."""
    if manifest.head is None:
        raise BadArchive("it holds no wiki")
    with closing(Wiki(data_dir.git)) as wiki:
        if wiki.head() != manifest.head:
            raise BadArchive("its branch main is another commit than its manifest says")
        _read_all(wiki, manifest.head)
        found = {"pages": 0, "projects": 0}
        for path, blob in wiki.files(manifest.head):
            if not is_kept(f"wiki/{path}"):
                raise BadArchive(f"its wiki holds a path that leads elsewhere: {path[:80]!r}")
            found["pages"] += page_ref(path) is not None
            found["projects"] += meta_project(path) is not None
            file = data_dir.wiki.joinpath(*path.split("/"))
            if not os.path.lexists(file):  # else the archive holds the file as a person had edited it
                _new_file(file, iter([wiki.blob(blob)]))
        _compare(found, manifest)


def _read_all(wiki: Wiki, head: str) -> None:
    """Read each commit and tree that `head` leads to, and look that each blob is there. Errors: BadArchive."""
    commits, trees, blobs = [head], set[str](), set[str]()
    seen = {head}
    while commits:
        commit = commits.pop()
        waiting = [wiki.tree_of(commit)]
        while waiting:
            tree = waiting.pop()
            if tree in trees:
                continue
            trees.add(tree)
            for name, mode, made in wiki.raw_tree(tree)[1]:
                if not is_plain(name.decode("utf-8", "surrogateescape")):
                    raise BadArchive(f"its wiki holds a name that leads elsewhere: {name[:80]!r}")
                if stat.S_ISDIR(mode):
                    waiting.append(made.decode())
                elif not S_ISGITLINK(mode):
                    blobs.add(made.decode())
        new = [parent for parent in wiki.parents(commit) if parent not in seen]
        seen |= set(new)
        commits += new
    missing = next((blob for blob in sorted(blobs) if not wiki.has(blob)), None)
    if missing is not None:
        raise BadArchive(f"an object of its wiki is missing: {missing}")


def _prove_state(data_dir: DataDir, manifest: Manifest) -> None:
    if manifest.state_schema is None:
        return
    try:
        with closing(driver.connect(data_dir.state)) as connection:
            state_schema.refuse_newer(connection)
            faults = database_faults(connection)
            if faults:
                raise BadArchive(f"its state.db is damaged: {faults[0]}")
            sessions, _, observations = totals(connection)
    except driver.FAULTS as fault:
        raise BadArchive(f"its state.db cannot be read: {fault}") from fault
    _compare({"sessions": sessions, "observations": observations}, manifest)


def _compare(found: dict[str, int], manifest: Manifest) -> None:
    for what, number in found.items():
        if manifest.counts.get(what) != number:
            raise BadArchive(f"it holds {number} {what}, and its manifest says {manifest.counts.get(what)}")
