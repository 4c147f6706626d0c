"""Taking a folder of markdown in: what `export` wrote, an Obsidian vault, a tree of docs."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import Conflict, MemoryFault, UsageFault
from ai_memory.model import PageRef, Sanitized, Scope
from ai_memory.operations.cleaning import patterns, refuse_secrets, told_changes
from ai_memory.operations.export import FORMAT, MANIFEST
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.named_paths import named_path
from ai_memory.operations.rows import VERSION_SHOWN, Address, label_from
from ai_memory.operations.scoping import resolve
from ai_memory.operations.setup import no_progress
from ai_memory.operations.source_folder import Found, SourceFile, files_in
from ai_memory.store.blobs import blob_id
from ai_memory.store.state import purged_since
from ai_memory.text.foreign_bytes import as_bytes, as_text
from ai_memory.text.names import check_name, check_page_path
from ai_memory.text.page import parse
from ai_memory.text.sanitize import sanitize_edit
from ai_memory.text.sync_copies import copied_from
from ai_memory.text.vault import Vault, portable_paths

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

Progress = Callable[[int, int], None]
Outcome = Literal["created", "changed", "unchanged", "skipped", "conflict", "duplicate"]

BATCH_PAGES = 500
BATCH_BYTES = 8 << 20
"""Of one commit: its texts pass through the redo log, and others wait for the lock meanwhile."""

ODD_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ImportRow:
    """One file and what became of it, or would."""

    source: str
    workspace: str
    project: str
    path: str
    outcome: Outcome
    relinked: int
    """Lines whose links were changed to lead to the same page here."""
    notes: tuple[str, ...]
    """What was odd about it."""


@dataclass(frozen=True, slots=True)
class Imported:
    scope: Scope | None
    outcome: Literal["imported", "would_import", "blocked"]
    pages: tuple[ImportRow, ...]
    counts: Mapping[str, int]
    """Files by outcome."""
    left: tuple[str, ...]
    """Files that were not taken, with the reason."""
    commits: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return Conflict.exit_code if self.outcome == "blocked" else 0


@dataclass(frozen=True, slots=True)
class _Plan:
    """One page that shall be written."""

    row: ImportRow
    text: Sanitized
    is_utf8: bool
    version: str | None
    """Of the page that it replaces."""

    @property
    def ref(self) -> PageRef:
        return PageRef(self.row.workspace, self.row.project, self.row.path)


def import_pages(
    memory: "Memory",
    *,
    folder: Annotated[str, Field("folder of markdown, or what `export` wrote", positional=True)],
    into: Annotated[str, Field("folder of the project to put them below", metavar="PATH")] = "",
    conflict: Annotated[
        Literal["block", "skip", "overwrite", "duplicate"],
        Field("where another page has the path: stop, leave it, replace it, or write beside it"),
    ] = "block",
    dry_run: Annotated[bool, Field("only show what would be written")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Progress = no_progress,
) -> Imported:
    """Take a folder of markdown files in as pages: an Obsidian vault, a tree of docs, or what `export` wrote.
    Links follow, odd names and files are told. A second run changes nothing.
    """
    source = named_path(memory, folder)
    refuse_secrets(memory, into=into)
    if not source.is_dir():
        raise UsageFault(f"{source} is no folder", hint="name a folder of markdown files")
    if source.resolve().is_relative_to(memory.data_dir.root.resolve()):
        raise UsageFault(f"{source} lies in the data dir", hint="its pages are there already: see `ai-memory move`")
    recorded = _recorded(source)
    if recorded is not None:
        if workspace or project or into:
            raise UsageFault(
                "what `export` wrote goes where it was", hint="leave --project, --workspace and --into out"
            )
        return _Import(memory, None, conflict, progress).take_back(source, recorded, dry_run=dry_run)
    scope = resolve(memory, workspace, project, write=True)
    prefix = check_page_path(f"{into.strip('/')}/x").removesuffix("x.md") if into.strip("/") else ""
    return _Import(memory, scope, conflict, progress).take_in(source, prefix, dry_run=dry_run)


def _recorded(source: Path) -> dict[str, str] | None:
    """What `export` noted there: per path the SHA-256 of the file; None where it was not `export` who wrote it."""
    try:
        record = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
        if record["format"] != FORMAT:
            return None
        return {str(row["path"]): str(row["sha256"]) for row in record["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


class _Import:
    """One import on its way."""

    def __init__(self, memory: "Memory", scope: Scope | None, conflict: str, progress: Progress) -> None:
        self._memory = memory
        self._scope = scope
        self._conflict = conflict
        self._progress = progress
        self._extra, self._allow = patterns(memory)
        self._metas: dict[tuple[str, str], Sanitized] = {}
        self._purged = _tombstones(memory)

    def take_in(self, source: Path, prefix: str, *, dry_run: bool) -> Imported:
        """Files of another program, with their links rewritten."""
        assert self._scope is not None
        place = (self._scope.workspace, self._scope.project)
        found = _without_copies(files_in(source))
        places = {path: prefix + new for path, new in portable_paths(file.path for file in found.files).items()}
        vault = Vault(places, at=place)
        plans = []
        with self._memory.reading() as snapshot:
            for number, file in enumerate(found.files, start=1):
                text, is_utf8 = as_text(file.content)
                made = vault.rewritten(file.path, places[file.path], text)
                row = ImportRow(file.path, *place, places[file.path], "created", made.changed, ())
                notes = [f"the link {link!r} may mean several pages" for link in made.ambiguous]
                if places[file.path] != prefix + file.path:
                    notes.insert(0, "its path was changed to one that every disk can hold")
                plans.append(self._plan(snapshot, row, file, made.text, notes, is_utf8=is_utf8))
                self._progress(number, len(found.files))
        return self._done(plans, found, dry_run=dry_run)

    def take_back(self, source: Path, recorded: dict[str, str], *, dry_run: bool) -> Imported:
        """Files that `export` wrote, byte for byte to where they were."""
        found = files_in(source, known=frozenset({MANIFEST}))
        plans, left = [], list(found.left)
        with self._memory.reading() as snapshot:
            for number, file in enumerate(found.files, start=1):
                text, is_utf8 = as_text(file.content)
                changed = recorded.get(file.path) != hashlib.sha256(file.content).hexdigest()
                notes = ["changed since it was exported"] if changed else []
                parts = file.path.split("/", 2)
                try:
                    check_name(parts[0], what="workspace")
                    check_name(parts[1] if len(parts) == 3 else "")
                    if parts[2] == "_meta.md":
                        self._metas[parts[0], parts[1]] = self._clean(text)
                        continue
                    row = ImportRow(file.path, parts[0], parts[1], check_page_path(parts[2]), "created", 0, ())
                except MemoryFault as fault:
                    left.append(f"{file.path}: {fault.message}")
                    continue
                plans.append(self._plan(snapshot, row, file, text, notes, is_utf8=is_utf8))
                self._progress(number, len(found.files))
        left += [
            f"{path}: it was exported and is gone" for path in sorted(recorded.keys() - {f.path for f in found.files})
        ]
        return self._done(plans, replace(found, left=tuple(left)), dry_run=dry_run)

    def _clean(self, text: str) -> Sanitized:
        return sanitize_edit("", text, extra=self._extra, allow=self._allow)

    def _plan(
        self, snapshot: "Snapshot", row: ImportRow, file: SourceFile, text: str, notes: list[str], *, is_utf8: bool
    ) -> _Plan:
        kept = self._clean(text)
        notes += [note.removesuffix(" before the page was written") for note in told_changes([(text, kept)])]
        notes += _oddities(kept, row.path, is_utf8=is_utf8)
        row = replace(row, notes=(*file.notes, *notes))
        ref = PageRef(row.workspace, row.project, row.path)
        there = snapshot.page(ref)
        blob = blob_id(as_bytes(kept, is_utf8=is_utf8))
        if there is None and blob in self._purged:
            told = "it was purged: write it with `ai-memory write-page` if you want it back"
            return _Plan(replace(row, outcome="skipped", notes=(*row.notes, told)), kept, is_utf8, None)
        if there is None:
            return _Plan(row, kept, is_utf8, None)
        if blob == there.version:
            return _Plan(replace(row, outcome="unchanged"), kept, is_utf8, there.version)
        match self._conflict:
            case "overwrite":
                return _Plan(replace(row, outcome="changed"), kept, is_utf8, there.version)
            case "duplicate":
                return self._beside(snapshot, row, kept, is_utf8=is_utf8)
            case "skip":
                return _Plan(replace(row, outcome="skipped"), kept, is_utf8, there.version)
        return _Plan(replace(row, outcome="conflict"), kept, is_utf8, there.version)

    def _beside(self, snapshot: "Snapshot", row: ImportRow, kept: Sanitized, *, is_utf8: bool) -> _Plan:
        """The page under a name that is free, or that holds it already since an earlier run."""
        stem, number = row.path.removesuffix(".md"), 1
        while True:
            path = f"{stem}-imported{'' if number == 1 else f'-{number}'}.md"
            there = snapshot.page(PageRef(row.workspace, row.project, path))
            if there is None:
                return _Plan(replace(row, path=path, outcome="duplicate"), kept, is_utf8, None)
            if blob_id(as_bytes(kept, is_utf8=is_utf8)) == there.version:
                return _Plan(replace(row, path=path, outcome="unchanged"), kept, is_utf8, there.version)
            number += 1

    def _done(self, plans: list[_Plan], found: Found, *, dry_run: bool) -> Imported:
        rows = tuple(plan.row for plan in plans)
        counts = dict(sorted(Counter[str](row.outcome for row in rows).items()))
        answer = Imported(self._scope, "would_import", rows, counts, found.left, gaps=found.gaps)
        if counts.get("conflict"):
            return replace(answer, outcome="blocked")
        if dry_run:
            return answer
        return replace(answer, outcome="imported", commits=tuple(self._write(plans)))

    def _write(self, plans: list[_Plan]) -> Iterator[str]:
        writing = [plan for plan in plans if plan.row.outcome in ("created", "changed", "duplicate")]
        for number, batch in enumerate(_batches(writing)):
            if number:
                self._memory.give_way()
            with self._memory.writing(f"import {len(batch)} pages") as change:
                if self._scope is not None:
                    change.ensure_project(self._scope)
                for place in sorted({(plan.row.workspace, plan.row.project) for plan in batch}):
                    if place not in self._metas or not change.bring_in_project(*place, self._metas[place]):
                        change.ensure_project_named(*place)
                for plan in batch:
                    change.bring_in(plan.ref, plan.text, is_utf8=plan.is_utf8, expected_version=plan.version)
            if change.committed is not None and change.committed.commit is not None:
                yield change.committed.commit


def _tombstones(memory: "Memory") -> frozenset[str]:
    """Ids of texts of pages that were purged."""
    with memory.state_reading() as connection:
        return frozenset(purged_since(connection, 0)) if connection is not None else frozenset()


def _without_copies(found: Found) -> Found:
    """Copies that a sync program made at a conflict are left, as they are in the wiki folder."""
    copies = {file.path: copied_from(file.path) for file in found.files}
    left = [f"{path}: a copy that a sync program kept beside {copy[1]}" for path, copy in copies.items() if copy]
    files = tuple(file for file in found.files if copies[file.path] is None)
    return replace(found, files=files, left=tuple(sorted([*found.left, *left])))


def _oddities(text: str, path: str, *, is_utf8: bool) -> list[str]:
    if not is_utf8:
        return ["it is not UTF-8: kept byte for byte, what cannot be read is not found"]
    try:
        parse(text, path=path)
    except MemoryFault as fault:
        return [f"kept as plain text: {fault.message}"]
    return []


def _batches(plans: list[_Plan]) -> Iterator[list[_Plan]]:
    batch: list[_Plan] = []
    size = 0
    for plan in plans:
        if batch and (len(batch) >= BATCH_PAGES or size + len(plan.text) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(plan)
        size += len(plan.text)
    if batch:
        yield batch


def imported_text(result: Imported) -> str:
    """Counts, conflicts, what was odd, what was left."""
    verb = {"imported": "imported", "would_import": "would import", "blocked": "nothing was imported:"}[result.outcome]
    lines = [f"{verb} {', '.join(f'{number} {word}' for word, number in result.counts.items()) or 'nothing'}"]
    if result.commits:
        lines[0] += f" · commit {', '.join(commit[:VERSION_SHOWN] for commit in result.commits)}"
    clashes = [f"another page lies at {_name(row, result.scope)}" for row in result.pages if row.outcome == "conflict"]
    if clashes:
        lines += [*some_lines(clashes), "say what to do: --conflict skip, overwrite or duplicate"]
    odd = [f"{row.source}: {'; '.join(row.notes)}" for row in result.pages if row.notes]
    lines += some_lines(odd)
    lines += some_lines([f"left out {line}" for line in result.left])
    relinked = sum(row.relinked for row in result.pages)
    if relinked:
        lines.append(f"links were changed in {relinked} lines")
    return "\n".join(lines)


def _name(row: ImportRow, scope: Scope | None) -> str:
    return label_from(Address(row.workspace, row.project, row.path), scope)


def some_lines(lines: list[str]) -> list[str]:
    """The first of them, and how many more there are."""
    more = [f"and {len(lines) - ODD_SHOWN} more: --json lists all"] if len(lines) > ODD_SHOWN else []
    return [*lines[:ODD_SHOWN], *more]
