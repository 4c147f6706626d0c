"""What prompts are looked up in, made of a project's pages where `[recall] on_prompt` is on; kept in `outbox/lookup/`.

`<project key>.txt`, one of each project in whose folders sessions start, read by `ai_memory.hook_lookup`:

    {"v": 1, "head", "made_of", "place", "passages", "left_out", "average", "rows_at", "lines_at"}     one line
    <term> TAB <passage>:<how often> …                sorted by the bytes of the terms, one line a term
    <offset> <words> <standing>                       one row of 24 bytes a passage: where its line begins, after
                                                      `lines_at`; how long it is; its page's standing, in thousandths
    [page, git path, size, mtime_ns, from_us, until_us, is_order, title, text]       one line a passage, as JSON

`rows_at` and `lines_at` count from the end of the first line. Every text is sanitised, on one line, without angle
brackets. Size and time are those of the page's file: a hook shows nothing of a page that is gone or another one now.
Crash: safe at any point; each file is whole or not there.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ai_memory.capture.page_files import file_holds, stamp_of
from ai_memory.hook_lookup import MAX_FILE_BYTES, ROW_BYTES
from ai_memory.hook_policy import read_settings
from ai_memory.hook_terms import words
from ai_memory.model import Page
from ai_memory.search.authority import authority
from ai_memory.store.memory import Memory
from ai_memory.store.outbox import MADE, Outbox, lookup_name
from ai_memory.store.snapshot import Snapshot
from ai_memory.store.standing import told_at_prompts
from ai_memory.text.chunks import chunks
from ai_memory.text.facts import Standing, read_fact, read_interval
from ai_memory.text.fences import neutralise, without_elements
from ai_memory.text.injection import is_order_shaped
from ai_memory.text.plain import clip, plain, plain_line
from ai_memory.text.sanitize import OwnPatterns, sanitize

FORMAT = 1
MAX_PAGES = 2_000
MAX_PASSAGES = 4_000
MAX_OF_PAGE = 8
"""Passages of one page, from its beginning. Beyond these bounds, and those of the file, whatever stands lowest and is
oldest is left out."""
TITLE_BYTES = 100
_TEXT_BYTES = 700

Project = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """One passage: what is looked up, and its line."""

    terms: tuple[str, ...]
    standing: int
    line: bytes


class Lookups:
    """Brings the files of one data dir up to date, at the end of a drain."""

    def __init__(self, memory: Memory, outbox: Outbox, own: OwnPatterns) -> None:
        self._memory = memory
        self._outbox = outbox
        self._own = own

    def renew(self) -> int:
        """How many files were written. Where prompts are not looked up, none stays.

        Errors: MemoryFault, DatabaseError, OSError; the next call does what is left.
        """
        policy, _ = read_settings(str(self._memory.data_dir.root))
        projects = self._projects() if policy.recalls and self._memory.exists else {}
        for name in self._outbox.names_in("lookup"):
            if name not in projects:
                self._outbox.remove(name)
        if not projects:
            return 0
        with self._memory.reading() as snapshot:
            return sum(self._renew_project(snapshot, name, project) for name, project in projects.items())

    def _projects(self) -> dict[str, Project]:
        """Name of its file → each project that a folder in `starts/` belongs to."""
        found: dict[str, Project] = {}
        for name in self._outbox.names_in("starts"):
            if name.endswith(".brief.json") or name == MADE:
                continue
            entry = _object(self._outbox.read(name))
            if entry.get("project"):
                place = str(entry.get("workspace")), str(entry.get("project"))
                found[lookup_name(*place)] = place
        return found

    def _renew_project(self, snapshot: Snapshot, name: str, project: Project) -> int:
        now_us = self._memory.clock()
        present = _object((self._outbox.read(name) or "").partition("\n")[0])
        refs = told_at_prompts(snapshot, *project, now_us=now_us)
        wiki = self._memory.data_dir.wiki
        stamps = {ref: stamp_of(wiki, ref.git_path) for ref, _ in refs[:MAX_PAGES]}
        made_of = _digest((FORMAT, self._own, refs, list(stamps.values())))
        if present.get("made_of") == made_of:
            return 0
        entries: list[Entry] = []
        for ref, stamp in stamps.items():
            page = snapshot.page(ref)
            if page is not None and _is_told(page) and file_holds(wiki, ref.git_path, page.version):
                entries += entries_of(page, stamp, self._own)
        head = {"v": FORMAT, "head": snapshot.head or "", "made_of": made_of, "place": "/".join(project)}
        self._outbox.put(name, render(head, entries, left_out=max(0, len(refs) - MAX_PAGES)))
        return 1


def _is_told(page: Page) -> bool:
    """Whether it may be told unasked: no fact that nobody looked at, or that was taken back."""
    fact = read_fact(page.frontmatter)
    return fact is None or fact.standing is Standing.SUPPORTED


def entries_of(page: Page, stamp: tuple[int, int], own: OwnPatterns) -> Iterator[Entry]:
    """The page's passages, ready to be shown. Errors: TooSlow, for a person's own patterns."""
    body = sanitize(page.body, extra=own.extra, allow=own.allow)
    title = clip(_line(plain_line(sanitize(page.title, extra=own.extra, allow=own.allow))), TITLE_BYTES)
    holds = read_interval(page.frontmatter)
    until_us = min((at for at in (holds.end_us, page.expires_at_us) if at is not None), default=0)
    factor = authority(page.ref.path, page.kind, str(page.tier), page.tags, is_pinned=page.pinned)
    named = _digest(page.ref.git_path)[:16]
    for passage in chunks(body)[:MAX_OF_PAGE]:
        text = clip(_line(plain(passage.body)), _TEXT_BYTES)
        if not text:
            continue
        is_order = is_order_shaped(passage.body)
        told = [named, page.ref.git_path, *stamp, holds.start_us or 0, until_us, is_order, title, text]
        terms = words(f"{page.title}\n{passage.heading}\n{text}")
        line = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        yield Entry(tuple(terms), int(1000 * factor), line)


def render(head: dict[str, object], entries: Iterable[Entry], *, left_out: int) -> str:
    """The file's text. Entries without room are left out from the end; `left_out`: pages that were left out before."""
    kept, size_bytes = [], 0
    given = list(entries)
    for entry in given[:MAX_PASSAGES]:
        size_bytes += len(entry.line) + ROW_BYTES + sum(len(term.encode()) + 9 for term in set(entry.terms))
        if size_bytes > MAX_FILE_BYTES - 4096:
            break
        kept.append(entry)
    postings: dict[str, list[str]] = {}
    rows, at = [], 0
    for number, entry in enumerate(kept):
        for term, count in Counter(entry.terms).items():
            postings.setdefault(term, []).append(f"{number}:{count}")
        rows.append(f"{at:08d} {min(len(entry.terms), 9_999_999):07d} {entry.standing:06d}\n")
        at += len(entry.line)
    terms = b"".join(f"{term}\t{' '.join(postings[term])}\n".encode() for term in sorted(postings, key=str.encode))
    table = "".join(rows).encode()
    told = head | {
        "passages": len(kept),
        "left_out": left_out + len(given) - len(kept),
        "average": round(sum(len(entry.terms) for entry in kept) / max(1, len(kept)), 2) or 1.0,
        "rows_at": len(terms),
        "lines_at": len(terms) + len(table),
    }
    first = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
    return b"".join((first, terms, table, *(entry.line for entry in kept))).decode()


def _line(text: str) -> str:
    """One line that closes no fence and opens no tag."""
    return " ".join(without_elements(neutralise(text)).split())


def _digest(made_of: object) -> str:
    return hashlib.sha256(repr(made_of).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _object(text: str | None) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
