"""The search index: rows made from pages, and nothing that is not in the wiki.

A page that cannot be read as markdown with frontmatter is indexed all the same, as plain text with its `fault`.
Links name their target; whether it exists is asked when somebody looks, so no row must follow when a page comes or
goes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ai_memory.clock import within_calendar
from ai_memory.errors import MemoryFault
from ai_memory.model import PageRef, Project
from ai_memory.store.addresses import META_NAME, is_ours, meta_project, page_ref
from ai_memory.store.driver import Connection, transaction
from ai_memory.store.index_schema import TABLES
from ai_memory.store.vectors import Carried
from ai_memory.text.chunks import Chunk, chunks
from ai_memory.text.facts import read_fact, read_interval
from ai_memory.text.grams import grams
from ai_memory.text.links import Link, links, relations_of
from ai_memory.text.page import ParsedPage, parse_leniently, plain_page
from ai_memory.text.times import parse_time

CHUNK_BITS = 24
"""A chunk's id is its page's, shifted by so many bits, plus its place: a ranking learns the page without a look-up. A
page of the 16 MiB that are read has fewer chunks."""
ABSTRACT_PLACE = (1 << CHUNK_BITS) - 1
"""The place of the chunk that holds a page's abstract: its frontmatter, not its body, and behind all of it."""


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """One file of the wiki as the index takes it. `content` is None when the file is gone."""

    git_path: str
    blob: str | None
    content: bytes | None
    updated_at_us: int


def create(connection: Connection) -> None:
    """Make the tables in an empty database."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES:
        connection.execute(statement)
    connection.execute("COMMIT")


def is_ready(connection: Connection) -> bool:
    """Whether the tables are there."""
    sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'pages', 'chunks_fts', 'vanished', 'looks')"
    return bool(connection.execute(sql).fetchone()[0] == 5)


def head(connection: Connection) -> str | None:
    """The commit whose pages the index holds."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'head'").fetchone()
    return str(row[0]) if row else None


def set_head(connection: Connection, commit: str | None) -> None:
    if commit is None:
        connection.execute("DELETE FROM meta WHERE key = 'head'")
    else:
        connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('head', ?)", (commit,))


_CHANGE_CHUNKS = "UPDATE meta SET value = CAST(value AS INTEGER) + ? WHERE key = 'chunks'"


def count_chunks(connection: Connection) -> int:
    """How many chunks the index holds, remembered by `put_files`."""
    return int(connection.execute("SELECT value FROM meta WHERE key = 'chunks'").fetchone()[0])


def put_files(connection: Connection, files: Iterable[IndexedFile], *, is_empty: bool = False) -> int:
    """Bring the rows of these files up to date; gives the number of pages written. Inside the caller's transaction.

    `is_empty` says that the index holds none of them yet, which saves a look-up a page in a rebuild.
    """
    rows = _Rows()
    carried = Carried(connection)
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM pages").fetchone()
    removed = 0
    for file in files:
        named = meta_project(file.git_path)
        if named is not None:
            _put_project(connection, named, file)
            continue
        ref = page_ref(file.git_path)
        if ref is None:
            continue
        if not is_empty:
            removed += _remove_page(connection, ref, carried)
        if file.content is not None:
            rows.add(last + len(rows.pages) + 1, ref, file)
    rows.write(connection)
    if len(rows.chunks) != removed:
        connection.execute(_CHANGE_CHUNKS, (len(rows.chunks) - removed,))
    carried.put(range(last + 1, last + 1 + len(rows.pages)))
    return len(rows.pages)


_ADD_PAGES = """
    INSERT INTO pages (id, workspace, project, path, version, title, kind, tier, pinned, expires_at_us, updated_at_us,
        valid_from_us, valid_to_us, superseded, frontmatter, text, body_start, fault)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_TAGS = "INSERT OR IGNORE INTO tags (tag, page_id) VALUES (?, ?)"
_ADD_ENTITIES = "INSERT OR IGNORE INTO entities (name, page_id) VALUES (?, ?)"
_ADD_LINKS = "INSERT OR IGNORE INTO links (source_id, workspace, project, path, kind) VALUES (?, ?, ?, ?, ?)"
_ADD_CHUNKS = """
    INSERT INTO chunks (id, page_id, ord, start_line, end_line, title, words, heading, body, grams)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


_ADD_TO_FTS = """
    INSERT INTO chunks_fts (rowid, title, words, heading, body, grams)
    SELECT id, title, words, heading, body, grams FROM chunks
    WHERE page_id IN (SELECT value FROM json_each(?)) ORDER BY id
"""
"""One statement for all pages: after each one FTS5 flushes what it gathered, 0.2 ms a page (2026-11-30)."""


