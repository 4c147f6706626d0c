"""What takes room in a data dir, looked at without changing it: files as the disk holds them, rows of databases."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ai_memory.paths import DataDir
from ai_memory.store import driver, leftovers
from ai_memory.store.addresses import page_ref
from ai_memory.store.backup import archives
from ai_memory.store.compacting import PackSize, repacked, room_of
from ai_memory.store.purge import entries_below
from ai_memory.store.reading import is_writable

Progress = Callable[[int, int], None]
Place = tuple[str, str]

_LOOSE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38}")
_LOOSE_FOLDER = re.compile(r"wiki/\.git/objects/[0-9a-f]{2}")
_INDEX_ENTRY_BYTES = 32
"""What a pack's index and its reverse index take for one object: name, checksum, two places."""
_PACK_FRAME_BYTES = 1_200 + 4 * 4_096
"""What a pack takes however small: tables of its index, and the last block of each of its files."""

GROUPS = {
    "observations_fts": "words of observations",
    "applied": "what was applied",
    "audit": "audit",
    "chunks_fts": "words of pages",
    "observations": "observations",
    "chunks": "parts of pages",
    "pages": "pages",
    "vectors": "vectors",
    "texts": "vectors",
    "links": "links",
    "queries": "vectors of queries",
    "sessions": "sessions",
    "messages": "messages",
    "evidence": "evidence",
}
"""What tables whose names begin so are called. The first that fits counts."""

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name"
_BY_PROJECT = """
    SELECT s.workspace, s.project, count(DISTINCT s.id), count(o.seq),
        total(length(CAST(o.input AS BLOB)) + length(CAST(o.output AS BLOB)) + length(CAST(o.text AS BLOB)))
    FROM sessions AS s LEFT JOIN observations AS o ON o.session = s.id GROUP BY 1, 2 ORDER BY 1, 2
"""


@dataclass(slots=True)
class Amount:
    """So many bytes, of so many files or rows."""

    size_bytes: int = 0
    count: int = 0

    def add(self, size_bytes: int, count: int = 1) -> None:
        self.size_bytes += size_bytes
        self.count += count


@dataclass(slots=True)
class Held:
    """What one project holds."""

    pages: Amount = field(default_factory=Amount)
    sessions: int = 0
    observations: Amount = field(default_factory=Amount)
    """Their texts; rows and indexes around them belong to all."""


@dataclass(slots=True)
class Sizes:
    parts: dict[str, Amount] = field(default_factory=lambda: defaultdict(Amount))
    """By name; `/` leads from a part to what it is made of, which need not be all of it."""
    projects: dict[Place, Held] = field(default_factory=lambda: defaultdict(Held))
    loose: Amount = field(default_factory=Amount)
    loose_content_bytes: int = 0
    """Of the loose objects, without what a disk gives a file more than it needs."""
    packs: int = 0
    git_bytes: int = 0
    """All objects of git as the disk holds them."""
    repacked: PackSize | None = None
    """What all that is reachable takes in one pack; None where git was not asked."""
    free: dict[str, int] = field(default_factory=dict)
    """Room inside each database, and of its log, that nothing fills."""
    old_indexes: dict[str, int] = field(default_factory=dict)
    backups: list[tuple[str, int]] = field(default_factory=list)
    """Archives that `backup` named, newest first."""
    left: Amount = field(default_factory=Amount)
    """What killed processes left."""
    gaps: list[str] = field(default_factory=list)

    @property
    def whole(self) -> Amount:
        tops = [amount for name, amount in self.parts.items() if "/" not in name]
        return Amount(sum(one.size_bytes for one in tops), sum(one.count for one in tops))

    @property
    def least_saved_by_packing(self) -> int:
        """Room that loose objects give back at least: that of files which are larger than what they hold."""
        in_pack = self.loose_content_bytes + self.loose.count * _INDEX_ENTRY_BYTES + _PACK_FRAME_BYTES
        return max(0, self.loose.size_bytes - in_pack)

    @property
    def saved_by_repacking(self) -> int | None:
        """Room that one pack gives back; None where nobody measured it."""
        if self.repacked is None:
            return None
        in_pack = self.repacked.size_bytes + self.repacked.objects * _INDEX_ENTRY_BYTES + _PACK_FRAME_BYTES
        return max(0, self.git_bytes - in_pack - self.repacked.unreachable_bytes)


def measure(data_dir: DataDir, progress: Progress) -> Sizes:
    """Look at everything. What goes meanwhile is not counted; what cannot be read is a gap."""
    found = Sizes()
    databases = [data_dir.state, data_dir.cache, data_dir.index]
    steps = len(databases) + 2
    _walk(data_dir, found)
    progress(1, steps)
    for number, path in enumerate(databases, start=2):
        if path.exists():
            _look_into(data_dir, path, found)
        progress(number, steps)
    found.repacked = repacked(data_dir.git) if found.loose.count or found.packs > 1 else None
    progress(steps, steps)
    for path in leftovers.found(data_dir):
        found.left.add(room_of(path))
    found.backups = [(path.name, room_of(path)) for path in archives(data_dir.backups)]
    return found


# --- files ---


