"""Taking records of another program in, by a mapping: as facts or as pages. See `docs/sources.md`."""

from collections import Counter
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import LockBusy, MemoryFault, NotFound, UsageFault
from ai_memory.model import PageRef, Sanitized, Scope
from ai_memory.operations.cleaning import clean, patterns
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.importing import some_lines
from ai_memory.operations.json_folder import content_of, records_in
from ai_memory.operations.meanwhile import look_again
from ai_memory.operations.named_paths import named_path
from ai_memory.operations.record_pages import (
    Draft,
    Scrubber,
    amended,
    draft,
    is_closed,
    is_edited,
    new_fact,
    new_path,
    new_text,
    retired,
)
from ai_memory.operations.rows import VERSION_SHOWN
from ai_memory.operations.scoping import resolve
from ai_memory.operations.setup import no_progress
from ai_memory.patience import NoAnswer, Patience
from ai_memory.plainfile import open_plain
from ai_memory.scrub import TooSlow
from ai_memory.store.fact_rows import add_evidence
from ai_memory.store.imported_pages import Owned, pages_of_source, taken_in
from ai_memory.text.facts import Fact, read_fact
from ai_memory.text.mapped_records import (
    BadRecord,
    Revision,
    content_name,
    is_wanted,
    latest,
    mapped,
    revision,
)
from ai_memory.text.record_mapping import Mapping, read_mapping

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory
    from ai_memory.store.snapshot import Snapshot

Progress = Callable[[int, int], None]
Outcome = Literal["created", "changed", "unchanged", "retired", "left"]
OUTCOMES: tuple[Outcome, ...] = ("created", "changed", "unchanged", "retired", "left")

LARGEST_MAPPING = 256 << 10
STALLED_S = 60.0
"""A file, or the list of all, that takes longer lies on a mount that is gone. 64 MB are parsed in a tenth of that."""
MOST_WRITTEN = 64 << 20
"""Bytes of all pages of one run: they pass through the redo log at once."""


@dataclass(frozen=True, slots=True)
class RecordRow:
    """One record and what became of it, or would."""

    source: str
    """File and number of the record; empty for one that its source no longer has."""
    id: str
    """The record's own."""
    path: str
    kind: str
    outcome: Outcome
    notes: tuple[str, ...]
    """What was odd about it."""