def _put_project(connection: Connection, named: tuple[str, str], file: IndexedFile) -> None:
    connection.execute("DELETE FROM projects WHERE workspace = ? AND name = ?", named)
    if file.content is None:
        return
    project = read_project(named, file.content)
    connection.execute(
        "INSERT INTO projects (workspace, name, uid, identity, identity_source, aliases, former_names, created_at_us,"
        " private) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            project.workspace,
            project.name,
            project.id,
            project.identity,
            project.identity_source,
            json.dumps(project.aliases),
            json.dumps(project.former_names),
            project.created_at_us,
            project.private,
        ),
    )


def read_project(named: tuple[str, str], content: bytes) -> Project:
    """What a `_meta.md` says. The folder's name wins over what stands inside; a broken file says nothing."""
    workspace, name = named
    meta = parse_leniently(content.decode("utf-8", "replace"), path=META_NAME).frontmatter
    return Project(
        id=_text(meta.get("id")) or "",
        workspace=workspace,
        name=name,
        identity=_text(meta.get("identity")),
        identity_source=_text(meta.get("identity_source")),
        aliases=_texts(meta.get("aliases")),
        former_names=_texts(meta.get("former_names")),
        created_at_us=_instant(meta.get("created_at")),
        private=meta.get("private") is True,
    )


def _instant(value: object) -> int:
    try:
        return parse_time(value) if isinstance(value, str) else 0
    except MemoryFault:
        return 0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def _remove_page(connection: Connection, ref: PageRef, carried: Carried) -> int:
    """Remove the rows of a page; gives how many chunks it had."""
    sql = "SELECT id FROM pages WHERE workspace = ? AND project = ? AND path = ?"
    row = connection.execute(sql, (ref.workspace, ref.project, ref.path)).fetchone()
    if row is None:
        return 0
    carried.take(row[0])
    # An FTS table with outside content must be told the very values that it indexed.
    connection.execute(
        "INSERT INTO chunks_fts (chunks_fts, rowid, title, words, heading, body, grams)"
        " SELECT 'delete', id, title, words, heading, body, grams FROM chunks WHERE page_id = ?",
        row,
    )
    removed = connection.execute("DELETE FROM chunks WHERE page_id = ?", row).rowcount
    connection.execute("DELETE FROM tags WHERE page_id = ?", row)
    connection.execute("DELETE FROM entities WHERE page_id = ?", row)
    connection.execute("DELETE FROM links WHERE source_id = ?", row)
    connection.execute("DELETE FROM pages WHERE id = ?", row)
    return int(removed)


UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError)
"""What a text that one of our readers did not foresee makes it raise. A page is a person's: it must stop no other."""


class Read(NamedTuple):
    """A file as the index takes it."""

    text: str
    parsed: ParsedPage
    fault: str
    """What is wrong with it; empty when nothing is."""


class _Rows:
    """The rows of several pages, a list a table: five statements a page cost a rebuild as much as reading it."""

    def __init__(self) -> None:
        self.pages: list[tuple[object, ...]] = []
        self.tags: list[tuple[str, int]] = []
        self.entities: list[tuple[str, int]] = []
        self.links: list[tuple[int, str, str, str, str]] = []
        self.chunks: list[tuple[object, ...]] = []

    def add(self, page_id: int, ref: PageRef, file: IndexedFile) -> None:
        """The rows of one file. Where they cannot be made, the file is plain text in one piece: the others go on."""
        text, parsed, fault = read_text(ref, file.content or b"")
        try:
            targets = links(parsed.body, at=ref, relations=relations_of(parsed.frontmatter))
            passages = chunks(parsed.body, first_line=parsed.body_line)
            self._take(page_id, ref, file, Read(text, parsed, fault), targets, passages)
        except UNREADABLE as error:
            parsed = plain_page(text, path=ref.path)
            whole = Chunk("", 1, text.count("\n") + 1, text)
            fault = "; ".join(filter(None, (fault, _as_plain_text(ref, error))))
            self._take(page_id, ref, file, Read(text, parsed, fault), [], [whole])

    def _take(
        self, page_id: int, ref: PageRef, file: IndexedFile, read: Read, targets: list[Link], passages: list[Chunk]
    ) -> None:
        """All rows or none. *Errors*: one of `UNREADABLE` for what JSON or SQLite cannot hold."""
        parsed = read.parsed
        frontmatter = json.dumps(parsed.frontmatter, ensure_ascii=False, allow_nan=False)
        frontmatter.encode("utf-8")  # SQLite would refuse a lone surrogate, and with it the whole batch
        self.pages.append(
            (
                page_id,
                ref.workspace,
                ref.project,
                ref.path,
                file.blob,
                parsed.title,
                parsed.kind,
                parsed.tier,
                parsed.pinned,
                parsed.expires_at_us,
                within_calendar(file.updated_at_us),
                *_span(parsed.frontmatter),
                is_superseded(parsed.frontmatter),
                frontmatter,
                read.text,
                len(read.text) - len(parsed.body),
                read.fault,
            )
        )
        self.tags += [(tag, page_id) for tag in parsed.tags]
        aliases = [alias.lower() for alias in parsed.aliases]
        self.entities += [(name, page_id) for name in (*parsed.entities, *aliases)]
        self.links += [(page_id, link.workspace, link.project, link.path, link.kind) for link in targets]
        words = path_words(ref.path, (*parsed.tags, *parsed.entities, *parsed.aliases))
        around = grams(f"{parsed.title} {words}")
        for order, chunk in enumerate(passages):
            self._add_chunk(page_id, order, (parsed.title, words), chunk, around)
        if parsed.abstract:
            whole = Chunk("", 1, max(1, parsed.body_line - 1), parsed.abstract)
            self._add_chunk(page_id, ABSTRACT_PLACE, (parsed.title, words), whole, around)

    def _add_chunk(self, page_id: int, place: int, named: tuple[str, str], chunk: Chunk, around: str) -> None:
        """`named`: title and path words of its page; `around`: their pairs of Han and Kana."""
        here = f"{around} {grams(chunk.heading)} {grams(chunk.body)}".strip()
        self.chunks.append(
            (
                *(page_id << CHUNK_BITS | place, page_id, place, chunk.start_line, chunk.end_line),
                *(*named, chunk.heading, chunk.body, here),
            )
        )

    def write(self, connection: Connection) -> None:
        if not self.pages:
            return
        connection.executemany(_ADD_PAGES, self.pages)
        connection.executemany(_ADD_TAGS, self.tags)
        connection.executemany(_ADD_ENTITIES, self.entities)
        connection.executemany(_ADD_LINKS, self.links)
        connection.executemany(_ADD_CHUNKS, self.chunks)
        connection.execute(_ADD_TO_FTS, (json.dumps([page[0] for page in self.pages]),))