def _walk(data_dir: DataDir, found: Sizes) -> None:
    root = str(data_dir.root)
    for entry in entries_below(data_dir.root):
        with suppress(OSError):
            name = os.path.relpath(entry.path, root).replace(os.sep, "/")
            if name.endswith("-shm"):
                continue  # it comes and goes with whoever reads a database
            size_bytes = room_of(entry)
            if entry.is_dir(follow_symlinks=False):
                _note_folder(found, name, size_bytes)
                continue
            if name.startswith("wiki/.git/objects/"):
                _note_object(found, name.removeprefix("wiki/.git/objects/"), entry, size_bytes)
            for part in _parts(data_dir, name):
                found.parts[part].add(size_bytes)
            if name.startswith("index-") and not name.startswith(data_dir.index.stem):
                found.old_indexes[_database(name)] = found.old_indexes.get(_database(name), 0) + size_bytes
            ref = page_ref(name.removeprefix("wiki/")) if name.startswith("wiki/") else None
            if ref is not None:
                found.projects[ref.workspace, ref.project].pages.add(size_bytes)


def _note_folder(found: Sizes, name: str, size_bytes: int) -> None:
    """A list of names takes room, too: git's 256 folders a megabyte."""
    if not size_bytes:
        return
    found.parts[name.partition("/")[0]].size_bytes += size_bytes
    if name == "wiki/.git" or name.startswith("wiki/.git/"):
        is_loose = _LOOSE_FOLDER.fullmatch(name)
        found.parts["wiki/.git"].size_bytes += size_bytes
        found.parts["wiki/.git/loose objects" if is_loose else "wiki/.git/other"].size_bytes += size_bytes
        found.git_bytes += size_bytes if is_loose else 0


def _note_object(found: Sizes, name: str, entry: "os.DirEntry[str]", size_bytes: int) -> None:
    found.git_bytes += size_bytes
    found.packs += name.endswith(".pack")
    if _LOOSE.fullmatch(name):
        found.loose.add(size_bytes)
        found.loose_content_bytes += entry.stat(follow_symlinks=False).st_size


def _parts(data_dir: DataDir, name: str) -> Iterator[str]:
    """The parts that a file belongs to, from the largest."""
    top, _, rest = name.partition("/")
    yield _database(top) if not rest else top
    if top == "wiki" and rest:
        if not rest.startswith(".git/"):
            ref = page_ref(rest)
            yield f"wiki/{ref.workspace}/{ref.project}" if ref else "wiki/other files"
            return
        yield "wiki/.git"
        below = rest.removeprefix(".git/objects/")
        kind = "packs" if below.startswith("pack/") else "loose objects" if _LOOSE.fullmatch(below) else "other"
        yield f"wiki/.git/{kind}"
    elif name.startswith("spool/quarantine/"):
        yield "spool/quarantine"
    elif top == data_dir.backups.name and rest:
        yield f"backups/{rest.partition('/')[0]}"


def _database(name: str) -> str:
    """A database with the files beside it is one part."""
    for tail in driver.SIDES:
        name = name.removesuffix(tail)
    return name


# --- databases ---


def _look_into(data_dir: DataDir, path: Path, found: Sizes) -> None:
    try:
        mode: driver.Mode = "ro" if is_writable(data_dir.root) else "immutable"
        with closing(driver.connect(path, mode=mode)) as connection:
            _count(connection, path, found)
            if path == data_dir.state:
                _by_project(connection, found)
    except driver.FAULTS as fault:
        found.gaps.append(f"{path.name} could not be read: {' '.join(str(fault).split())[:200]}")


def _count(connection: driver.Connection, path: Path, found: Sizes) -> None:
    """Rows and bytes of each table; what lies free; the rest is what SQLite needs around them."""
    inside: dict[str, Amount] = defaultdict(Amount)
    for (table,) in connection.execute(_TABLES).fetchall():
        quoted = '"' + table.replace('"', '""') + '"'
        columns = [str(row[1]).replace('"', '""') for row in connection.execute(f"PRAGMA table_info({quoted})")]
        sizes = " + ".join(f'coalesce(length(CAST("{column}" AS BLOB)), 0)' for column in columns)
        count, size = connection.execute(f"SELECT count(*), total({sizes}) FROM {quoted}").fetchone()
        group = next((words for start, words in GROUPS.items() if table.startswith(start)), "other tables")
        is_row = "_fts" not in table or table.endswith("_docsize")
        inside[group].add(int(size), int(count) if is_row else 0)
    page, unused = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "freelist_count"))
    log_bytes = room_of(Path(f"{path}-wal"))
    found.free[path.name] = page * unused + log_bytes
    for group, amount in inside.items():
        if amount.count or amount.size_bytes > page:
            found.parts[f"{path.name}/{group}"] = amount
    if page * unused:
        found.parts[f"{path.name}/free"] = Amount(page * unused, unused)
    if log_bytes:
        found.parts[f"{path.name}/log"] = Amount(log_bytes, 1)
    whole, told = found.parts[path.name].size_bytes, sum(one.size_bytes for one in inside.values())
    rest = whole - told - page * unused - log_bytes
    if rest > 0:
        found.parts[f"{path.name}/indexes and room in pages"] = Amount(rest, 0)


def _by_project(connection: driver.Connection, found: Sizes) -> None:
    for workspace, project, sessions, observations, size in connection.execute(_BY_PROJECT):
        held = found.projects[str(workspace), str(project)]
        held.sessions = int(sessions)
        held.observations = Amount(int(size), int(observations))