@dataclass(frozen=True, slots=True)
class ImportedRecords:
    scope: Scope
    outcome: Literal["imported", "would_import"]
    source: str
    """The mapping's namespace."""
    records: tuple[RecordRow, ...]
    counts: AnyMapping[str, int]
    """Records by outcome, and those that the mapping drops."""
    is_complete: bool
    """Whether every record there is was read: only then may any be retired."""
    left: tuple[str, ...]
    """Files and records that were not taken, with the reason."""
    commit: str | None = None
    gaps: tuple[str, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class _Plan:
    row: RecordRow
    text: Sanitized | None = None
    """None: nothing is written."""
    version: str | None = None
    """Of the page that it replaces."""
    fact: Fact | None = None
    """Of a new page: its evidence is to be noted."""


@dataclass(slots=True)
class _Snapshot:
    """What a source says now: the records that are wanted, and what kept this from being all."""

    wanted: list[tuple[str, Revision]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    """Ids of wanted records, also of those that could not be taken."""
    dropped: int = 0
    faults: list[str] = field(default_factory=list)


def import_json(
    memory: "Memory",
    *,
    mapping: Annotated[str, Field("TOML file that says what becomes what", metavar="FILE")],
    root: Annotated[str, Field("folder of .json and .jsonl files", metavar="DIR")],
    authoritative: Annotated[bool, Field("close what the folder no longer lists, if all of it could be read")] = False,
    dry_run: Annotated[bool, Field("only show what would be written")] = False,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Progress = no_progress,
) -> ImportedRecords:
    """Take JSON records of another program in, as facts or pages. A second run writes only what changed.
    They wait for review like everything that nobody said or saw.
    """
    file = named_path(memory, mapping)
    rules = read_mapping(mapping_text(file), name=file.name)
    folder = folder_of_records(memory, named_path(memory, root))
    scope = resolve(memory, workspace, project, write=True)
    return taken_from(memory, scope, rules, folder, progress, authoritative=authoritative, dry_run=dry_run)


def taken_from(
    memory: "Memory",
    scope: Scope,
    rules: Mapping,
    folder: Path,
    progress: Progress,
    *,
    authoritative: bool,
    dry_run: bool = False,
) -> ImportedRecords:
    """What one look at the folder wrote, or would. *Errors*: MemoryFault; LockBusy while another process looks.

    One look at a time: of two that read one folder, the earlier must not take back what the later one saw.
    """

    def look() -> ImportedRecords:
        with Patience(STALLED_S) as patience:
            one = _Import(memory, scope, rules, folder, progress, patience)
            return one.run(authoritative=authoritative, dry_run=dry_run)

    try:
        if dry_run:
            return look()
        with memory.reading_records_alone() as is_mine:
            if not is_mine:
                raise LockBusy("another command reads records just now", hint="try again when it is done")
            return look_again(look)
    except NoAnswer as fault:
        raise MemoryFault(
            f"{fault}: nothing was written, nothing retired", hint="is it on a mount that is gone?"
        ) from fault


def folder_of_records(memory: "Memory", folder: Path) -> Path:
    """The folder, if records may be read there. *Errors*: NotFound, UsageFault."""
    if not folder.is_dir():
        raise NotFound(
            f"{folder} is no folder: nothing was written, nothing retired", hint="name the folder of records"
        )
    if folder.resolve().is_relative_to(memory.data_dir.root.resolve()):
        raise UsageFault(f"{folder} lies in the data dir", hint="name a folder of another program")
    return folder


def mapping_text(file: Path) -> str:
    """The text of a mapping's file. *Errors*: UsageFault, NotFound."""
    try:
        with open_plain(file) as opened:
            content = opened.read(LARGEST_MAPPING + 1)
        text = content.decode("utf-8-sig")
    except OSError as fault:
        raise NotFound(f"{file}: {fault.strerror or fault}", hint="name the TOML file of the mapping") from fault
    except UnicodeDecodeError as fault:
        raise UsageFault(f"{file} is not UTF-8", hint="save it as UTF-8") from fault
    if len(content) > LARGEST_MAPPING:
        raise UsageFault(f"{file} is larger than {LARGEST_MAPPING >> 10} KB", hint="is it the mapping?")
    return text


class _Import:
    """One run."""

    def __init__(
        self,
        memory: "Memory",
        scope: Scope,
        rules: Mapping,
        root: Path,
        progress: Progress,
        patience: Patience,
    ) -> None:
        self._memory = memory
        self._scope = scope
        self._rules = rules
        self._root = root
        self._progress = progress
        self._patience = patience
        self._scrubber = Scrubber(*patterns(memory))
        self._now_us = memory.clock()

    def run(self, *, authoritative: bool, dry_run: bool) -> ImportedRecords:
        said = self._read(is_authoritative=authoritative)
        if not dry_run:
            self._memory.adopt()  # what was edited by hand just now is a person's, too
        with self._memory.reading() as snapshot:
            plans = self._planned(snapshot, said, authoritative=authoritative)
            gaps = tuple(snapshot.gaps)
        if said.faults and authoritative:
            gaps += ("nothing was retired, since not every record could be read",)
        counts = Counter[str](plan.row.outcome for plan in plans)
        answer = ImportedRecords(
            self._scope,
            "would_import",
            self._rules.namespace,
            tuple(plan.row for plan in plans),
            {**{outcome: counts[outcome] for outcome in OUTCOMES}, "dropped": said.dropped},
            not said.faults,
            tuple(said.faults),
            gaps=gaps,
        )
        if dry_run:
            return answer
        return replace(answer, outcome="imported", commit=self._written(plans, counts))

    def _read(self, *, is_authoritative: bool) -> _Snapshot:
        """Newest revisions first, then the mapping's choice: a newer one that is dropped does not revive an older."""
        apart = self._memory.data_dir.root.resolve()
        records = records_in(
            self._root,
            self._rules,
            self._progress,
            patience=self._patience,
            apart=apart,
            is_authoritative=is_authoritative,
        )
        said = _Snapshot(faults=records.faults)
        revisions: list[Revision] = []
        places: dict[int, str] = {}
        broken: set[str] = set()
        for one in records.found:
            try:
                read = revision(self._rules, one.record)
            except BadRecord as fault:
                said.faults.append(f"{one.place}: {fault.message}")
                broken |= _id_at_least(self._rules, one.record)
                continue
            places[id(read)] = one.place
            revisions.append(read)
        for read in latest(revisions) if self._rules.latest_per_id else revisions:
            if not is_wanted(self._rules, read.record):
                said.dropped += 1
            elif read.id in broken:
                said.seen.add(read.id)
            elif read.id in said.seen:
                said.faults.append(f"{places[id(read)]}: another record has the id {read.id}; see latestPerId")
            else:
                said.seen.add(read.id)
                said.wanted.append((places[id(read)], read))
        return said

    def _planned(self, snapshot: "Snapshot", said: _Snapshot, *, authoritative: bool) -> list[_Plan]:
        place = (self._scope.workspace, self._scope.project)
        owned = pages_of_source(snapshot.index, *place, self._rules.namespace)
        live: dict[str, Owned] = {}
        for one in sorted(owned, key=lambda one: (bool(one.origin("withdrawn_at")), one.ref.path)):
            if not one.origin("withdrawn_at"):
                live.setdefault(one.origin("id"), one)
        paths, ids = taken_in(snapshot.index, *place)
        plans: list[_Plan] = []
        for where, read in said.wanted:
            try:
                drafted = self._draft(read)
                there = live.get(read.id)
                if there is None:
                    plans.append(self._new(where, drafted, paths, ids))
                else:
                    plans.append(self._again(snapshot, where, drafted, there))
            except (MemoryFault, TooSlow) as fault:
                said.faults.append(f"{where}: {fault.message if isinstance(fault, MemoryFault) else fault}")
        if authoritative and not said.faults:
            gone = [one for identifier, one in live.items() if identifier not in said.seen and not is_closed(one)]
            plans += [self._retired(snapshot, one) for one in gone]
        return plans

    def _draft(self, read: Revision) -> Draft:
        name = content_name(self._rules, read.record)
        content = None
        if self._rules.content_from is not None and name:
            source = self._rules.content_from
            try:
                wanted = partial(content_of, self._root, source.dir, name, source.max_bytes)
                content = self._patience.ask(f"{source.dir}/{name}", wanted).decode("utf-8-sig")
            except UnicodeDecodeError as fault:
                raise BadRecord(f"{source.dir}/{name} is not UTF-8") from fault
            except OSError as fault:
                raise BadRecord(f"{source.dir}/{name}: {fault.strerror or fault}") from fault
        if self._scrubber(read.id) != read.id:
            raise BadRecord("its id holds what looks like a secret")
        one = mapped(self._rules, read, content)
        is_fact = self._rules.makes_facts
        return draft(self._rules.namespace, one, self._scrubber, max_chars=self._rules.max_chars, is_fact=is_fact)

    def _new(self, where: str, one: Draft, paths: set[str], ids: set[str]) -> _Plan:
        fact = new_fact(one, ids, now_us=self._now_us) if one.statement else None
        path = new_path(one, fact, paths)
        text = clean(self._memory, new_text(one, fact))
        paths.add(path)
        if fact is not None:
            ids.add(fact.id)
        return _Plan(RecordRow(where, one.record.id, path, one.record.kind, "created", one.notes), text, fact=fact)

    def _again(self, snapshot: "Snapshot", where: str, one: Draft, owned: Owned) -> _Plan:
        row = RecordRow(where, one.record.id, owned.ref.path, one.record.kind, "unchanged", one.notes)
        if owned.origin("record") == one.fingerprint:
            return _Plan(row)
        page = snapshot.page(owned.ref)
        why = _in_the_way(one, owned, page.text if page else "")
        if page is None or why:
            return _Plan(replace(row, outcome="left", notes=(*one.notes, why)))
        text, _ = amended(one, owned, page.text)
        return _Plan(replace(row, outcome="changed"), clean(self._memory, text, before=page.text), owned.version)

    def _retired(self, snapshot: "Snapshot", owned: Owned) -> _Plan:
        kind = owned.keys.get("fact_kind") or owned.keys.get("kind")
        row = RecordRow("", owned.origin("id"), owned.ref.path, str(kind), "retired", ())
        page = snapshot.page(owned.ref)
        if page is None or owned.pinned:
            return _Plan(replace(row, outcome="left", notes=("its source no longer lists it, but it is pinned",)))
        text = retired(owned, page.text, self._rules.namespace, now_us=self._now_us)
        return _Plan(row, clean(self._memory, text, before=page.text), owned.version)

    def _written(self, plans: list[_Plan], counts: AnyMapping[str, int]) -> str | None:
        """All of it in one commit, so that no reader sees half of what a source says."""
        writing = [plan for plan in plans if plan.text is not None]
        if not writing:
            return None
        if sum(len(plan.text or "") for plan in writing) > MOST_WRITTEN:
            raise UsageFault(
                f"these pages are more than {MOST_WRITTEN >> 20} MB: nothing was written",
                hint="name a smaller root, or a smaller maxChars",
            )
        told = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("created", "changed", "retired"))
        with self._memory.writing(f"import json {self._rules.namespace}: {told}") as change:
            change.ensure_project(self._scope)
            for plan in writing:
                assert plan.text is not None
                ref = PageRef(self._scope.workspace, self._scope.project, plan.row.path)
                change.put(ref, plan.text, expected_version=plan.version, create_only=plan.version is None)
                if plan.fact is not None:
                    add_evidence(change, ref, plan.fact, self._now_us)
        return change.committed.commit if change.committed is not None else None


def _in_the_way(one: Draft, owned: Owned, text: str) -> str:
    """Why a page of a changed record is not touched; empty if nothing is in the way."""
    if owned.pinned:
        return "it changed, but its page is pinned"
    if (read_fact(owned.keys) is None) == bool(one.statement):
        return "its page is of the other sort now: `as` of the mapping was changed"
    if is_closed(owned):
        return "it changed, but its fact was closed by a person"
    if is_edited(owned, text):
        return "it changed, but its page was edited since"
    return ""


def _id_at_least(rules: Mapping, record: object) -> set[str]:
    """The id of a record that is broken otherwise: no older revision of it may be taken for the newest."""
    try:
        return {revision(replace(rules, observed_at=()), record).id}
    except BadRecord:
        return set()


def imported_records_text(result: ImportedRecords) -> str:
    """Counts, what was odd, what was left."""
    verb = "imported" if result.outcome == "imported" else "would import"
    told = ", ".join(f"{number} {word}" for word, number in result.counts.items() if number)
    lines = [f"{verb} from {result.source}: {told or 'nothing'}"]
    if result.commit:
        lines[0] += f" · commit {result.commit[:VERSION_SHOWN]}"
    if not result.is_complete:
        lines.append("not every record could be read")
    lines += some_lines([f"{row.source or row.id}: {'; '.join(row.notes)}" for row in result.records if row.notes])
    lines += some_lines([f"left out {line}" for line in result.left])
    return "\n".join(lines)
