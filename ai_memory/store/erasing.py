"""Getting a text off the disk once its rows and pages are gone: what databases, spool and history still hold of it.

Every step may run again: a purge that was killed is ended by saying it again.
"""

import json
import os
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from dulwich.object_store import DiskObjectStore
from dulwich.objects import ObjectID

from ai_memory.paths import DataDir
from ai_memory.plainfile import read_plain
from ai_memory.store import compacting, driver, indexing
from ai_memory.store.filesystem import sync_folder, sync_together
from ai_memory.store.objects import loose_object
from ai_memory.store.outbox import Outbox
from ai_memory.store.spool import Spool, event_id

SHORTEST_NEEDLE = 16
LONGEST_NEEDLE = 48
MOST_NEEDLES = 400
"""Lines that a proof looks for, and how long a piece of each: a database spreads longer ones over its pages."""

_LOOSE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}")
_DEFLATED = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
"""How a stream of zlib's begins, by RFC 1950, with the window that git and its libraries take."""
_PIECE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Trace:
    """A place that still holds a piece of the text."""

    place: str
    piece: str


# --- removing ---


def events_of(data_dir: DataDir, sessions: Collection[str]) -> list[str]:
    """Names of spooled events, set aside ones too, that name one of the sessions."""
    if not sessions:
        return []
    names = {f"spool/{name}" for name in Spool(data_dir).names()}
    names |= {f"spool/quarantine/{one.event_id}.json" for one in Spool(data_dir).quarantined()}
    return sorted(name for name in names if _session_of(data_dir.root / name) in sessions)


def _session_of(path: Path) -> str:
    try:
        event = json.loads(read_plain(path))
        return str(event.get("session", "")) if isinstance(event, dict) else ""
    except (OSError, ValueError):
        return ""


def remove_events(data_dir: DataDir, names: Iterable[str]) -> None:
    """Remove those events, with the reasons of those that were set aside."""
    spool = Spool(data_dir)
    names = list(names)
    for name in names:
        folder, _, file = name.rpartition("/")
        if folder == "spool":
            spool.remove([file])
        else:
            spool.drop(event_id(file))
    sync_together({(data_dir.root / name).parent for name in names})


def scrub_outbox(data_dir: DataDir, sessions: Iterable[str]) -> None:
    """Remove what starts and prompts are told, which the next drain makes again, and recaps of those sessions."""
    outbox = Outbox(data_dir)
    for name in (*outbox.names_in("starts"), *outbox.names_in("lookup")):
        outbox.remove(name)
    for session in sessions:
        outbox.remove(f"recaps/{session}.md")
    sync_together(folder for name in ("starts", "lookup", "recaps") if (folder := data_dir.outbox / name).is_dir())


def scrub_databases(data_dir: DataDir, *, at_us: int) -> None:
    """Write `state.db` anew without what was deleted in it, remove index and vectors. Call under the writer lock."""
    compacting.vacuum_state(data_dir, at_us=at_us)
    indexing.discard(data_dir)
    for old in data_dir.root.glob("index-*.db*"):
        old.unlink(missing_ok=True)
    driver.remove(data_dir.cache)
    sync_folder(data_dir.root)


# --- proving ---


def needles(texts: Iterable[str], kept: Iterable[str]) -> list[str]:
    """Pieces of lines of these texts that none of the kept ones holds: what must be nowhere."""
    pieces: dict[str, None] = {}
    for text in texts:
        for line in text.splitlines():
            piece = line.strip()[:LONGEST_NEEDLE].strip()
            if len(piece) >= SHORTEST_NEEDLE:
                pieces[piece] = None
    for text in kept:
        for piece in [one for one in pieces if one in text]:
            del pieces[piece]
    return list(pieces)[:MOST_NEEDLES]


def traces(data_dir: DataDir, pieces: Iterable[str]) -> list[Trace]:
    """Every place below the data dir that holds one of the pieces: files by their bytes, zips and git's objects
    unpacked, those also that a killed git left half made. What a pack in a backup tells by its difference from another
    object is looked for as far as it stands there."""
    wanted = {piece: [piece.encode("utf-8"), json.dumps(piece)[1:-1].encode("ascii")] for piece in pieces}
    found: dict[tuple[str, str], Trace] = {}
    if wanted:
        for place, content in _contents(data_dir):
            for piece, forms in wanted.items():
                if any(form in content for form in forms):
                    found.setdefault((place, piece), Trace(place, piece))
    return sorted(found.values(), key=lambda trace: (trace.place, trace.piece))


def _contents(data_dir: DataDir) -> Iterator[tuple[str, bytes]]:
    objects = data_dir.git / "objects"
    for here, folders, names in os.walk(data_dir.root):
        folders[:] = [name for name in folders if Path(here) / name != objects]
        for name in names:
            path = Path(here) / name
            place = path.relative_to(data_dir.root).as_posix()
            with suppress(OSError):
                yield place, read_plain(path)
            if name.endswith(".zip"):
                yield from _of_zip(path, place)
    yield from _of_git(data_dir)


def _of_zip(path: Path, place: str) -> Iterator[tuple[str, bytes]]:
    with suppress(OSError, zipfile.BadZipFile, RuntimeError), zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            if name.startswith("wiki/.git/objects/"):
                content = _inflated(content)
            yield f"{place}: {name}", content


def _inflated(content: bytes) -> bytes:
    """All that is deflated in a file, wherever it begins: a loose object, or the entries of a pack, torn ones too."""
    view, found, at = memoryview(content), [], 0
    while start := _DEFLATED.search(content, at):
        text, at = _stream(view, start.start())
        found.append(text)
    return b"\n".join(found)


def _stream(view: memoryview, at: int) -> tuple[bytes, int]:
    """What is deflated there as far as it goes, and where to look on."""
    stream, parts, place = zlib.decompressobj(), list[bytes](), at
    try:
        while not stream.eof and place < len(view):
            parts.append(stream.decompress(view[place : place + _PIECE_BYTES]))
            place += _PIECE_BYTES
    except zlib.error:
        return b"".join(parts), at + 1
    return b"".join(parts), min(place, len(view)) - len(stream.unused_data)


def _half_made(objects: Path) -> Iterator[Path]:
    """Files among git's objects that no library reads as such: what a process left that was killed."""
    for here, _, names in os.walk(objects):
        for name in names:
            path = Path(here) / name
            is_loose = _LOOSE.fullmatch(path.relative_to(objects).as_posix()) is not None
            is_list = path.suffix in (".idx", ".rev", ".bitmap")
            if not is_loose and not is_list and not path.with_suffix(".idx").exists():
                yield path


def _of_git(data_dir: DataDir) -> Iterator[tuple[str, bytes]]:
    objects = data_dir.git / "objects"
    if not objects.is_dir():
        return
    for path in _half_made(objects):
        with suppress(OSError):
            content = read_plain(path)
            yield path.relative_to(data_dir.root).as_posix(), content + _inflated(content)
    with closing(DiskObjectStore(str(objects))) as store:
        for made in store:
            name = made.decode()
            loose = loose_object(data_dir.git, name)
            content = loose[1] if loose is not None else store.get_raw(ObjectID(made))[1]
            yield f"wiki/.git: object {name[:12]}", bytes(content)
