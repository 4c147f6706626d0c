"""Sources: mappings that are kept, and folders that are read again. See `docs/sources.md`."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.errors import Conflict, LockBusy, MemoryFault, NotFound, UsageFault, echo
from ai_memory.operations.cleaning import clean, refuse_secrets
from ai_memory.operations.field import Field, ProjectName, Workspace
from ai_memory.operations.import_json import ImportedRecords, folder_of_records, mapping_text, taken_from
from ai_memory.operations.named_paths import named_path
from ai_memory.operations.scoping import resolve
from ai_memory.operations.setup import no_progress
from ai_memory.patience import NoAnswer, Patience
from ai_memory.store import sources as store
from ai_memory.store.sources import Source
from ai_memory.text.record_mapping import read_mapping
from ai_memory.text.times import SECOND_US, parse_duration

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

Progress = Callable[[int, int], None]

LEAST_EVERY_US = 300 * SECOND_US
"""Between two looks: more would be work for nothing."""
ANSWER_S = 5.0
"""A folder that does not answer in so long lies on a mount that is gone: nothing waits for it."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source, and how its last look went. Times are RFC 3339; None is never."""

    name: str
    namespace: str
    workspace: str
    project: str
    """Both empty where the project is gone."""
    root: str
    authoritative: bool
    every_seconds: int
    tried_at: str | None
    complete_at: str | None
    fault: str
    said: str = ""
    """What a look wrote, where there was one."""


@dataclass(frozen=True, slots=True)
class Sources:
    sources: tuple[SourceRow, ...]
    gaps: tuple[str, ...] = ()
    omitted: int = 0

    @property
    def exit_code(self) -> int:
        return 1 if any(row.said and row.fault for row in self.sources) else 0


SourceName = Annotated[str, Field("the source's name", positional=True, max_length=64)]


def source_add(
    memory: "Memory",
    *,
    name: SourceName,
    mapping: Annotated[str, Field("TOML file that says what becomes what; a copy is kept", metavar="FILE")],
    root: Annotated[str, Field("folder of .json and .jsonl files", metavar="DIR")],
    authoritative: Annotated[bool, Field("close what the folder no longer lists, if all of it could be read")] = False,
    every: Annotated[str, Field("how long between two looks, 5 minutes at least", metavar="DURATION")] = "1h",
    workspace: Workspace = None,
    project: ProjectName = None,
) -> Sources:
    """Name a folder of JSON records that `maintain` reads again and again. `source sync` does it now.
    The mapping is kept as it is now: to change it, remove the source and add it again.
    """
    if not _NAME.fullmatch(name):
        raise UsageFault(f"no name for a source: {echo(name)}", hint="use lower-case letters, digits, '.', '_' and '-'")
    every_us = parse_duration(every)
    if every_us < LEAST_EVERY_US:
        raise UsageFault(f"{every} is too often", hint="give 5m at least")
    file = named_path(memory, mapping)
    text = mapping_text(file)
    rules = read_mapping(text, name=file.name)
    folder = folder_of_records(memory, named_path(memory, root)).resolve()
    refuse_secrets(memory, source=name, folder=str(folder), mapping=text)
    scope = resolve(memory, workspace, project, write=True)
    with memory.writing(f"add the source {name}") as change:
        project_id = change.ensure_project(scope).id
    one = Source(name, project_id, rules.namespace, clean(memory, text), str(folder), authoritative, every_us)
    from ai_memory.store import audit

    with memory.state_transaction() as connection:
        for other in store.sources(connection):
            if other.name == name:
                raise Conflict(f"there is a source {name}", hint=f"`ai-memory source remove {name}` forgets it")
            if (other.project_id, other.namespace) == (project_id, rules.namespace):
                raise Conflict(
                    f"the source {other.name} has the namespace {rules.namespace} in this project",
                    hint="give the mapping another namespace",
                )
        store.add(connection, one)
        audit.put(connection, memory.mutation("source-add", subject=name))
    return Sources((_row(memory, one),))


def source_list(memory: "Memory") -> Sources:
    """List the folders of JSON records that are read again and again, and how the last look went."""
    return Sources(tuple(_row(memory, one) for one in _known(memory)))


def source_sync(
    memory: "Memory",
    *,
    name: Annotated[str | None, Field("only this one", positional=True, max_length=64)] = None,
    progress: Progress = no_progress,
) -> Sources:
    """Read sources now, all or one, whether or not it is time."""
    return Sources(tuple(synced(memory, one, progress) for one in ([_named(memory, name)] if name else _known(memory))))


