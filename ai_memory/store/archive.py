"""A data dir in one zip file: its manifest, what may stand in it, and reading it without believing it."""

import hashlib
import json
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from ai_memory.errors import MemoryFault
from ai_memory.store.outbox import is_entry

FORMAT = 1
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 256 << 20

_PIECE = 1 << 20
_BOMB_RATIO = 100
"""Unpacked over packed size from which an archive is refused: most of one are git objects, which are packed already."""
_BOMB_BYTES = 1 << 30
"""Below it no ratio is refused: an empty state.db packs well."""

_FILES = frozenset({"state.db", "config.toml", "born.json", "pending", "paused.json"})
_GIT_FILES = frozenset(
    {"HEAD", "config", "index", "packed-refs", "description", "ORIG_HEAD"}
    | {"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD"}
)
_OBJECT = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}|pack/pack-[0-9a-f]{40}\.(?:pack|idx)")
_INFO = frozenset({"exclude", "attributes"})
_OUTBOX = frozenset({"open", "by-dir", "claimed", "provisional"})
"""What is kept of the outbox: the rest is made again by the next drain."""
_EVENT = re.compile(r"\d{19}-\d+-[0-9a-f]{8}(?:\.reason)?\.json")


_NONSENSE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError),
    *(ValueError, KeyError, TypeError, AttributeError, NotImplementedError, RuntimeError),
)
"""What the zip library and we raise for bytes that nobody wrote on purpose."""

_ANOTHER = "Name one that `ai-memory backup` made; nothing was touched."


class BadArchive(MemoryFault):
    """The archive is damaged, is none that we wrote, or was tampered with. Nothing was touched."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, by its path in the data dir."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself."""

    made_at: str
    program: str
    """Version of the program that made it."""
    head: str | None
    """Commit of the wiki's branch."""
    state_schema: int | None
    """Version of `state.db`; None where there was none."""
    counts: Mapping[str, int] = field(default_factory=dict)
    members: tuple[Member, ...] = ()


# --- names ---


def is_kept(name: str) -> bool:
    """Whether a file of that path in the data dir belongs into an archive, and may come out of one."""
    parts = name.split("/")
    if not all(map(is_plain, parts)):
        return False
    top, below = parts[0], parts[1:]
    match top:
        case "wiki":
            return _is_of_git(below[1:]) if below[:1] == [".git"] else bool(below) and not any(map(_is_git, below))
        case "outbox":
            return is_entry("/".join(below)) and below[0] in _OUTBOX
        case "spool":
            return len(below) in (1, 2) and below[:-1] in ([], ["quarantine"]) and bool(_EVENT.fullmatch(below[-1]))
        case "wiring":
            return bool(below)
    return name in _FILES


def is_plain(part: str) -> bool:
    """Whether it is one name of a file or folder, on any system, and leads nowhere else."""
    is_way = part in ("", ".", "..") or any(mark in part for mark in ("/", "\\", "\0"))
    return not is_way and not (os.name == "nt" and ":" in part)


def _is_git(part: str) -> bool:
    """Whether git would take the folder for a repository: some disks drop dots and blanks at the end of a name."""
    return part.rstrip(". ").casefold() in (".git", "git~1")


def _is_of_git(below: list[str]) -> bool:
    """Files of `.git` that hold no program: no hooks, no half-done rebase with commands in it, no other repository."""
    if not below or below[-1].endswith(".lock"):
        return False
    if len(below) == 1:
        return below[0] in _GIT_FILES
    rest = "/".join(below[1:])
    match below[0]:
        case "objects":
            return bool(_OBJECT.fullmatch(rest))
        case "info":
            return rest in _INFO
    return below[0] in ("refs", "logs")


# --- writing ---