def is_superseded(frontmatter: Mapping[str, object]) -> bool:
    """Whether a page says that another one took its place, or that it was found wrong."""
    return bool(frontmatter.get("superseded_by")) or frontmatter.get("standing") in ("superseded", "contradicted")


def _span(frontmatter: Mapping[str, object]) -> tuple[int | None, int | None]:
    """When the page holds; a fact without a start holds from when it was recorded."""
    if not any(key in frontmatter for key in ("valid_from", "valid_to", "fact_kind")):
        return None, None
    holds, fact = read_interval(frontmatter), read_fact(frontmatter)
    recorded_us = fact.recorded_at_us if fact is not None else None
    return recorded_us if holds.start_us is None else holds.start_us, holds.end_us


def read_text(ref: PageRef, content: bytes) -> Read:
    """Text of a file, what it says, and what is wrong with it ("" when nothing is). Never raises."""
    faults = []
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        text = content.decode("utf-8", "replace")
        faults.append(f"{ref.path} is not UTF-8 at byte {error.start}")
    try:
        parsed = parse_leniently(text, path=ref.path)
    except UNREADABLE as error:
        parsed = plain_page(text, path=ref.path)
        faults.append(_as_plain_text(ref, error))
    return Read(text, parsed, "; ".join((*faults, *parsed.problems)))


def _as_plain_text(ref: PageRef, error: Exception) -> str:
    return f"{ref.path} is read as plain text: {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def path_words(path: str, names: Iterable[str]) -> str:
    """What a page's address, tags, entities and aliases say, as words: whole segments, then their parts."""
    segments = path.removesuffix(".md").replace("/", " ").replace(".", " ")
    parts = segments.replace("-", " ").replace("_", " ")
    return " ".join([segments, parts if parts != segments else "", *names]).strip()


def vanished(connection: Connection) -> dict[str, int]:
    """Files that were missing at the last look, with the time of the first look."""
    rows = connection.execute("SELECT git_path, first_seen_us FROM vanished").fetchall()
    return {path: first_us for path, first_us in rows if isinstance(path, str) and isinstance(first_us, int)}


def write_vanished(connection: Connection, seen: Mapping[str, int]) -> None:
    """Replace the list, in a transaction of its own."""
    with transaction(connection):
        set_vanished(connection, seen)


def set_vanished(connection: Connection, seen: Mapping[str, int]) -> None:
    connection.execute("DELETE FROM vanished")
    connection.executemany("INSERT INTO vanished (git_path, first_seen_us) VALUES (?, ?)", sorted(seen.items()))


def files_to_index(
    blobs: Iterable[tuple[str, str | None]], *, read: Callable[[str], bytes], times: Mapping[str, int]
) -> Iterator[IndexedFile]:
    """Files to put, from (git path, new blob) pairs; blobs of what is no page are not read."""
    for git_path, blob in blobs:
        if is_ours(git_path):
            content = read(blob) if blob is not None else None
            yield IndexedFile(git_path, blob, content, times.get(git_path, 0))
