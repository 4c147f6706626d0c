"""The whole memory in one archive, and back."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ai_memory.errors import MemoryFault, NotFound, StoreFault, UsageFault
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.configured import tell_hooks
from ai_memory.operations.field import Field
from ai_memory.operations.named_paths import named_path, new_archive
from ai_memory.operations.setup import no_progress
from ai_memory.paths import DataDir
from ai_memory.store.audit import BACKUP_VERIFIED
from ai_memory.text.times import parse_time

if TYPE_CHECKING:
    from ai_memory.store.archive import Manifest
    from ai_memory.store.memory import Memory

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BackupContents:
    """What an archive holds, as its manifest says it."""

    made_at: str
    program: str
    head: str | None
    state_schema: int | None
    counts: Mapping[str, int] = field(default_factory=dict)
    files: int = 0


@dataclass(frozen=True, slots=True)
class BackedUp:
    archive: str
    size_bytes: int
    contents: BackupContents
    verified: bool
    """Whether it was restored on trial and found whole."""
    removed: tuple[str, ...]
    """Older archives that went, since only so many are kept."""
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def backup(
    memory: "Memory",
    *,
    output: Annotated[
        str | None, Field("file or folder to write to [backups/ of the data dir]", flags=("-o", "--output"))
    ] = None,
    verify: Annotated[bool, Field("restore it on trial and compare")] = False,
    keep: Annotated[int | None, Field("keep so many archives there, remove older ones", ge=1, le=10_000)] = None,
    progress: Progress = no_progress,
) -> BackedUp:
    """Keep a copy of the whole memory in one archive: pages with their history, sessions, settings. Mode 0600.
    Others may write meanwhile. Give --output on another disk: a copy beside the original is lost with it.
    """
    from ai_memory.store import backup as making

    refuse_secrets(memory, output=output)
    target = _target(memory, output)
    if keep is not None and making.PATTERN.fullmatch(target.name) is None:
        raise UsageFault("--keep counts archives that backup names itself", hint="give --output a folder, not a file")
    made = making.make(memory, target, progress)
    gaps = list(made.left)
    if verify:
        _verify(memory, target, progress)
    gaps += memory.tell("backup", subject=target.name)
    if verify:
        gaps += memory.tell(BACKUP_VERIFIED, subject=target.name)
    removed = making.remove_old(target, keep=keep) if keep is not None else []
    return BackedUp(
        str(target), made.size_bytes, _contents(made.manifest), verify, tuple(map(str, removed)), tuple(gaps)
    )


def _target(memory: "Memory", output: str | None) -> Path:
    path = new_archive(memory, output, at_us=memory.clock())
    if output is not None and path.resolve().is_relative_to(memory.data_dir.wiki.resolve()):
        raise UsageFault(f"{path} lies in the wiki", hint="name a place outside of it")
    return path


def _verify(memory: "Memory", target: Path, progress: Progress) -> None:
    """Restore on trial, build an index and compare. Errors: StoreFault; the archive stays, to be looked at."""
    from ai_memory.store import driver
    from ai_memory.store.memory import Memory
    from ai_memory.store.unpacking import unpack

    trial = target.with_name(f".{target.name}.trial")
    try:
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir(mode=0o700)
        unpacked = unpack(target, trial, progress)
        pages = _pages_of(Memory.open(unpacked.data_dir, caller=memory.caller, clock=memory.clock))
        if pages != unpacked.manifest.counts["pages"]:
            raise MemoryFault(f"its index has {pages} pages, and {unpacked.manifest.counts['pages']} were kept")
    except OSError as fault:
        why, remedy = driver.refusal(target.parent, fault)
        raise StoreFault(
            f"{target.name} was made, but could not be restored on trial: {why}",
            hint=f"{remedy} Then make another one: whether this one is whole is not known. No older one was removed.",
        ) from fault
    except MemoryFault as fault:
        raise StoreFault(
            f"{target.name} was made, but restored on trial it is not whole: {fault}".replace("\n", " "),
            hint="Do not rely on it. Look at the disk, then make another one; no older archive was removed.",
        ) from fault
    finally:
        shutil.rmtree(trial, ignore_errors=True)


def _pages_of(restored: "Memory") -> int:
    """Pages that a new index of the memory finds."""
    return restored.reindex().pages


def _contents(manifest: "Manifest") -> BackupContents:
    return BackupContents(
        manifest.made_at,
        manifest.program,
        manifest.head,
        manifest.state_schema,
        dict(manifest.counts),
        len(manifest.members),
    )


def backed_up_text(result: BackedUp) -> str:
    """The archive and what it holds."""
    lines = [f"kept {_counts(result.contents)} in {result.archive} ({result.size_bytes / 1_048_576:.1f} MB)"]
    if result.verified:
        lines.append("restored on trial: whole")
    lines += [f"removed {path}" for path in result.removed]
    return "\n".join(lines)


def _counts(contents: BackupContents) -> str:
    return ", ".join(f"{number:,} {what}" for what, number in contents.counts.items())


# --- restore ---


@dataclass(frozen=True, slots=True)
class Restored:
    archive: str
    data_dir: str
    outcome: Literal["restored", "checked"]
    contents: BackupContents
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def restore(
    memory: "Memory",
    *,
    archive: Annotated[
        str | None, Field("archive to restore [the newest one in the data dir]", positional=True)
    ] = None,
    force: Annotated[bool, Field("replace the memory that is there")] = False,
    dry_run: Annotated[bool, Field("only check the archive, byte for byte")] = False,
    progress: Progress = no_progress,
) -> Restored:
    """Let the memory be what an archive of `backup` holds. The whole archive is checked before anything is touched.
    A memory that is there is replaced only with --force; events that wait for a drain stay.
    """
    from ai_memory.operations.purge_again import purge_again, tombstones_since
    from ai_memory.store import archive as archives
    from ai_memory.store.memory import Memory
    from ai_memory.store.restore import restore as put_back

    path = _named(memory, archive)
    manifest = archives.check(path, progress)
    if dry_run:
        return Restored(str(path), str(memory.data_dir.root), "checked", _contents(manifest))
    tombstones = tombstones_since(memory, parse_time(manifest.made_at))
    told = memory.mutation("restore", subject=path.name)

    def without_purged(unpacked: DataDir) -> tuple[str, ...]:
        opened = Memory.open(unpacked, caller=memory.caller, clock=memory.clock, step=memory.step)
        return purge_again(opened, tombstones)

    done = put_back(memory, path, told, is_forced=force, progress=progress, mend=without_purged)
    gaps = list(done.gaps)
    if not memory.data_dir.state.exists():
        gaps += memory.tell("restore", subject=path.name)
    try:
        tell_hooks(memory)
        memory.reindex(progress)
    except MemoryFault as fault:
        gaps.append(f"it is restored, but: {fault}".replace("\n", " "))
    return Restored(str(path), str(memory.data_dir.root), "restored", _contents(manifest), tuple(gaps))


def _named(memory: "Memory", archive: str | None) -> Path:
    from ai_memory.store import backup as making  # the git library comes with the call, not with help and schema

    if archive is None:
        newest = making.archives(memory.data_dir.backups)
        if not newest:
            raise NotFound(f"no archive in {memory.data_dir.backups}", hint="name one: ai-memory restore FILE")
        return newest[0]
    path = named_path(memory, archive)
    if not path.is_file():
        raise NotFound(f"there is no file {path}", hint="`ai-memory backup` makes archives")
    return path


def restored_text(result: Restored) -> str:
    """What was restored, from where."""
    verb = "restored" if result.outcome == "restored" else "whole:"
    return f"{verb} {_counts(result.contents)} of {result.contents.made_at} from {result.archive}"