class Packer:
    """Writes an archive. The manifest comes last, since it tells all the others: without it there is none."""

    def __init__(self, out: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(out, "w", allowZip64=True)
        self.members: list[Member] = []

    def __enter__(self) -> "Packer":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def add(self, name: str, source: IO[bytes]) -> None:
        """Put a file in, read piece by piece."""
        is_packed = name.startswith("wiki/.git/objects/")
        checksum, size = hashlib.sha256(), 0
        entry = _entry(name, zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED)
        with self._zip.open(entry, "w", force_zip64=True) as out:
            while piece := source.read(_PIECE):
                checksum.update(piece)
                size += len(piece)
                out.write(piece)
        self.members.append(Member(name, size, checksum.hexdigest()))

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest."""
        record = {"v": FORMAT, **asdict(manifest)}
        self._zip.writestr(_entry(MANIFEST, zipfile.ZIP_DEFLATED), json.dumps(record, indent=1).encode())


def _entry(name: str, packing: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = packing
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    return entry


# --- reading ---


@contextmanager
def opened(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """An archive and its manifest; names, types and sizes were looked at, contents were not. Errors: BadArchive."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            _check_entries(archive, entries, path.stat().st_size)
            yield archive, _manifest(archive, entries)
    except BadArchive as fault:
        raise BadArchive(f"{path.name} is no whole backup: {fault.message}", hint=fault.hint or _ANOTHER) from fault
    except _NONSENSE as fault:
        raise BadArchive(f"{path.name} is no whole backup: {fault}", hint=_ANOTHER) from fault


def _check_entries(archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], size_bytes: int) -> None:
    for entry in archive.infolist():
        if entry.filename != MANIFEST and not is_kept(entry.filename):
            raise BadArchive(f"it holds a file that no backup of ours holds: {entry.filename[:80]!r}")
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG) or entry.is_dir():
            raise BadArchive(f"{entry.filename[:80]!r} is a link or no regular file")
    if len(entries) != len(archive.infolist()):
        raise BadArchive("it holds two files of one name")
    packed = sum(entry.compress_size for entry in entries.values())
    unpacked = sum(entry.file_size for entry in entries.values())
    if packed > size_bytes:
        raise BadArchive("its files overlap: unpacked they would be larger than what is in it")
    if unpacked > _BOMB_BYTES and unpacked > _BOMB_RATIO * size_bytes:
        raise BadArchive(f"unpacked it has {unpacked >> 20:,} MB, {_BOMB_RATIO} times as much as packed")


def _manifest(archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo]) -> Manifest:
    if MANIFEST not in entries:
        raise BadArchive("it has no manifest")
    if entries[MANIFEST].file_size > LARGEST_MANIFEST:
        raise BadArchive("its manifest is too large")
    record = json.loads(archive.read(MANIFEST))
    if record["v"] != FORMAT:
        raise BadArchive(f"its format is {record['v']!r}, not {FORMAT}", hint="a newer ai-memory made it: use that one")
    members = tuple(Member(str(row["name"]), int(row["size_bytes"]), str(row["sha256"])) for row in record["members"])
    if {one.name for one in members} != entries.keys() - {MANIFEST} or len(members) != len(entries) - 1:
        raise BadArchive("its manifest lists other files than it holds")
    for one in members:
        if entries[one.name].file_size != one.size_bytes:
            raise BadArchive(f"{one.name!r} has another size than the manifest says")
    return Manifest(
        made_at=str(record["made_at"]),
        program=str(record["program"]),
        head=None if record["head"] is None else str(record["head"]),
        state_schema=None if record["state_schema"] is None else int(record["state_schema"]),
        counts={str(key): int(value) for key, value in record["counts"].items()},
        members=members,
    )


def pieces(archive: zipfile.ZipFile, member: Member) -> Iterator[bytes]:
    """The member's bytes, checked against the manifest at the end. Errors: BadArchive."""
    checksum, size = hashlib.sha256(), 0
    with archive.open(member.name) as source:
        while piece := source.read(_PIECE):
            size += len(piece)
            if size > member.size_bytes:
                break
            checksum.update(piece)
            yield piece
    if size != member.size_bytes or checksum.hexdigest() != member.sha256:
        raise BadArchive(f"{member.name!r} is damaged: its checksum does not fit")


def check(path: Path, progress: Callable[[int, int], None]) -> Manifest:
    """Read the whole archive and compare each file with the manifest. Writes nothing. Errors: BadArchive."""
    with opened(path) as (archive, manifest):
        for number, member in enumerate(manifest.members):
            for _ in pieces(archive, member):
                pass
            progress(number + 1, len(manifest.members))
        return manifest
