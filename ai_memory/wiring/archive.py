"""Agents' settings in one archive: a zip with a manifest and checksums. Nothing of it is believed when it is read.

An archive says which agent's which file a copy is of, never where to write it: where that file lies, this machine says.
"""

import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ai_memory.errors import MemoryFault

FORMAT = 1
MANIFEST = "manifest.json"
LARGEST_FILE = 32 << 20
LARGEST_ALL = 128 << 20
MOST_FILES = 2_000


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of an agent, as it stood."""

    agent: str
    what: str
    name: str
    """Name of the file: of a folder of files it says which one."""
    content: bytes
    mode: int


class BadArchive(MemoryFault):
    """The archive is not one that we wrote, or was tampered with."""


def packed(files: Sequence[Kept], *, made_at: str) -> bytes:
    """The archive's bytes; the same files give the same bytes."""
    rows: list[dict[str, Any]] = []
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, one in enumerate(files):
            member = f"files/{number:04d}"
            row = asdict(one) | {"member": member, "size": len(one.content), "sha256": _sum(one.content)}
            del row["content"]
            rows.append(row)
            archive.writestr(_entry(member), one.content)
        manifest = json.dumps({"v": FORMAT, "made_at": made_at, "files": rows}, indent=1)
        archive.writestr(_entry(MANIFEST), manifest.encode())
    return out.getvalue()


def unpacked(content: bytes) -> list[Kept]:
    """The files of an archive. *Errors*: BadArchive, for a link, a name that is not ours, a bomb, a wrong checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _files(archive)
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, NotImplementedError, RuntimeError, EOFError) as fault:
        raise BadArchive(
            f"it is no archive of ours: {fault}", hint="name one that `ai-memory backup-agents` made"
        ) from fault


def _files(archive: zipfile.ZipFile) -> list[Kept]:
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise BadArchive(f"it holds {len(entries):,} files, more than {MOST_FILES:,}")
    if sum(one.file_size for one in entries) > LARGEST_ALL:
        raise BadArchive(f"unpacked it has more than {LARGEST_ALL >> 20} MB")
    names = [one.filename for one in entries]
    for one in entries:
        is_named = one.filename == MANIFEST or (one.filename.startswith("files/") and one.filename[6:].isdigit())
        if not is_named or names.count(one.filename) > 1:
            raise BadArchive(f"it holds a file of a name that we never give: {one.filename[:80]!r}")
        if stat.S_IFMT(one.external_attr >> 16) not in (0, stat.S_IFREG):
            raise BadArchive(f"{one.filename!r} is a link or no regular file")
    manifest = json.loads(_read(archive, MANIFEST))
    if manifest["v"] != FORMAT:
        raise BadArchive(f"its format is {manifest['v']!r}, not {FORMAT}", hint="a newer version made it")
    return [_kept(archive, row) for row in manifest["files"]]


def _kept(archive: zipfile.ZipFile, row: dict[str, Any]) -> Kept:
    name = str(row["name"])
    if name in ("", ".", "..") or any(mark in name for mark in ("/", "\\", "\0", ":")):
        raise BadArchive(f"it names a file by a path: {name[:80]!r}")
    content = _read(archive, str(row["member"]))
    if len(content) != row["size"] or _sum(content) != row["sha256"]:
        raise BadArchive(f"{name!r} is damaged: its checksum does not fit")
    return Kept(str(row["agent"]), str(row["what"]), name, content, int(row["mode"]) & 0o777)


def _read(archive: zipfile.ZipFile, member: str) -> bytes:
    """The bytes of a member; one that says it is small and is not ends here."""
    with archive.open(member) as stream:
        content = stream.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise BadArchive(f"{member!r} has more than {LARGEST_FILE >> 20} MB")
    return content


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o600) << 16
    return entry


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
