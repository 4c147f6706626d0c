"""The pages of a project, or of all, as a folder of files: byte for byte, for other programs and for `import`."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ai_memory import __version__
from ai_memory.errors import NotFound, StoreFault, UsageFault
from ai_memory.model import Scope
from ai_memory.operations.cleaning import refuse_secrets
from ai_memory.operations.field import Everywhere, Field, ProjectName, Workspace
from ai_memory.operations.looking import look_around
from ai_memory.operations.named_paths import named_path
from ai_memory.operations.setup import no_progress
from ai_memory.operations.unscoped import resolve_for
from ai_memory.store.addresses import is_ours, meta_project

if TYPE_CHECKING:
    from ai_memory.store.memory import Memory

MANIFEST = "export.json"
FORMAT = "ai-memory export 1"


@dataclass(frozen=True, slots=True)
class Exported:
    scope: Scope | None
    folder: str
    pages: int
    projects: int
    size_bytes: int
    gaps: tuple[str, ...] = ()
    omitted: int = 0


def export(
    memory: "Memory",
    *,
    folder: Annotated[str, Field("folder to make; it must be empty or not there", positional=True)],
    everywhere: Everywhere = False,
    workspace: Workspace = None,
    project: ProjectName = None,
    progress: Callable[[int, int], None] = no_progress,
) -> Exported:
    """Write the pages of this project, or of all, into a new folder as they are, byte for byte.
    `ai-memory import` takes them in again. Sessions and history are not in it: `ai-memory backup` keeps those.
    """
    refuse_secrets(memory, folder=folder)
    target = new_folder(memory, folder)
    _, left = look_around(memory)
    with memory.reading() as snapshot:
        scope, untold = resolve_for(memory, workspace, project, everywhere=everywhere, snapshot=snapshot)
    place = "" if everywhere or scope is None else f"{scope.workspace}/{scope.project}/"
    with memory.past() as wiki:
        if wiki is None:
            raise NotFound(f"there are no pages in {memory.data_dir.root}", hint="see --data-dir")
        head = wiki.head()
        blobs = [(path, blob) for path, blob in wiki.files(head) if path.startswith(place) and is_ours(path)]
        if not blobs:
            raise NotFound(
                f"there are no pages in {place.rstrip('/')}", hint="`ai-memory list-projects` lists projects"
            )
        contents = ((path, wiki.blob(blob)) for path, blob in blobs)
        size = write_folder(target, contents, len(blobs), progress, is_noted=True)
    return Exported(
        scope,
        str(target),
        sum(meta_project(path) is None for path, _ in blobs),
        len({tuple(path.split("/", 2)[:2]) for path, _ in blobs}),
        size,
        (*untold, *left),
    )


def new_folder(memory: "Memory", folder: str) -> Path:
    """The folder to make. Errors: UsageFault where something is in it already, or where it lies in the wiki."""
    target = named_path(memory, folder)
    if os.path.lexists(target) and (target.is_symlink() or not target.is_dir() or any(target.iterdir())):
        raise UsageFault(f"{target} is there already and not empty", hint="name a folder that is not there yet")
    if target.resolve().is_relative_to(memory.data_dir.root.resolve()):
        raise UsageFault(f"{target} lies in the data dir", hint="name a place outside of it")
    return target


def write_folder(
    target: Path,
    files: Iterable[tuple[str, bytes]],
    total: int,
    progress: Callable[[int, int], None],
    *,
    is_noted: bool,
) -> int:
    """Write all into a folder beside, then give it its name; gives the bytes of all files.

    `is_noted`: with the note that `import` looks for.
    Crash: a folder with a dot before its name may stay. Errors: StoreFault; nothing stays then.
    """
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    rows: list[dict[str, str]] = []
    size = 0
    try:
        beside.mkdir(parents=True)
        for number, (path, content) in enumerate(files, start=1):
            file = beside.joinpath(*path.split("/"))
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as out:
                out.write(content)
            rows.append({"path": path, "sha256": hashlib.sha256(content).hexdigest()})
            size += len(content)
            progress(number, total)
        if is_noted:
            record = {"format": FORMAT, "program": __version__, "files": rows}
            (beside / MANIFEST).write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
        if target.is_dir():
            target.rmdir()
        beside.rename(target)
    except OSError as fault:
        raise StoreFault(
            f"{target} cannot be written: {fault.strerror or fault}", hint="name another place; nothing was exported"
        ) from fault
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return size


def exported_text(result: Exported) -> str:
    """How much, and where it lies."""
    return f"exported {result.pages} pages of {result.projects} projects to {result.folder}"