def source_remove(memory: "Memory", *, name: SourceName) -> Sources:
    """Read a source no more. The pages that it brought stay."""
    from ai_memory.store import audit

    one = _named(memory, name)
    with memory.state_transaction() as connection:
        store.remove(connection, name)
        audit.put(connection, memory.mutation("source-remove", subject=name))
    return Sources((_row(memory, one),))


def due(memory: "Memory") -> list[Source]:
    """The sources whose interval is over."""
    now_us = memory.clock()
    return [one for one in _known(memory) if one.is_due(now_us)]


def synced(memory: "Memory", one: Source, progress: Progress) -> SourceRow:
    """One look, kept with how it went; a fault of the source is told and not raised. Errors: LockBusy."""
    said, fault = "nothing was read", ""
    try:
        answer = _look(memory, one, progress)
        counts = ", ".join(f"{number} {word}" for word, number in answer.counts.items() if number)
        said = counts or "nothing there"
        if not answer.is_complete:
            more = f" and {len(answer.left) - 1} more" if len(answer.left) > 1 else ""
            fault = f"not every record could be read: {answer.left[0]}{more}"
    except LockBusy:
        raise  # no fault of the source's
    except MemoryFault as raised:
        fault = raised.message
    except OSError as raised:
        fault = " ".join(str(raised).split())
    now_us = memory.clock()
    with memory.state_transaction() as connection:
        store.note_look(connection, one.name, at_us=now_us, fault=fault)
    complete_at_us = one.complete_at_us if fault else now_us
    after = replace(one, tried_at_us=now_us, complete_at_us=complete_at_us, fault=fault)
    return replace(_row(memory, after), said=said)


def _look(memory: "Memory", one: Source, progress: Progress) -> ImportedRecords:
    place = _place(memory, one)
    if place is None:
        raise NotFound("its project is gone", hint=f"`ai-memory source remove {one.name}` forgets it")
    rules = read_mapping(one.mapping, name=one.name)
    scope = resolve(memory, *place, write=True)
    root = Path(one.root)
    try:
        with Patience(ANSWER_S) as patience:
            folder = patience.ask(one.root, lambda: _as_named(memory, root))
    except NoAnswer as fault:
        raise NotFound(str(fault), hint="is it a mount that is gone?") from fault
    return taken_from(memory, scope, rules, folder, progress, authoritative=one.authoritative)


def _as_named(memory: "Memory", root: Path) -> Path:
    """The folder, as it was when the source was added. *Errors*: NotFound, UsageFault."""
    leads_to = Path(os.path.realpath(root))
    if leads_to != root:
        raise UsageFault(
            f"{root} leads to {leads_to} now: nothing was written, nothing retired",
            hint="remove the source and add it again, if that is meant",
        )
    folder = folder_of_records(memory, root)
    with suppress(OSError), os.scandir(folder) as entries:  # whoever reads it tells what is wrong
        next(entries, None)
    return folder


def _known(memory: "Memory") -> list[Source]:
    with memory.state_reading() as connection:
        return store.sources(connection) if connection is not None else []


def _named(memory: "Memory", name: str) -> Source:
    for one in _known(memory):
        if one.name == name:
            return one
    raise NotFound(f"no source {echo(name)}", hint="`ai-memory source list` shows them")


def _place(memory: "Memory", one: Source) -> tuple[str, str] | None:
    """Workspace and name of its project, whatever it is called by now."""
    with memory.reading() as snapshot:
        found = [(row.workspace, row.name) for row in snapshot.projects() if row.id == one.project_id]
    return found[0] if found else None


def _row(memory: "Memory", one: Source) -> SourceRow:
    workspace, project = _place(memory, one) or ("", "")
    return SourceRow(
        *(one.name, one.namespace, workspace, project, one.root, one.authoritative),
        every_seconds=one.every_us // SECOND_US,
        tried_at=None if one.tried_at_us is None else rfc3339(one.tried_at_us),
        complete_at=None if one.complete_at_us is None else rfc3339(one.complete_at_us),
        fault=one.fault,
    )


def sources_text(result: Sources) -> str:
    """One line a source: where it is, what a look wrote, when it was last complete, what is wrong."""
    lines = []
    for row in result.sources:
        parts = (
            f"{row.name}: {row.root}",
            row.said,
            f"complete {row.complete_at}" if row.complete_at else "never complete",
            row.fault,
        )
        lines.append(" · ".join(filter(None, parts)))
    return "\n".join(lines) or "no sources"
