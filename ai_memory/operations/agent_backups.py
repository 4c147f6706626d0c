"""Copies of agents' settings, all in one archive, and back."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ai_memory.clock import rfc3339
from ai_memory.errors import MemoryFault, NotFound, StoreFault
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.field import Field
from ai_memory.operations.named_paths import named_path, new_archive
from ai_memory.operations.wiring import Agents, Apply, changed_agents
from ai_memory.operations.wiring_rows import Wiring, done_rows, file_row, wiring_text
from ai_memory.plainfile import read_plain
from ai_memory.store import wired
from ai_memory.store.filesystem import make_folder, write_whole
from ai_memory.store.wired import Owner
from ai_memory.wiring.agents import Desk
from ai_memory.wiring.apply import apply as write
from ai_memory.wiring.archive import LARGEST_ALL, Kept, packed, unpacked
from ai_memory.wiring.documents import Refused
from ai_memory.wiring.files import look
from ai_memory.wiring.plan import FilePlan, State

if TYPE_CHECKING:
    from ai_memory.harnesses.record import Harness
    from ai_memory.store.memory import Memory

_KEPT = ("hooks", "mcp", "instructions")
"""Skills are ours whole: they are installed again, not restored."""
_STEM = "agents"


@dataclass(frozen=True, slots=True)
class KeptRow:
    path: str
    agent: str
    what: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class BackedUp:
    files: tuple[KeptRow, ...]
    archive: str | None
    """None where there was nothing to keep."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def backup_agents(
    memory: "Memory",
    *,
    agent: Agents = (),
    output: Annotated[str | None, Field("file or folder [a new file in the data dir]", metavar="FILE")] = None,
) -> BackedUp:
    """Keep a copy of agents' settings in one archive, as they stand: secrets in them, too. Mode 0600.
    `ai-memory restore-agents` puts it back.
    """
    refuse_secrets(memory, output=output)
    kept, rows, gaps = [], [], []
    for owner, path in _places(memory, agent):
        try:
            seen = look(path)
        except Refused as fault:
            gaps.append(f"{path} is left out: {fault.reason}")
            continue
        if seen.content is not None:
            kept.append(Kept(owner.agent, owner.what, path.name, seen.content, seen.mode))
            rows.append(KeptRow(str(path), owner.agent, owner.what, len(seen.content)))
    if not kept:
        return BackedUp((), None, tuple(gaps))
    now_us = memory.clock()
    archive = new_archive(memory, output, at_us=now_us, stem=_STEM)
    memory.create()
    try:
        make_folder(archive.parent)
        write_whole(archive, packed(kept, made_at=rfc3339(now_us)))
    except OSError as fault:
        raise StoreFault(f"{archive} cannot be written: {fault.strerror or fault}", hint="name another one") from fault
    told = memory.tell("backup-agents", subject=archive.name)
    return BackedUp(tuple(rows), str(archive), (*gaps, *told))


def backed_up_text(result: BackedUp) -> str:
    """The archive, and what it holds."""
    if result.archive is None:
        return "no agent has settings here"
    return "\n".join(
        [f"kept {len(result.files)} files in {result.archive}", *(f"  {row.path}" for row in result.files)]
    )


def restore_agents(
    memory: "Memory",
    *,
    archive: Annotated[
        str | None, Field("archive to restore [the newest one in the data dir]", positional=True)
    ] = None,
    agent: Agents = (),
    apply: Apply = False,
) -> Wiring:
    """Put agents' settings back as a `backup-agents` kept them. Shows a diff; `--apply` writes.
    What stands there now is kept in the data dir first.
    """
    refuse_secrets(memory, archive=archive)
    named = _newest(memory, archive)
    if named is None:
        return Wiring((), (), (), applied=False, gaps=("there is no archive yet: `ai-memory backup-agents` makes one",))
    plans, gaps = _planned(memory, _read(named), agent)
    rows = tuple(map(file_row, plans))
    if apply:
        memory.create()
        with wired.wiring_lock(memory.data_dir, timeout_s=memory.lock_timeout_s):
            done = write(
                _planned(memory, _read(named), agent)[0], memory.data_dir, clock=memory.clock, step=memory.step
            )
        rows = done_rows(done)
        written = changed_agents(done)
        if written:
            gaps += memory.tell("restore-agents", subject=", ".join(written))
    agents = tuple(dict.fromkeys(one for row in rows for one in row.agents))
    return Wiring(rows, (), agents, applied=apply, gaps=gaps)


def restored_text(result: Wiring) -> str:
    """A diff of each file that changes; applied, one line a file."""
    return wiring_text(result) if result.files else "nothing to restore"


def _newest(memory: "Memory", archive: str | None) -> Path | None:
    if archive is not None:
        return named_path(memory, archive)
    found = memory.data_dir.backups.glob(f"{_STEM}-*.zip")
    return max(found, key=lambda path: (path.stem.partition("Z")[0], len(path.stem), path.stem), default=None)


def _read(archive: Path) -> list[Kept]:
    try:
        if archive.stat().st_size > LARGEST_ALL:
            raise MemoryFault(f"{archive} is larger than any archive of ours")
        return unpacked(read_plain(archive))
    except FileNotFoundError as fault:
        raise NotFound(f"there is no {archive}", hint="`ai-memory backup-agents` makes one") from fault
    except OSError as fault:
        raise StoreFault(f"{archive} cannot be read: {fault.strerror or fault}") from fault


def _planned(memory: "Memory", kept: list[Kept], names: tuple[str, ...]) -> tuple[list[FilePlan], tuple[str, ...]]:
    """A plan for each copy whose agent's file lies on this machine; where it lies, this machine says."""
    places = {(owner.agent, owner.what, path.name): (owner, path) for owner, path in _places(memory, names, every=True)}
    plans: dict[Path, FilePlan] = {}
    gaps = []
    for one in kept:
        found = places.get((one.agent, one.what, one.name))
        if found is None:
            if not names:
                gaps.append(f"{one.agent}: no place is known here for {one.name}")
            continue
        owner, path = found
        plan = _plan(owner, path, one)
        former = plans.get(path)
        plans[path] = replace(plan, owners=(*former.owners, owner)) if former else plan
    return list(plans.values()), tuple(gaps)


def _plan(owner: Owner, path: Path, kept: Kept) -> FilePlan:
    try:
        seen = look(path)
    except Refused as fault:
        return FilePlan(path, (owner,), State.REFUSED, reason=fault.reason)
    if seen.hindrance and seen.content != kept.content:
        return FilePlan(path, (owner,), State.REFUSED, seen, reason=seen.hindrance)
    states = {None: State.CREATE, kept.content: State.SAME}
    return FilePlan(path, (owner,), states.get(seen.content, State.CHANGE), seen, kept.content, is_recorded=False)


def _places(memory: "Memory", names: tuple[str, ...], *, every: bool = False) -> Iterator[tuple[Owner, Path]]:
    """(owner, file) of the settings that agents have on this machine."""
    desk = Desk(memory.caller, memory.data_dir.root)
    for harness in _chosen(desk, names, every=every):
        for what in _KEPT:
            wishes, notes = desk.wishes([harness], what)
            for wish in wishes:
                yield wish.owner, Path(wish.edit.path)
            for note in notes:
                if note.path:
                    yield Owner(note.agent, note.what), Path(note.path)


def _chosen(desk: Desk, names: tuple[str, ...], *, every: bool) -> "list[Harness]":
    from ai_memory.harnesses.registry import HARNESSES

    if names:
        return desk.chosen(names)
    return list(HARNESSES) if every else desk.present()
